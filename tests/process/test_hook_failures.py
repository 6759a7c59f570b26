"""A hook that fails exits 0 and writes one line to the log.

It prints nothing, except where only the store failed: guidance and brief are printed without it.
"""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.services.compaction.summarizer_guidance import render_guidance
from holdfast.services.install.registration import hook_command
from holdfast.store import sqlite_migrations
from tests.faulty_disks import make_read_only, mount_small_disk

from .hook_session import HookResult, HookSession, list_files

MAX_LOG_LINE_CHARS = 1100
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SubagentStop", "PostCompact")


def assert_one_line_was_logged(session: HookSession, result: HookResult, *texts: str) -> None:
    assert result.is_silent, result
    (line,) = session.read_log()
    assert len(line) < MAX_LOG_LINE_CHARS
    for text in texts:
        assert text in line


def assert_guidance_without_saving(session: HookSession, result: HookResult, *texts: str) -> None:
    """Assert that PreCompact printed its guidance, and that one line says that it did not save."""
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == render_guidance(session.fold_transcript())
    (line,) = session.read_log()
    for text in ("nothing was saved", *texts):
        assert text in line


def assert_next_hook_works(session: HookSession) -> None:
    """Assert that the next hook of the session stores its state and logs nothing."""
    log_lines = len(session.read_log())
    if not session.transcript.exists():
        session.write(session.demo.before)
    assert session.run_hook("Stop").is_silent
    assert session.read_row()["state"] == session.fold_transcript()
    assert len(session.read_log()) == log_lines


# The payload


INVALID_PAYLOADS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "not JSON"),
    "blanks": (b" \n\t ", "not JSON"),
    "garbage": (b"\x00\xff\xfe what is this", "not JSON"),
    "half an object": (b'{"hook_event_name": "Stop", "session_id": "s1', "not JSON"),
    "two objects": (b"{} {}", "not JSON"),
    "five megabytes of garbage": (b"garbage \xff" * 600_000, "not JSON"),
    "five megabytes of brackets": (b"[" * 5_000_000, "not JSON"),
    "a very deep list": (b"[" * 200_000 + b"]" * 200_000, "not JSON"),
    "a very deep object": (b'{"a":' * 200_000 + b"1" + b"}" * 200_000, "not JSON"),
    "a list": (b"[1, 2, 3]", "no host"),
    "a string": (b'"Stop"', "no host"),
    "a number": (b"42", "no host"),
    "null": (b"null", "no host"),
    "an empty object": (b"{}", "no host"),
    "some other program": (b'{"event": "push", "repository": {"id": 7}}', "event, repository"),
    "a list for a session": (b'{"hook_event_name": "Stop", "session_id": ["s1"]}', "no host"),
    "a session without a name": (b'{"hook_event_name": "Stop", "session_id": ""}', "no session"),
    "a thousand keys": (json.dumps({f"key{n}": n for n in range(1000)}).encode(), "key0, key1"),
}


@pytest.mark.parametrize("name", INVALID_PAYLOADS)
def test_an_invalid_payload_is_logged(session: HookSession, name: str) -> None:
    stdin, message = INVALID_PAYLOADS[name]
    assert_one_line_was_logged(session, session.send_stdin(stdin), message)
    assert_next_hook_works(session)


def test_a_prompt_of_five_megabytes_is_an_ordinary_prompt(session: HookSession) -> None:
    session.write(session.demo.before)
    assert session.run_hook("UserPromptSubmit", text="so much to say " * 350_000).is_silent
    assert session.read_log() == []
    assert_next_hook_works(session)


def test_fields_of_the_wrong_type_are_ignored(session: HookSession) -> None:
    wrong: dict[str, Any] = {"transcript_path": 7, "cwd": None, "trigger": [], "source": {}}
    wrong |= {"compact_summary": 1.5, "last_assistant_message": {}, "agent_id": 3}
    for event in EVENTS:
        payload = {"hook_event_name": event, "session_id": "s1", **wrong}
        result = session.send_payload(payload)
        assert (result.exit_code, result.stderr) == (0, ""), event
    assert_next_hook_works(session)


def test_an_unknown_event_is_ignored(session: HookSession) -> None:
    payload = {"hook_event_name": "PreLaunch", "session_id": "s1"}
    assert session.send_payload(payload).is_silent
    assert session.read_log() == []
    assert not session.home.exists()


