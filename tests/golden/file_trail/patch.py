"""Which files a unified diff made, changed, moved or removed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.golden.file_trail.options import Options

if TYPE_CHECKING:
    from tests.golden.file_trail.shell import Shell

NOTHING = "/dev/null"
HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(slots=True)
class _File:
    old: str = ""
    new: str = ""
    moved: bool = False
    of_git: bool = False


def apply_patch(shell: Shell, text: str, folder: str, strip: int | None, options: Options) -> None:
    """Applies the diff as `patch` or `git apply` did, reversed if they were told to."""
    for file in _files(text):
        # Paths in git's own format count from the top of the repository, others from here.
        here = shell.names.root if file.of_git and _is_inside_root(shell) else folder
        old, new = (_key(shell, name, here, strip) for name in (file.old, file.new))
        if options.has("R", "reverse"):
            old, new = new, old
        if old and new and file.moved:
            shell.world.move(old, new)
        elif new:
            (shell.world.change if old else shell.world.write)(new)
        elif old:
            shell.world.remove(old)


def _is_inside_root(shell: Shell) -> bool:
    root = shell.names.root
    return bool(root) and ((shell.cwd or "") + "/").startswith(root.rstrip("/") + "/")


def _key(shell: Shell, name: str, folder: str, strip: int | None) -> str | None:
    if not name or name == NOTHING:
        return None
    parts = name.split("/")
    # Without -p, `patch` looks for the file by its last name alone.
    kept = parts[-1:] if strip is None else parts[strip:] or parts[-1:]
    return shell.key(f"{folder.rstrip('/')}/{'/'.join(kept)}")


def _files(text: str) -> Iterator[_File]:
    file = _File()
    left = [0, 0]  # lines of the old and of the new side still due in this hunk
    for line in text.splitlines():
        if max(left) > 0:
            left[0] -= line[:1] in ("-", " ", "")
            left[1] -= line[:1] in ("+", " ", "")
        elif found := HUNK.match(line):
            left = [int(found[1] or 1), int(found[2] or 1)]
        elif line.startswith("diff --git "):
            yield file
            file = _named_by_git(line)
        elif line.startswith("--- "):
            if file.old and not file.of_git:
                yield file
                file = _File()
            file.old = _name(line[4:])
        elif line.startswith("+++ "):
            file.new = _name(line[4:])
        else:
            _extended_header(file, line)
    yield file


def _named_by_git(line: str) -> _File:
    found = re.match(r"diff --git (\S+) (\S+)$", line)
    return _File(found[1] if found else "", found[2] if found else "", of_git=True)


def _extended_header(file: _File, line: str) -> None:
    if not file.of_git:
        return
    if line.startswith("new file mode"):
        file.old = NOTHING
    elif line.startswith("deleted file mode"):
        file.new = NOTHING
    elif line.startswith(("rename from ", "rename to ")):
        file.moved = True


def _name(text: str) -> str:
    """The name without the time stamp that `diff -u` writes after a tab."""
    return text.split("\t")[0].strip().strip('"')
