"""The real Codex with Holdfast installed: what the model is sent after a compaction."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

import pytest

from .codex import CodexSandbox, required_client
from .codex_conversation import CodexConversation
from .conversation import Request
from .fake_responses_api import sealed
from .scripted_api import Json
from .story import (
    ANSWER,
    BRANCH,
    DECISION,
    EDITED_FILE,
    ERROR_LINE,
    FACTS,
    FAILING_COMMAND,
    PLAN_ITEM,
    PROMPT,
    SUMMARY,
)

pytestmark = pytest.mark.client

MARKER = re.compile(r"holdfast:([0-9a-f]{8})\b")
FULL = 60_000
# A provider of this name is taken for one that compacts on its server.
OPENAI = "OpenAI"
# By default this client offers no tool for plans.
KEPT = [fact for fact in FACTS if fact != PLAN_ITEM]
IN_THE_BRIEF = (DECISION, EDITED_FILE, FAILING_COMMAND, ERROR_LINE, BRANCH)
PATCH = f"""\
*** Begin Patch
*** Update File: {EDITED_FILE}
@@
-    return 1.0
+    return 2.0 * attempt
*** End Patch
"""

Converse = Callable[..., CodexConversation]


@pytest.fixture
def sandbox(tmp_path: Path) -> CodexSandbox:
    return CodexSandbox.create(tmp_path, required_client())


@pytest.fixture
def converse(sandbox: CodexSandbox) -> Iterator[Converse]:
    """Start a conversation whose model plays these steps."""
    with ExitStack() as open_conversations:

        def start(*steps: Json, provider: str = "fake") -> CodexConversation:
            script = {"steps": steps, "summaries": [SUMMARY]}
            made = CodexConversation(sandbox=sandbox, script=script, provider=provider)
            return open_conversations.enter_context(made)

        yield start


def work(usage: int = 9_000) -> list[Json]:
    """A first turn that plants every fact; the test run is the last of its steps."""
    return [
        {"text": DECISION, "tool": "exec_command", "input": {"cmd": "git status -sb"}},
        {"tool": "apply_patch", "input": PATCH},
        {"tool": "exec_command", "input": {"cmd": FAILING_COMMAND}, "usage": usage},
    ]


def trusted(
    sandbox: CodexSandbox, converse: Converse, *steps: Json, provider: str = "fake"
) -> CodexConversation:
    """A conversation with hooks that were installed, and that a person has trusted."""
    sandbox.holdfast("install", "--host", "codex")
    conversation = converse(*steps, provider=provider)
    with conversation.server() as server:
        sandbox.trust(server.hooks())
    return conversation


def compactions(conversation: CodexConversation) -> list[Json]:
    known: list[Json] = conversation.sandbox.status(conversation.session_id)["compactions"]
    return known


def developer_texts(request: Request) -> list[str]:
    return [
        part["text"]
        for item in request.body["input"]
        if item.get("role") == "developer"
        for part in item["content"]
        if MARKER.search(part["text"])
    ]


def assert_restored(conversation: CodexConversation, request: Request, *, trigger: str) -> None:
    """The request has the brief as a developer message, whole and once, and the store knows it."""
    (brief,) = developer_texts(request)
    assert len(MARKER.findall(request.text)) == 1
    assert [fact for fact in IN_THE_BRIEF if fact not in brief] == []
    assert [fact for fact in KEPT if fact not in request.text] == []
    (known,) = compactions(conversation)
    assert (known["ordinal"], known["trigger"]) == (1, trigger)
    assert known["brief_id"] == MARKER.findall(brief)[0]
    assert (known["delivered_by"], known["receipt"]) == ("SessionStart", "whole")
    assert known["summary_known"]


def test_an_automatic_compaction_is_restored_within_the_turn(
    sandbox: CodexSandbox, converse: Converse
) -> None:
    conversation = trusted(sandbox, converse, *work(usage=FULL), ANSWER, ANSWER)
    conversation.say(PROMPT)
    assert [request.kind for request in conversation.requests()][-2:] == ["compaction", "main"]
    assert_restored(conversation, conversation.requests("main")[-1], trigger="auto")


def test_an_encrypted_summary_counts_as_empty(sandbox: CodexSandbox, converse: Converse) -> None:
    conversation = trusted(sandbox, converse, *work(usage=FULL), ANSWER, ANSWER, provider=OPENAI)
    conversation.say(PROMPT)
    kinds = [request.kind for request in conversation.requests()]
    assert kinds[-2:] == ["sealed compaction", "main"]
    last = conversation.requests("main")[-1]
    assert sealed(SUMMARY) in last.text
    assert_restored(conversation, last, trigger="auto")
    shown = sandbox.holdfast("compactions", "show", "1")
    assert sealed(SUMMARY) not in shown
    assert SUMMARY not in shown


def test_a_manual_compaction_is_restored_with_the_next_prompt(
    sandbox: CodexSandbox, converse: Converse
) -> None:
    conversation = trusted(sandbox, converse, *work(), ANSWER, ANSWER)
    with conversation.server() as server:
        server.begin()
        server.say(PROMPT)
        server.compact()
        server.say("Go on.")
    assert_restored(conversation, conversation.requests("main")[-1], trigger="manual")


def test_a_session_that_is_resumed_keeps_its_brief_and_gets_no_second_one(
    sandbox: CodexSandbox, converse: Converse
) -> None:
    conversation = trusted(sandbox, converse, *work(usage=FULL), ANSWER, ANSWER)
    conversation.say(PROMPT)
    conversation.say("Go on.")
    assert_restored(conversation, conversation.requests("main")[-1], trigger="auto")


def test_after_a_second_compaction_only_the_new_brief_is_there(
    sandbox: CodexSandbox, converse: Converse
) -> None:
    again = {"tool": "exec_command", "input": {"cmd": "true"}, "usage": FULL}
    conversation = trusted(sandbox, converse, *work(usage=FULL), ANSWER, again, ANSWER)
    conversation.say(PROMPT)
    conversation.say("Go on.")
    last = conversation.requests("main")[-1]
    first, second = compactions(conversation)
    assert MARKER.findall(last.text) == [second["brief_id"]] != [first["brief_id"]]
    assert (first["receipt"], second["receipt"]) == ("whole", "whole")


def test_untrusted_hooks_do_nothing_and_doctor_says_so(
    sandbox: CodexSandbox, converse: Converse
) -> None:
    sandbox.holdfast("install", "--host", "codex")
    conversation = converse(*work(usage=FULL), ANSWER)
    conversation.say(PROMPT)
    assert not MARKER.search(conversation.requests("main")[-1].text)
    assert json.loads(sandbox.holdfast("status", "--all", "--json"))["sessions"] == []
    with conversation.server() as server:
        assert {hook["trustStatus"] for hook in server.hooks()} == {"untrusted"}
    assert "not trusted yet" in doctor(sandbox)


def test_doctor_agrees_with_the_client_on_trust(sandbox: CodexSandbox, converse: Converse) -> None:
    conversation = trusted(sandbox, converse)
    with conversation.server() as server:
        assert {hook["trustStatus"] for hook in server.hooks()} == {"trusted"}
    assert "all trusted" in doctor(sandbox)
    text = sandbox.settings.read_text(encoding="utf-8")
    sandbox.settings.write_text(text.replace('"timeout": 15', '"timeout": 14'), encoding="utf-8")
    with conversation.server() as server:
        assert "modified" in {hook["trustStatus"] for hook in server.hooks()}
    assert "changed since they were trusted" in doctor(sandbox)


def doctor(sandbox: CodexSandbox) -> str:
    """What is said of Codex's hooks; `doctor` exits 1 where something is wrong."""
    words = "from holdfast.cli import main; main(['doctor', '--json'])"
    told = json.loads(sandbox.command(sys.executable, "-c", words))["findings"]
    return "\n".join(one["detail"] for one in told if one["name"] == "Codex hooks")


