"""The settings file itself: links, modes, owners, and what cannot be written."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import UnusableSettingsFile
from holdfast.hosts import hook_settings
from holdfast.services.install import registration as action
from holdfast.services.install import undo_record
from holdfast.services.install.registration import plan_install, plan_uninstall
from tests.unit.services.install.installed import NEW, OTHERS, Place
from tests.weather import read_only


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
    assert hook_settings.find_our_entries(json.loads(target.read_bytes()))
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
        with pytest.raises(UnusableSettingsFile) as caught:
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
def test_a_file_that_is_not_regular_is_refused_at_once(place: Place, spoil: Any) -> None:
    spoil(place)
    with pytest.raises(UnusableSettingsFile) as caught:
        place.install()
    assert caught.value.hint
    assert not os.path.exists(place.home)


def test_a_file_that_cannot_be_written_is_left_untouched(place: Place) -> None:
    place.write(OTHERS)
    with read_only(place.file.parent):
        with pytest.raises(UnusableSettingsFile, match=r"settings\.json \(") as caught:
            place.install()
        assert caught.value.hint
        assert place.file.read_bytes() == OTHERS
        assert os.listdir(place.file.parent) == ["settings.json"]
    assert undo_record.list_installed_files(place.home) == []


def test_a_home_that_cannot_be_written_leaves_the_settings_untouched(place: Place) -> None:
    place.write(OTHERS)
    Path(place.home).write_text("a file", encoding="utf-8")
    with pytest.raises(UnusableSettingsFile, match="home") as caught:
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

    monkeypatch.setattr(action, "hook_command", lambda: "/new holdfast.entry import hook")
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(UnusableSettingsFile, match="No space left"):
            place.install()
    assert place.file.read_bytes() == installed
    assert os.listdir(place.file.parent) == ["settings.json"]
    assert place.uninstall().note == "as it was, byte for byte"
    assert place.file.read_bytes() == OTHERS


def test_a_file_that_changes_after_the_plan_is_not_overwritten(place: Place) -> None:
    place.write(OTHERS)
    change = plan_install(str(place.file), NEW, place.home)
    place.write(b'{"changed": true}')
    with pytest.raises(UnusableSettingsFile, match="changed by another program"):
        action.install(change, place.home)
    assert place.file.read_bytes() == b'{"changed": true}'
    place.install()
    change = plan_uninstall(str(place.file), place.home)
    place.write(b'{"changed": "again"}')
    with pytest.raises(UnusableSettingsFile, match="changed by another program"):
        action.uninstall(change, place.home)
    assert place.file.read_bytes() == b'{"changed": "again"}'
