"""The notes file of a session: Holdfast updates it and never changes lines of the user."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.notes import files
from holdfast.notes.document import append_entries, merge_state_block
from holdfast.notes.files import (
    NotesUnusable,
    add_note,
    get_notes_path,
    list_user_notes,
    update_notes,
)
from holdfast.state.fold import new_state
from holdfast.state.types import State
from holdfast.store.sqlite import SQLiteStore

NOW = 1_760_000_000.0
SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(str(tmp_path / "home" / "holdfast.db"))) as opened:
        for session in ("s1", "s2"):
            opened.save_session(
                session=session, host="claude-code", project="/p", transcript="", cursor=None,
                state=new_state(), revision=0, now=1.0,
            )  # fmt: skip
        yield opened


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".holdfast").mkdir(parents=True)
    return folder


def make_state(lines: int = 20) -> State:
    """A state with a request, a plan, a commit and a sub-agent."""
    state = new_state()
    state["requests"] = [{"text": "Make retries back off.", "line": 3, "at": ""}]
    state["lines"] = lines
    state["plan"] = [
        {"id": "1", "text": "Jitter", "status": "completed", "line": 8, "blocked_by": []},
        {"id": "2", "text": "Dead letters", "status": "in_progress", "line": 9, "blocked_by": []},
        {"id": "3", "text": "Metrics", "status": "pending", "line": 4, "blocked_by": []},
    ]
    state["commits"] = [{"sha": "3f2c1ab", "subject": "Add jitter", "line": 7}]
    state["agents"] = [
        {"id": "a9", "type": "Explore", "task": "", "status": "running", "result": "", "line": 5}
    ]
    return state


def write_notes(store: SQLiteStore, project: Path, state: State | None = None) -> str:
    """Update the notes of session s1 and return their text."""
    return Path(update_notes(store, "s1", state or make_state(), str(project), NOW)).read_text()


def test_the_current_state_is_at_the_top_and_the_log_below(
    store: SQLiteStore, project: Path
) -> None:
    lines = write_notes(store, project).splitlines()
    assert lines[0] == "# Session s1"
    assert lines[3].startswith("## Current State (last updated: 20")
    assert lines[4:9] == [
        "- **Active work:** “Make retries back off.” (L3)",
        "- **Current item:** Dead letters (L9)",
        "- **Blocking on:** nothing",
        "- **Next:** Metrics (L4)",
        "- **Sub-agents:** Explore=a9",
    ]
    assert lines[-2:] == ["- commit 3f2c1ab Add jitter (L7)", "- done: Jitter (L8)"]


def test_each_log_entry_is_added_once(store: SQLiteStore, project: Path) -> None:
    write_notes(store, project)
    state = make_state(lines=40)
    state["plan"][1] |= {"status": "completed", "line": 33}
    text = write_notes(store, project, state)
    assert text.count("done: Jitter") == 1
    assert text.rstrip().endswith("- done: Dead letters (L33)")
    assert text.count("## Current State") == 1


def test_lines_of_the_user_stay_in_place(store: SQLiteStore, project: Path) -> None:
    text = write_notes(store, project)
    edited = text.replace("- **Next:** Metrics (L4)", "- **Next:** ask Ada first\nand mind the cap")
    edited = f"top of the file\n{edited}at the end, no newline"
    Path(get_notes_path(str(project), "s1")).write_text(edited)
    updated = write_notes(store, project, make_state(lines=41))
    for line in ("top of the file", "- **Next:** ask Ada first", "and mind the cap"):
        assert line in updated.splitlines()
    assert "at the end, no newline" in updated
    assert "- **Next:** Metrics (L4)" in updated
    assert write_notes(store, project, make_state(lines=42)) == updated


def test_notes_of_the_user_are_listed_with_redacted_secrets(
    store: SQLiteStore, project: Path
) -> None:
    write_notes(store, project)
    file = Path(get_notes_path(str(project), "s1"))
    file.write_text(file.read_text() + f"mind the cap, {SECRET}\n")
    add_note(store, "s1", make_state(), str(project), "5 attempts", "decision", NOW)
    user_notes = list_user_notes(store, "s1", str(project))
    assert user_notes == ["decision: 5 attempts", "mind the cap, [redacted:github-token]"]


def test_a_note_is_added_and_a_blocker_is_shown_until_it_is_unblocked(
    store: SQLiteStore, project: Path
) -> None:
    def add(text: str, kind: str) -> str:
        path = add_note(store, "s1", make_state(), str(project), text, kind, NOW)
        return Path(path).read_text()

    assert add(f"key {SECRET}", "note").rstrip().endswith("- key [redacted:github-token]")
    blocked = add("support must answer", "blocker")
    assert "- **Blocking on:** support must answer" in blocked
    assert "- **blocker:** support must answer" in blocked
    assert "- **Next:** ask Ada" in add("ask Ada", "next")
    assert "- **Blocking on:** nothing" in add("they did", "unblocked")


def test_git_ignores_notes_and_a_file_names_the_current_session(
    store: SQLiteStore, project: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    write_notes(store, project)
    update_notes(store, "s2", make_state(), str(project), NOW)
    status = subprocess.run(
        ["git", "-C", str(project), "status", "--porcelain"], capture_output=True, check=True
    )
    assert status.stdout == b""
    sessions = project / ".holdfast" / "sessions"
    assert (sessions / "CURRENT_SESSION").read_text() == "s2\n"
    assert sorted(os.listdir(sessions)) == [".gitignore", "CURRENT_SESSION", "s1", "s2"]
    assert os.listdir(sessions / "s1") == ["notes.md"]


@pytest.mark.parametrize("session", ["../../evil", "/etc/x", "..", "a\0b", "…/é"])
def test_a_session_id_cannot_lead_out_of_the_notes_folder(project: Path, session: str) -> None:
    path = get_notes_path(str(project), session)
    folder = os.path.dirname(os.path.dirname(os.path.normpath(path)))
    assert folder == str(project / ".holdfast" / "sessions")


def test_a_linked_folder_is_refused(store: SQLiteStore, project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / ".holdfast" / "sessions").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotesUnusable, match="a symbolic link"):
        write_notes(store, project)
    assert os.listdir(tmp_path / "elsewhere") == []


def test_symbolic_links_in_a_cloned_repository_are_not_followed(
    store: SQLiteStore, project: Path, tmp_path: Path
) -> None:
    """Neither at the paths that are written nor at temporary paths that can be guessed."""
    victim = tmp_path / "bashrc"
    victim.write_text("mine\n")
    sessions = project / ".holdfast" / "sessions"
    (sessions / "s1").mkdir(parents=True)
    names = [sessions / "CURRENT_SESSION", sessions / ".gitignore", sessions / "s1" / "notes.md"]
    for name in names:
        Path(f"{name}.holdfast-{os.getpid()}").symlink_to(victim)
    names[0].symlink_to(victim)
    write_notes(store, project)
    assert victim.read_text() == "mine\n"
    assert names[0].read_text() == "s1\n"
    assert not names[0].is_symlink()
    assert {stat.S_IMODE(name.stat().st_mode) for name in names} == {0o600}


def test_notes_that_are_a_symbolic_link_are_refused(
    store: SQLiteStore, project: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "bashrc"
    victim.write_text("mine\n")
    file = Path(get_notes_path(str(project), "s1"))
    file.parent.mkdir(parents=True)
    file.symlink_to(victim)
    with pytest.raises(NotesUnusable):
        write_notes(store, project)
    assert victim.read_text() == "mine\n"


def test_the_folder_of_a_missing_project_is_not_created(store: SQLiteStore, tmp_path: Path) -> None:
    with pytest.raises(NotesUnusable, match="there is no folder"):
        write_notes(store, tmp_path / "elsewhere" / "app")
    assert not (tmp_path / "elsewhere").exists()


def test_a_concurrent_write_to_the_notes_is_not_lost(
    store: SQLiteStore, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_notes(store, project)
    file = Path(get_notes_path(str(project), "s1"))
    read_file = files._read
    concurrent_writes = ["typed meanwhile\n"]

    def read_before_a_concurrent_write(path: str) -> Any:
        content = read_file(path)
        if path == str(file) and concurrent_writes:
            file.write_text(file.read_text() + concurrent_writes.pop())
        return content

    monkeypatch.setattr(files, "_read", read_before_a_concurrent_write)
    assert "typed meanwhile" in write_notes(store, project, make_state(lines=44))


LINES = st.lists(st.text(alphabet="ab<!-# \t", max_size=8), max_size=6)


@settings(max_examples=100, deadline=None)
@given(LINES, LINES, LINES)
def test_no_line_of_the_user_is_ever_lost(
    above: list[str], inside: list[str], below: list[str]
) -> None:
    block = ["## Current State", "- **Next:** x"]
    document = merge_state_block(None, "# Session s1", block, [])
    head, _, tail = document.partition("- **Next:** x")
    old = "\n".join([*above, head, *inside, tail, *below])
    new = append_entries(
        merge_state_block(old, "# Session s1", ["## Current State", "- **Next:** y"], block),
        ["- e"],
        "t",
    )
    for line in (*above, *inside, *below):
        assert not line.strip() or line in new.split("\n")
