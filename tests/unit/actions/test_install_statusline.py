"""The gauge goes around the status line that is there, and out again without a trace."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.actions import install as action
from holdfast.actions.install import Options, plan_install, plan_uninstall, statusline_command
from holdfast.hosts import claude_code, hook_settings
from holdfast.hosts.statusline_settings import add, take_out, wrapped_in, wrapping

NEW = "2.1.325"
BOTH = Options(statusline=True, guard_edits=True)
COMMAND = "\"~/bin/line 'x' \\u00e9\""
MINE = '{\n "statusLine" : {"padding":0, "command": ' + COMMAND + ', "type":"command"} }\n'


class Place:
    def __init__(self, root: Path) -> None:
        self.file = root / "settings.json"
        self.home = str(root / "home")

    def install(self, asked: Options = BOTH, version: str = NEW) -> action.Change:
        change = plan_install(str(self.file), version, self.home, asked)
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
def test_it_comes_and_goes_byte_for_byte(place: Place, before: str | None) -> None:
    if before is not None:
        place.file.write_text(before)
    place.install()
    assert statusline_command() in place.settings["statusLine"]["command"]
    once = place.file.read_bytes()
    assert not place.install().is_needed
    assert place.file.read_bytes() == once
    place.uninstall()
    assert (place.file.read_text() if place.file.exists() else None) == before


def test_what_was_there_becomes_the_last_word_and_keeps_its_other_settings(place: Place) -> None:
    place.file.write_text(MINE)
    place.install()
    told = place.settings["statusLine"]
    assert shlex.split(told["command"])[-1] == "~/bin/line 'x' é"
    assert (told["padding"], told["type"]) == (0, "command")


def test_once_asked_for_another_install_keeps_it(place: Place) -> None:
    place.install()
    once = place.file.read_bytes()
    assert not place.install(Options()).is_needed
    place.install(Options(), version="2.1.50")
    assert "holdfast.surfaces.statusline" in place.settings["statusLine"]["command"]
    assert "PostToolUse" in place.settings["hooks"]
    place.install(Options())
    assert place.file.read_bytes() == once


def matchers(place: Place) -> list[str]:
    return [entry["matcher"] for entry in place.settings["hooks"].get("PostToolUse", [])]


def test_it_is_not_there_unless_asked_for(place: Place) -> None:
    place.install(Options())
    assert "statusLine" not in place.settings
    assert claude_code.EDITING_TOOLS not in matchers(place)


def test_edits_are_watched_beside_what_is_always_there(place: Place) -> None:
    place.install(Options())
    always = matchers(place)
    place.install()
    assert matchers(place) == [claude_code.EDITING_TOOLS, *always]
    assert "Edit" in claude_code.EDITING_TOOLS.split("|")


def test_nobody_waits_for_the_hooks_that_keep_notes(place: Place) -> None:
    place.install(Options())
    hooks = [hook for one in place.settings["hooks"]["PostToolUse"] for hook in one["hooks"]]
    assert [hook["async"] for hook in hooks] == [True, True]
    assert [hook.get("if") for hook in hooks] == [None, "Bash(*git*commit*)"]


@pytest.mark.parametrize("version", ["", "2.0.14", "2.1.50"])
def test_an_old_client_would_wait_and_gets_none_of_them(place: Place, version: str) -> None:
    place.install(Options(), version=version)
    assert matchers(place) == []


@pytest.mark.parametrize("version", ["", "2.0.14", "2.1.50"])
def test_an_old_client_gets_only_events_it_knows_whatever_was_asked_for(
    place: Place, version: str
) -> None:
    place.install(version=version)
    known = {
        *("PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart"),
        *("SessionEnd", "Stop", "SubagentStop", "PreCompact"),
    }
    assert set(place.settings["hooks"]) <= known


def test_a_file_that_changed_since_gets_its_own_line_back(place: Place) -> None:
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


def test_a_package_that_moved_wraps_the_same_line_anew(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.file.write_text(MINE)
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/old/python")
        place.install()
    place.install()
    command = place.settings["statusLine"]["command"]
    assert "/old/python" not in command
    assert wrapped_in(command) == "~/bin/line 'x' é"
    place.uninstall()
    assert place.file.read_text() == MINE


@pytest.mark.parametrize("strange", ['{"statusLine": null}', '{"statusLine": {"type": "x"}}'])
def test_a_status_line_that_is_no_command_is_left_alone(place: Place, strange: str) -> None:
    place.file.write_text(strange)
    place.install()
    assert place.settings["statusLine"] == json.loads(strange)["statusLine"]
    place.uninstall()
    assert place.file.read_text() == strange


@settings(max_examples=80, deadline=None)
@given(st.text(min_size=1, max_size=30).filter(lambda text: text.strip() and "\0" not in text))
def test_any_command_comes_back_as_it_was(theirs: str) -> None:
    ours = statusline_command()
    assert wrapped_in(wrapping(ours, theirs)) == theirs
    before = json.dumps({"statusLine": {"command": theirs}})
    after, splices = add(before, ours)
    assert json.loads(take_out(after)) == json.loads(before)
    assert splices[0].undo(after) == before
    hook_settings.parse(after, "settings.json")
