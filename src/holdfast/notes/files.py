"""Read and write the notes file of a session: `.holdfast/sessions/<session>/notes.md`.

Hooks write it only in a project that has a `.holdfast` folder, so that no project gets files that
the user did not ask for. Notes that were added by command are also stored in the mark "notes".
"""

from __future__ import annotations

import os
import time
import zlib

from holdfast import own_files
from holdfast.errors import HoldfastError
from holdfast.notes.document import (
    append_entries,
    find_user_lines,
    merge_state_block,
    render_progress,
    render_state_block,
)
from holdfast.redaction import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.state.types import State
    from holdfast.store.protocols import Store

# The mark's keys: `block` and `line` are what was written last, `blocker`, `next` and `said` are
# the notes by command, and `known` has the checksums of notes that `take_new_notes` has returned.
MARK = "notes"
MAX_NOTES_BYTES = 4 << 20
MAX_COMMAND_NOTES = 200
MAX_WRITE_ATTEMPTS = 3
NAME_PUNCTUATION = frozenset("-_.")


class NotesUnusable(HoldfastError):
    """The notes of this session cannot be written."""


def get_notes_path(project: str, session: str) -> str:
    """Return the path of a session's notes file, whether it exists or not."""
    name = "".join(char if char.isalnum() or char in NAME_PUNCTUATION else "-" for char in session)
    return os.path.join(project, ".holdfast", "sessions", name.lstrip(".") or "-", "notes.md")


def update_notes(
    store: Store, session: str, state: State, project: str, now: float, prompt: str = ""
) -> str:
    """Update the notes file within the caller's transaction and return its path.

    `prompt` is a prompt that the transcript does not contain yet. Raises NotesUnusable if the file
    cannot be written.
    """
    mark = store.get_mark(session, MARK)
    path = get_notes_path(project, session)
    _prepare_folder(project, path)
    timestamp = _format_time(now)
    block = render_state_block(state, mark, timestamp, prompt)
    # If the transcript was truncated or replaced, its line numbers start again. Then all entries
    # are added again.
    last_line = mark.get("line", 0) if mark.get("line", 0) <= state["lines"] else 0
    entries = render_progress(state, last_line)

    def change(text: str | None) -> str:
        text = merge_state_block(text, f"# Session {session}", block, mark.get("block", []))
        return append_entries(text, entries, timestamp)

    _change_file(path, change)
    store.set_mark(session, MARK, {**mark, "block": block, "line": state["lines"]})
    _write_current_session(project, session)
    return path


def add_note(
    store: Store, session: str, state: State, project: str, text: str, kind: str, now: float
) -> str:
    """Add a note by command and return the path of the file.

    `kind` is decision, blocker, unblocked, next or note. Raises NotesUnusable if the file cannot be
    written.
    """
    text = " ".join(redact(text).split())
    mark = store.get_mark(session, MARK)
    timestamp = _format_time(now)
    if kind in ("blocker", "next"):
        mark[kind] = text
    elif kind == "unblocked":
        mark["blocker"] = ""
    note = {"kind": kind, "text": text, "at": timestamp}
    mark["said"] = [*mark.get("said", []), note][-MAX_COMMAND_NOTES:]
    store.set_mark(session, MARK, mark)
    path = update_notes(store, session, state, project, now)
    entry = _render_note(note)
    _change_file(path, lambda old: append_entries(old or "", [entry], timestamp))
    return path


def _format_time(now: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(now))


def _render_note(note: dict[str, str]) -> str:
    """Return the line of the file for a note by command."""
    if note["kind"] == "note":
        return f"- {note['text']}"
    return f"- **{note['kind']}:** {note['text']}"


def read_notes(project: str, session: str) -> str:
    """Return the text of the notes file with secrets redacted, or "" if there is none."""
    text, _ = _read(get_notes_path(project, session))
    return redact(text or "")


