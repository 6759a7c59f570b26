"""Deliver a brief as a rules file, for a host whose hooks cannot add context (Cursor).

The host includes the file in every conversation of the project, so the text says which one it is
about. Each session has its own file, in a folder that contains a `.gitignore` for itself.
"""

from __future__ import annotations

import os
import zlib

from holdfast import own_files
from holdfast.errors import HoldfastError
from holdfast.redaction import redact
from holdfast.state.quoting import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.hosts.base import Host
    from holdfast.state.types import State
    from holdfast.store.protocols import Store

RULES_FILE_MARK = "rules"
RULES_SUFFIX = ".mdc"
FRONT_MATTER = (
    "---\ndescription: Where a conversation of this project stood\nalwaysApply: true\n---\n"
)
GITIGNORE = "# Created and removed by Holdfast.\n*\n"
MAX_REQUEST_CHARS = 200
# The file of a session without events for this long is removed when another session starts.
IDLE_SECONDS = 3600.0


def write_rules_file(
    store: Store, project: str, rules: str, session: str, state: State, brief: str
) -> None:
    """Write the brief of a session to its rules file, atomically; raises HoldfastError."""
    folder = _rules_folder(project, rules)
    path, gitignore = os.path.join(folder, _file_name(session)), os.path.join(folder, ".gitignore")
    try:
        own_files.make_folder(os.path.realpath(project), *rules.split("/"))
        if not os.path.lexists(gitignore):
            own_files.replace(gitignore, GITIGNORE)
        own_files.replace(path, f"{FRONT_MATTER}{redact(_describe_session(state))}\n\n{brief}")
    except OSError as problem:
        raise HoldfastError(f"{path} ({problem.strerror})") from None
    # `clean`: a path from the host is no secret, and redaction must not change it.
    store.set_mark(session, RULES_FILE_MARK, {"project": project, "rules": rules}, is_redacted=True)


def has_rules_file(project: str, rules: str, session: str) -> bool:
    return os.path.isfile(os.path.join(project, rules, _file_name(session)))


def remove_rules_file(project: str, rules: str, session: str) -> None:
    """Remove the file of a session that ended; after the last one, also the folders."""
    _remove(project, rules, [_file_name(session)])


def remove_stale_rules_files(
    store: Store, project: str, rules: str, session: str, now: float
) -> None:
    """Remove the files of ended and idle sessions when another session starts."""
    names = _list_files(project, rules)
    if not names:
        return
    active = {_file_name(session)}
    for row in store.transcripts(None):
        if not row["ended_at"] and now - row["seen_at"] < IDLE_SECONDS:
            active.add(_file_name(row["id"]))
    _remove(project, rules, [name for name in names if name not in active])


def find_leftover_rules_files(
    store: Store, host: Host, environ: Mapping[str, str], here: str
) -> Iterator[tuple[str, list[str]]]:
    """Yield each project where this host has no Holdfast hooks any more, and its rules files."""
    projects = [
        store.get_mark(row["id"], RULES_FILE_MARK).get("project") for row in store.transcripts(None)
    ]
    for project in dict.fromkeys([here, *projects]):
        if not isinstance(project, str) or host.is_installed(environ, project):
            continue
        if names := _list_files(project, host.RULES_FOLDER):
            yield project, names


def remove_all_rules_files(project: str, rules: str) -> None:
    _remove(project, rules, _list_files(project, rules))


def _describe_session(state: State) -> str:
    first = state["requests"][0]["text"] if state["requests"] else ""
    began = f", the one that began with {quote(first, MAX_REQUEST_CHARS)}" if first else ""
    return (
        f"This is about one conversation of this project{began}, and says nothing about any other. "
        "It was written when that conversation was compacted; what was said since counts more."
    )


def _file_name(session: str) -> str:
    is_plain = session.replace("-", "").isalnum() and session.isascii() and len(session) <= 64
    stem = session if is_plain else f"{zlib.crc32(session.encode('utf-8', 'replace')):08x}"
    return f"{stem}{RULES_SUFFIX}"


def _rules_folder(project: str, rules: str) -> str:
    """Return the folder of the rules files; raises HoldfastError if a link is in its place."""
    root = os.path.realpath(project)
    folder = os.path.join(root, *rules.split("/"))
    if not os.path.isabs(project) or not os.path.isdir(root):
        raise HoldfastError(f"{project} is no folder to write rules to")
    if os.path.realpath(folder) != folder:
        raise HoldfastError(f"{folder} is reached by a link, so no rules are written there")
    return folder


def _list_files(project: str, rules: str) -> list[str]:
    try:
        return [
            name
            for name in os.listdir(_rules_folder(project, rules))
            if name.endswith(RULES_SUFFIX)
        ]
    except (OSError, HoldfastError):
        return []


def _remove(project: str, rules: str, names: list[str]) -> None:
    try:
        folder = _rules_folder(project, rules)
        for name in names:
            _unlink(os.path.join(folder, name))
        if os.listdir(folder) != [".gitignore"]:
            return
        _unlink(os.path.join(folder, ".gitignore"))
        # Empty folders cannot be part of a repository, so they are removed too.
        for _ in rules.split("/"):
            os.rmdir(folder)
            folder = os.path.dirname(folder)
    except (OSError, HoldfastError):
        return  # the folder holds other files, or is gone


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
