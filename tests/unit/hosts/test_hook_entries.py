"""Whether Holdfast is installed is read from the hook entries of a settings file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts import hook_entries
from holdfast.hosts.hook_entries import HOOK_MARKERS, registers_our_hooks
from holdfast.services.install.registration import hook_command

COMMAND = hook_command()
GROUP = {"matcher": "", "hooks": [{"type": "command", "command": COMMAND}]}


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_hook_entry_counts(tmp_path: Path, start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_entries, "only_this_installation", True)
    entry = {"hooks": [{"type": "command", "command": COMMAND}]}
    file = tmp_path / "settings.json"
    file.write_text(start + json.dumps({"hooks": {"PreCompact": [entry]}}))
    assert registers_our_hooks(str(file))


@pytest.mark.parametrize(
    "command",
    [
        f"true # {HOOK_MARKERS[0]}",
        f"python3 -I -S -c 'from {HOOK_MARKERS[0]}; hook()'",
        f"true {COMMAND}",
        f"{sys.executable} -c 'pass # {HOOK_MARKERS[0]}'",
    ],
)
def test_in_a_hook_a_command_that_only_looks_like_ours_does_not(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cloned repository could keep the plugin's hooks from running otherwise."""
    monkeypatch.setattr(hook_entries, "only_this_installation", True)
    file = tmp_path / "settings.json"
    entry = {"hooks": [{"type": "command", "command": command}]}
    file.write_text(json.dumps({"hooks": {"PreCompact": [entry]}}))
    assert not registers_our_hooks(str(file))


@pytest.mark.parametrize(
    "settings",
    [
        {"description": COMMAND},
        {"hooks": COMMAND},
        {"hooks": {"PreCompact": COMMAND}},
        {"hooks": {"PreCompact": [COMMAND]}},
        {"hooks": {"PreCompact": [{"matcher": COMMAND, "hooks": []}]}},
        {"hooks": {"PreCompact": [{"hooks": [{"type": "command", "statusMessage": COMMAND}]}]}},
        {"disabled": {"hooks": {"PreCompact": [GROUP]}}},
        [COMMAND],
        COMMAND,
    ],
)
def test_the_command_elsewhere_in_the_file_does_not(tmp_path: Path, settings: Any) -> None:
    """A cloned repository could keep the plugin's hooks from running otherwise."""
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(settings))
    assert not registers_our_hooks(str(file))


@pytest.mark.parametrize("text", ["", f"// {COMMAND}", "[" * 100_000])
def test_a_file_that_cannot_be_parsed_registers_nothing(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text)
    assert not registers_our_hooks(str(file))
    assert not registers_our_hooks(str(tmp_path / "missing"))