def test_a_tool_in_a_project_without_notes_is_no_error(session: HookSession) -> None:
    session.write(session.demo.before)
    for tool in ("Bash", "TodoWrite"):
        payload = session.make_payload("Stop") | {"hook_event_name": "PostToolUse"}
        assert session.send_payload(payload | {"tool_name": tool}).is_silent
    assert session.read_log() == []
    with session.open_store() as store:
        assert [(row["event"], row["times"]) for row in store.hook_runs()] == [("PostToolUse", 2)]


def test_a_closed_standard_input_is_logged(session: HookSession) -> None:
    result = session.send_stdin(b"", before_exec=lambda: os.close(0))
    assert_one_line_was_logged(session, result)
    assert_next_hook_works(session)


def test_a_brief_that_cannot_be_printed_is_logged_and_sent_with_the_next_prompt(
    session: HookSession,
) -> None:
    session.write(session.demo.before)
    session.run_hook("PreCompact")
    stdin = json.dumps(session.make_payload("SessionStart", source="compact")).encode()
    with open("/dev/full", "wb") as full_device:
        process = subprocess.run(
            shlex.split(hook_command()), input=stdin, stdout=full_device, stderr=subprocess.PIPE,
            env=session.environment, check=False,
        )  # fmt: skip
    assert (process.returncode, process.stderr) == (0, b"")
    assert len(session.read_log()) == 1
    session.write(session.demo.after(transcript_path=str(session.transcript)))
    assert session.run_hook("UserPromptSubmit", text="go on").brief


# The transcript


def make_nothing(path: Path) -> None:
    pass


def make_folder(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("event", ["Stop", "PreCompact"])
@pytest.mark.parametrize("make", [make_nothing, make_folder, make_pipe])
def test_a_transcript_that_cannot_be_read_is_logged(
    session: HookSession, make: Callable[[Path], None], event: str
) -> None:
    make(session.transcript)
    assert_one_line_was_logged(session, session.run_hook(event), str(session.transcript))
    if session.transcript.is_dir():
        session.transcript.rmdir()
    elif session.transcript.exists():
        session.transcript.unlink()
    assert_next_hook_works(session)


def test_a_new_session_without_a_transcript_is_no_error(session: HookSession) -> None:
    assert session.run_hook("SessionStart", source="startup").is_silent
    assert session.run_hook("UserPromptSubmit", text="the very first words").is_silent
    assert session.read_log() == []
    assert_next_hook_works(session)


def test_an_unknown_session_gets_no_brief(session: HookSession) -> None:
    """Nothing was read, so instructions for the summary that promise a brief would be wrong."""
    assert session.run_hook("PreCompact").stdout == ""
    assert session.run_hook("SessionStart", source="compact").stdout == ""


@pytest.mark.parametrize("name", ["nul\0inside", "half \ud83d a pair", "x" * 5000])
def test_an_impossible_path_is_no_error(session: HookSession, name: str) -> None:
    payload = session.make_payload("Stop") | {"transcript_path": f"/{name}", "cwd": f"/{name}"}
    assert session.send_payload(payload).is_silent
    assert_next_hook_works(session)


# The store


def test_a_hook_works_without_saving_while_another_process_locks_the_store(
    session: HookSession,
) -> None:
    session.write(session.demo.before[:50])
    session.run_hook("Stop")
    before = session.read_row()
    session.write(session.demo.before[50:])
    with closing(sqlite3.connect(session.database, isolation_level=None)) as other_process:
        other_process.execute("BEGIN IMMEDIATE")
        assert_guidance_without_saving(session, session.run_hook("PreCompact"), "locked")
    assert session.read_row() == before
    assert_next_hook_works(session)


def run_compaction(session: HookSession) -> str:
    """Compact the session as the host does, and return the brief."""
    assert session.run_hook("PreCompact").stdout
    session.run_hook("SubagentStop", text=session.demo.summary)
    return session.run_hook("SessionStart", source="compact").brief


def assert_brief_without_store(session: HookSession, forbid_writing: Any) -> None:
    """Assert that a compaction gets its brief while the store cannot be written, that it is not
    repeated, and that the next hook with a store catches up.
    """
    session.write(session.demo.before[:50])
    session.run_hook("Stop")
    session.write(session.demo.before[50:])
    with forbid_writing():
        brief = run_compaction(session)
        assert session.demo.facts[0].text in brief + session.demo.summary
        shown = session.demo.hook_attachment(brief)
        session.write(session.demo.after(shown, transcript_path=str(session.transcript)))
        assert session.run_hook("UserPromptSubmit", text="go on").is_silent, "it arrived"
    assert session.run_hook("UserPromptSubmit", text="go on").is_silent
    assert session.read_row()["state"] == session.fold_transcript()
    session.write(session.demo.before[:20])
    assert run_compaction(session), "the next compaction has its brief and its receipt"
    assert [row["brief_id"] is not None for row in session.list_compactions()][-1]


def test_a_brief_is_delivered_while_another_process_holds_the_lock(session: HookSession) -> None:
    @contextmanager
    def hold_lock() -> Iterator[None]:
        with closing(sqlite3.connect(session.database, isolation_level=None)) as other_process:
            other_process.execute("BEGIN IMMEDIATE")
            yield

    assert_brief_without_store(session, hold_lock)


def test_a_brief_is_delivered_from_a_read_only_home(session: HookSession) -> None:
    assert_brief_without_store(session, lambda: make_read_only(session.home))


def test_a_brief_is_delivered_on_a_full_disk(session: HookSession) -> None:
    @contextmanager
    def fill_disk() -> Iterator[None]:
        filler = session.home / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"x" * 4096):
                pass
        yield
        filler.unlink()

    session.home.mkdir()
    with mount_small_disk(session.home, 2000):
        assert_brief_without_store(session, fill_disk)


