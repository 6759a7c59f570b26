"""The status line chains an existing command, and is removed without a trace."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.hosts import claude_code, hook_settings
from holdfast.hosts.statusline_settings import (
    add_status_line,
    chain_command,
    chained_command,
    remove_status_line,
)
from holdfast.services.install import registration as action
from holdfast.services.install.registration import (
    InstallOptions,
    plan_install,
    plan_uninstall,
    statusline_command,
)

NEW = "2.1.325"
BOTH = InstallOptions(statusline=True, guard_edits=True)
COMMAND = "\"~/bin/line 'x' \\u00e9\""
MINE = '{\n "statusLine" : {"padding":0, "command": ' + COMMAND + ', "type":"command"} }\n'


class Place:
    def __init__(self, root: Path) -> None:
        self.file = root / "settings.json"
        self.home = str(root / "home")

    def install(
        self, requested: InstallOptions = BOTH, version: str = NEW
    ) -> action.SettingsChange:
        change = plan_install(str(self.file), version, self.home, requested)
        action.install(change, self.home)
        return change

    def uninstall(self) -> None:
        action.uninstall(plan_uninstall(str(self.file), self.home), self.home)

    @property
    def settings(self) -> Any:
        return json.loads(self.file.read_text())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("before", [MINE, "{}", '{"model": "opus"}', None])
def test_the_status_line_is_added_and_removed_byte_for_byte(
    place: Place, before: str | None
) -> None:
    if before is not None:
        place.file.write_text(before)
    place.install()
    assert statusline_command() in place.settings["statusLine"]["command"]
    once = place.file.read_bytes()
    assert not place.install().is_needed
    assert place.file.read_bytes() == once
    place.uninstall()
    assert (place.file.read_text() if place.file.exists() else None) == before


def test_an_existing_command_is_chained_and_keeps_its_other_settings(place: Place) -> None:
    place.file.write_text(MINE)
    place.install()
    entry = place.settings["statusLine"]
    assert shlex.split(entry["command"])[-1] == "~/bin/line 'x' é"
    assert (entry["padding"], entry["type"]) == (0, "command")


def test_a_later_install_keeps_the_status_line(place: Place) -> None:
    place.install()
    once = place.file.read_bytes()
    assert not place.install(InstallOptions()).is_needed
    place.install(InstallOptions(), version="2.1.50")
    assert "holdfast.entry import status_line" in place.settings["statusLine"]["command"]
    assert "PostToolUse" in place.settings["hooks"]
    place.install(InstallOptions())
    assert place.file.read_bytes() == once


def matchers(place: Place) -> list[str]:
    return [entry["matcher"] for entry in place.settings["hooks"].get("PostToolUse", [])]


def test_the_status_line_is_installed_only_on_request(place: Place) -> None:
    place.install(InstallOptions())
    assert "statusLine" not in place.settings
    assert claude_code.EDITING_TOOLS not in matchers(place)


def test_guarded_edits_are_added_to_the_usual_hooks(place: Place) -> None:
    place.install(InstallOptions())
    always = matchers(place)
    place.install()
    assert matchers(place) == [claude_code.EDITING_TOOLS, *always]
    assert "Edit" in claude_code.EDITING_TOOLS.split("|")


def test_hooks_that_write_notes_run_in_the_background(place: Place) -> None:
    place.install(InstallOptions())
    hooks = [hook for one in place.settings["hooks"]["PostToolUse"] for hook in one["hooks"]]
    assert [hook["async"] for hook in hooks] == [True, True]
    assert [hook.get("if") for hook in hooks] == [None, "Bash(*git*commit*)"]


@pytest.mark.parametrize("version", ["", "2.0.14", "2.1.50"])
def test_an_old_client_without_background_hooks_gets_none(place: Place, version: str) -> None:
    place.install(InstallOptions(), version=version)
    assert matchers(place) == []


@pytest.mark.parametrize("version", ["", "2.0.14", "2.1.50"])
def test_an_old_client_gets_only_events_it_knows(place: Place, version: str) -> None:
    place.install(version=version)
    known = {
        *("PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart"),
        *("SessionEnd", "Stop", "SubagentStop", "PreCompact"),
    }
    assert set(place.settings["hooks"]) <= known


def test_a_changed_file_gets_its_own_status_line_back(place: Place) -> None:
    place.file.write_text(MINE)
    place.install()
    place.file.write_text(json.dumps(place.settings | {"theirs": 1}, indent=4))
    place.uninstall()
    assert place.settings == json.loads(MINE) | {"theirs": 1}
    place.file.write_text("{}")
    place.install()
    place.file.write_text(json.dumps(place.settings | {"theirs": 1}))
    place.uninstall()
    assert place.settings == {"theirs": 1}


def test_a_moved_package_chains_the_same_command_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.file.write_text(MINE)
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/old/python")
        place.install()
    place.install()
    command = place.settings["statusLine"]["command"]
    assert "/old/python" not in command
    assert chained_command(command) == "~/bin/line 'x' é"
    place.uninstall()
    assert place.file.read_text() == MINE


@pytest.mark.parametrize("strange", ['{"statusLine": null}', '{"statusLine": {"type": "x"}}'])
def test_a_status_line_that_is_not_a_command_is_left_alone(place: Place, strange: str) -> None:
    place.file.write_text(strange)
    place.install()
    assert place.settings["statusLine"] == json.loads(strange)["statusLine"]
    place.uninstall()
    assert place.file.read_text() == strange


@settings(max_examples=80, deadline=None)
@given(st.text(min_size=1, max_size=30).filter(lambda text: text.strip() and "\0" not in text))
def test_any_chained_command_is_restored_exactly(theirs: str) -> None:
    ours = statusline_command()
    assert chained_command(chain_command(ours, theirs)) == theirs
    before = json.dumps({"statusLine": {"command": theirs}})
    after, splices = add_status_line(before, ours)
    assert json.loads(remove_status_line(after)) == json.loads(before)
    assert splices[0].undo(after) == before
    hook_settings.parse_settings(after, "settings.json")
