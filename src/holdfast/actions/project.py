"""Which project a folder belongs to: worktrees of one repository are one project."""

from __future__ import annotations

import os


def project_of(folder: str) -> str:
    """The root of the main working tree around `folder`, or the folder itself."""
    folder = os.path.realpath(folder or ".")
    here = folder
    while True:
        mark = os.path.join(here, ".git")
        if os.path.isdir(mark):
            return here
        if os.path.isfile(mark):
            return _main_tree(mark) or here
        above = os.path.dirname(here)
        if above == here:
            return folder
        here = above


def _main_tree(mark: str) -> str:
    """What a worktree's `.git` file leads to: the main tree, or a bare repository.

    A submodule has such a file too, but no `commondir`: it is a project of its own.
    """
    git = _target(mark)
    shared = _line(os.path.join(git, "commondir")) if git else ""
    if not shared:
        # The repository is out of sight, but its usual place can be told from the name.
        tree, found, _ = git.partition(f"{os.sep}.git{os.sep}worktrees{os.sep}")
        return tree if found else ""
    common = os.path.realpath(os.path.join(git, shared))
    above = os.path.dirname(common)
    inner = os.path.join(above, ".git")
    # Either the usual folder, or a file that points at a bare repository beside it.
    return above if common in (os.path.realpath(inner), _target(inner)) else common


def _target(mark: str) -> str:
    """Where a `.git` file points, or nothing."""
    path = _line(mark).partition("gitdir:")[2].strip()
    return os.path.realpath(os.path.join(os.path.dirname(mark), path)) if path else ""


def _line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(4096).strip()
    except OSError:
        return ""
