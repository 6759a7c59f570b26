"""The real Codex with Holdfast installed: the requests to the model after a compaction."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

import pytest

from .codex import CodexSandbox, install_client
from .codex_conversation import CodexConversation
from .conversation import Request
from .fake_responses_api import encrypt
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

BRIEF_ID = re.compile(r"holdfast:([0-9a-f]{8})\b")
FULL_CONTEXT_TOKENS = 60_000
# The client leaves compactions to the server if the provider has this name.
OPENAI = "OpenAI"
# By default this client offers no tool for plans.
REQUEST_FACTS = [fact for fact in FACTS if fact != PLAN_ITEM]
BRIEF_FACTS = (DECISION, EDITED_FILE, FAILING_COMMAND, ERROR_LINE, BRANCH)
PATCH = f"""\
*** Begin Patch
*** Update File: {EDITED_FILE}
@@
-    return 1.0
+    return 2.0 * attempt
*** End Patch
"""

StartConversation = Callable[..., CodexConversation]


@pytest.fixture
def sandbox(tmp_path: Path) -> CodexSandbox:
    return CodexSandbox.create(tmp_path, install_client())


@pytest.fixture
def start_conversation(sandbox: CodexSandbox) -> Iterator[StartConversation]:
    """Return a function that starts a conversation in which the model follows these steps."""
    with ExitStack() as open_conversations:

        def start(*steps: Json, provider: str = "fake") -> CodexConversation:
            script = {"steps": steps, "summaries": [SUMMARY]}
            conversation = CodexConversation(sandbox=sandbox, script=script, provider=provider)
            return open_conversations.enter_context(conversation)

        yield start


def work_steps(usage: int = 9_000) -> list[Json]:
    """The steps of a first turn that contains every fact; the last step is the test run."""
    return [
        {"text": DECISION, "tool": "exec_command", "input": {"cmd": "git status -sb"}},
        {"tool": "apply_patch", "input": PATCH},
        {"tool": "exec_command", "input": {"cmd": FAILING_COMMAND}, "usage": usage},
    ]


def start_with_trusted_hooks(
    sandbox: CodexSandbox,
    start_conversation: StartConversation,
    *steps: Json,
    provider: str = "fake",
) -> CodexConversation:
    """Install Holdfast, start a conversation, and trust the hooks as a user would."""
    sandbox.holdfast("install", "--host", "codex")
    conversation = start_conversation(*steps, provider=provider)
    with conversation.app_server() as server:
        sandbox.trust(server.hooks())
    return conversation


def compactions(conversation: CodexConversation) -> list[Json]:
    rows: list[Json] = conversation.sandbox.status(conversation.session_id)["compactions"]
    return rows


def briefs_in(request: Request) -> list[str]:
    """The developer messages of a request that contain a brief."""
    return [
        part["text"]
        for item in request.body["input"]
        if item.get("role") == "developer"
        for part in item["content"]
        if BRIEF_ID.search(part["text"])
    ]


def assert_restored(conversation: CodexConversation, request: Request, *, trigger: str) -> None:
    """The request contains one whole brief as a developer message; the store has its receipt."""
    (brief,) = briefs_in(request)
    assert len(BRIEF_ID.findall(request.text)) == 1
    assert [fact for fact in BRIEF_FACTS if fact not in brief] == []
    assert [fact for fact in REQUEST_FACTS if fact not in request.text] == []
    (compaction,) = compactions(conversation)
    assert (compaction["ordinal"], compaction["trigger"]) == (1, trigger)
    assert compaction["brief_id"] == BRIEF_ID.findall(brief)[0]
    assert (compaction["delivered_by"], compaction["receipt"]) == ("SessionStart", "whole")
    assert compaction["summary_known"]


def test_an_automatic_compaction_is_restored_in_the_same_turn(
    sandbox: CodexSandbox, start_conversation: StartConversation
) -> None:
    conversation = start_with_trusted_hooks(
        sandbox, start_conversation, *work_steps(usage=FULL_CONTEXT_TOKENS), ANSWER, ANSWER
    )
    conversation.send_prompt(PROMPT)
    assert [request.kind for request in conversation.requests()][-2:] == ["compaction", "main"]
    assert_restored(conversation, conversation.requests("main")[-1], trigger="auto")


def test_an_encrypted_summary_counts_as_empty(
    sandbox: CodexSandbox, start_conversation: StartConversation
) -> None:
    conversation = start_with_trusted_hooks(
        sandbox,
        start_conversation,
        *work_steps(usage=FULL_CONTEXT_TOKENS),
        ANSWER,
        ANSWER,
        provider=OPENAI,
    )
    conversation.send_prompt(PROMPT)
    kinds = [request.kind for request in conversation.requests()]
    assert kinds[-2:] == ["encrypted compaction", "main"]
    last = conversation.requests("main")[-1]
    assert encrypt(SUMMARY) in last.text
    assert_restored(conversation, last, trigger="auto")
    details = sandbox.holdfast("compactions", "show", "1")
    assert encrypt(SUMMARY) not in details
    assert SUMMARY not in details


def test_a_manual_compaction_is_restored_with_the_next_prompt(
    sandbox: CodexSandbox, start_conversation: StartConversation
) -> None:
    conversation = start_with_trusted_hooks(
        sandbox, start_conversation, *work_steps(), ANSWER, ANSWER
    )
    with conversation.app_server() as server:
        server.start_session()
        server.send_prompt(PROMPT)
        server.compact()
        server.send_prompt("Go on.")
    assert_restored(conversation, conversation.requests("main")[-1], trigger="manual")


def test_a_resumed_session_keeps_its_brief_and_gets_no_second_one(
    sandbox: CodexSandbox, start_conversation: StartConversation
) -> None:
    conversation = start_with_trusted_hooks(
        sandbox, start_conversation, *work_steps(usage=FULL_CONTEXT_TOKENS), ANSWER, ANSWER
    )
    conversation.send_prompt(PROMPT)
    conversation.send_prompt("Go on.")
    assert_restored(conversation, conversation.requests("main")[-1], trigger="auto")


def test_after_a_second_compaction_only_the_second_brief_is_sent(
    sandbox: CodexSandbox, start_conversation: StartConversation
) -> None:
    fill_context = {"tool": "exec_command", "input": {"cmd": "true"}, "usage": FULL_CONTEXT_TOKENS}
    conversation = start_with_trusted_hooks(
        sandbox,
        start_conversation,
        *work_steps(usage=FULL_CONTEXT_TOKENS),
        ANSWER,
        fill_context,
        ANSWER,
    )
    conversation.send_prompt(PROMPT)
    conversation.send_prompt("Go on.")
    last = conversation.requests("main")[-1]
    first, second = compactions(conversation)
    assert BRIEF_ID.findall(last.text) == [second["brief_id"]] != [first["brief_id"]]
    assert (first["receipt"], second["receipt"]) == ("whole", "whole")


def test_untrusted_hooks_do_nothing_and_doctor_reports_it(
    sandbox: CodexSandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install", "--host", "codex")
    conversation = start_conversation(*work_steps(usage=FULL_CONTEXT_TOKENS), ANSWER)
    conversation.send_prompt(PROMPT)
    assert not BRIEF_ID.search(conversation.requests("main")[-1].text)
    assert json.loads(sandbox.holdfast("status", "--all", "--json"))["sessions"] == []
    with conversation.app_server() as server:
        assert {hook["trustStatus"] for hook in server.hooks()} == {"untrusted"}
    assert "not trusted yet" in doctor(sandbox)


def test_doctor_reports_the_same_trust_as_the_client(
    sandbox: CodexSandbox, start_conversation: StartConversation
) -> None:
    conversation = start_with_trusted_hooks(sandbox, start_conversation)
    with conversation.app_server() as server:
        assert {hook["trustStatus"] for hook in server.hooks()} == {"trusted"}
    assert "all trusted" in doctor(sandbox)
    text = sandbox.settings.read_text(encoding="utf-8")
    sandbox.settings.write_text(text.replace('"timeout": 15', '"timeout": 14'), encoding="utf-8")
    with conversation.app_server() as server:
        assert "modified" in {hook["trustStatus"] for hook in server.hooks()}
    assert "changed since they were trusted" in doctor(sandbox)


def doctor(sandbox: CodexSandbox) -> str:
    """Return the findings about Codex's hooks, also if `doctor` ends with exit code 1."""
    code = "from holdfast.cli import main; main(['doctor', '--json'])"
    findings = json.loads(sandbox.command(sys.executable, "-c", code))["findings"]
    return "\n".join(finding["detail"] for finding in findings if finding["name"] == "Codex hooks")


