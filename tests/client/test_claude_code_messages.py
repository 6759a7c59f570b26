"""The real Claude Code: what other agents said reaches the model with a prompt, once."""

import pytest

from .conftest import Converse
from .sandbox import Sandbox
from .story import ANSWER, PROMPT, call_subagent

pytestmark = pytest.mark.client

TITLE = "Messages from other agents"
NEWS = "the schema is frozen until noon"
KIND = "the retry lives in src/retry.py"


def test_a_message_is_in_the_next_request_once_and_no_prompt_brings_it_again(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install")
    conversation = converse(*[ANSWER] * 3)
    conversation.say(PROMPT)
    told = ("--to", conversation.session_id, "--agent", "reviewer")
    sandbox.holdfast("messages", "--send", NEWS, *told)
    conversation.say("Go on.")
    conversation.say("And now?")
    before, shown, after = conversation.requests("main")
    assert NEWS not in before.text
    for request in (shown, after):
        assert request.text.count(NEWS) == 1, "the conversation holds it, and it came once"
        assert request.text.count(TITLE) == 1
    assert f"“reviewer”, 0 min ago: “{NEWS}”" in shown.text
    assert sandbox.holdfast("messages") == ""
    assert NEWS in sandbox.holdfast("messages", "--again")


def test_a_sub_agent_gets_messages_to_its_type(sandbox: Sandbox, converse: Converse) -> None:
    sandbox.holdfast("install")
    conversation = converse(ANSWER, call_subagent(), ANSWER, subagent=(ANSWER,))
    conversation.say(PROMPT)
    sandbox.holdfast("messages", "--send", KIND, "--to", "general-purpose", "--agent", "reviewer")
    conversation.say("Ask somebody else.")
    (to_subagent,) = conversation.requests("subagent")
    assert to_subagent.text.count(KIND) == 1
    assert all(KIND not in request.text for request in conversation.requests("main"))