def list_user_notes(store: Store, session: str, project: str) -> list[str]:
    """Return the notes by command, then the lines that people wrote into the file."""
    mark = store.get_mark(session, MARK)
    notes = mark.get("said", [])
    by_command = [
        note["text"] if note["kind"] == "note" else f"{note['kind']}: {note['text']}"
        for note in notes
    ]
    text, _ = _read(get_notes_path(project, session))
    command_lines = {f"- {note['text']}" for note in notes}
    command_lines |= {f"- **{note['kind']}:** {note['text']}" for note in notes}
    in_file = find_user_lines(text or "", mark.get("block", []), command_lines)
    return [*by_command, *map(redact, in_file)]


def take_new_notes(store: Store, session: str, project: str) -> list[str]:
    """Return the notes that are new since the last call, and record them as known."""
    mark = store.get_mark(session, MARK)
    notes = list_user_notes(store, session, project)
    checksums = [zlib.crc32(text.encode("utf-8", "surrogateescape")) for text in notes]
    known = mark.get("known", [])
    if checksums != known:
        store.set_mark(session, MARK, {**mark, "known": checksums})
    return [text for text, number in zip(notes, checksums, strict=True) if number not in known]


def _prepare_folder(project: str, path: str) -> None:
    """Create the folder and its .gitignore.

    Raises NotesUnusable if the project does not exist, if a folder on the way or the file is a
    symbolic link, or if the folder cannot be created.
    """
    folder = os.path.dirname(path)
    if not os.path.isdir(project):
        # The transcript may come from another machine.
        raise NotesUnusable(f"there is no folder {project} on this machine")
    try:
        sessions = own_files.make_folder(project, ".holdfast", "sessions")
        own_files.make_folder(sessions, os.path.basename(folder))
        if os.path.islink(path):
            raise NotesUnusable(f"{path} is a symbolic link, so nothing is written there")
        gitignore = os.path.join(sessions, ".gitignore")
        if not os.path.exists(gitignore):
            own_files.replace(gitignore, "*\n")
    except OSError as problem:
        raise _unusable(folder, problem) from None


def _unusable(path: str, problem: OSError) -> NotesUnusable:
    return NotesUnusable(f"{problem.filename or path} ({problem.strerror})")


def _change_file(path: str, change: Callable[[str | None], str]) -> None:
    """Replace the text of the file by `change(old text)`; try again if it was written meanwhile."""
    for _ in range(MAX_WRITE_ATTEMPTS):
        text, version = _read(path)
        if _replace(path, change(text), version):
            return
    raise NotesUnusable(f"another process keeps writing to {path}")


def _read(path: str) -> tuple[str | None, Any]:
    """Return the text and the file's version; (None, None) if there is no file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | own_files.NO_FOLLOW)
        with open(descriptor, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read(MAX_NOTES_BYTES), _get_version(os.fstat(file.fileno()))
    except FileNotFoundError:
        return None, None
    except OSError as problem:
        raise _unusable(path, problem) from None


def _get_version(status: os.stat_result) -> tuple[int, int, int]:
    """Return values that differ after the file was changed or replaced."""
    return status.st_ino, status.st_mtime_ns, status.st_size


def _replace(path: str, text: str, expected_version: Any) -> bool:
    """Replace the file atomically; return False if it no longer has the expected version."""
    try:
        temporary = own_files.write_temporary(path, text)
        try:
            current_version: Any = _get_version(os.lstat(path))
        except FileNotFoundError:
            current_version = None
        if current_version != expected_version:
            os.unlink(temporary)
            return False
        os.replace(temporary, path)
    except OSError as problem:
        raise _unusable(path, problem) from None
    return True


def _write_current_session(project: str, session: str) -> None:
    """Write the id of the latest session to CURRENT_SESSION, for tools that expect it there."""
    path = os.path.join(project, ".holdfast", "sessions", "CURRENT_SESSION")
    try:
        if os.path.islink(path) or _read(path)[0] != f"{session}\n":
            own_files.replace(path, f"{session}\n")
    except OSError as problem:
        raise _unusable(path, problem) from None
