"""Installing changes as little as possible; uninstalling restores the same bytes."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.services.install import registration as action
from holdfast.services.install import undo_record
from holdfast.services.install.registration import hook_command
from tests.unit.hosts.settings_documents import blank, documents
from tests.unit.services.install.installation import (
    NEW_VERSION,
    OLD_VERSION,
    OTHER_SETTINGS,
    Installation,
    new_installation,
)

FEW_EXAMPLES = settings(max_examples=25, deadline=None)
files = (documents() | blank).map(lambda text: text.encode("utf-8"))


@FEW_EXAMPLES
@given(files, st.sampled_from([NEW_VERSION, OLD_VERSION, ""]))
def test_install_and_uninstall_give_the_same_bytes(data: bytes, version: str) -> None:
    with new_installation(data) as installation:
        installation.install(version)
        assert installation.file.read_bytes() != data
        assert installation.uninstall().note == "as it was, byte for byte"
        assert installation.file.read_bytes() == data
        assert os.listdir(installation.file.parent) == ["settings.json"]


@FEW_EXAMPLES
@given(files)
def test_a_second_install_changes_nothing(data: bytes) -> None:
    with new_installation(data) as installation:
        installation.install()
        installed = installation.file.read_bytes()
        assert not installation.install().is_needed
        assert installation.file.read_bytes() == installed
        installation.uninstall()
        assert installation.file.read_bytes() == data


@FEW_EXAMPLES
@given(files, st.sampled_from([2, "\t", None]))
def test_other_changes_to_the_file_survive_uninstalling(
    data: bytes, indent: int | str | None
) -> None:
    with new_installation(data) as installation:
        text = data.decode("utf-8-sig")
        before = json.loads(text) if text.strip() else {}
        installation.install()
        changed = installation.settings() | {"other": ["new"]}
        installation.write(json.dumps(changed, indent=indent).encode())
        installation.uninstall()
        assert installation.settings() == before | {"other": ["new"]}


def test_bytes_that_are_not_utf_8_are_kept(installation: Installation) -> None:
    data = b'{"name": "caf\xe9 \xff"}'
    installation.write(data)
    installation.install()
    assert b'"caf\xe9 \xff"' in installation.file.read_bytes()
    installation.uninstall()
    assert installation.file.read_bytes() == data


@pytest.mark.parametrize("version", ["", "2.0.14", "2.1.50", "2.1.197", "2.1.325"])
def test_the_registered_events_depend_on_the_client_version(
    installation: Installation, version: str
) -> None:
    installation.install(version)
    new_events = ["PostCompact", "SubagentStart", "UserPromptExpansion", "PostToolUse"]
    old_events = [
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
        "SubagentStop",
        "PreCompact",
        "SessionEnd",
    ]
    assert list(installation.settings()["hooks"]) == old_events + new_events * (
        version in ("2.1.197", "2.1.325")
    )


def test_every_event_runs_the_same_command_within_a_time_limit(installation: Installation) -> None:
    installation.install()
    assert {*installation.our_entries()} == {*installation.settings()["hooks"]}
    assert {
        command for commands in installation.our_entries().values() for command in commands
    } == {hook_command()}
    hooks = [
        (event, hook)
        for event, entries in installation.settings()["hooks"].items()
        for entry in entries
        for hook in entry["hooks"]
    ]
    assert {hook["type"] for _, hook in hooks} == {"command"}
    # The host limits SessionEnd hooks itself; a timeout in the file would make it wait longer.
    assert {event for event, hook in hooks if "timeout" not in hook} == {"SessionEnd"}


def test_installing_for_an_older_client_removes_unsupported_events(
    installation: Installation,
) -> None:
    installation.write(OTHER_SETTINGS)
    installation.install(NEW_VERSION)
    installation.install(OLD_VERSION)
    assert "PostCompact" not in installation.our_entries()
    assert all(len(commands) == 1 for commands in installation.our_entries().values())
    installation.uninstall()
    assert installation.file.read_bytes() == OTHER_SETTINGS


@pytest.mark.parametrize("data", [OTHER_SETTINGS, None])
def test_installing_from_a_new_path_replaces_the_old_entries(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, data: bytes | None
) -> None:
    if data:
        installation.write(data)
    installation.install()
    new_command = "/new/python -c 'from holdfast.entry import hook; hook()'"
    monkeypatch.setattr(action, "hook_command", lambda: new_command)
    installation.install()
    assert {
        command for commands in installation.our_entries().values() for command in commands
    } == {new_command}
    installation.uninstall()
    assert (installation.file.read_bytes() if data else installation.file.parent.exists()) == (
        data or False
    )


def test_installing_removes_duplicated_entries(installation: Installation) -> None:
    installation.install()
    single = installation.settings()
    doubled = installation.settings()
    doubled["hooks"]["Stop"] *= 2
    installation.write(json.dumps(doubled).encode())
    installation.install()
    assert installation.settings() == single


def test_uninstall_deletes_files_and_folders_that_install_created(
    installation: Installation,
) -> None:
    installation.file = installation.root / "a" / "b" / ".claude" / "settings.json"
    installation.install()
    assert installation.uninstall().note == "the install created this file, so it is deleted"
    assert list(installation.root.iterdir()) == []


def test_a_created_folder_with_other_files_is_kept(installation: Installation) -> None:
    installation.install()
    (installation.file.parent / "CLAUDE.md").write_text("notes", encoding="utf-8")
    installation.uninstall()
    assert os.listdir(installation.file.parent) == ["CLAUDE.md"]


def test_a_folder_that_existed_before_is_kept(installation: Installation) -> None:
    installation.file.parent.mkdir()
    installation.install()
    installation.uninstall()
    assert installation.file.parent.is_dir()


def test_a_created_file_with_other_settings_is_kept(installation: Installation) -> None:
    installation.install()
    installation.write(json.dumps(installation.settings() | {"model": "opus"}).encode())
    installation.uninstall()
    assert installation.settings() == {"model": "opus"}


def test_a_created_file_is_deleted_even_if_it_was_reformatted(installation: Installation) -> None:
    installation.install()
    installation.write(json.dumps(installation.settings(), indent=8).encode())
    installation.uninstall()
    assert not installation.file.parent.exists()


def test_uninstalling_without_an_install_changes_nothing(installation: Installation) -> None:
    assert not installation.uninstall().is_needed
    installation.write(OTHER_SETTINGS)
    assert not installation.uninstall().is_needed
    assert installation.file.read_bytes() == OTHER_SETTINGS


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"path": 1}', b'{"splices": [[1]]}'])
def test_entries_are_removed_even_if_the_undo_record_is_damaged(
    installation: Installation, damage: bytes
) -> None:
    installation.write(OTHER_SETTINGS)
    installation.install()
    Path(undo_record.record_path(installation.home, str(installation.file))).write_bytes(damage)
    installation.uninstall()
    assert installation.settings() == json.loads(OTHER_SETTINGS)
    assert undo_record.list_installed_files(installation.home) == []


def test_a_wrong_undo_record_does_not_damage_the_file(installation: Installation) -> None:
    installation.write(OTHER_SETTINGS)
    installation.install()
    record = Path(undo_record.record_path(installation.home, str(installation.file)))
    fields = json.loads(record.read_text(encoding="utf-8"))
    fields["splices"] = [[3, "gone", "what was there"]]
    record.write_text(json.dumps(fields), encoding="utf-8")
    installation.uninstall()
    assert installation.settings() == json.loads(OTHER_SETTINGS)


def test_undo_records_list_the_installed_files(installation: Installation) -> None:
    assert undo_record.list_installed_files(installation.home) == []
    installation.install()
    assert undo_record.list_installed_files(installation.home) == [str(installation.file)]
    record = Path(undo_record.record_path(installation.home, str(installation.file)))
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(installation.home).stat().st_mode) == 0o700


def run_hook(command: str, home: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["sh", "-c", command], input=b"{}", capture_output=True, check=False,
        env={"HOLDFAST_HOME": str(home), "TMPDIR": str(home)},
    )  # fmt: skip


def test_the_command_works_in_a_shell_and_without_an_environment(tmp_path: Path) -> None:
    process = run_hook(hook_command(), tmp_path)
    assert (process.returncode, process.stdout, process.stderr) == (0, b"", b"")
    assert "no host sends such a payload" in (tmp_path / "holdfast.log").read_text()


def test_a_missing_package_does_not_block_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing_folder = tmp_path / 'it\'s "gone" $HOME'
    monkeypatch.setattr(holdfast, "__file__", str(missing_folder / "holdfast" / "__init__.py"))
    process = run_hook(hook_command(), tmp_path)
    assert process.returncode == 1
    assert b"No module named 'holdfast'" in process.stderr


def test_the_command_contains_the_absolute_path_of_this_python() -> None:
    arguments = shlex.split(hook_command())
    assert arguments[:4] == [sys.executable, "-I", "-S", "-c"]
    assert os.path.isabs(arguments[0])
    assert os.path.dirname(os.path.dirname(holdfast.__file__)) in arguments[4]
