"""Installing changes as little as can be, and uninstalling gives back the same bytes."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.actions import install as action
from holdfast.actions import install_record
from holdfast.actions.install import hook_command, plan_install, plan_uninstall
from holdfast.errors import SettingsFileUnusable
from holdfast.hosts import hook_settings
from tests.unit.hosts.documents import blank, documents
from tests.weather import read_only

NEW, OLD = "2.1.325", "2.1.50"
OTHERS = b'{\n    "model": "opus",\n    "hooks": {"Stop": [{"hooks": [{"command": "say"}]}]}\n}'
FEW = settings(max_examples=25, deadline=None)


class Place:
    """A settings file that need not be there, and a home for Holdfast."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root / "claude" / "settings.json"
        self.home = str(root / "home")

    def write(self, data: bytes) -> None:
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_bytes(data)

    def install(self, version: str = NEW) -> action.Change:
        change = plan_install(str(self.file), version, self.home)
        action.install(change, self.home)
        return change

    def uninstall(self) -> action.Change:
        change = plan_uninstall(str(self.file), self.home)
        action.uninstall(change, self.home)
        return change

    def settings(self) -> Any:
        return json.loads(self.file.read_text(encoding="utf-8-sig"))

    def ours(self) -> dict[str, list[str]]:
        return hook_settings.registered(self.settings())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@contextmanager
def new_place(data: bytes) -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        place.write(data)
        yield place


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
def test_a_change_of_others_meanwhile_survives_uninstalling(
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


def test_bytes_that_are_not_utf_8_come_back(place: Place) -> None:
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


def test_a_client_that_became_older_loses_the_event_it_does_not_know(place: Place) -> None:
    place.write(OTHERS)
    place.install(NEW)
    place.install(OLD)
    assert "PostCompact" not in place.ours()
    assert all(len(commands) == 1 for commands in place.ours().values())
    place.uninstall()
    assert place.file.read_bytes() == OTHERS


@pytest.mark.parametrize("data", [OTHERS, None])
def test_a_package_that_moved_replaces_its_old_entries(
    place: Place, monkeypatch: pytest.MonkeyPatch, data: bytes | None
) -> None:
    if data:
        place.write(data)
    place.install()
    moved = "/new/python -c 'from holdfast.surfaces.hook import main; main()'"
    monkeypatch.setattr(action, "hook_command", lambda: moved)
    place.install()
    assert {command for listed in place.ours().values() for command in listed} == {moved}
    place.uninstall()
    assert (place.file.read_bytes() if data else place.file.parent.exists()) == (data or False)


def test_entries_that_somebody_doubled_are_single_again(place: Place) -> None:
    place.install()
    single = place.settings()
    doubled = place.settings()
    doubled["hooks"]["Stop"] *= 2
    place.write(json.dumps(doubled).encode())
    place.install()
    assert place.settings() == single


def test_what_install_made_is_gone_after_uninstall(place: Place) -> None:
    place.file = place.root / "a" / "b" / ".claude" / "settings.json"
    place.install()
    assert place.uninstall().note == "the install made this file, so it goes"
    assert list(place.root.iterdir()) == []


def test_a_folder_that_others_use_by_now_stays(place: Place) -> None:
    place.install()
    (place.file.parent / "CLAUDE.md").write_text("theirs", encoding="utf-8")
    place.uninstall()
    assert os.listdir(place.file.parent) == ["CLAUDE.md"]


def test_a_folder_that_was_there_before_stays(place: Place) -> None:
    place.file.parent.mkdir()
    place.install()
    place.uninstall()
    assert place.file.parent.is_dir()


def test_a_file_that_install_made_stays_if_others_wrote_to_it(place: Place) -> None:
    place.install()
    place.write(json.dumps(place.settings() | {"model": "opus"}).encode())
    place.uninstall()
    assert place.settings() == {"model": "opus"}


def test_a_file_that_install_made_goes_also_in_another_layout(place: Place) -> None:
    place.install()
    place.write(json.dumps(place.settings(), indent=8).encode())
    place.uninstall()
    assert not place.file.parent.exists()


def test_uninstalling_where_nothing_is_changes_nothing(place: Place) -> None:
    assert not place.uninstall().is_needed
    place.write(OTHERS)
    assert not place.uninstall().is_needed
    assert place.file.read_bytes() == OTHERS


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"path": 1}', b'{"splices": [[1]]}'])
def test_without_a_readable_record_our_entries_still_go(place: Place, damage: bytes) -> None:
    place.write(OTHERS)
    place.install()
    Path(install_record.place(place.home, str(place.file))).write_bytes(damage)
    place.uninstall()
    assert place.settings() == json.loads(OTHERS)
    assert install_record.paths(place.home) == []


