"""The real Claude Code with Holdfast's MCP server: recall finds what is not in the brief."""

from .conftest import StartConversation
from .sandbox import PROJECT_FILES, Sandbox
from .story import ANSWER, PROMPT, work_steps
from .test_claude_code import BRIEF_ID, briefs_sent, pytestmark

__all__ = ["pytestmark"]

# A line that was printed before the compaction and is not in the brief.
FACT = PROJECT_FILES["README.md"].splitlines()[2]
TOOL = "mcp__holdfast__recall"
# The client must wait for the MCP server, or the result would depend on the load of the machine.
WAIT_FOR_MCP_SERVER = {"MCP_CONNECTION_NONBLOCKING": "0", "MCP_CONNECT_TIMEOUT_MS": "30000"}


def test_after_a_compaction_the_recall_tool_finds_text_that_is_not_in_the_brief(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install", "--mcp")
    # Not with Read: the client itself restores files that were read with it.
    read = {"tool": "Bash", "input": {"command": "cat README.md", "description": "Look"}}
    recall = {"tool": TOOL, "input": {"query": "tries again when the bank"}}
    conversation = start_conversation(
        read, *work_steps(sandbox.project), ANSWER, recall, ANSWER, **WAIT_FOR_MCP_SERVER
    )
    for prompt in (PROMPT, "/compact", "When do we try again?"):
        conversation.send_prompt(prompt)
    before_recall, after_recall = conversation.requests("main")[-2:]
    (brief,) = briefs_sent(sandbox, conversation.session_id)
    assert FACT not in brief
    assert FACT not in before_recall.text
    # As a tool, or in the list of tools that the newest client loads on demand.
    assert TOOL in before_recall.text
    assert FACT in after_recall.text
    assert BRIEF_ID.findall(after_recall.text) == BRIEF_ID.findall(brief)
