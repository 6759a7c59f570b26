"""The real Claude Code with the plugin: from a folder, a marketplace, or installed twice."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from .commands import run_command
from .conftest import StartConversation
from .conversation import HEADLESS, Conversation
from .sandbox import Sandbox
from .story import ANSWER, PROMPT, work_steps
from .test_claude_code import assert_restored

pytestmark = pytest.mark.client

NOT_INSTALLED_MESSAGE = "The Holdfast plugin does nothing yet"
# The plugin searches for `holdfast` on the PATH, as a user's shell does.
PATH_WITH_HOLDFAST = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))


@pytest.fixture
def plugin(sandbox: Sandbox) -> str:
    return sandbox.holdfast("plugin", "build", str(sandbox.root / "plugin")).strip()


def claude_plugin(conversation: Conversation, *arguments: str) -> str:
    client = conversation.command()[: -len(conversation.options) - len(HEADLESS) - 2]
    sandbox, env = conversation.sandbox, conversation.environment()
    return run_command(
        [*client, "plugin", *arguments], timeout_seconds=60, cwd=sandbox.project, env=env
    )


def install_from_marketplace(conversation: Conversation, folder: str) -> None:
    claude_plugin(conversation, "marketplace", "add", folder)
    claude_plugin(conversation, "install", "holdfast@holdfast-local")


@pytest.mark.parametrize(
    "source",
    [
        "folder",
        "marketplace and settings",
        pytest.param("marketplace", marks=pytest.mark.slow),
        pytest.param("both", marks=pytest.mark.slow),
        pytest.param("folder and settings", marks=pytest.mark.slow),
    ],
)
def test_the_brief_is_sent_once_however_the_plugin_was_installed(
    sandbox: Sandbox, start_conversation: StartConversation, plugin: str, source: str
) -> None:
    options = () if "marketplace" in source else ("--plugin-dir", plugin)
    steps = (*work_steps(sandbox.project), ANSWER, ANSWER, ANSWER)
    conversation = start_conversation(*steps, options=options, PATH=PATH_WITH_HOLDFAST)
    assert "passed" in claude_plugin(conversation, "validate", plugin).lower()
    if "marketplace" in source or source == "both":
        install_from_marketplace(conversation, plugin)
    if "settings" in source:
        sandbox.holdfast("install")
    for prompt in (PROMPT, "/compact", "Go on.", "/holdfast:brief"):
        conversation.send_prompt(prompt)
    after_compaction, brief_command = conversation.requests("main")[-2:]
    assert_restored(conversation, after_compaction, trigger="manual")
    assert "# Where this session stands" in brief_command.text.rpartition("/holdfast:brief")[2]


def test_a_plugin_without_the_program_warns_the_user_and_does_not_block(
    sandbox: Sandbox, start_conversation: StartConversation, plugin: str, tmp_path: Path
) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("sh", "bash", "env", "nsenter", "git"):
        if path := shutil.which(name):
            (bare / name).symlink_to(path)
    conversation = start_conversation(
        ANSWER, ANSWER, options=("--plugin-dir", plugin), PATH=str(bare)
    )
    lines = conversation.send_prompt(PROMPT)
    assert lines[-1]["is_error"] is False
    warnings = [
        line
        for line in sandbox.transcript(conversation.session_id)
        if NOT_INSTALLED_MESSAGE in str(line)
    ]
    assert [line["attachment"]["hookEvent"] for line in warnings] != []
    assert [r for r in conversation.requests() if NOT_INSTALLED_MESSAGE in r.text] == []