def test_a_record_that_lies_does_not_harm_the_file(place: Place) -> None:
    place.write(OTHERS)
    place.install()
    record = Path(install_record.place(place.home, str(place.file)))
    told = json.loads(record.read_text(encoding="utf-8"))
    told["splices"] = [[3, "gone", "what was there"]]
    record.write_text(json.dumps(told), encoding="utf-8")
    place.uninstall()
    assert place.settings() == json.loads(OTHERS)


def test_records_tell_where_we_are_installed(place: Place) -> None:
    assert install_record.paths(place.home) == []
    place.install()
    assert install_record.paths(place.home) == [str(place.file)]
    record = Path(install_record.place(place.home, str(place.file)))
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(place.home).stat().st_mode) == 0o700


@pytest.mark.parametrize("target_exists", [True, False])
def test_a_linked_file_is_written_through_the_link(place: Place, target_exists: bool) -> None:
    target = place.root / "dotfiles" / "claude.json"
    target.parent.mkdir()
    place.file.parent.mkdir()
    if target_exists:
        target.write_bytes(OTHERS)
    place.file.symlink_to(target)
    place.install()
    assert place.file.is_symlink()
    assert hook_settings.registered(json.loads(target.read_bytes()))
    place.uninstall()
    assert place.file.is_symlink()
    assert (target.read_bytes() if target_exists else target.exists()) == (
        OTHERS if target_exists else False
    )


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_the_mode_of_the_file_is_kept(place: Place, mode: int) -> None:
    place.write(OTHERS)
    place.file.chmod(mode)
    place.install()
    assert stat.S_IMODE(place.file.stat().st_mode) == mode
    place.uninstall()
    assert stat.S_IMODE(place.file.stat().st_mode) == mode


def test_a_new_file_has_the_mode_that_the_user_gives_new_files(place: Place) -> None:
    before = os.umask(0o027)
    try:
        place.install()
    finally:
        os.umask(before)
    assert stat.S_IMODE(place.file.stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can chown")
def test_the_owner_of_the_file_is_kept(place: Place) -> None:
    place.write(OTHERS)
    os.chown(place.file, 12345, 54321)
    place.install()
    assert (place.file.stat().st_uid, place.file.stat().st_gid) == (12345, 54321)


def test_secret_settings_are_never_readable_for_a_moment(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(OTHERS)
    place.file.chmod(0o600)
    seen: list[int] = []
    replace = os.replace

    def watched(fresh: str, target: str) -> None:
        seen.append(stat.S_IMODE(os.stat(fresh).st_mode))
        replace(fresh, target)

    monkeypatch.setattr(os, "replace", watched)
    before = os.umask(0)
    try:
        place.install()
    finally:
        os.umask(before)
    assert seen == [0o600, 0o600]


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'{"hooks": []}', b"// note\n{}", b'{"a": 1,}', b"\xff\xfe{\0}\0"]
)
def test_a_file_that_cannot_be_understood_is_left_untouched(place: Place, data: bytes) -> None:
    place.write(data)
    for attempt in (place.install, place.uninstall):
        with pytest.raises(SettingsFileUnusable) as caught:
            attempt()
        assert caught.value.hint
        assert place.file.read_bytes() == data
    assert not os.path.exists(place.home)


