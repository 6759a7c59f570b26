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
from tests.unit.hosts.documents import blank, documents
from tests.unit.services.install.installed import NEW, OLD, OTHERS, Place, new_place

FEW = settings(max_examples=25, deadline=None)
files = (documents() | blank).map(lambda text: text.encode("utf-8"))


@FEW
@given(files, st.sampled_from([NEW, OLD, ""]))
def test_install_and_uninstall_give_the_same_bytes(data: bytes, version: str) -> None:
    with new_place(data) as place:
        place.install(version)
        assert place.file.read_bytes() != data
        assert place.uninstall().note == "as it was, byte for byte"
        assert place.file.read_bytes() == data
        assert os.listdir(place.file.parent) == ["settings.json"]


@FEW
@given(files)
def test_installing_twice_is_installing_once(data: bytes) -> None:
    with new_place(data) as place:
        place.install()
        once = place.file.read_bytes()
        assert not place.install().is_needed
        assert place.file.read_bytes() == once
        place.uninstall()
        assert place.file.read_bytes() == data


@FEW
@given(files, st.sampled_from([2, "\t", None]))
def test_other_changes_to_the_file_survive_uninstalling(
    data: bytes, indent: int | str | None
) -> None:
    with new_place(data) as place:
        text = data.decode("utf-8-sig")
        before = json.loads(text) if text.strip() else {}
        place.install()
        changed = place.settings() | {"theirs": ["new"]}
        place.write(json.dumps(changed, indent=indent).encode())
        place.uninstall()
        assert place.settings() == before | {"theirs": ["new"]}


def test_bytes_that_are_not_utf_8_are_kept(place: Place) -> None:
    data = b'{"name": "caf\xe9 \xff"}'
    place.write(data)
    place.install()
    assert b'"caf\xe9 \xff"' in place.file.read_bytes()
    place.uninstall()
    assert place.file.read_bytes() == data


@pytest.mark.parametrize("version", ["", "2.0.14", "2.1.50", "2.1.197", "2.1.325"])
def test_the_events_are_those_that_the_client_knows(place: Place, version: str) -> None:
    place.install(version)
    newer = ["PostCompact", "SubagentStart", "UserPromptExpansion", "PostToolUse"]
    old = ["SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd"]
    assert list(place.settings()["hooks"]) == old + newer * (version in ("2.1.197", "2.1.325"))


def test_every_event_runs_the_same_command_within_a_time_limit(place: Place) -> None:
    place.install()
    assert {*place.ours()} == {*place.settings()["hooks"]}
    assert {command for listed in place.ours().values() for command in listed} == {hook_command()}
    hooks = [
        (event, hook)
        for event, entries in place.settings()["hooks"].items()
        for one in entries
        for hook in one["hooks"]
    ]
    assert {hook["type"] for _, hook in hooks} == {"command"}
    # The host ends SessionEnd hooks by itself; a limit of ours would only make it wait longer.
    assert {event for event, hook in hooks if "timeout" not in hook} == {"SessionEnd"}


def test_a_downgraded_client_loses_the_events_it_does_not_know(place: Place) -> None:
    place.write(OTHERS)
    place.install(NEW)
    place.install(OLD)
    assert "PostCompact" not in place.ours()
    assert all(len(commands) == 1 for commands in place.ours().values())
    place.uninstall()
    assert place.file.read_bytes() == OTHERS


@pytest.mark.parametrize("data", [OTHERS, None])
def test_a_moved_package_replaces_its_old_entries(
    place: Place, monkeypatch: pytest.MonkeyPatch, data: bytes | None
) -> None:
    if data:
        place.write(data)
    place.install()
    moved = "/new/python -c 'from holdfast.entry import hook; hook()'"
    monkeypatch.setattr(action, "hook_command", lambda: moved)
    place.install()
    assert {command for listed in place.ours().values() for command in listed} == {moved}
    place.uninstall()
    assert (place.file.read_bytes() if data else place.file.parent.exists()) == (data or False)


