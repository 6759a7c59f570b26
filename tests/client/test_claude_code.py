"""The real Claude Code with Holdfast installed: the requests to the model after a compaction."""

import json
import re
from hashlib import sha256

import pytest

from .claude_code import VERSIONS
from .conftest import StartConversation
from .conversation import Conversation, Request
from .sandbox import Sandbox
from .scripted_api import Json
from .story import (
    ANSWER,
    FACTS,
    FAILING_COMMAND,
    GOAL,
    PROHIBITION,
    PROMPT,
    PROMPT_TOO_LONG,
    call_subagent,
    run_tests,
    work_steps,
)

pytestmark = pytest.mark.client

BRIEF_ID = re.compile(r"holdfast:([0-9a-f]{8})\b")
TRUNCATED_PREFIX = "<persisted-output>"
SMALL_WINDOW = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
FULL_CONTEXT_TOKENS = 99_000
# What the tests print before the file is edited.
ERROR_OF_SUBAGENT = "AssertionError: 1.0 != 4.0"


def briefs_sent(sandbox: Sandbox, session_id: str) -> list[str]:
    """The briefs in the transcript that came from Holdfast's hooks, oldest first."""
    attachments = [line.get("attachment", {}) for line in sandbox.transcript(session_id)]
    texts = [
        text
        for attachment in attachments
        if attachment.get("type") == "hook_additional_context"
        for text in attachment["content"]
    ]
    return [text for text in texts if BRIEF_ID.search(text)]


def compactions(conversation: Conversation) -> list[Json]:
    """The conversation's compactions in Holdfast's store, oldest first."""
    rows: list[Json] = conversation.sandbox.status(conversation.session_id)["compactions"]
    return rows


def assert_contains_brief_once(request: Request, brief: str) -> None:
    """The request contains this whole brief once, and no other brief."""
    assert not brief.startswith(TRUNCATED_PREFIX), "the client kept only a preview"
    assert brief.strip() in request.text
    assert BRIEF_ID.findall(request.text) == BRIEF_ID.findall(brief)
    assert len(BRIEF_ID.findall(brief)) == 1


def assert_restored(
    conversation: Conversation,
    request: Request,
    *,
    trigger: str,
    delivered_by: str = "SessionStart",
) -> None:
    """The request contains the brief of the only compaction, and the store has a receipt for it."""
    briefs = briefs_sent(conversation.sandbox, conversation.session_id)
    assert len(briefs) == 1, "a brief must be sent once"
    brief = briefs[0]
    assert_contains_brief_once(request, brief)
    assert [fact for fact in FACTS if fact not in brief] == []
    expected = {
        "ordinal": 1,
        "trigger": trigger,
        "brief_id": BRIEF_ID.findall(brief)[0],
        "delivered_by": delivered_by,
        "receipt": "whole",
    }
    rows = [{key: row.get(key) for key in expected} for row in compactions(conversation)]
    assert rows == [expected]


