"""The status line chains an existing command, and uninstalling restores it."""

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

NEW_VERSION = "2.1.325"
ALL_OPTIONS = InstallOptions(statusline=True, guard_edits=True)
OLD_COMMAND = "\"~/bin/line 'x' \\u00e9\""
OLD_SETTINGS = (
    '{\n "statusLine" : {"padding":0, "command": ' + OLD_COMMAND + ', "type":"command"} }\n'
)


class Installation:
    """A settings file with the status line, and a home folder for Holdfast."""

    def __init__(self, root: Path) -> None:
        self.file = root / "settings.json"
        self.home = str(root / "home")

    def install(
        self, options: InstallOptions = ALL_OPTIONS, version: str = NEW_VERSION
    ) -> action.SettingsChange:
        change = plan_install(str(self.file), version, self.home, options)
        action.install(change, self.home)
        return change

    def uninstall(self) -> None:
        action.uninstall(plan_uninstall(str(self.file), self.home), self.home)

    @property
    def settings(self) -> Any:
        return json.loads(self.file.read_text())


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


@pytest.mark.parametrize("before", [OLD_SETTINGS, "{}", '{"model": "opus"}', None])
def test_the_status_line_is_added_and_uninstall_restores_the_same_bytes(
    installation: Installation, before: str | None
) -> None:
    if before is not None:
        installation.file.write_text(before)
    installation.install()
    assert statusline_command() in installation.settings["statusLine"]["command"]
    installed = installation.file.read_bytes()
    assert not installation.install().is_needed
    assert installation.file.read_bytes() == installed
    installation.uninstall()
    assert (installation.file.read_text() if installation.file.exists() else None) == before


def test_an_existing_command_is_chained_and_keeps_its_other_settings(
    installation: Installation,
) -> None:
    installation.file.write_text(OLD_SETTINGS)
    installation.install()
    entry = installation.settings["statusLine"]
    assert shlex.split(entry["command"])[-1] == "~/bin/line 'x' é"
    assert (entry["padding"], entry["type"]) == (0, "command")


def test_a_later_install_without_the_option_keeps_the_status_line(
    installation: Installation,
) -> None:
    installation.install()
    installed = installation.file.read_bytes()
    assert not installation.install(InstallOptions()).is_needed
    installation.install(InstallOptions(), version="2.1.50")
    assert "holdfast.entry import status_line" in installation.settings["statusLine"]["command"]
    assert "PostToolUse" in installation.settings["hooks"]
    installation.install(InstallOptions())
    assert installation.file.read_bytes() == installed


def matchers(installation: Installation) -> list[str]:
    return [entry["matcher"] for entry in installation.settings["hooks"].get("PostToolUse", [])]


def test_the_status_line_is_installed_only_on_request(installation: Installation) -> None:
    installation.install(InstallOptions())
    assert "statusLine" not in installation.settings
    assert claude_code.EDITING_TOOLS not in matchers(installation)


def test_guarded_edits_are_added_to_the_usual_hooks(installation: Installation) -> None:
    installation.install(InstallOptions())
    usual_matchers = matchers(installation)
    installation.install()
    assert matchers(installation) == [claude_code.EDITING_TOOLS, *usual_matchers]
    assert "Edit" in claude_code.EDITING_TOOLS.split("|")


def test_hooks_that_write_notes_run_in_the_background(installation: Installation) -> None:
    installation.install(InstallOptions())
    hooks = [
        hook for entry in installation.settings["hooks"]["PostToolUse"] for hook in entry["hooks"]
    ]
    assert [hook["async"] for hook in hooks] == [True, True]
    assert [hook.get("if") for hook in hooks] == [None, "Bash(*git*commit*)"]


@pytest.mark.parametrize("version", ["", "2.0.14", "2.1.50"])
def test_an_old_client_gets_no_background_hooks(installation: Installation, version: str) -> None:
    installation.install(InstallOptions(), version=version)
    assert matchers(installation) == []


@pytest.mark.parametrize("version", ["", "2.0.14", "2.1.50"])
def test_an_old_client_gets_only_events_that_it_supports(
    installation: Installation, version: str
) -> None:
    installation.install(version=version)
    supported = {
        *("PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "SessionStart"),
        *("SessionEnd", "Stop", "SubagentStop", "PreCompact"),
    }
    assert set(installation.settings["hooks"]) <= supported


def test_uninstall_restores_the_status_line_in_a_file_that_was_changed(
    installation: Installation,
) -> None:
    installation.file.write_text(OLD_SETTINGS)
    installation.install()
    installation.file.write_text(json.dumps(installation.settings | {"other": 1}, indent=4))
    installation.uninstall()
    assert installation.settings == json.loads(OLD_SETTINGS) | {"other": 1}
    installation.file.write_text("{}")
    installation.install()
    installation.file.write_text(json.dumps(installation.settings | {"other": 1}))
    installation.uninstall()
    assert installation.settings == {"other": 1}


def test_installing_from_a_new_path_chains_the_same_command(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.file.write_text(OLD_SETTINGS)
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/old/python")
        installation.install()
    installation.install()
    command = installation.settings["statusLine"]["command"]
    assert "/old/python" not in command
    assert chained_command(command) == "~/bin/line 'x' é"
    installation.uninstall()
    assert installation.file.read_text() == OLD_SETTINGS


@pytest.mark.parametrize("other_entry", ['{"statusLine": null}', '{"statusLine": {"type": "x"}}'])
def test_a_status_line_that_is_not_a_command_is_left_alone(
    installation: Installation, other_entry: str
) -> None:
    installation.file.write_text(other_entry)
    installation.install()
    assert installation.settings["statusLine"] == json.loads(other_entry)["statusLine"]
    installation.uninstall()
    assert installation.file.read_text() == other_entry


@settings(max_examples=80, deadline=None)
@given(st.text(min_size=1, max_size=30).filter(lambda text: text.strip() and "\0" not in text))
def test_any_chained_command_is_restored_exactly(old_command: str) -> None:
    our_command = statusline_command()
    assert chained_command(chain_command(our_command, old_command)) == old_command
    before = json.dumps({"statusLine": {"command": old_command}})
    after, splices = add_status_line(before, our_command)
    assert json.loads(remove_status_line(after)) == json.loads(before)
    assert splices[0].undo(after) == before
    hook_settings.parse_settings(after, "settings.json")