def test_a_failing_hook_does_not_stop_the_client(
    sandbox: CodexSandbox, start_conversation: StartConversation
) -> None:
    """A file where the store's folder should be makes every hook fail."""
    conversation = start_with_trusted_hooks(
        sandbox, start_conversation, *work_steps(usage=FULL_CONTEXT_TOKENS), ANSWER
    )
    shutil.rmtree(sandbox.root / "holdfast")
    (sandbox.root / "holdfast").write_text("not a folder", encoding="utf-8")
    conversation.send_prompt(PROMPT)
    assert [request.kind for request in conversation.requests()][-2:] == ["compaction", "main"]


def test_uninstall_restores_the_list_of_hooks_byte_for_byte(
    sandbox: CodexSandbox, start_conversation: StartConversation
) -> None:
    own_hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    sandbox.settings.write_text(json.dumps(own_hooks, indent=3), encoding="utf-8")
    before = sha256(sandbox.settings.read_bytes()).hexdigest()
    conversation = start_with_trusted_hooks(
        sandbox, start_conversation, *work_steps(usage=FULL_CONTEXT_TOKENS), ANSWER
    )
    conversation.send_prompt(PROMPT)
    assert_restored(conversation, conversation.requests("main")[-1], trigger="auto")
    sandbox.holdfast("uninstall", "--host", "codex")
    assert sha256(sandbox.settings.read_bytes()).hexdigest() == before


def test_a_brief_does_not_exceed_the_clients_size_limit(
    sandbox: CodexSandbox, start_conversation: StartConversation
) -> None:
    """Letters of two bytes each, and more rules than fit into the brief."""
    rules = " ".join(f"Всегда проверяй модуль номер {n} перед коммитом." for n in range(120))
    conversation = start_with_trusted_hooks(
        sandbox, start_conversation, *work_steps(usage=FULL_CONTEXT_TOKENS), ANSWER
    )
    conversation.env["HOLDFAST_BRIEF_TOKENS"] = "9000"
    conversation.send_prompt(f"{PROMPT} {rules}")
    (brief,) = briefs_in(conversation.requests("main")[-1])
    assert len(brief.encode()) <= 10_000
    assert "hook_outputs" not in brief
    assert compactions(conversation)[0]["receipt"] == "whole"
