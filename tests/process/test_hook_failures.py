"""Whatever goes wrong, the host never notices: exit 0, not a word, one line in the log."""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.services.install.registration import hook_command
from holdfast.store import sqlite_migrations
from tests.weather import read_only, small_disk

from .scene import Fired, Scene, files

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SubagentStop", "PostCompact")


def assert_one_line_was_logged(scene: Scene, fired: Fired, *words: str) -> None:
    assert fired.is_silent, fired
    (line,) = scene.log()
    assert len(line) < 1100
    for word in words:
        assert word in line


def assert_the_next_run_works(scene: Scene) -> None:
    """The same session, the ordinary way: its state is known and nothing else goes wrong."""
    told = len(scene.log())
    if not scene.transcript.exists():
        scene.write(scene.demo.before)
    assert scene.fire("Stop").is_silent
    assert scene.row()["state"] == scene.folded()
    assert len(scene.log()) == told


# What comes in


MALFORMED: dict[str, tuple[bytes, str]] = {
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


@pytest.mark.parametrize("name", MALFORMED)
def test_an_invalid_payload_is_logged(scene: Scene, name: str) -> None:
    raw, words = MALFORMED[name]
    assert_one_line_was_logged(scene, scene.send(raw), words)
    assert_the_next_run_works(scene)


def test_a_prompt_of_five_megabytes_is_an_ordinary_prompt(scene: Scene) -> None:
    scene.write(scene.demo.before)
    assert scene.fire("UserPromptSubmit", text="so much to say " * 350_000).is_silent
    assert scene.log() == []
    assert_the_next_run_works(scene)


def test_fields_of_the_wrong_type_are_as_good_as_missing(scene: Scene) -> None:
    """Nothing is known of such a session, so there is nothing to save, to say or to lose."""
    wrong: dict[str, Any] = {"transcript_path": 7, "cwd": None, "trigger": [], "source": {}}
    wrong |= {"compact_summary": 1.5, "last_assistant_message": {}, "agent_id": 3}
    for event in EVENTS:
        told = json.dumps({"hook_event_name": event, "session_id": "s1", **wrong})
        fired = scene.send(told.encode())
        assert (fired.code, fired.err) == (0, ""), event
    assert_the_next_run_works(scene)


def test_an_unknown_event_is_ignored(scene: Scene) -> None:
    told = json.dumps({"hook_event_name": "PreLaunch", "session_id": "s1"})
    assert scene.send(told.encode()).is_silent
    assert scene.log() == []
    assert not scene.home.exists()


def test_a_closed_standard_input_is_survived(scene: Scene) -> None:
    fired = scene.send(b"", before=lambda: os.close(0))
    assert_one_line_was_logged(scene, fired)
    assert_the_next_run_works(scene)


def test_a_brief_that_cannot_be_printed_is_logged_and_sent_with_the_next_prompt(
    scene: Scene,
) -> None:
    scene.write(scene.demo.before)
    scene.fire("PreCompact")
    told = json.dumps(scene.payload("SessionStart", source="compact")).encode()
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            shlex.split(hook_command()), input=told, stdout=full, stderr=subprocess.PIPE,
            env=scene.environment, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(scene.log()) == 1
    scene.write(scene.demo.after(transcript_path=str(scene.transcript)))
    assert scene.fire("UserPromptSubmit", text="go on").brief


# The transcript


def missing(scene: Scene) -> None:
    pass


def a_folder(scene: Scene) -> None:
    scene.transcript.mkdir()


def a_pipe(scene: Scene) -> None:
    os.mkfifo(scene.transcript)


@pytest.mark.parametrize("event", ["Stop", "PreCompact"])
@pytest.mark.parametrize("there_is", [missing, a_folder, a_pipe])
def test_a_transcript_that_cannot_be_read_is_logged(
    scene: Scene, there_is: Callable[[Scene], None], event: str
) -> None:
    there_is(scene)
    assert_one_line_was_logged(scene, scene.fire(event), str(scene.transcript))
    if scene.transcript.is_dir():
        scene.transcript.rmdir()
    elif scene.transcript.exists():
        scene.transcript.unlink()
    assert_the_next_run_works(scene)


def test_a_session_that_begins_has_no_transcript_yet_and_that_is_fine(scene: Scene) -> None:
    assert scene.fire("SessionStart", source="startup").is_silent
    assert scene.fire("UserPromptSubmit", text="the very first words").is_silent
    assert scene.log() == []
    assert_the_next_run_works(scene)


def test_an_unknown_session_gets_no_brief(scene: Scene) -> None:
    """Guidance that promises to restore what was never read would make the summary worse."""
    assert scene.fire("PreCompact").out == ""
    assert scene.fire("SessionStart", source="compact").out == ""


@pytest.mark.parametrize("name", ["nul\0inside", "half \ud83d a pair", "x" * 5000])
def test_a_path_that_no_file_can_have_is_survived(scene: Scene, name: str) -> None:
    told = scene.payload("Stop") | {"transcript_path": f"/{name}", "cwd": f"/{name}"}
    assert scene.send(json.dumps(told).encode()).is_silent
    assert_the_next_run_works(scene)


# The store


def test_a_store_locked_by_another_process_is_not_waited_for_long(scene: Scene) -> None:
    scene.write(scene.demo.before[:50])
    scene.fire("Stop")
    before = scene.row()
    scene.write(scene.demo.before[50:])
    with closing(sqlite3.connect(scene.database, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        assert_one_line_was_logged(scene, scene.fire("PreCompact"), "locked")
    assert scene.row() == before
    assert_the_next_run_works(scene)


def test_a_store_that_is_no_database_is_set_aside(scene: Scene) -> None:
    scene.home.mkdir()
    scene.database.write_bytes(b"this was never a database\n" * 400)
    assert_one_line_was_logged(scene, scene.fire("PreCompact"), "damaged", "it is now")
    assert [name for name in files(scene.home) if "damaged-" in name] != []
    assert_the_next_run_works(scene)


def spoil(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        # Hooks leave what they wrote in the log: it has to be in the file to be spoiled there.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(database, "r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (os.path.getsize(database) - 4096))


def test_a_store_spoiled_in_the_middle_is_set_aside(scene: Scene) -> None:
    scene.write(scene.demo.before)
    scene.compacts()
    spoil(scene.database)
    assert_one_line_was_logged(scene, scene.fire("Stop"), "damaged", "it is now")
    assert_the_next_run_works(scene)


def test_of_eight_hooks_that_find_the_store_spoiled_one_sets_it_aside(scene: Scene) -> None:
    scene.write(scene.demo.before)
    scene.compacts()
    spoil(scene.database)
    spoiled = scene.database.read_bytes()
    assert all(fired.is_silent for fired in scene.at_once(*["Stop"] * 8))
    aside = [name for name in files(scene.home) if "damaged-" in name]
    databases = [name for name in aside if not name.endswith(("-wal", "-shm"))]
    assert [(scene.home / name).read_bytes() == spoiled for name in databases] == [True]
    assert_the_next_run_works(scene)


def test_a_store_of_a_newer_holdfast_is_left_alone(scene: Scene) -> None:
    scene.write(scene.demo.before)
    scene.fire("Stop")
    with closing(sqlite3.connect(scene.database)) as tomorrow:
        tomorrow.execute("PRAGMA user_version = 999")
    assert_one_line_was_logged(scene, scene.fire("PreCompact"), "newer Holdfast")
    with closing(sqlite3.connect(scene.database)) as today:
        today.execute(f"PRAGMA user_version = {sqlite_migrations.STORE_MIGRATIONS[1]}")
    assert_the_next_run_works(scene)


# The settings


@pytest.mark.parametrize("content", ["{", "[]", '{"brief_tokens": "lots"}', '{"colour": "red"}'])
def test_settings_that_make_no_sense_are_logged_and_the_work_goes_on(
    scene: Scene, content: str
) -> None:
    scene.write(scene.demo.before)
    scene.home.mkdir()
    settings = scene.home / "settings.json"
    settings.write_text(content)
    fired = scene.fire("PreCompact")
    assert (fired.code, fired.err) == (0, "")
    assert fired.out, "the defaults hold"
    (line,) = scene.log()
    assert f"settings: {settings}: " in line
    settings.unlink()
    assert_the_next_run_works(scene)


# The disk


@pytest.mark.parametrize("with_store", [False, True])
def test_where_nothing_can_be_written_the_temporary_folder_takes_the_line(
    scene: Scene, with_store: bool
) -> None:
    scene.write(scene.demo.before)
    if with_store:
        scene.fire("PreCompact")
    else:
        scene.home.mkdir()
    with read_only(scene.home):
        fired = scene.fire("PreCompact")
    assert_one_line_was_logged(scene, fired)
    assert "holdfast.log" not in files(scene.home)
    assert_the_next_run_works(scene)


def test_a_home_that_is_a_file_is_survived(scene: Scene) -> None:
    scene.write(scene.demo.before)
    scene.home.write_text("not a folder")
    assert_one_line_was_logged(scene, scene.fire("PreCompact"))
    assert scene.home.read_text() == "not a folder"
    scene.home.unlink()
    assert_the_next_run_works(scene)


def test_a_hook_that_cannot_write_any_log_is_silent(scene: Scene) -> None:
    scene.home.write_text("not a folder")
    scene.temporary.rmdir()
    scene.temporary.write_text("not a folder either")
    assert scene.fire("PreCompact").is_silent


def no_file_beyond(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("event", ["Stop", "PreCompact"])
@pytest.mark.parametrize("with_store", [False, True])
def test_a_disk_without_room_for_the_store_costs_this_save_and_no_more(
    scene: Scene, with_store: bool, event: str
) -> None:
    """The limit on the size of files fails writes the way a full disk does."""
    scene.write(scene.demo.before[:100])
    if with_store:
        scene.fire("PreCompact")
    scene.write(scene.demo.before[100:])
    told = json.dumps(scene.payload(event)).encode()
    fired = scene.send(told, before=no_file_beyond(4096))
    assert_one_line_was_logged(scene, fired, "holdfast.db")
    assert [name for name in files(scene.home) if ".new-" in name] == []
    assert_the_next_run_works(scene)
    with scene.store() as store:
        assert len(store.snapshots("s1")) == with_store


def test_a_full_disk_is_survived(scene: Scene) -> None:
    scene.write(scene.demo.before)
    told = json.dumps(scene.payload("PreCompact")).encode()
    assert scene.send(told, before=no_file_beyond(0)).is_silent
    assert_the_next_run_works(scene)


def test_a_disk_that_fills_up_keeps_every_snapshot_that_was_promised(scene: Scene) -> None:
    scene.write(scene.demo.before)
    scene.home.mkdir()
    with small_disk(scene.home, 360):
        promised = 0
        while (fired := scene.fire("PreCompact")).out:
            assert fired.code == 0
            promised += 1
            assert promised < 100, "the disk never filled up"
        assert fired.is_silent
        assert len(scene.log()) == 1
        with scene.store() as store:
            assert len(store.snapshots("s1", 100)) == promised > 0
            assert store.session("s1") is not None


# The installation


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Our package, installed where a test may break it."""
    folder = tmp_path / "site-packages"
    here = Path(holdfast.__file__).parent
    shutil.copytree(here, folder / "holdfast", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def command_for(folder: Path) -> str:
    here = str(Path(holdfast.__file__).parent.parent)
    command = hook_command()
    assert here in command
    return command.replace(here, str(folder))


def through_a_shell(scene: Scene, command: str) -> Fired:
    """As the host does it."""
    return scene.send(
        json.dumps(scene.payload("PreCompact")).encode(),
        command=shlex.join(["/bin/sh", "-c", command]),
    )


def test_a_package_that_vanished_does_not_block_the_host(scene: Scene, elsewhere: Path) -> None:
    scene.write(scene.demo.before)
    command = command_for(elsewhere)
    assert through_a_shell(scene, command).out, "it did work"
    scene.wait_for_names()
    (elsewhere / "holdfast").rename(elsewhere / "gone")
    fired = through_a_shell(scene, command)
    assert (fired.code, fired.out) == (1, "")
    (elsewhere / "gone").rename(elsewhere / "holdfast")
    assert through_a_shell(scene, command).code == 0


@pytest.mark.parametrize(
    "lost", ["hooks/main.py", "store/sql/repository.sql", "redaction/__init__.py"]
)
def test_a_package_that_lost_a_part_does_not_block_the_host(
    scene: Scene, elsewhere: Path, lost: str
) -> None:
    scene.write(scene.demo.before)
    (elsewhere / "holdfast" / lost).unlink()
    fired = through_a_shell(scene, command_for(elsewhere))
    assert fired.code in (0, 1)
    assert fired.out == ""


def test_a_package_half_way_through_an_upgrade_does_not_block_the_host(
    scene: Scene, elsewhere: Path
) -> None:
    (elsewhere / "holdfast" / "hooks" / "main.py").write_text("def main(:\n")
    fired = through_a_shell(scene, command_for(elsewhere))
    assert (fired.code, fired.out) == (1, "")


def test_an_interpreter_that_vanished_does_not_block_the_host(scene: Scene, tmp_path: Path) -> None:
    scene.write(scene.demo.before)
    python = tmp_path / "python"
    python.symlink_to(os.path.realpath(sys.executable))
    command = hook_command().replace(sys.executable, str(python))
    assert through_a_shell(scene, command).out, "it did work"
    python.unlink()
    assert through_a_shell(scene, command).code == 127
    python.touch(mode=0o644)
    assert through_a_shell(scene, command).code == 126


def test_the_folder_a_hook_is_started_in_may_be_gone(scene: Scene, tmp_path: Path) -> None:
    scene.write(scene.demo.before)
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()

    def enter_and_remove() -> None:
        os.chdir(nowhere)
        os.rmdir(nowhere)

    fired = scene.send(json.dumps(scene.payload("Stop")).encode(), before=enter_and_remove)
    assert fired.is_silent
    assert_the_next_run_works(scene)
