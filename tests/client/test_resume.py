"""The real Claude Code, resumed or cleared: only what it does not show again is put back."""

import json

import pytest

from .conftest import Converse
from .sandbox import Sandbox
from .story import ANSWER, PROHIBITION, PROMPT, work
from .test_claude_code import MARKER, assert_restored

pytestmark = pytest.mark.client

LATE = "the brief of the last compaction did not arrive"


def change_hook(sandbox: Sandbox, event: str, **fields: str) -> None:
    """Change how one event is registered: its matcher, or the end of its command."""
    settings = json.loads(sandbox.settings.read_text())
    (entry,) = settings["hooks"][event]
    if "matcher" in fields:
        entry["matcher"] = fields["matcher"]
    entry["hooks"][0]["command"] += fields.get("command", "")
    sandbox.settings.write_text(json.dumps(settings))


def test_a_brief_that_did_not_arrive_is_put_back_on_resuming(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install")
    change_hook(sandbox, "SessionStart", matcher="startup|resume")
    conversation = converse(*work(sandbox.project), *[ANSWER] * 3)
    for prompt in (PROMPT, "/compact", "Go on.", "And now?"):
        conversation.say(prompt)
    for request in conversation.requests("main")[-2:]:
        assert_restored(conversation, request, trigger="manual", by="SessionStart resume")


def test_a_hook_that_fails_costs_the_brief_one_prompt_and_the_person_is_told_once(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install")
    change_hook(sandbox, "SessionStart", command=" > /dev/null; exit 1")
    conversation = converse(*work(sandbox.project), *[ANSWER] * 4)
    with conversation.one_process() as client:
        for prompt in (PROMPT, "/compact", "Go on.", "And now?"):
            client.say(prompt)
    before, *later = conversation.requests("main")[-3:]
    assert MARKER.findall(before.text) == []
    for request in later:
        assert_restored(conversation, request, trigger="manual", by="UserPromptSubmit")
    told = [line for line in sandbox.transcript(conversation.session_id) if LATE in str(line)]
    shown = [line for line in told if line.get("attachment", {}).get("type") != "hook_success"]
    assert len(shown) == 1, told
    assert [one for one in later if LATE in one.text] == [], "it is for the person"


@pytest.mark.parametrize("wanted", ["off", "rules"])
def test_a_cleared_conversation_keeps_the_rules_only_if_asked_to(
    sandbox: Sandbox, converse: Converse, wanted: str
) -> None:
    sandbox.holdfast("install")
    conversation = converse(
        *work(sandbox.project), ANSWER, ANSWER, HOLDFAST_RESTORE_ON_CLEAR=wanted
    )
    with conversation.one_process() as client:
        for prompt in (PROMPT, "/clear", "What now?"):
            client.say(prompt)
    after = conversation.requests("main")[-1]
    assert "What now?" in after.text
    assert (f"- “{PROHIBITION}”" in after.text) == (wanted == "rules")
    assert MARKER.findall(after.text) == []
