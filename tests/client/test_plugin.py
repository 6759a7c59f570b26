"""The real Claude Code with the plugin: from its folder, from a marketplace, and twice."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from .commands import output_of
from .conftest import Converse
from .conversation import HEADLESS, Conversation
from .sandbox import Sandbox
from .story import ANSWER, PROMPT, work
from .test_claude_code import assert_restored

pytestmark = pytest.mark.client

ABSENT = "The Holdfast plugin does nothing yet"
# The plugin names no Python: it finds the program as a user's shell does.
WITH_HOLDFAST = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))


@pytest.fixture
def plugin(sandbox: Sandbox) -> str:
    return sandbox.holdfast("plugin", "build", str(sandbox.root / "plugin")).strip()


def claude_plugin(conversation: Conversation, *words: str) -> str:
    client = conversation.command()[: -len(conversation.options) - len(HEADLESS) - 2]
    sandbox, env = conversation.sandbox, conversation.environment()
    return output_of([*client, "plugin", *words], seconds=60, cwd=sandbox.project, env=env)


def install_from_marketplace(conversation: Conversation, folder: str) -> None:
    claude_plugin(conversation, "marketplace", "add", folder)
    claude_plugin(conversation, "install", "holdfast@holdfast-local")


@pytest.mark.parametrize("way", ["folder", "marketplace", "both", "folder and settings",
                                 "marketplace and settings"])  # fmt: skip
def test_the_brief_arrives_once_whichever_way_it_came(
    sandbox: Sandbox, converse: Converse, plugin: str, way: str
) -> None:
    options = () if "marketplace" in way else ("--plugin-dir", plugin)
    steps = (*work(sandbox.project), ANSWER, ANSWER, ANSWER)
    conversation = converse(*steps, options=options, PATH=WITH_HOLDFAST)
    assert "passed" in claude_plugin(conversation, "validate", plugin).lower()
    if "marketplace" in way or way == "both":
        install_from_marketplace(conversation, plugin)
    if "settings" in way:
        sandbox.holdfast("install")
    for prompt in (PROMPT, "/compact", "Go on.", "/holdfast:brief"):
        conversation.say(prompt)
    after, asked = conversation.requests("main")[-2:]
    assert_restored(conversation, after, trigger="manual")
    assert "# Where this session stands" in asked.text.rpartition("/holdfast:brief")[2]


def test_without_the_program_the_client_works_on_and_says_so(
    sandbox: Sandbox, converse: Converse, plugin: str, tmp_path: Path
) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("sh", "bash", "env", "nsenter", "git"):
        if found := shutil.which(name):
            (bare / name).symlink_to(found)
    conversation = converse(ANSWER, ANSWER, options=("--plugin-dir", plugin), PATH=str(bare))
    lines = conversation.say(PROMPT)
    assert lines[-1]["is_error"] is False
    told = [line for line in sandbox.transcript(conversation.session_id) if ABSENT in str(line)]
    assert [line["attachment"]["hookEvent"] for line in told] != []
    assert [one for one in conversation.requests() if ABSENT in one.text] == []
