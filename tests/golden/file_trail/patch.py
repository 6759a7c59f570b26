"""Applies the file changes of a unified diff: creates, edits, moves and deletes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.golden.file_trail.options import Options

if TYPE_CHECKING:
    from tests.golden.file_trail.shell import Shell

NO_FILE = "/dev/null"
HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(slots=True)
class _File:
    old: str = ""
    new: str = ""
    moved: bool = False
    is_git_format: bool = False


def apply_patch(shell: Shell, text: str, folder: str, strip: int | None, options: Options) -> None:
    """Apply the diff as `patch` or `git apply` did, also with `--reverse`."""
    for file in _parse_files(text):
        # Paths in git's format start at the top of the repository, others at the current folder.
        base = shell.path_keys.root if file.is_git_format and _is_inside_root(shell) else folder
        old, new = (_key(shell, name, base, strip) for name in (file.old, file.new))
        if options.has("R", "reverse"):
            old, new = new, old
        if old and new and file.moved:
            shell.disk.move(old, new)
        elif new:
            (shell.disk.change if old else shell.disk.write)(new)
        elif old:
            shell.disk.remove(old)


def _is_inside_root(shell: Shell) -> bool:
    root = shell.path_keys.root
    return bool(root) and ((shell.cwd or "") + "/").startswith(root.rstrip("/") + "/")


def _key(shell: Shell, name: str, folder: str, strip: int | None) -> str | None:
    if not name or name == NO_FILE:
        return None
    parts = name.split("/")
    # Without -p, `patch` uses only the last part of the path.
    remaining_parts = parts[-1:] if strip is None else parts[strip:] or parts[-1:]
    return shell.key(f"{folder.rstrip('/')}/{'/'.join(remaining_parts)}")


def _parse_files(text: str) -> Iterator[_File]:
    file = _File()
    remaining = [0, 0]  # lines of the old and the new side that are remaining in this hunk
    for line in text.splitlines():
        if max(remaining) > 0:
            remaining[0] -= line[:1] in ("-", " ", "")
            remaining[1] -= line[:1] in ("+", " ", "")
        elif match := HUNK.match(line):
            remaining = [int(match[1] or 1), int(match[2] or 1)]
        elif line.startswith("diff --git "):
            yield file
            file = _parse_git_header(line)
        elif line.startswith("--- "):
            if file.old and not file.is_git_format:
                yield file
                file = _File()
            file.old = _name(line[4:])
        elif line.startswith("+++ "):
            file.new = _name(line[4:])
        else:
            _apply_extended_header(file, line)
    yield file


def _parse_git_header(line: str) -> _File:
    match = re.match(r"diff --git (\S+) (\S+)$", line)
    return _File(match[1] if match else "", match[2] if match else "", is_git_format=True)


def _apply_extended_header(file: _File, line: str) -> None:
    if not file.is_git_format:
        return
    if line.startswith("new file mode"):
        file.old = NO_FILE
    elif line.startswith("deleted file mode"):
        file.new = NO_FILE
    elif line.startswith(("rename from ", "rename to ")):
        file.moved = True


def _name(text: str) -> str:
    """Return the name without the timestamp that `diff -u` writes after a tab."""
    return text.split("\t")[0].strip().strip('"')
