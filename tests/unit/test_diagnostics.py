"""The log file: one line per entry, without secrets, with a fallback in the temporary folder."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from holdfast import diagnostics

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "holdfast.log"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "tmp").mkdir()
    return {"TMPDIR": str(tmp_path / "tmp")}


def fallback(environ: dict[str, str]) -> Path:
    return Path(diagnostics.fallback_path(environ))


def test_a_log_entry_is_one_line_with_its_time(file: Path, environ: dict[str, str]) -> None:
    diagnostics.log(str(file), "hook: the first\nthing\r\n went  wrong", environ)
    diagnostics.log(str(file), "hook: the second", environ)
    first, second = file.read_text(encoding="utf-8").splitlines()
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} "
    assert re.fullmatch(stamp + "hook: the first thing went wrong", first)
    assert re.fullmatch(stamp + "hook: the second", second)
    assert not fallback(environ).exists()


def test_the_log_is_readable_only_by_its_owner(file: Path, environ: dict[str, str]) -> None:
    diagnostics.log(str(file), "hook: anything", environ)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_message_is_redacted_before_it_is_shortened(file: Path, environ: dict[str, str]) -> None:
    diagnostics.log(str(file), f"hook: no such file /keys/{TOKEN}", environ)
    # A token that was cut first would no longer be recognised.
    diagnostics.log(str(file), "x" * (diagnostics.MAX_MESSAGE_CHARS - 12) + f" {TOKEN}", environ)
    text = file.read_text(encoding="utf-8")
    assert "hook: no such file /keys/[redacted" in text
    assert TOKEN[:9] not in text


def test_a_long_message_is_cut(file: Path, environ: dict[str, str]) -> None:
    diagnostics.log(str(file), "y" * 50_000, environ)
    assert file.read_text(encoding="utf-8").count("y") == diagnostics.MAX_MESSAGE_CHARS


def test_a_message_with_half_a_character_is_still_written(
    file: Path, environ: dict[str, str]
) -> None:
    diagnostics.log(str(file), "hook: \ud83d and 日本語", environ)
    assert file.read_text(encoding="utf-8").endswith("hook: ? and 日本語\n")


def test_a_home_that_cannot_be_written_makes_the_log_use_the_temporary_folder(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    (tmp_path / "home").touch()
    diagnostics.log(str(tmp_path / "home" / "holdfast.log"), "hook: nowhere to go", environ)
    (line,) = fallback(environ).read_text(encoding="utf-8").splitlines()
    assert line.endswith("hook: nowhere to go")
    assert stat.S_IMODE(fallback(environ).stat().st_mode) == 0o600


def test_a_log_entry_that_cannot_be_written_anywhere_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    diagnostics.log(f"{tmp_path}/file/holdfast.log", "lost", {"TMPDIR": f"{tmp_path}/file"})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_log_is_never_written_through_a_symlink(
    file: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    """All users can write to the temporary folder, so a symlink there may point anywhere."""
    victim = tmp_path / "victim"
    victim.write_text("precious\n")
    (tmp_path / "blocked").touch()
    fallback(environ).symlink_to(victim)
    diagnostics.log(str(tmp_path / "blocked" / "holdfast.log"), "hook: anything", environ)
    assert victim.read_text() == "precious\n"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
def test_a_fallback_file_of_another_user_is_not_written(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    (tmp_path / "blocked").touch()
    fallback(environ).touch()
    os.chown(fallback(environ), 65534, 65534)
    diagnostics.log(str(tmp_path / "blocked" / "holdfast.log"), "hook: private", environ)
    assert fallback(environ).read_text() == ""


def test_a_large_log_is_rotated(file: Path, environ: dict[str, str]) -> None:
    file.parent.mkdir()
    file.write_bytes(b"an older line\n" * (diagnostics.MAX_LOG_BYTES // 14 + 1))
    diagnostics.log(str(file), "hook: the last entry before rotation", environ)
    diagnostics.log(str(file), "hook: the first entry after rotation", environ)
    assert diagnostics.read_tail(str(file))[0].endswith("hook: the first entry after rotation")
    assert diagnostics.read_tail(f"{file}.1", 1)[0].endswith("hook: the last entry before rotation")


def test_the_tail_is_the_last_lines_oldest_first(file: Path, environ: dict[str, str]) -> None:
    for n in range(30):
        diagnostics.log(str(file), f"line {n}", environ)
    assert [line.split()[-1] for line in diagnostics.read_tail(str(file), 3)] == ["27", "28", "29"]
    assert len(diagnostics.read_tail(str(file))) == 20
    assert diagnostics.read_tail(str(file.parent / "none.log")) == []


def test_a_log_that_is_not_text_can_still_be_read(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe broken\nwhole\n")
    assert diagnostics.read_tail(str(file))[-1] == "whole"


def test_the_fallback_is_one_per_user_in_the_temporary_folder() -> None:
    name = f"holdfast-{os.getuid()}.log" if hasattr(os, "getuid") else "holdfast-user.log"
    assert diagnostics.fallback_path({"TMPDIR": "/a", "TEMP": "/b"}) == os.path.join("/a", name)
    assert diagnostics.fallback_path({"TEMP": "/b"}) == os.path.join("/b", name)
    assert diagnostics.fallback_path({}) == os.path.join("/tmp", name)
