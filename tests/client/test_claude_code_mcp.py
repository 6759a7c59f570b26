"""The real Claude Code with our MCP server: what the brief left out is one tool call away."""

from .conftest import Converse
from .sandbox import PROJECT_FILES, Sandbox
from .story import ANSWER, PROMPT, work
from .test_claude_code import MARKER, briefs_sent, pytestmark

__all__ = ["pytestmark"]

# It was printed before the compaction, and stands nowhere in the brief.
FACT = PROJECT_FILES["README.md"].splitlines()[2]
TOOL = "mcp__holdfast__recall"
# A client that goes on before the server has started would make this a test of the machine's load.
PATIENT = {"MCP_CONNECTION_NONBLOCKING": "0", "MCP_CONNECT_TIMEOUT_MS": "30000"}


def test_after_a_compaction_the_tool_finds_what_the_brief_left_out(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install", "--mcp")
    # Not with Read: what was read so, the client puts back itself.
    read = {"tool": "Bash", "input": {"command": "cat README.md", "description": "Look"}}
    look_up = {"tool": TOOL, "input": {"query": "tries again when the bank"}}
    conversation = converse(read, *work(sandbox.project), ANSWER, look_up, ANSWER, **PATIENT)
    for prompt in (PROMPT, "/compact", "When do we try again?"):
        conversation.say(prompt)
    asked, answered = conversation.requests("main")[-2:]
    (brief,) = briefs_sent(sandbox, conversation.session_id)
    assert FACT not in brief
    assert FACT not in asked.text
    # As a tool, or among the names of those that the newest client loads only when called.
    assert TOOL in asked.text
    assert FACT in answered.text
    assert MARKER.findall(answered.text) == MARKER.findall(brief)
