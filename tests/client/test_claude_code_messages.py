"""The real Claude Code: messages from other agents are added to the next prompt, once."""

import pytest

from .conftest import StartConversation
from .sandbox import Sandbox
from .story import ANSWER, PROMPT, call_subagent

pytestmark = pytest.mark.client

TITLE = "Messages from other agents"
MESSAGE = "the schema is frozen until noon"
MESSAGE_TO_TYPE = "the retry lives in src/retry.py"


def test_a_message_is_added_to_the_next_prompt_and_to_no_later_one(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    conversation = start_conversation(*[ANSWER] * 3)
    conversation.send_prompt(PROMPT)
    addresses = ("--to", conversation.session_id, "--agent", "reviewer")
    sandbox.holdfast("messages", "--send", MESSAGE, *addresses)
    conversation.send_prompt("Go on.")
    conversation.send_prompt("And now?")
    before, first, second = conversation.requests("main")
    assert MESSAGE not in before.text
    for request in (first, second):
        assert request.text.count(MESSAGE) == 1, "the conversation contains it once"
        assert request.text.count(TITLE) == 1
    assert f"“reviewer”, 0 min ago: “{MESSAGE}”" in first.text
    assert sandbox.holdfast("messages") == ""
    assert MESSAGE in sandbox.holdfast("messages", "--again")


def test_a_sub_agent_gets_messages_to_its_type(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    conversation = start_conversation(ANSWER, call_subagent(), ANSWER, subagent=(ANSWER,))
    conversation.send_prompt(PROMPT)
    sandbox.holdfast(
        "messages", "--send", MESSAGE_TO_TYPE, "--to", "general-purpose", "--agent", "reviewer"
    )
    conversation.send_prompt("Ask a sub-agent.")
    (to_subagent,) = conversation.requests("subagent")
    assert to_subagent.text.count(MESSAGE_TO_TYPE) == 1
    assert all(MESSAGE_TO_TYPE not in request.text for request in conversation.requests("main"))
