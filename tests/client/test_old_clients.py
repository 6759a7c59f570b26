"""Old versions of Claude Code: only hook events that they support, and the brief arrives."""

import json
from pathlib import Path

import pytest

from .claude_code import OLD_VERSIONS, install_client
from .conftest import StartConversation
from .conversation import Request
from .sandbox import Sandbox
from .story import ANSWER, PROHIBITION, PROMPT, run_tests, work_steps
from .test_claude_code import BRIEF_ID

pytestmark = [pytest.mark.client, pytest.mark.slow]

# With any other event name in the file, these clients run no hook at all.
SUPPORTED_EVENTS = {
    *("PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart"),
    *("SessionEnd", "Stop", "SubagentStop", "PreCompact"),
}
NEARLY_FULL_CONTEXT_TOKENS = 195_000


@pytest.fixture(params=OLD_VERSIONS)
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    return Sandbox.create(tmp_path, install_client(request.param))


def count_briefs(requests: list[Request]) -> list[int]:
    """Return the number of briefs in each request."""
    assert all(PROHIBITION in request.text for request in requests)
    return [len(BRIEF_ID.findall(request.text)) for request in requests]


@pytest.mark.parametrize("automatic", [False, True], ids=["manual", "auto"])
def test_an_old_client_runs_the_hooks_and_gets_one_brief(
    sandbox: Sandbox, start_conversation: StartConversation, automatic: bool
) -> None:
    sandbox.holdfast("install", "--guard-edits", "--statusline")
    assert set(json.loads(sandbox.settings.read_text())["hooks"]) <= SUPPORTED_EVENTS
    *before, last = work_steps(sandbox.project)
    steps = [
        *before,
        run_tests(usage=NEARLY_FULL_CONTEXT_TOKENS) if automatic else last,
        *[ANSWER] * 5,
    ]
    conversation = start_conversation(*steps)
    with conversation.open_client() as client:
        for prompt in (PROMPT, *["/compact"] * (not automatic), "Go on.", "And now?"):
            assert client.send_prompt(prompt)[-1]["is_error"] is False
    assert len(conversation.requests("compaction")) == 1
    assert count_briefs(conversation.requests("main")[-2:]) == [1, 1]
    conversation.send_prompt("Still there?")
    assert count_briefs(conversation.requests("main")[-1:]) == [1], "after resuming the session"
    (compaction,) = sandbox.status(conversation.session_id)["compactions"]
    assert compaction["receipt"] in ("whole", "unproven", "pending")
    log = sandbox.root / "holdfast" / "holdfast.log"
    assert not log.exists(), log.read_text()