def unusable_folder(place: Place) -> None:
    place.file.mkdir(parents=True)


def unusable_under_a_file(place: Place) -> None:
    place.file.parent.write_text("a file", encoding="utf-8")


def unusable_device(place: Place) -> None:
    place.file.parent.mkdir()
    device = place.root / "device"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except OSError:
        pytest.skip("only root can make a device")
    place.file.symlink_to(device)


def unusable_loop(place: Place) -> None:
    place.file.parent.mkdir()
    place.file.symlink_to(place.file)


@pytest.mark.parametrize(
    "spoil",
    [unusable_folder, unusable_under_a_file, unusable_device, unusable_loop],
)
def test_what_is_no_regular_file_is_refused_at_once(place: Place, spoil: Any) -> None:
    spoil(place)
    with pytest.raises(SettingsFileUnusable) as caught:
        place.install()
    assert caught.value.hint
    assert not os.path.exists(place.home)


def test_a_file_that_cannot_be_written_is_left_untouched(place: Place) -> None:
    place.write(OTHERS)
    with read_only(place.file.parent):
        with pytest.raises(SettingsFileUnusable, match=r"settings\.json \(") as caught:
            place.install()
        assert caught.value.hint
        assert place.file.read_bytes() == OTHERS
        assert os.listdir(place.file.parent) == ["settings.json"]
    assert install_record.paths(place.home) == []


def test_a_home_that_cannot_be_written_leaves_the_settings_untouched(place: Place) -> None:
    place.write(OTHERS)
    Path(place.home).write_text("a file", encoding="utf-8")
    with pytest.raises(SettingsFileUnusable, match="home") as caught:
        place.install()
    assert "HOLDFAST_HOME" in caught.value.hint
    assert place.file.read_bytes() == OTHERS


def test_a_write_that_fails_half_way_can_still_be_undone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(OTHERS)
    place.install()
    installed = place.file.read_bytes()
    replace = os.replace

    def full(fresh: str, target: str) -> None:
        if target.endswith("settings.json"):
            raise OSError(28, "No space left on device")
        replace(fresh, target)

    monkeypatch.setattr(action, "hook_command", lambda: "/new holdfast.surfaces.hook")
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(SettingsFileUnusable, match="No space left"):
            place.install()
    assert place.file.read_bytes() == installed
    assert os.listdir(place.file.parent) == ["settings.json"]
    assert place.uninstall().note == "as it was, byte for byte"
    assert place.file.read_bytes() == OTHERS


def test_a_file_that_changes_while_we_look_is_not_overwritten(place: Place) -> None:
    place.write(OTHERS)
    change = plan_install(str(place.file), NEW, place.home)
    place.write(b'{"changed": true}')
    with pytest.raises(SettingsFileUnusable, match="changed by another program"):
        action.install(change, place.home)
    assert place.file.read_bytes() == b'{"changed": true}'
    place.install()
    change = plan_uninstall(str(place.file), place.home)
    place.write(b'{"changed": "again"}')
    with pytest.raises(SettingsFileUnusable, match="changed by another program"):
        action.uninstall(change, place.home)
    assert place.file.read_bytes() == b'{"changed": "again"}'


def run_hook(command: str, home: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["sh", "-c", command], input=b"{}", capture_output=True, check=False,
        env={"HOLDFAST_HOME": str(home), "TMPDIR": str(home)},
    )  # fmt: skip


def test_the_command_works_in_a_shell_and_without_an_environment(tmp_path: Path) -> None:
    done = run_hook(hook_command(), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "no host sends such a payload" in (tmp_path / "holdfast.log").read_text()


def test_a_package_that_vanished_does_not_block_the_host(
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
