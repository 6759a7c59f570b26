"""A brief as a file of rules, for a host that lets no hook speak to its model.

The host shows such a file in every conversation of the project, so it says which one it is about.
Each session has a file of its own, in a folder of ours that git ignores by itself.
"""

from __future__ import annotations

import os
import zlib

from holdfast.errors import HoldfastError
from holdfast.redact import redact
from holdfast.state.wording import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.hosts.base import Host
    from holdfast.state.model import State
    from holdfast.store.base import Store

MARK = "rules"
SUFFIX = ".mdc"
FRONT = "---\ndescription: Where a conversation of this project stood\nalwaysApply: true\n---\n"
IGNORED = "# Made and taken away by Holdfast.\n*\n"
LONGEST_REQUEST = 200
# A session that was not heard of for so many seconds gives way when another one starts.
IDLE = 3600.0


def put(store: Store, project: str, rules: str, session: str, state: State, brief: str) -> None:
    """Write the brief of a session where its host reads rules; all of it or nothing."""
    folder = _folder(project, rules)
    path = os.path.join(folder, _name(session))
    fresh = f"{path}.{os.urandom(4).hex()}"
    try:
        os.makedirs(folder, exist_ok=True)
        _write(os.path.join(folder, ".gitignore"), IGNORED)
        _write(fresh, f"{FRONT}{redact(_about(state))}\n\n{brief}")
        os.replace(fresh, path)
    except OSError as problem:
        raise HoldfastError(f"{path} ({problem.strerror})") from None
    # A path that the host gave is no secret, and must come back as it is.
    store.set_mark(session, MARK, {"project": project, "rules": rules}, clean=True)


def is_there(project: str, rules: str, session: str) -> bool:
    return os.path.isfile(os.path.join(project, rules, _name(session)))


def take_away(project: str, rules: str, session: str) -> None:
    """The session is over: its file goes, and with the last one everything that was made."""
    _remove(project, rules, [_name(session)])


def make_way(store: Store, project: str, rules: str, session: str, now: float) -> None:
    """Another session starts: what is about sessions that are over, or idle, goes."""
    found = _files(project, rules)
    if not found:
        return
    active = {_name(session)}
    for row in store.transcripts(None):
        if not row["ended_at"] and now - row["seen_at"] < IDLE:
            active.add(_name(row["id"]))
    _remove(project, rules, [name for name in found if name not in active])


def left_over(
    store: Store, host: Host, environ: Mapping[str, str], here: str
) -> Iterator[tuple[str, list[str]]]:
    """Projects in which this host has no hooks of ours any more, with the files that lie there."""
    known = [store.mark(row["id"], MARK).get("project") for row in store.transcripts(None)]
    for project in dict.fromkeys([here, *known]):
        if not isinstance(project, str) or host.is_installed(environ, project):
            continue
        if found := _files(project, host.RULES):
            yield project, found


def take_all_away(project: str, rules: str) -> None:
    _remove(project, rules, _files(project, rules))


def _about(state: State) -> str:
    first = one_line(state["requests"][0]["text"], LONGEST_REQUEST) if state["requests"] else ""
    began = f", the one that began with “{first}”" if first else ""
    return (
        f"This is about one conversation of this project{began}, and says nothing about any other. "
        "It was written when that conversation was compacted; what was said since counts more."
    )


def _name(session: str) -> str:
    plain = session.replace("-", "").isalnum() and session.isascii() and len(session) <= 64
    known = session if plain else f"{zlib.crc32(session.encode('utf-8', 'replace')):08x}"
    return f"{known}{SUFFIX}"


def _folder(project: str, rules: str) -> str:
    """The folder of ours; a link in its place may lead anywhere."""
    root = os.path.realpath(project)
    folder = os.path.join(root, *rules.split("/"))
    if not os.path.isabs(project) or not os.path.isdir(root):
        raise HoldfastError(f"{project} is no folder to write rules to")
    if os.path.realpath(folder) != folder:
        raise HoldfastError(f"{folder} is reached by a link, so no rules are written there")
    return folder


def _files(project: str, rules: str) -> list[str]:
    try:
        return [name for name in os.listdir(_folder(project, rules)) if name.endswith(SUFFIX)]
    except (OSError, HoldfastError):
        return []


def _write(path: str, text: str) -> None:
    """For its owner alone; what is there already stays."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    try:
        handle = os.open(path, flags, 0o600)
    except FileExistsError:
        return
    with open(handle, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)


def _remove(project: str, rules: str, names: list[str]) -> None:
    try:
        folder = _folder(project, rules)
        for name in names:
            _unlink(os.path.join(folder, name))
        if os.listdir(folder) != [".gitignore"]:
            return
        _unlink(os.path.join(folder, ".gitignore"))
        # A folder that holds nothing is in no repository.
        for _ in rules.split("/"):
            os.rmdir(folder)
            folder = os.path.dirname(folder)
    except (OSError, HoldfastError):
        return  # it holds something of somebody else's, or is gone


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
