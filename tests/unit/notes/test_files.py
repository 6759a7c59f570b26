"""The session's notes: kept by Holdfast, and people's lines are never touched."""

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
    notes_path,
    update_notes,
    user_written_notes,
)
from holdfast.state.fold import new_state
from holdfast.state.types import State
from holdfast.store.sqlite import SQLiteStore

NOON = 1_760_000_000.0
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


def at_work(lines: int = 20, **parts: Any) -> State:
    state: State = {**new_state(), **parts}  # type: ignore[typeddict-item]
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


def kept(store: SQLiteStore, project: Path, state: State | None = None) -> str:
    return Path(update_notes(store, "s1", state or at_work(), str(project), NOON)).read_text()


def test_the_current_state_is_at_the_top_and_the_log_below(
    store: SQLiteStore, project: Path
) -> None:
    lines = kept(store, project).splitlines()
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


def test_an_entry_is_logged_only_once(store: SQLiteStore, project: Path) -> None:
    kept(store, project)
    state = at_work(lines=40)
    state["plan"][1] |= {"status": "completed", "line": 33}
    text = kept(store, project, state)
    assert text.count("done: Jitter") == 1
    assert text.rstrip().endswith("- done: Dead letters (L33)")
    assert text.count("## Current State") == 1


def test_lines_that_people_wrote_stay_in_place(store: SQLiteStore, project: Path) -> None:
    text = kept(store, project)
    changed = text.replace(
        "- **Next:** Metrics (L4)", "- **Next:** ask Ada first\nand mind the cap"
    )
    changed = f"top of the file\n{changed}at the end, no newline"
    Path(notes_path(str(project), "s1")).write_text(changed)
    again = kept(store, project, at_work(lines=41))
    for line in ("top of the file", "- **Next:** ask Ada first", "and mind the cap"):
        assert line in again.splitlines()
    assert "at the end, no newline" in again
    assert "- **Next:** Metrics (L4)" in again
    assert kept(store, project, at_work(lines=42)) == again


def test_lines_that_people_wrote_are_returned(store: SQLiteStore, project: Path) -> None:
    kept(store, project)
    file = Path(notes_path(str(project), "s1"))
    file.write_text(file.read_text() + f"mind the cap, {SECRET}\n")
    add_note(store, "s1", at_work(), str(project), "5 attempts", "decision", NOON)
    told = user_written_notes(store, "s1", str(project))
    assert told == ["decision: 5 attempts", "mind the cap, [redacted:github-token]"]


def test_a_note_is_added_and_a_blocker_shows_until_unblocked(
    store: SQLiteStore, project: Path
) -> None:
    def said(text: str, kind: str) -> str:
        path = add_note(store, "s1", at_work(), str(project), text, kind, NOON)
        return Path(path).read_text()

    assert said(f"key {SECRET}", "note").rstrip().endswith("- key [redacted:github-token]")
    blocked = said("support must answer", "blocker")
    assert "- **Blocking on:** support must answer" in blocked
    assert "- **blocker:** support must answer" in blocked
    assert "- **Next:** ask Ada" in said("ask Ada", "next")
    assert "- **Blocking on:** nothing" in said("they did", "unblocked")


def test_git_ignores_notes_and_the_current_session_is_named(
    store: SQLiteStore, project: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    kept(store, project)
    update_notes(store, "s2", at_work(), str(project), NOON)
    done = subprocess.run(
        ["git", "-C", str(project), "status", "--porcelain"], capture_output=True, check=True
    )
    assert done.stdout == b""
    sessions = project / ".holdfast" / "sessions"
    assert (sessions / "CURRENT_SESSION").read_text() == "s2\n"
    assert sorted(os.listdir(sessions)) == [".gitignore", "CURRENT_SESSION", "s1", "s2"]
    assert os.listdir(sessions / "s1") == ["notes.md"]


@pytest.mark.parametrize("session", ["../../evil", "/etc/x", "..", "a\0b", "…/é"])
def test_a_session_id_cannot_change_the_path_of_the_notes(project: Path, session: str) -> None:
    path = notes_path(str(project), session)
    folder = os.path.dirname(os.path.dirname(os.path.normpath(path)))
    assert folder == str(project / ".holdfast" / "sessions")


def test_a_folder_that_leads_out_of_the_project_is_refused(
    store: SQLiteStore, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / ".holdfast" / "sessions").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotesUnusable, match="leads out"):
        kept(store, project)
    assert os.listdir(tmp_path / "elsewhere") == []


def test_symbolic_links_in_a_cloned_repository_are_not_followed(
    store: SQLiteStore, project: Path, tmp_path: Path
) -> None:
    """Under the names that we write, and under every temporary name that could be guessed."""
    victim = tmp_path / "bashrc"
    victim.write_text("mine\n")
    sessions = project / ".holdfast" / "sessions"
    (sessions / "s1").mkdir(parents=True)
    names = [sessions / "CURRENT_SESSION", sessions / ".gitignore", sessions / "s1" / "notes.md"]
    for name in names:
        Path(f"{name}.holdfast-{os.getpid()}").symlink_to(victim)
    names[0].symlink_to(victim)
    kept(store, project)
    assert victim.read_text() == "mine\n"
    assert names[0].read_text() == "s1\n"
    assert not names[0].is_symlink()
    assert {stat.S_IMODE(name.stat().st_mode) for name in names} == {0o600}


def test_notes_that_are_a_symbolic_link_are_refused(
    store: SQLiteStore, project: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "bashrc"
    victim.write_text("mine\n")
    file = Path(notes_path(str(project), "s1"))
    file.parent.mkdir(parents=True)
    file.symlink_to(victim)
    with pytest.raises(NotesUnusable):
        kept(store, project)
    assert victim.read_text() == "mine\n"


def test_the_folder_of_a_project_on_another_machine_is_not_created(
    store: SQLiteStore, tmp_path: Path
) -> None:
    with pytest.raises(NotesUnusable, match="there is no folder"):
        kept(store, tmp_path / "elsewhere" / "app")
    assert not (tmp_path / "elsewhere").exists()


def test_a_concurrent_write_to_the_notes_is_not_lost(
    store: SQLiteStore, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(store, project)
    file = Path(notes_path(str(project), "s1"))
    read, times = files._read, []

    def slow(path: str) -> Any:
        found = read(path)
        if path == str(file) and not times:
            times.append(1)
            file.write_text(file.read_text() + "typed meanwhile\n")
        return found

    monkeypatch.setattr(files, "_read", slow)
    assert "typed meanwhile" in kept(store, project, at_work(lines=44))


lines = st.lists(st.text(alphabet="ab<!-# \t", max_size=8), max_size=6)


@settings(max_examples=100, deadline=None)
@given(lines, lines, lines)
def test_no_line_that_people_wrote_is_ever_lost(
    above: list[str], inside: list[str], below: list[str]
) -> None:
    block = ["## Current State", "- **Next:** x"]
    made = merge_state_block(None, "# Session s1", block, [])
    head, _, tail = made.partition("- **Next:** x")
    old = "\n".join([*above, head, *inside, tail, *below])
    new = append_entries(
        merge_state_block(old, "# Session s1", ["## Current State", "- **Next:** y"], block),
        ["- e"],
        "t",
    )
    for line in (*above, *inside, *below):
        assert not line.strip() or line in new.split("\n")
