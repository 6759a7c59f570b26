"""The settings file itself: symlinks, modes, owners, and files that cannot be written."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import UnusableSettingsFile
from holdfast.hosts import hook_settings
from holdfast.services.install import atomic_file, undo_record
from holdfast.services.install import registration as action
from holdfast.services.install.registration import plan_install, plan_uninstall
from tests.faulty_disks import make_read_only
from tests.unit.services.install.installation import NEW_VERSION, OTHER_SETTINGS, Installation


@pytest.mark.parametrize("target_exists", [True, False])
def test_a_symlinked_file_is_written_through_the_symlink(
    installation: Installation, target_exists: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(installation.root))
    target = installation.root / "dotfiles" / "claude.json"
    target.parent.mkdir()
    installation.file.parent.mkdir()
    if target_exists:
        target.write_bytes(OTHER_SETTINGS)
    installation.file.symlink_to(target)
    installation.install()
    assert installation.file.is_symlink()
    assert hook_settings.find_our_entries(json.loads(target.read_bytes()))
    installation.uninstall()
    assert installation.file.is_symlink()
    assert (target.read_bytes() if target_exists else target.exists()) == (
        OTHER_SETTINGS if target_exists else False
    )


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_that_leads_out_of_the_project_and_the_home_is_refused(
    tmp_path: Path, linked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, home, elsewhere = (tmp_path / name for name in ("project", "home", "elsewhere"))
    for folder in (project / ".git", home, elsewhere):
        folder.mkdir(parents=True)
    victim = elsewhere / "settings.json"
    victim.write_bytes(OTHER_SETTINGS)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(project)
    file = project / ".claude" / "settings.json"
    if linked == "folder":
        file.parent.symlink_to(elsewhere)
    else:
        file.parent.mkdir()
        file.symlink_to(victim)
    for change in (
        lambda: atomic_file.write(str(file), "{}"),
        lambda: atomic_file.delete(str(file)),
    ):
        with pytest.raises(UnusableSettingsFile, match="outside of this project") as refused:
            change()
        assert "replace the symbolic link" in str(refused.value.hint)
    assert victim.read_bytes() == OTHER_SETTINGS
    assert os.listdir(elsewhere) == ["settings.json"]
    # A file that the user names, which no link leads to, is written wherever it is.
    atomic_file.write(str(victim), "{}")
    assert victim.read_text() == "{}"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_the_mode_of_the_file_is_kept(installation: Installation, mode: int) -> None:
    installation.write(OTHER_SETTINGS)
    installation.file.chmod(mode)
    installation.install()
    assert stat.S_IMODE(installation.file.stat().st_mode) == mode
    installation.uninstall()
    assert stat.S_IMODE(installation.file.stat().st_mode) == mode


def test_a_new_file_has_the_mode_of_the_users_umask(installation: Installation) -> None:
    before = os.umask(0o027)
    try:
        installation.install()
    finally:
        os.umask(before)
    assert stat.S_IMODE(installation.file.stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can chown")
def test_the_owner_of_the_file_is_kept(installation: Installation) -> None:
    installation.write(OTHER_SETTINGS)
    os.chown(installation.file, 12345, 54321)
    installation.install()
    assert (installation.file.stat().st_uid, installation.file.stat().st_gid) == (12345, 54321)


def test_private_settings_are_never_readable_by_others_during_a_write(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.write(OTHER_SETTINGS)
    installation.file.chmod(0o600)
    modes: list[int] = []
    replace = os.replace

    def record_mode(new_file: str, target: str) -> None:
        modes.append(stat.S_IMODE(os.stat(new_file).st_mode))
        replace(new_file, target)

    monkeypatch.setattr(os, "replace", record_mode)
    before = os.umask(0)
    try:
        installation.install()
    finally:
        os.umask(before)
    assert modes == [0o600, 0o600]


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'{"hooks": []}', b"// note\n{}", b'{"a": 1,}', b"\xff\xfe{\0}\0"]
)
def test_a_file_that_cannot_be_parsed_is_left_untouched(
    installation: Installation, data: bytes
) -> None:
    installation.write(data)
    for attempt in (installation.install, installation.uninstall):
        with pytest.raises(UnusableSettingsFile) as caught:
            attempt()
        assert caught.value.hint
        assert installation.file.read_bytes() == data
    assert not os.path.exists(installation.home)


def make_folder(installation: Installation) -> None:
    installation.file.mkdir(parents=True)


def make_parent_a_file(installation: Installation) -> None:
    installation.file.parent.write_text("a file", encoding="utf-8")


def link_to_device(installation: Installation) -> None:
    installation.file.parent.mkdir()
    device = installation.root / "device"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except OSError:
        pytest.skip("only root can make a device")
    installation.file.symlink_to(device)


def make_symlink_loop(installation: Installation) -> None:
    installation.file.parent.mkdir()
    installation.file.symlink_to(installation.file)


@pytest.mark.parametrize(
    "prepare",
    [make_folder, make_parent_a_file, link_to_device, make_symlink_loop],
)
def test_a_path_that_is_no_regular_file_raises_an_error(
    installation: Installation, prepare: Any
) -> None:
    prepare(installation)
    with pytest.raises(UnusableSettingsFile) as caught:
        installation.install()
    assert caught.value.hint
    assert not os.path.exists(installation.home)


def test_a_file_that_cannot_be_written_is_left_untouched(installation: Installation) -> None:
    installation.write(OTHER_SETTINGS)
    with make_read_only(installation.file.parent):
        with pytest.raises(UnusableSettingsFile, match=r"settings\.json \(") as caught:
            installation.install()
        assert caught.value.hint
        assert installation.file.read_bytes() == OTHER_SETTINGS
        assert os.listdir(installation.file.parent) == ["settings.json"]
    assert undo_record.list_installed_files(installation.home) == []


def test_a_home_that_cannot_be_written_leaves_the_settings_untouched(
    installation: Installation,
) -> None:
    installation.write(OTHER_SETTINGS)
    Path(installation.home).write_text("a file", encoding="utf-8")
    with pytest.raises(UnusableSettingsFile, match="home") as caught:
        installation.install()
    assert "HOLDFAST_HOME" in caught.value.hint
    assert installation.file.read_bytes() == OTHER_SETTINGS


def test_an_install_can_be_undone_after_a_failed_second_install(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.write(OTHER_SETTINGS)
    installation.install()
    installed = installation.file.read_bytes()
    replace = os.replace

    def fail_for_settings(new_file: str, target: str) -> None:
        if target.endswith("settings.json"):
            raise OSError(28, "No space left on device")
        replace(new_file, target)

    monkeypatch.setattr(action, "hook_command", lambda: "/new holdfast.entry import hook")
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", fail_for_settings)
        with pytest.raises(UnusableSettingsFile, match="No space left"):
            installation.install()
    assert installation.file.read_bytes() == installed
    assert os.listdir(installation.file.parent) == ["settings.json"]
    assert installation.uninstall().note == "as it was, byte for byte"
    assert installation.file.read_bytes() == OTHER_SETTINGS


def test_a_file_that_changes_after_the_plan_is_not_overwritten(installation: Installation) -> None:
    installation.write(OTHER_SETTINGS)
    change = plan_install(str(installation.file), NEW_VERSION, installation.home)
    installation.write(b'{"changed": true}')
    with pytest.raises(UnusableSettingsFile, match="changed by another program"):
        action.install(change, installation.home)
    assert installation.file.read_bytes() == b'{"changed": true}'
    installation.install()
    change = plan_uninstall(str(installation.file), installation.home)
    installation.write(b'{"changed": "again"}')
    with pytest.raises(UnusableSettingsFile, match="changed by another program"):
        action.uninstall(change, installation.home)
    assert installation.file.read_bytes() == b'{"changed": "again"}'