def test_a_brief_that_did_not_arrive_is_delivered_without_a_store(session: HookSession) -> None:
    session.run_until_compacted()
    session.write(session.demo.after(transcript_path=str(session.transcript)))
    with make_read_only(session.home):
        first = session.run_hook("UserPromptSubmit", text="go on").brief
        assert first
    assert session.run_hook("UserPromptSubmit", text="go on").brief == first


def test_a_store_that_is_not_a_database_is_set_aside(session: HookSession) -> None:
    session.home.mkdir()
    session.database.write_bytes(b"this was never a database\n" * 400)
    session.write(session.demo.before)
    assert_guidance_without_saving(session, session.run_hook("PreCompact"), "damaged", "it is now")
    assert [name for name in list_files(session.home) if "damaged-" in name] != []
    assert_next_hook_works(session)


def corrupt(database: Path) -> None:
    """Overwrite everything after the first page."""
    with closing(sqlite3.connect(database)) as connection:
        # Hooks leave their writes in the write-ahead log; move them to the file first.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(database, "r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (os.path.getsize(database) - 4096))


def test_a_corrupt_store_is_set_aside(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("PreCompact")
    corrupt(session.database)
    assert_one_line_was_logged(session, session.run_hook("Stop"), "damaged", "it is now")
    assert_next_hook_works(session)


def test_one_of_eight_concurrent_hooks_sets_a_corrupt_store_aside(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("PreCompact")
    corrupt(session.database)
    corrupt_bytes = session.database.read_bytes()
    assert all(result.is_silent for result in session.run_hooks_concurrently(*["Stop"] * 8))
    set_aside = [name for name in list_files(session.home) if "damaged-" in name]
    databases = [name for name in set_aside if not name.endswith(("-wal", "-shm", ".json"))]
    assert [(session.home / name).read_bytes() == corrupt_bytes for name in databases] == [True]
    assert_next_hook_works(session)


def test_a_store_of_a_newer_holdfast_is_left_alone(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")
    with closing(sqlite3.connect(session.database)) as connection:
        connection.execute("PRAGMA user_version = 999")
    assert_guidance_without_saving(session, session.run_hook("PreCompact"), "newer Holdfast")
    with closing(sqlite3.connect(session.database)) as connection:
        connection.execute(f"PRAGMA user_version = {sqlite_migrations.STORE_MIGRATIONS[1]}")
    assert_next_hook_works(session)


# Damaged rows


def damage_row(session: HookSession, column: str, damage: Callable[[bytes], bytes]) -> None:
    """Change the bytes of a column of the session's row, as a failing disk does."""
    with closing(sqlite3.connect(session.database)) as connection, connection:
        query = f"SELECT CAST({column} AS BLOB) FROM sessions WHERE id = 's1'"
        ((data,),) = connection.execute(query)
        connection.execute(
            f"UPDATE sessions SET {column} = CAST(? AS TEXT) WHERE id = 's1'", (damage(data),)
        )


def flip_letter(data: bytes) -> bytes:
    """Change one letter of the state's JSON, which can still be parsed."""
    assert b'"usage"' in data
    return data.replace(b'"usage"', b'"usbge"')


ROW_DAMAGES: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "not UTF-8": ("state", lambda data: data[:100] + b"\xff\xfe" + data[102:]),
    "half of the state": ("state", lambda data: data[: len(data) // 2]),
    "one other letter": ("state", flip_letter),
    "no cursor": ("cursor", lambda data: data[:-1]),
    "another offset": ("cursor", lambda data: data.replace(b'"offset":', b'"offset":1')),
    "a list for a cursor": ("cursor", lambda data: b"[1]"),
    "an empty state": ("state", lambda data: b""),
    "no number of lines": ("first_line", lambda data: b"many"),
}


def test_a_damaged_row_is_made_again_from_the_transcript_and_logged_once(
    session: HookSession,
) -> None:
    session.run_until_compacted()
    compactions = session.list_compactions()
    for number, (name, (column, damage)) in enumerate(ROW_DAMAGES.items(), 1):
        damage_row(session, column, damage)
        assert session.run_hook("Stop").is_silent, name
        assert len(session.read_log()) == number, name
        assert "damaged" in session.read_log()[-1]
        assert session.read_row()["state"] == session.fold_transcript(), name
        assert session.run_hook("Stop").is_silent, name
        assert len(session.read_log()) == number, name
    assert session.list_compactions() == compactions
    with session.open_store() as store:
        assert store.richest_snapshot("s1") is not None


def test_a_damaged_row_without_a_transcript_is_replaced_by_the_last_snapshot(
    session: HookSession,
) -> None:
    session.write(session.demo.before)
    session.run_hook("PreCompact")
    expected = session.read_row()["state"]
    damage_row(session, "state", flip_letter)
    session.transcript.rename(session.transcript.with_suffix(".gone"))
    assert session.run_hook("SessionStart", source="compact").brief
    assert session.read_row()["state"] == expected
    assert [line for line in session.read_log() if "last snapshot replaces it" in line] != []
    lines = len(session.read_log())
    session.transcript.with_suffix(".gone").rename(session.transcript)
    assert session.run_hook("Stop").is_silent
    assert session.read_row()["state"] == session.fold_transcript()
    assert len(session.read_log()) == lines


def test_a_damaged_snapshot_does_not_hide_an_older_one(session: HookSession) -> None:
    session.write(session.demo.before[:-20])
    session.run_hook("PreCompact")
    session.write(session.demo.before[-20:])
    session.run_hook("PreCompact")
    with session.open_store() as store:
        newest, oldest = store.snapshots("s1")
    with closing(sqlite3.connect(session.database)) as connection, connection:
        damage = "UPDATE snapshots SET state = substr(state, 1, 200), richness = 9999 WHERE id = ?"
        connection.execute(damage, (newest["id"],))
    with session.open_store() as store:
        assert store.snapshots("s1") == [oldest]
        assert store.richest_snapshot("s1") == oldest
    assert session.run_hook("SessionStart", source="compact").brief
    assert session.read_log() == []


# The settings


@pytest.mark.parametrize("content", ["{", "[]", '{"brief_tokens": "lots"}', '{"colour": "red"}'])
def test_invalid_settings_are_logged_and_the_defaults_are_used(
    session: HookSession, content: str
) -> None:
    session.write(session.demo.before)
    session.home.mkdir()
    settings = session.home / "settings.json"
    settings.write_text(content)
    result = session.run_hook("PreCompact")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout
    (line,) = session.read_log()
    assert f"settings: {settings}: " in line
    settings.unlink()
    assert_next_hook_works(session)


# The disk


@pytest.mark.parametrize("with_store", [False, True])
def test_a_read_only_home_is_logged_in_the_temporary_folder(
    session: HookSession, with_store: bool
) -> None:
    session.write(session.demo.before)
    if with_store:
        session.run_hook("PreCompact")
    else:
        session.home.mkdir()
    with make_read_only(session.home):
        result = session.run_hook("PreCompact")
    assert_guidance_without_saving(session, result)
    assert "holdfast.log" not in list_files(session.home)
    assert_next_hook_works(session)


def test_a_home_that_is_a_file_is_logged(session: HookSession) -> None:
    session.write(session.demo.before)
    session.home.write_text("not a folder")
    assert_guidance_without_saving(session, session.run_hook("PreCompact"))
    assert session.home.read_text() == "not a folder"
    session.home.unlink()
    assert_next_hook_works(session)


def test_a_hook_that_cannot_write_any_log_is_silent(session: HookSession) -> None:
    session.home.write_text("not a folder")
    session.temporary.rmdir()
    session.temporary.write_text("not a folder either")
    assert session.run_hook("PreCompact").is_silent


def limit_file_size(size: int) -> Callable[[], None]:
    """A function that makes writes beyond this size fail, as a full disk does."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("event", ["Stop", "PreCompact"])
@pytest.mark.parametrize("with_store", [False, True])
def test_a_disk_without_room_for_the_store_loses_only_this_save(
    session: HookSession, with_store: bool, event: str
) -> None:
    session.write(session.demo.before[:100])
    if with_store:
        session.run_hook("PreCompact")
    session.write(session.demo.before[100:])
    payload = session.make_payload(event)
    result = session.send_payload(payload, before_exec=limit_file_size(4096))
    if event == "PreCompact":
        assert_guidance_without_saving(session, result, "holdfast.db")
    else:
        assert_one_line_was_logged(session, result, "holdfast.db")
    assert [name for name in list_files(session.home) if ".new-" in name] == []
    assert_next_hook_works(session)
    with session.open_store() as store:
        assert len(store.snapshots("s1")) == with_store


def test_a_full_disk_loses_only_this_save(session: HookSession) -> None:
    session.write(session.demo.before)
    payload = session.make_payload("PreCompact")
    result = session.send_payload(payload, before_exec=limit_file_size(0))
    assert result.stdout == render_guidance(session.fold_transcript())
    assert_next_hook_works(session)


def test_a_disk_that_fills_up_keeps_every_acknowledged_snapshot(session: HookSession) -> None:
    session.write(session.demo.before)
    session.home.mkdir()
    with mount_small_disk(session.home, 360):
        acknowledged = 0
        while not (result := session.run_hook("PreCompact")).stderr and not session.read_log():
            acknowledged += 1
            assert acknowledged < 100, "the disk never filled up"
        assert_guidance_without_saving(session, result)
        with session.open_store() as store:
            assert len(store.snapshots("s1", 100)) == acknowledged > 0
            assert store.session("s1") is not None


# The installation


@pytest.fixture
def site_packages(tmp_path: Path) -> Path:
    """A folder with a copy of the package, which a test may break."""
    folder = tmp_path / "site-packages"
    package = Path(holdfast.__file__).parent
    shutil.copytree(package, folder / "holdfast", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def make_command(folder: Path) -> str:
    """The hook command for the package in that folder."""
    installed = str(Path(holdfast.__file__).parent.parent)
    command = hook_command()
    assert installed in command
    return command.replace(installed, str(folder))


def run_in_shell(session: HookSession, command: str) -> HookResult:
    """Run the command with a shell, as the host does."""
    return session.send_payload(
        session.make_payload("PreCompact"), command=shlex.join(["/bin/sh", "-c", command])
    )


def test_a_missing_package_does_not_block_the_host(
    session: HookSession, site_packages: Path
) -> None:
    session.write(session.demo.before)
    command = make_command(site_packages)
    assert run_in_shell(session, command).stdout, "the command has to work first"
    (site_packages / "holdfast").rename(site_packages / "gone")
    result = run_in_shell(session, command)
    assert (result.exit_code, result.stdout) == (1, "")
    (site_packages / "gone").rename(site_packages / "holdfast")
    assert run_in_shell(session, command).exit_code == 0


@pytest.mark.parametrize(
    "missing", ["hooks/main.py", "store/sql/repository.sql", "redaction/__init__.py"]
)
def test_a_package_with_a_missing_file_does_not_block_the_host(
    session: HookSession, site_packages: Path, missing: str
) -> None:
    session.write(session.demo.before)
    (site_packages / "holdfast" / missing).unlink()
    result = run_in_shell(session, make_command(site_packages))
    assert result.exit_code in (0, 1)
    assert result.stdout == ""


def test_a_package_with_a_syntax_error_does_not_block_the_host(
    session: HookSession, site_packages: Path
) -> None:
    (site_packages / "holdfast" / "hooks" / "main.py").write_text("def main(:\n")
    result = run_in_shell(session, make_command(site_packages))
    assert (result.exit_code, result.stdout) == (1, "")


def test_a_missing_interpreter_does_not_block_the_host(
    session: HookSession, tmp_path: Path
) -> None:
    session.write(session.demo.before)
    python = tmp_path / "python"
    python.symlink_to(os.path.realpath(sys.executable))
    command = hook_command().replace(sys.executable, str(python))
    assert run_in_shell(session, command).stdout, "the command has to work first"
    python.unlink()
    assert run_in_shell(session, command).exit_code == 127
    python.touch(mode=0o644)
    assert run_in_shell(session, command).exit_code == 126


def test_a_deleted_working_directory_is_no_error(session: HookSession, tmp_path: Path) -> None:
    session.write(session.demo.before)
    folder = tmp_path / "deleted"
    folder.mkdir()

    def enter_and_remove() -> None:
        os.chdir(folder)
        os.rmdir(folder)

    result = session.send_payload(session.make_payload("Stop"), before_exec=enter_and_remove)
    assert result.is_silent
    assert_next_hook_works(session)
