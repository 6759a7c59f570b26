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
    """A worktree's `.git` file points into the main tree's `.git/worktrees`."""
    try:
        with open(mark, encoding="utf-8", errors="replace") as file:
            target = file.read(4096).strip().removeprefix("gitdir:").strip()
    except OSError:
        return ""
    target = os.path.realpath(os.path.join(os.path.dirname(mark), target))
    git, found, _ = target.partition(f"{os.sep}.git{os.sep}worktrees{os.sep}")
    return git if found else ""
