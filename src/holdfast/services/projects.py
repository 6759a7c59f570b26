"""Which project a folder belongs to, and which clones are one project.

Worktrees of one repository are one project on a machine; clones with the same `origin` are one
project for a team.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger

MAX_CONFIG_BYTES = 1 << 20
# Patterns are compiled on use: hooks load this module and do without `re`, which takes 3 ms.
_REMOTE = r'^\s*\[remote "origin"\]\s*$([^\[]*)'
_URL = r"^\s*url\s*=\s*(\S+)\s*$"
_SCP_ADDRESS = r"^(?:[^@/\s]+@)?([^:/\s]+):(?!/)(\S+)$"
_URL_ADDRESS = r"^[a-z+]+://(?:[^@/\s]+@)?([^/\s]+)/(\S+)$"


def find_project(folder: str) -> str:
    """Return the root of the main working tree around `folder`, or the folder itself."""
    folder = os.path.realpath(folder or ".")
    current = folder
    while True:
        git = os.path.join(current, ".git")
        if os.path.isdir(git):
            return current
        if os.path.isfile(git):
            return _find_main_tree(git) or current
        parent = os.path.dirname(current)
        if parent == current:
            return folder
        current = parent


def _find_main_tree(git_file: str) -> str:
    """Follow a worktree's `.git` file to the main tree or the bare repository; empty if neither.

    A submodule has such a file too, but no `commondir`: it is a project of its own. So is a
    worktree that the repository does not point back to: a `.git` file in an unpacked archive may
    name any repository of the user.
    """
    git_dir = _read_gitdir(git_file)
    common = _read_first_line(os.path.join(git_dir, "commondir")) if git_dir else ""
    back = _read_first_line(os.path.join(git_dir, "gitdir")) if common else ""
    if not back or os.path.realpath(os.path.join(git_dir, back)) != os.path.realpath(git_file):
        return ""
    common = os.path.realpath(os.path.join(git_dir, common))
    if os.path.dirname(git_dir) != os.path.join(common, "worktrees"):
        # The folder is not the repository's own record of a worktree, whatever it says.
        return ""
    parent = os.path.dirname(common)
    usual = os.path.join(parent, ".git")
    # `.git` beside it is either this folder, or a file that points at this bare repository.
    return parent if common in (os.path.realpath(usual), _read_gitdir(usual)) else common


def _read_gitdir(git_file: str) -> str:
    """Return the folder that a `.git` file points to, or an empty string."""
    path = _read_first_line(git_file).partition("gitdir:")[2].strip()
    return os.path.realpath(os.path.join(os.path.dirname(git_file), path)) if path else ""


def _read_first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(4096).strip()
    except OSError:
        return ""


def to_project_id(ledger: Ledger, path: str) -> str:
    """Return the id that the ledger has, or would create, for the project at this path."""
    from holdfast.ledger import projects

    return projects.find_project_id(ledger, path, find_origin(path))


def find_origin(project: str) -> str:
    """Return host and path of the remote `origin`, the same for every way to write its URL.

    Empty for a tree without such a remote.
    """
    for place in (".git/config", "config"):
        path = os.path.join(project, place)
        try:
            if os.path.getsize(path) < MAX_CONFIG_BYTES:
                with open(path, encoding="utf-8", errors="replace") as file:
                    return _parse_origin(file.read())
        except OSError:
            continue
    return ""


def _parse_origin(config: str) -> str:
    import re

    remote = re.search(_REMOTE, config, re.MULTILINE)
    url = re.search(_URL, remote[1], re.MULTILINE) if remote else None
    address = (re.match(_URL_ADDRESS, url[1]) or re.match(_SCP_ADDRESS, url[1])) if url else None
    # A path on this machine identifies nothing on another one.
    if address is None or address[1] in ("localhost", "127.0.0.1"):
        return ""
    return f"{address[1].lower()}/{address[2].strip('/').removesuffix('.git')}"
