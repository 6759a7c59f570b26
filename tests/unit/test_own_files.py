"""Files that belong to Holdfast are for their owner only, and are never written through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import own_files


@pytest.fixture(params=[0o000, 0o022, 0o077])
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("_umask")
def test_folders_and_files_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = own_files.make_folder(str(tmp_path), "a", "b")
    file = Path(folder, "file")
    own_files.replace(str(file), "first")
    own_files.replace(str(file), "second")
    assert file.read_text() == "second"
    assert _mode(file) == 0o600
    assert [_mode(one) for one in (tmp_path / "a", tmp_path / "a" / "b")] == [0o700, 0o700]
    assert [one.name for one in file.parent.iterdir()] == ["file"]


def test_a_folder_that_is_a_link_is_refused_even_inside_the_root(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "a").symlink_to("real")
    with pytest.raises(OSError, match="symbolic link"):
        own_files.make_folder(str(tmp_path), "a", "b")
    assert list((tmp_path / "real").iterdir()) == []


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(FileExistsError):
        own_files.make_folder(str(tmp_path), "a", "b")


def test_a_link_in_place_of_the_file_is_replaced_and_its_target_kept(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("export PATH")
    file = tmp_path / "file"
    file.symlink_to(victim)
    own_files.replace(str(file), "ours")
    assert (victim.read_text(), file.read_text(), file.is_symlink()) == (
        "export PATH", "ours", False,
    )  # fmt: skip
    with pytest.raises(FileExistsError):
        own_files.create(str(file), "again")


def test_what_a_killed_writer_left_is_deleted_by_the_next(tmp_path: Path) -> None:
    file = tmp_path / "file"
    abandoned = Path(own_files.write_temporary(str(file), "half"))
    in_use = Path(own_files.write_temporary(str(file), "half"))
    os.utime(abandoned, (1, 1))
    own_files.replace(str(file), "whole")
    assert not abandoned.exists()
    assert in_use.exists()


def test_a_failed_replacement_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "child").write_text("")
    with pytest.raises(OSError, match="irectory"):
        own_files.replace(str(tmp_path / "file"), "text")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
