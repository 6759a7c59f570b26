"""The real Claude Code with Holdfast installed: what the model is sent after a compaction."""

import json
import re
from hashlib import sha256

import pytest

from .claude_code import VERSIONS
from .conftest import Converse
from .conversation import Conversation, Request
from .sandbox import Sandbox
from .scripted_api import Json
from .story import ANSWER, FACTS, PROMPT, PROMPT_TOO_LONG, call_subagent, run_tests, work

pytestmark = pytest.mark.client

MARKER = re.compile(r"holdfast:([0-9a-f]{8})\b")
CUT = "<persisted-output>"
SMALL_WINDOW = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
FULL = 99_000


def briefs_sent(sandbox: Sandbox, session_id: str) -> list[str]:
    """The briefs that the client took from Holdfast, oldest first."""
    attachments = [line.get("attachment", {}) for line in sandbox.transcript(session_id)]
    texts = [
        text
        for attachment in attachments
        if attachment.get("type") == "hook_additional_context"
        for text in attachment["content"]
    ]
    return [text for text in texts if MARKER.search(text)]


def compactions(conversation: Conversation) -> list[Json]:
    """What Holdfast's store says of the conversation's compactions, oldest first."""
    known: list[Json] = conversation.sandbox.status(conversation.session_id)["compactions"]
    return known


def assert_whole_and_once(request: Request, brief: str) -> None:
    """The request carries this brief, all of it, and no other."""
    assert not brief.startswith(CUT), "the client kept only a preview"
    assert brief.strip() in request.text
    assert MARKER.findall(request.text) == MARKER.findall(brief)
    assert len(MARKER.findall(brief)) == 1


def assert_restored(
    conversation: Conversation, request: Request, *, trigger: str, by: str = "SessionStart"
) -> None:
    """The only compaction so far was made good in this request, and the store knows it."""
    sent = briefs_sent(conversation.sandbox, conversation.session_id)
    assert len(sent) == 1, "a brief must be sent once"
    brief = sent[0]
    assert_whole_and_once(request, brief)
    assert [fact for fact in FACTS if fact not in brief] == []
    expected = {
        "ordinal": 1,
        "trigger": trigger,
        "brief_id": MARKER.findall(brief)[0],
        "delivered_by": by,
        "receipt": "whole",
    }
    told = [{key: known.get(key) for key in expected} for known in compactions(conversation)]
    assert told == [expected]


def test_a_manual_compaction_is_restored(sandbox: Sandbox, converse: Converse) -> None:
    sandbox.holdfast("install")
    conversation = converse(*work(sandbox.project), ANSWER, ANSWER)
    conversation.say(PROMPT)
    conversation.say("/compact focus on the delay")
    conversation.say("Go on.")
    assert_restored(conversation, conversation.requests("main")[-1], trigger="manual")


