"""The real Claude Code after resume and /clear: a brief is sent only if it is missing."""

import json

import pytest

from .conftest import StartConversation
from .sandbox import Sandbox
from .story import ANSWER, PROHIBITION, PROMPT, work_steps
from .test_claude_code import BRIEF_ID, assert_restored

pytestmark = pytest.mark.client

LATE_BRIEF_MESSAGE = "the brief of the last compaction did not arrive"


def change_hook(sandbox: Sandbox, event: str, **fields: str) -> None:
    """Change the registration of one event: its matcher, or the end of its command."""
    settings = json.loads(sandbox.settings.read_text())
    (entry,) = settings["hooks"][event]
    if "matcher" in fields:
        entry["matcher"] = fields["matcher"]
    entry["hooks"][0]["command"] += fields.get("command", "")
    sandbox.settings.write_text(json.dumps(settings))


def test_a_brief_that_did_not_arrive_is_sent_when_the_session_is_resumed(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    change_hook(sandbox, "SessionStart", matcher="startup|resume")
    conversation = start_conversation(*work_steps(sandbox.project), *[ANSWER] * 3)
    for prompt in (PROMPT, "/compact", "Go on.", "And now?"):
        conversation.send_prompt(prompt)
    for request in conversation.requests("main")[-2:]:
        assert_restored(conversation, request, trigger="manual", delivered_by="SessionStart resume")


def test_after_a_failed_hook_the_brief_is_one_prompt_late_and_the_user_is_warned_once(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    change_hook(sandbox, "SessionStart", command=" > /dev/null; exit 1")
    conversation = start_conversation(*work_steps(sandbox.project), *[ANSWER] * 4)
    with conversation.open_client() as client:
        for prompt in (PROMPT, "/compact", "Go on.", "And now?"):
            client.send_prompt(prompt)
    before, *later = conversation.requests("main")[-3:]
    assert BRIEF_ID.findall(before.text) == []
    for request in later:
        assert_restored(conversation, request, trigger="manual", delivered_by="UserPromptSubmit")
    lines = sandbox.transcript(conversation.session_id)
    matches = [line for line in lines if LATE_BRIEF_MESSAGE in str(line)]
    warnings = [m for m in matches if m.get("attachment", {}).get("type") != "hook_success"]
    assert len(warnings) == 1, matches
    sent_to_model = [request for request in later if LATE_BRIEF_MESSAGE in request.text]
    assert sent_to_model == [], "only the user must see the warning"


@pytest.mark.parametrize("setting", ["off", "rules"])
def test_a_cleared_conversation_keeps_the_rules_only_if_the_setting_says_so(
    sandbox: Sandbox, start_conversation: StartConversation, setting: str
) -> None:
    sandbox.holdfast("install")
    conversation = start_conversation(
        *work_steps(sandbox.project), ANSWER, ANSWER, HOLDFAST_RESTORE_ON_CLEAR=setting
    )
    with conversation.open_client() as client:
        for prompt in (PROMPT, "/clear", "What now?"):
            client.send_prompt(prompt)
    after = conversation.requests("main")[-1]
    assert "What now?" in after.text
    assert (f"- “{PROHIBITION}”" in after.text) == (setting == "rules")
    assert BRIEF_ID.findall(after.text) == []
