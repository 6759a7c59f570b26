"""Keep the notes of a session in its project: `.holdfast/sessions/<session>/notes.md`.

Only in a project that has a `.holdfast` folder: nobody finds files that he did not ask for.
"""

from __future__ import annotations

import os
import time
import zlib

from holdfast.actions.notes_path import path_of as path_of
from holdfast.errors import HoldfastError
from holdfast.redact import redact
from holdfast.views.notes import added, by_people, current_state, merged, progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from holdfast.state.model import State
    from holdfast.store.base import Store

MARK = "notes"
LARGEST = 4 << 20
TRIES = 3


class NotesUnusable(HoldfastError):
    """The notes of this session cannot be written."""


def keep(
    store: Store, session: str, state: State, project: str, now: float, asked: str = ""
) -> str:
    """Bring the notes up to date within the caller's transaction; returns their path.

    `asked` is what a person has just sent and the transcript does not have yet.
    """
    mark = store.mark(session, MARK)
    path = path_of(project, session)
    _prepare(project, path)
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(now))
    block = current_state(state, mark, when, asked)
    # A log that was cut or replaced begins anew, and so does what was written of it.
    after = mark.get("line", 0) if mark.get("line", 0) <= state["lines"] else 0
    entries = progress(state, after)

    def fresh(old: str | None) -> str:
        text = merged(old, f"# Session {session}", block, mark.get("block", []))
        return added(text, entries, when)

    _change(path, fresh)
    store.set_mark(session, MARK, {**mark, "block": block, "line": state["lines"]})
    _point(project, session)
    return path


def note(
    store: Store, session: str, state: State, project: str, text: str, kind: str, now: float
) -> str:
    """Write down what a person or an agent says; `kind` is decision, blocker, next or note."""
    text = " ".join(redact(text).split())
    mark = store.mark(session, MARK)
    said = mark.get("said", [])
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(now))
    entry = f"- {text}" if kind == "note" else f"- **{kind}:** {text}"
    if kind in ("blocker", "next"):
        mark[kind] = text
    elif kind == "unblocked":
        mark["blocker"] = ""
    mark["said"] = [*said, {"kind": kind, "text": text, "at": when}][-200:]
    store.set_mark(session, MARK, mark)
    path = keep(store, session, state, project, now)
    _change(path, lambda old: added(old or "", [entry], when))
    return path


def text_of(project: str, session: str) -> str:
    """The notes of a session as they stand, without secrets that somebody wrote into them."""
    text, _ = _read(path_of(project, session))
    return redact(text or "")


def said_by_people(store: Store, session: str, project: str) -> list[str]:
    """What stands in the notes that Holdfast did not write, and what was noted by command."""
    mark = store.mark(session, MARK)
    noted = [
        one["text"] if one["kind"] == "note" else f"{one['kind']}: {one['text']}"
        for one in mark.get("said", [])
    ]
    old, _ = _read(path_of(project, session))
    ours = {f"- {one['text']}" for one in mark.get("said", [])}
    ours |= {f"- **{one['kind']}:** {one['text']}" for one in mark.get("said", [])}
    return [*noted, *map(redact, by_people(old or "", mark.get("block", []), ours))]


def noticed(store: Store, session: str, project: str) -> list[str]:
    """What people noted since this was last asked; from now on it counts as known."""
    mark = store.mark(session, MARK)
    noted = said_by_people(store, session, project)
    sums = [zlib.crc32(text.encode("utf-8", "surrogateescape")) for text in noted]
    known = mark.get("known", [])
    if sums != known:
        store.set_mark(session, MARK, {**mark, "known": sums})
    return [text for text, number in zip(noted, sums, strict=True) if number not in known]


def _prepare(project: str, path: str) -> None:
    """The folder, out of git's sight. A link that leads out of the project is refused."""
    folder = os.path.dirname(path)
    sessions = os.path.dirname(folder)
    root = os.path.join(os.path.realpath(project), "")
    if not os.path.isdir(root):
        # A transcript may be from another machine.
        raise NotesUnusable(f"there is no folder {project} here")
    try:
        if not os.path.realpath(folder).startswith(root) or os.path.islink(path):
            raise NotesUnusable(f"{folder} leads out of {project}")
        os.makedirs(folder, exist_ok=True)
        ignored = os.path.join(sessions, ".gitignore")
        if not os.path.exists(ignored):
            _replace(ignored, "*\n", None)
    except OSError as problem:
        raise NotesUnusable(f"{folder} ({problem.strerror})") from None


def _change(path: str, change: Callable[[str | None], str]) -> None:
    """Write the file anew, however often somebody else does so meanwhile."""
    for _ in range(TRIES):
        old, seen = _read(path)
        if _replace(path, change(old), seen):
            return
    raise NotesUnusable(f"{path} is being written by somebody else")


def _read(path: str) -> tuple[str | None, Any]:
    """The text, and what tells whether somebody changed it since."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            there = os.fstat(file.fileno())
            return file.read(LARGEST), (there.st_ino, there.st_mtime_ns, there.st_size)
    except FileNotFoundError:
        return None, None
    except OSError as problem:
        raise NotesUnusable(f"{path} ({problem.strerror})") from None


def _replace(path: str, text: str, seen: Any) -> bool:
    """All or nothing; False if somebody wrote to the file meanwhile."""
    fresh = f"{path}.holdfast-{os.getpid()}"
    try:
        with open(fresh, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        try:
            there = os.stat(path)
            now: tuple[int, ...] | None = (there.st_ino, there.st_mtime_ns, there.st_size)
        except FileNotFoundError:
            now = None
        if now != seen:
            os.unlink(fresh)
            return False
        os.replace(fresh, path)
    except OSError as problem:
        raise NotesUnusable(f"{path} ({problem.strerror})") from None
    return True


def _point(project: str, session: str) -> None:
    """For tools that expect it: the session that was last at work here."""
    path = os.path.join(project, ".holdfast", "sessions", "CURRENT_SESSION")
    old, seen = _read(path)
    if old != f"{session}\n":
        _replace(path, f"{session}\n", seen)