def test_a_manual_compaction_is_restored(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    conversation = start_conversation(*work_steps(sandbox.project), ANSWER, ANSWER)
    conversation.send_prompt(PROMPT)
    conversation.send_prompt("/compact focus on the delay")
    conversation.send_prompt("Go on.")
    assert_restored(conversation, conversation.requests("main")[-1], trigger="manual")


def test_a_client_process_that_stays_open_also_gets_the_brief(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    conversation = start_conversation(*work_steps(sandbox.project), ANSWER, ANSWER)
    with conversation.open_client() as client:
        for prompt in (PROMPT, "/compact", "Go on."):
            client.send_prompt(prompt)
    assert_restored(conversation, conversation.requests("main")[-1], trigger="manual")


def test_an_automatic_compaction_is_restored_in_the_same_turn(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    *before, _ = work_steps(sandbox.project)
    conversation = start_conversation(
        *before, run_tests(usage=FULL_CONTEXT_TOKENS), ANSWER, ANSWER, **SMALL_WINDOW
    )
    conversation.send_prompt(PROMPT)
    assert [request.kind for request in conversation.requests()][-2:] == ["compaction", "main"]
    after_compaction = conversation.requests("main")[-1]
    conversation.send_prompt("Go on.")
    assert_restored(conversation, after_compaction, trigger="auto")


def test_a_prompt_that_is_too_long_is_compacted_and_restored(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    conversation = start_conversation(*work_steps(sandbox.project), PROMPT_TOO_LONG, ANSWER, ANSWER)
    conversation.send_prompt(PROMPT)
    assert [request.kind for request in conversation.requests()][-2:] == ["compaction", "main"]
    after_compaction = conversation.requests("main")[-1]
    conversation.send_prompt("Go on.")
    assert_restored(conversation, after_compaction, trigger="auto")


def test_a_resumed_session_contains_its_brief_once(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    conversation = start_conversation(*work_steps(sandbox.project), ANSWER, ANSWER, ANSWER)
    for prompt in (PROMPT, "/compact", "Go on.", "And now?"):
        conversation.send_prompt(prompt)
    assert_restored(conversation, conversation.requests("main")[-1], trigger="manual")


def test_after_a_second_compaction_only_the_second_brief_is_sent(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    conversation = start_conversation(
        *work_steps(sandbox.project), ANSWER, run_tests(), ANSWER, ANSWER
    )
    for prompt in (PROMPT, "/compact", "Use no more than five attempts.", "/compact", "Go on."):
        conversation.send_prompt(prompt)
    first, second = briefs_sent(sandbox, conversation.session_id)
    assert_contains_brief_once(conversation.requests("main")[-1], second)
    assert [fact for fact in (*FACTS, "no more than five attempts") if fact not in second] == []
    rows = [(c["ordinal"], c["brief_id"], c["receipt"]) for c in compactions(conversation)]
    ids = [BRIEF_ID.findall(brief)[0] for brief in (first, second)]
    assert rows == [(1, ids[0], "whole"), (2, ids[1], "whole")]


def test_a_subagent_does_not_get_its_parents_brief(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    steps = (*work_steps(sandbox.project), ANSWER, call_subagent(), ANSWER)
    conversation = start_conversation(*steps, subagent=(ANSWER,))
    for prompt in (PROMPT, "/compact", "Ask a sub-agent."):
        conversation.send_prompt(prompt)
    (to_subagent,) = conversation.requests("subagent")
    assert BRIEF_ID.findall(to_subagent.text) == []
    assert_restored(conversation, conversation.requests("main")[-1], trigger="manual")


@pytest.mark.parametrize("background", [False, True], ids=["awaited", "background"])
def test_a_compacted_subagent_gets_its_own_brief_and_its_parent_none(
    sandbox: Sandbox, start_conversation: StartConversation, background: bool
) -> None:
    sandbox.holdfast("install")
    steps = (call_subagent(background=background), ANSWER, ANSWER)
    subagent = (run_tests(), run_tests(usage=FULL_CONTEXT_TOKENS), ANSWER)
    conversation = start_conversation(*steps, subagent=subagent, **SMALL_WINDOW)
    conversation.send_prompt(PROMPT)
    assert [bool(request.agent_id) for request in conversation.requests("compaction")] == [True]
    with_brief = [request for request in conversation.requests() if BRIEF_ID.search(request.text)]
    if VERSIONS[0] in str(sandbox.client):
        (after_compaction,) = with_brief
        assert after_compaction == conversation.requests("subagent")[-1]
        brief = after_compaction.text.partition("# Where this task stands (holdfast:")[2]
        task = call_subagent()["input"]["prompt"]
        for text in (task, FAILING_COMMAND, ERROR_OF_SUBAGENT, f"- “{PROHIBITION}”"):
            assert text in brief
        assert GOAL not in brief, "it belongs to the session"
        assert compactions(conversation) == []
        assert "sub-agent" not in sandbox.holdfast("doctor", "--json")
    else:
        # Before 2.1.325 the payload does not name the agent, so Holdfast sends a brief to be safe.
        assert with_brief


def test_a_session_that_began_before_the_install_is_restored(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    conversation = start_conversation(*work_steps(sandbox.project), ANSWER, ANSWER)
    conversation.send_prompt(PROMPT)
    sandbox.holdfast("install")
    conversation.send_prompt("/compact")
    conversation.send_prompt("Go on.")
    assert_restored(conversation, conversation.requests("main")[-1], trigger="manual")


def test_without_a_session_start_hook_the_next_prompt_delivers_the_brief(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    settings = json.loads(sandbox.settings.read_text())
    del settings["hooks"]["SessionStart"]
    sandbox.settings.write_text(json.dumps(settings))
    conversation = start_conversation(*work_steps(sandbox.project), *[ANSWER] * 3)
    for prompt in (PROMPT, "/compact", "Go on.", "And now?"):
        conversation.send_prompt(prompt)
    for request in conversation.requests("main")[-2:]:
        assert_restored(conversation, request, trigger="manual", delivered_by="UserPromptSubmit")


def test_uninstall_restores_the_settings_byte_for_byte(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    settings = (
        '{"hooks": {"Stop":[ {"hooks":[{"type":"command","command":"true"}] } ]},\n\n\t"x":1}'
    )
    sandbox.settings.write_text(settings)
    before = sha256(sandbox.settings.read_bytes()).hexdigest()
    sandbox.holdfast("install")
    assert sha256(sandbox.settings.read_bytes()).hexdigest() != before
    start_conversation(ANSWER).send_prompt(PROMPT)
    sandbox.holdfast("uninstall")
    assert sha256(sandbox.settings.read_bytes()).hexdigest() == before