def test_duplicated_entries_are_single_again(place: Place) -> None:
    place.install()
    single = place.settings()
    doubled = place.settings()
    doubled["hooks"]["Stop"] *= 2
    place.write(json.dumps(doubled).encode())
    place.install()
    assert place.settings() == single


def test_what_install_created_is_gone_after_uninstall(place: Place) -> None:
    place.file = place.root / "a" / "b" / ".claude" / "settings.json"
    place.install()
    assert place.uninstall().note == "the install created this file, so it is deleted"
    assert list(place.root.iterdir()) == []


def test_a_created_folder_that_others_use_stays(place: Place) -> None:
    place.install()
    (place.file.parent / "CLAUDE.md").write_text("theirs", encoding="utf-8")
    place.uninstall()
    assert os.listdir(place.file.parent) == ["CLAUDE.md"]


def test_a_folder_that_existed_before_stays(place: Place) -> None:
    place.file.parent.mkdir()
    place.install()
    place.uninstall()
    assert place.file.parent.is_dir()


def test_a_created_file_stays_if_others_wrote_to_it(place: Place) -> None:
    place.install()
    place.write(json.dumps(place.settings() | {"model": "opus"}).encode())
    place.uninstall()
    assert place.settings() == {"model": "opus"}


def test_a_created_file_is_deleted_also_after_reformatting(place: Place) -> None:
    place.install()
    place.write(json.dumps(place.settings(), indent=8).encode())
    place.uninstall()
    assert not place.file.parent.exists()


def test_uninstalling_without_an_install_changes_nothing(place: Place) -> None:
    assert not place.uninstall().is_needed
    place.write(OTHERS)
    assert not place.uninstall().is_needed
    assert place.file.read_bytes() == OTHERS


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"path": 1}', b'{"splices": [[1]]}'])
def test_without_a_readable_record_the_entries_are_still_removed(
    place: Place, damage: bytes
) -> None:
    place.write(OTHERS)
    place.install()
    Path(undo_record.record_path(place.home, str(place.file))).write_bytes(damage)
    place.uninstall()
    assert place.settings() == json.loads(OTHERS)
    assert undo_record.list_installed_files(place.home) == []


def test_a_wrong_record_does_not_harm_the_file(place: Place) -> None:
    place.write(OTHERS)
    place.install()
    record = Path(undo_record.record_path(place.home, str(place.file)))
    fields = json.loads(record.read_text(encoding="utf-8"))
    fields["splices"] = [[3, "gone", "what was there"]]
    record.write_text(json.dumps(fields), encoding="utf-8")
    place.uninstall()
    assert place.settings() == json.loads(OTHERS)


def test_records_list_the_installed_files(place: Place) -> None:
    assert undo_record.list_installed_files(place.home) == []
    place.install()
    assert undo_record.list_installed_files(place.home) == [str(place.file)]
    record = Path(undo_record.record_path(place.home, str(place.file)))
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(place.home).stat().st_mode) == 0o700


def run_hook(command: str, home: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["sh", "-c", command], input=b"{}", capture_output=True, check=False,
        env={"HOLDFAST_HOME": str(home), "TMPDIR": str(home)},
    )  # fmt: skip


def test_the_command_works_in_a_shell_and_without_an_environment(tmp_path: Path) -> None:
    done = run_hook(hook_command(), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "no host sends such a payload" in (tmp_path / "holdfast.log").read_text()


def test_a_missing_package_does_not_block_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange = tmp_path / 'it\'s "gone" $HOME'
    monkeypatch.setattr(holdfast, "__file__", str(strange / "holdfast" / "__init__.py"))
    done = run_hook(hook_command(), tmp_path)
    assert done.returncode == 1
    assert b"No module named 'holdfast'" in done.stderr


def test_the_command_names_this_python_by_its_absolute_path() -> None:
    words = shlex.split(hook_command())
    assert words[:4] == [sys.executable, "-I", "-S", "-c"]
    assert os.path.isabs(words[0])
    assert os.path.dirname(os.path.dirname(holdfast.__file__)) in words[4]
