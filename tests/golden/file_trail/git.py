"""The effects of git commands on the files of the working tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.golden.file_trail.moves import mv, remove
from tests.golden.file_trail.options import Options, parse_options
from tests.golden.file_trail.patch import apply_patch

if TYPE_CHECKING:
    from tests.golden.file_trail.shell import Shell

Words = list[str | None]
FROM_INDEX = re.compile(r"Updated \d+ paths? from the index")
FROM_COMMIT = re.compile(r"Updated \d+ paths? from [0-9a-f]{4,}")
SWITCHED = re.compile(r"Switched to|Already on|HEAD is now at|set up to track")


def git(shell: Shell, words: Words, stdin: str | None) -> None:
    """Run the subcommand in the folder of `-C`; the shell's own folder does not change."""
    previous_cwd, pending = shell.cwd, list(words)
    while pending and (pending[0] or "").startswith("-"):
        option = pending.pop(0)
        value = (
            pending.pop(0) if option in ("-C", "-c", "--git-dir", "--work-tree") and pending else ""
        )
        if option == "-C":
            shell.cwd = shell.key(value)
    name = pending.pop(0) if pending else None
    if name in SUBCOMMANDS:
        SUBCOMMANDS[name](shell, pending, stdin)
    shell.cwd = previous_cwd


def _files(shell: Shell, pathspecs: Words) -> list[str]:
    """Return the known files below each folder, and every named file even if it is unknown."""
    files: list[str] = []
    for pathspec in pathspecs:
        key = shell.key((pathspec or "").removeprefix(":/"))
        if key:
            folder = shell.disk.is_folder(key) or key == shell.cwd or (pathspec or "").endswith("/")
            files += shell.disk.mentioned_under(key) if folder else [key]
    return files


def _all_files(shell: Shell) -> list[str]:
    top = (
        shell.path_keys.root
        if shell.cwd and (shell.cwd + "/").startswith(shell.path_keys.root + "/")
        else shell.cwd
    )
    return shell.disk.mentioned_under(top) if top else []


def _add(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parse_options(words)
    if not options.has("n", "dry-run"):
        stage_all = options.has("A", "all", "u", "update") and not options.operands
        shell.disk.stage(_all_files(shell) if stage_all else _known_files(shell, options.operands))


def _known_files(shell: Shell, pathspecs: Words) -> list[str]:
    return [key for key in _files(shell, pathspecs) if key in shell.disk.before]


def _commit(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parse_options(words, "m F C c t message file author date template fixup squash")
    if options.has("dry-run"):
        return
    disk = shell.disk
    if options.has("a", "all"):
        disk.stage(key for key in _all_files(shell) if disk.in_index(key) is not None)
    disk.stage(_known_files(shell, options.operands))
    disk.commit()


def _mv(shell: Shell, words: Words, stdin: str | None) -> None:
    before = dict(shell.disk.now)
    mv(shell, [word for word in words if word != "-k"], stdin)
    shell.disk.stage(
        key for key in {*before, *shell.disk.now} if before.get(key) != shell.disk.now.get(key)
    )


def _rm(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parse_options(words)
    if options.has("n", "dry-run"):
        return
    for operand in options.operands:
        key = shell.key(operand)
        if key and operand:
            removed = shell.disk.mentioned_under(key)
            if not options.has("cached"):
                remove(shell, key, operand, options.has("r"))
            shell.disk.staged.update(dict.fromkeys([key, *removed]))


def _restore(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parse_options(words, "s source pathspec-from-file")
    files = _files(shell, options.operands)
    commit = options.values.get("s") or options.values.get("source")
    if options.has("S", "staged"):
        shell.disk.unstage(files)
        if not options.has("W", "worktree"):
            return
    _restore_files(shell, files, commit, options)


def _restore_files(shell: Shell, files: list[str], commit: str | None, options: Options) -> None:
    disk = shell.disk
    for key in files:
        if options.has("theirs", "ours", "merge", "2", "3"):
            disk.change(key)  # one side of a conflict is new content for the file
        elif commit in ("HEAD", "@"):
            disk.unstage([key])
            disk.restore(key, disk.in_head(key))
        elif commit:
            disk.change(key)
            disk.stage([key])
        else:
            disk.restore(key, disk.in_index(key))


def _checkout(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parse_options([word for word in words if word != "--"], "b B orphan conflict")
    if options.has("b", "B", "orphan", "p", "patch", "detach", "track", "t"):
        return
    commit, pathspecs = _commit_and_paths(shell, words, options)
    _restore_files(shell, _files(shell, pathspecs), commit, options)


def _commit_and_paths(shell: Shell, words: Words, options: Options) -> tuple[str | None, Words]:
    if "--" in words:
        before = parse_options(words[: words.index("--")]).operands
        return (before[0] if before else None), words[words.index("--") + 1 :]
    operands = options.operands
    if options.has("theirs", "ours") or FROM_INDEX.search(shell.output):
        return None, operands
    if len(operands) > 1 and (
        FROM_COMMIT.search(shell.output) or not _is_known(shell, operands[0])
    ):
        return operands[0], operands[1:]
    if SWITCHED.search(shell.output) or not operands or not _is_known(shell, operands[0]):
        return None, []
    return None, operands


def _is_known(shell: Shell, path: str | None) -> bool:
    key = shell.key(path)
    return bool(key) and (path == "." or bool(shell.disk.mentioned_under(key or "")))


def _reset(shell: Shell, words: Words, _stdin: str | None) -> None:
    options, disk = parse_options(words), shell.disk
    paths = [word for word in options.operands if word not in ("HEAD", "@")]
    if options.has("hard"):
        for key in _all_files(shell) if not paths else ():
            if disk.in_index(key) is not None and disk.in_head(key) is None:
                disk.remove(key)  # added but never committed
            _restore_files(shell, [key], "HEAD", Options())
    elif not options.has("soft", "merge", "keep"):
        files = _files(shell, paths) if paths else _all_files(shell)
        disk.unstage(key for key in files if key in disk.before)


def _apply(shell: Shell, words: Words, stdin: str | None) -> None:
    options = parse_options(words, "p C directory whitespace exclude include")
    if options.has("check", "stat", "numstat", "summary", "cached") or not stdin:
        return
    if [operand for operand in options.operands if operand != "-"]:
        return  # the content of a patch file is not in the command
    strip = options.values.get("p") or "1"
    folder = options.values.get("directory") or "."
    apply_patch(shell, stdin, folder, int(strip) if strip.isdigit() else 1, options)


SUBCOMMANDS: dict[str, Callable[[Shell, Words, str | None], None]] = {
    "add": _add, "stage": _add, "commit": _commit, "mv": _mv, "rm": _rm, "restore": _restore,
    "checkout": _checkout, "reset": _reset, "apply": _apply,
}  # fmt: skip
