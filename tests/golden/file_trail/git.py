"""What git commands did to the files of the working tree, and what git would bring back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.golden.file_trail.moves import mv, remove
from tests.golden.file_trail.options import Options, parsed
from tests.golden.file_trail.patch import apply_patch

if TYPE_CHECKING:
    from tests.golden.file_trail.shell import Shell

Words = list[str | None]
FROM_INDEX = re.compile(r"Updated \d+ paths? from the index")
FROM_COMMIT = re.compile(r"Updated \d+ paths? from [0-9a-f]{4,}")
SWITCHED = re.compile(r"Switched to|Already on|HEAD is now at|set up to track")


def git(shell: Shell, words: Words, stdin: str | None) -> None:
    """Runs the subcommand where `-C` says; the shell itself stays where it is."""
    here, waiting = shell.cwd, list(words)
    while waiting and (waiting[0] or "").startswith("-"):
        option = waiting.pop(0)
        value = (
            waiting.pop(0) if option in ("-C", "-c", "--git-dir", "--work-tree") and waiting else ""
        )
        if option == "-C":
            shell.cwd = shell.key(value)
    name = waiting.pop(0) if waiting else None
    if name in SUBCOMMANDS:
        SUBCOMMANDS[name](shell, waiting, stdin)
    shell.cwd = here


def _files(shell: Shell, pathspecs: Words) -> list[str]:
    """The known files that pathspecs name, the named ones themselves even if unknown."""
    found: list[str] = []
    for pathspec in pathspecs:
        key = shell.key((pathspec or "").removeprefix(":/"))
        if key:
            folder = (
                shell.world.is_folder(key) or key == shell.cwd or (pathspec or "").endswith("/")
            )
            found += shell.world.mentioned_under(key) if folder else [key]
    return found


def _everything(shell: Shell) -> list[str]:
    top = (
        shell.names.root
        if shell.cwd and (shell.cwd + "/").startswith(shell.names.root + "/")
        else shell.cwd
    )
    return shell.world.mentioned_under(top) if top else []


def _add(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parsed(words)
    if not options.has("n", "dry-run"):
        every = options.has("A", "all", "u", "update") and not options.operands
        shell.world.stage(_everything(shell) if every else _known(shell, options.operands))


def _known(shell: Shell, pathspecs: Words) -> list[str]:
    return [key for key in _files(shell, pathspecs) if key in shell.world.before]


def _commit(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parsed(words, "m F C c t message file author date template fixup squash")
    if options.has("dry-run"):
        return
    world = shell.world
    if options.has("a", "all"):
        world.stage(key for key in _everything(shell) if world.in_index(key) is not None)
    world.stage(_known(shell, options.operands))
    world.commit()


def _mv(shell: Shell, words: Words, stdin: str | None) -> None:
    had = dict(shell.world.now)
    mv(shell, [word for word in words if word != "-k"], stdin)
    shell.world.stage(
        key for key in {*had, *shell.world.now} if had.get(key) != shell.world.now.get(key)
    )


def _rm(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parsed(words)
    if options.has("n", "dry-run"):
        return
    for operand in options.operands:
        key = shell.key(operand)
        if key and operand:
            gone = shell.world.mentioned_under(key)
            if not options.has("cached"):
                remove(shell, key, operand, options.has("r"))
            shell.world.staged.update(dict.fromkeys([key, *gone]))


def _restore(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parsed(words, "s source pathspec-from-file")
    files = _files(shell, options.operands)
    commit = options.values.get("s") or options.values.get("source")
    if options.has("S", "staged"):
        shell.world.unstage(files)
        if not options.has("W", "worktree"):
            return
    _bring_back(shell, files, commit, options)


def _bring_back(shell: Shell, files: list[str], commit: str | None, options: Options) -> None:
    world = shell.world
    for key in files:
        if options.has("theirs", "ours", "merge", "2", "3"):
            world.change(key)  # one side of a conflict is new to the file
        elif commit in ("HEAD", "@"):
            world.unstage([key])
            world.restore(key, world.in_head(key))
        elif commit:
            world.change(key)
            world.stage([key])
        else:
            world.restore(key, world.in_index(key))


def _checkout(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parsed([word for word in words if word != "--"], "b B orphan conflict")
    if options.has("b", "B", "orphan", "p", "patch", "detach", "track", "t"):
        return
    commit, pathspecs = _commit_and_paths(shell, words, options)
    _bring_back(shell, _files(shell, pathspecs), commit, options)


def _commit_and_paths(shell: Shell, words: Words, options: Options) -> tuple[str | None, Words]:
    if "--" in words:
        before = parsed(words[: words.index("--")]).operands
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
    return bool(key) and (path == "." or bool(shell.world.mentioned_under(key or "")))


def _reset(shell: Shell, words: Words, _stdin: str | None) -> None:
    options, world = parsed(words), shell.world
    paths = [word for word in options.operands if word not in ("HEAD", "@")]
    if options.has("hard"):
        for key in _everything(shell) if not paths else ():
            if world.in_index(key) is not None and world.in_head(key) is None:
                world.remove(key)  # added but never committed
            _bring_back(shell, [key], "HEAD", Options())
    elif not options.has("soft", "merge", "keep"):
        files = _files(shell, paths) if paths else _everything(shell)
        world.unstage(key for key in files if key in world.before)


def _apply(shell: Shell, words: Words, stdin: str | None) -> None:
    options = parsed(words, "p C directory whitespace exclude include")
    if options.has("check", "stat", "numstat", "summary", "cached") or not stdin:
        return
    if [operand for operand in options.operands if operand != "-"]:
        return  # a patch file: what it holds is not in the command
    strip = options.values.get("p") or "1"
    folder = options.values.get("directory") or "."
    apply_patch(shell, stdin, folder, int(strip) if strip.isdigit() else 1, options)


SUBCOMMANDS: dict[str, Callable[[Shell, Words, str | None], None]] = {
    "add": _add, "stage": _add, "commit": _commit, "mv": _mv, "rm": _rm, "restore": _restore,
    "checkout": _checkout, "reset": _reset, "apply": _apply,
}  # fmt: skip
