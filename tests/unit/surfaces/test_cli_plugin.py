"""`holdfast plugin build`: the same hooks, and commands to type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.brief.front_matter import parse
from holdfast.hosts import claude_code
from tests.unit.surfaces.conftest import Terminal


def test_a_plugin_has_hooks_commands_and_a_skill(terminal: Terminal) -> None:
    terminal.claude("2.1.325")
    done = terminal.run("plugin", "build", "out")
    assert done.code == 0
    folder = Path(done.out.strip())
    told = json.loads((folder / ".claude-plugin" / "plugin.json").read_text())
    assert told["name"] == "holdfast"
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    assert list(hooks) == claude_code.events_for((2, 1, 325))
    assert {path.stem for path in folder.glob("commands/*.md")} == {
        "brief", "note", "recall", "status"
    }  # fmt: skip
    for file in (*folder.glob("commands/*.md"), folder / "skills" / "recall" / "SKILL.md"):
        front, body = parse(file.read_text())
        assert front["description"]
        assert " -m holdfast " in body
        assert "{program}" not in body


@pytest.mark.parametrize("version", ["2.0.14", "2.1.50"])
def test_an_old_client_gets_only_events_it_knows(terminal: Terminal, version: str) -> None:
    terminal.claude(version)
    terminal.run("plugin", "build", "out")
    hooks = json.loads((terminal.project / "out" / "hooks" / "hooks.json").read_text())["hooks"]
    assert set(hooks).isdisjoint({"PostCompact", "SubagentStart", "UserPromptExpansion"})


def test_building_again_changes_nothing_and_a_strange_folder_is_left_alone(
    terminal: Terminal,
) -> None:
    terminal.run("plugin", "build", "out")
    before = terminal.everything()
    assert terminal.run("plugin", "build", "out").code == 0
    assert terminal.everything() == before
    (terminal.project / "mine").mkdir()
    (terminal.project / "mine" / "file").touch()
    done = terminal.run("plugin", "build", "mine")
    assert done.code == 1
    assert "not empty" in done.err
