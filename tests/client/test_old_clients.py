"""Clients from before: they get only events that they know, and the brief all the same."""

import json
from pathlib import Path

import pytest

from .claude_code import OLD_VERSIONS, required_client
from .conftest import Converse
from .conversation import Request
from .sandbox import Sandbox
from .story import ANSWER, PROHIBITION, PROMPT, run_tests, work
from .test_claude_code import MARKER

pytestmark = [pytest.mark.client, pytest.mark.slow]

# One name that is not among these, and they run no hook of the file at all.
KNOWN = {
    *("PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart"),
    *("SessionEnd", "Stop", "SubagentStop", "PreCompact"),
}
NEARLY_FULL = 195_000


@pytest.fixture(params=OLD_VERSIONS)
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    return Sandbox.create(tmp_path, required_client(request.param))


def briefs(requests: list[Request]) -> list[int]:
    """How many briefs each request holds; one and the same if there are several."""
    assert all(PROHIBITION in one.text for one in requests)
    return [len(MARKER.findall(one.text)) for one in requests]


@pytest.mark.parametrize("automatic", [False, True], ids=["manual", "auto"])
def test_an_old_client_runs_our_hooks_and_is_sent_one_brief(
    sandbox: Sandbox, converse: Converse, automatic: bool
) -> None:
    sandbox.holdfast("install", "--guard-edits", "--statusline")
    assert set(json.loads(sandbox.settings.read_text())["hooks"]) <= KNOWN
    *before, last = work(sandbox.project)
    steps = [*before, run_tests(usage=NEARLY_FULL) if automatic else last, *[ANSWER] * 5]
    conversation = converse(*steps)
    with conversation.one_process() as client:
        for prompt in (PROMPT, *["/compact"] * (not automatic), "Go on.", "And now?"):
            assert client.say(prompt)[-1]["is_error"] is False
    assert len(conversation.requests("compaction")) == 1
    assert briefs(conversation.requests("main")[-2:]) == [1, 1]
    conversation.say("Still there?")
    assert briefs(conversation.requests("main")[-1:]) == [1], "resumed"
    (told,) = sandbox.status(conversation.session_id)["compactions"]
    assert told["receipt"] in ("whole", "unproven", "pending")
    log = sandbox.root / "holdfast" / "holdfast.log"
    assert not log.exists(), log.read_text()