def test_a_client_that_stays_open_is_sent_the_brief_too(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install")
    conversation = converse(*work(sandbox.project), ANSWER, ANSWER)
    with conversation.one_process() as client:
        for prompt in (PROMPT, "/compact", "Go on."):
            client.say(prompt)
    assert_restored(conversation, conversation.requests("main")[-1], trigger="manual")


def test_an_automatic_compaction_is_restored_within_the_turn(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install")
    *before, _ = work(sandbox.project)
    conversation = converse(*before, run_tests(usage=FULL), ANSWER, ANSWER, **SMALL_WINDOW)
    conversation.say(PROMPT)
    assert [request.kind for request in conversation.requests()][-2:] == ["compaction", "main"]
    after_compaction = conversation.requests("main")[-1]
    conversation.say("Go on.")
    assert_restored(conversation, after_compaction, trigger="auto")


def test_a_prompt_that_is_too_long_is_compacted_and_restored(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install")
    conversation = converse(*work(sandbox.project), PROMPT_TOO_LONG, ANSWER, ANSWER)
    conversation.say(PROMPT)
    assert [request.kind for request in conversation.requests()][-2:] == ["compaction", "main"]
    after_compaction = conversation.requests("main")[-1]
    conversation.say("Go on.")
    assert_restored(conversation, after_compaction, trigger="auto")


def test_a_session_resumed_later_still_has_its_brief_once(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install")
    conversation = converse(*work(sandbox.project), ANSWER, ANSWER, ANSWER)
    for prompt in (PROMPT, "/compact", "Go on.", "And now?"):
        conversation.say(prompt)
    assert_restored(conversation, conversation.requests("main")[-1], trigger="manual")


def test_a_second_brief_takes_the_place_of_the_first(sandbox: Sandbox, converse: Converse) -> None:
    sandbox.holdfast("install")
    conversation = converse(*work(sandbox.project), ANSWER, run_tests(), ANSWER, ANSWER)
    for prompt in (PROMPT, "/compact", "Use no more than five attempts.", "/compact", "Go on."):
        conversation.say(prompt)
    first, second = briefs_sent(sandbox, conversation.session_id)
    assert_whole_and_once(conversation.requests("main")[-1], second)
    assert [fact for fact in (*FACTS, "no more than five attempts") if fact not in second] == []
    known = [(c["ordinal"], c["brief_id"], c["receipt"]) for c in compactions(conversation)]
    ids = [MARKER.findall(brief)[0] for brief in (first, second)]
    assert known == [(1, ids[0], "whole"), (2, ids[1], "whole")]


def test_a_subagent_is_not_sent_its_parents_brief(sandbox: Sandbox, converse: Converse) -> None:
    sandbox.holdfast("install")
    steps = (*work(sandbox.project), ANSWER, call_subagent(), ANSWER)
    conversation = converse(*steps, subagent=(ANSWER,))
    for prompt in (PROMPT, "/compact", "Ask somebody else."):
        conversation.say(prompt)
    (to_subagent,) = conversation.requests("subagent")
    assert MARKER.findall(to_subagent.text) == []
    assert_restored(conversation, conversation.requests("main")[-1], trigger="manual")


@pytest.mark.parametrize("background", [False, True], ids=["awaited", "background"])
def test_a_subagents_own_compaction_is_not_taken_for_its_parents(
    sandbox: Sandbox, converse: Converse, background: bool
) -> None:
    sandbox.holdfast("install")
    steps = (call_subagent(background=background), ANSWER, ANSWER)
    subagent = (run_tests(), run_tests(usage=FULL), ANSWER)
    conversation = converse(*steps, subagent=subagent, **SMALL_WINDOW)
    conversation.say(PROMPT)
    assert [bool(request.agent_id) for request in conversation.requests("compaction")] == [True]
    restored = [request for request in conversation.requests() if MARKER.search(request.text)]
    if VERSIONS[0] in str(sandbox.claude):
        assert restored == []
        assert compactions(conversation) == []
    else:
        # Before 2.1.325 the payload does not name the agent: a brief too many, never too few.
        assert restored


def test_a_session_older_than_the_install_is_restored(sandbox: Sandbox, converse: Converse) -> None:
    conversation = converse(*work(sandbox.project), ANSWER, ANSWER)
    conversation.say(PROMPT)
    sandbox.holdfast("install")
    conversation.say("/compact")
    conversation.say("Go on.")
    assert_restored(conversation, conversation.requests("main")[-1], trigger="manual")


def test_a_brief_that_was_dropped_is_delivered_with_the_next_prompt(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install")
    settings = json.loads(sandbox.settings.read_text())
    del settings["hooks"]["SessionStart"]
    sandbox.settings.write_text(json.dumps(settings))
    conversation = converse(*work(sandbox.project), *[ANSWER] * 3)
    for prompt in (PROMPT, "/compact", "Go on.", "And now?"):
        conversation.say(prompt)
    for request in conversation.requests("main")[-2:]:
        assert_restored(conversation, request, trigger="manual", by="UserPromptSubmit")


def test_uninstalling_leaves_the_settings_as_they_were(
    sandbox: Sandbox, converse: Converse
) -> None:
    foreign = '{"hooks": {"Stop":[ {"hooks":[{"type":"command","command":"true"}] } ]},\n\n\t"x":1}'
    sandbox.settings.write_text(foreign)
    before = sha256(sandbox.settings.read_bytes()).hexdigest()
    sandbox.holdfast("install")
    assert sha256(sandbox.settings.read_bytes()).hexdigest() != before
    converse(ANSWER).say(PROMPT)
    sandbox.holdfast("uninstall")
    assert sha256(sandbox.settings.read_bytes()).hexdigest() == before