def test_a_hook_that_fails_stops_nothing(sandbox: CodexSandbox, converse: Converse) -> None:
    """The store cannot be made: the compaction goes on, and the turn ends well."""
    conversation = trusted(sandbox, converse, *work(usage=FULL), ANSWER)
    shutil.rmtree(sandbox.root / "holdfast")
    (sandbox.root / "holdfast").write_text("no folder", encoding="utf-8")
    conversation.say(PROMPT)
    assert [request.kind for request in conversation.requests()][-2:] == ["compaction", "main"]


def test_install_and_uninstall_leave_the_list_as_it_was(
    sandbox: CodexSandbox, converse: Converse
) -> None:
    theirs = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    sandbox.settings.write_text(json.dumps(theirs, indent=3), encoding="utf-8")
    before = sha256(sandbox.settings.read_bytes()).hexdigest()
    conversation = trusted(sandbox, converse, *work(usage=FULL), ANSWER)
    conversation.say(PROMPT)
    assert_restored(conversation, conversation.requests("main")[-1], trigger="auto")
    sandbox.holdfast("uninstall", "--host", "codex")
    assert sha256(sandbox.settings.read_bytes()).hexdigest() == before


def test_a_brief_stays_within_what_the_client_lets_through(
    sandbox: CodexSandbox, converse: Converse
) -> None:
    """Letters of two bytes each, and more to tell than there is room for."""
    said = " ".join(f"Всегда проверяй модуль номер {n} перед коммитом." for n in range(120))
    conversation = trusted(sandbox, converse, *work(usage=FULL), ANSWER)
    conversation.env["HOLDFAST_BRIEF_TOKENS"] = "9000"
    conversation.say(f"{PROMPT} {said}")
    (brief,) = developer_texts(conversation.requests("main")[-1])
    assert len(brief.encode()) <= 10_000
    assert "hook_outputs" not in brief
    assert compactions(conversation)[0]["receipt"] == "whole"
