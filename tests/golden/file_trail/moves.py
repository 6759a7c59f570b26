"""What removes, moves, copies and links files."""

from __future__ import annotations

import re
from posixpath import basename
from typing import TYPE_CHECKING

from tests.golden.file_trail.options import Options, parsed

if TYPE_CHECKING:
    from tests.golden.file_trail.shell import Shell

Words = list[str | None]
LOOKS_LIKE_A_FILE = re.compile(r"[^/.][^/]*\.[A-Za-z][A-Za-z0-9]{0,4}\Z")


def rm(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parsed(words)
    recursive = options.has("r", "R", "recursive")
    for operand in options.operands:
        key = shell.key(operand)
        if key and operand and not shell.refused("rm", operand):
            remove(shell, key, operand, recursive)


def remove(shell: Shell, key: str, operand: str, recursive: bool) -> None:
    """A folder is in no set; the known files in it are."""
    world = shell.world
    if world.exists(key) is not None or not _is_folder(shell, key, operand, recursive):
        world.remove(key)
    elif recursive:
        for file in world.under(key):
            world.remove(file)
        world.folders -= {each for each in world.folders if (each + "/").startswith(key + "/")}


def _is_folder(shell: Shell, key: str, operand: str, recursive: bool) -> bool:
    """What nobody knows and `rm -r` was used on is a folder, unless its name says otherwise."""
    if shell.world.is_folder(key) or operand.endswith("/"):
        return True
    return recursive and not LOOKS_LIKE_A_FILE.search(key)


def mv(shell: Shell, words: Words, _stdin: str | None) -> None:
    for source, target, _ in landings(shell, parsed(words, "t S target-directory"), "mv"):
        if source is None:
            shell.world.write(target)
            continue
        files = shell.world.under(source) if shell.world.is_folder(source) else [source]
        for file in files:
            shell.world.move(file, target + file[len(source) :])


def cp(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parsed(words, "t S target-directory")
    recursive = options.has("r", "R", "a", "recursive", "archive")
    for source, target, operand in landings(shell, options, "cp"):
        if source is None:
            shell.world.write(target)
        elif shell.world.is_folder(source):
            for file in shell.world.under(source) if recursive else ():
                shell.world.copy(file, target + file[len(source) :])
        elif (
            recursive
            and shell.world.exists(source) is None
            and not LOOKS_LIKE_A_FILE.search(operand)
        ):
            shell.world.folders.add(target)  # a folder of which nothing is known
        else:
            shell.world.copy(source, target)


def ln(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parsed(words, "t S target-directory")
    if len(options.operands) == 1:
        options.operands.append(".")
    for _, target, _ in landings(shell, options, "ln"):
        shell.world.write(target)


def landings(shell: Shell, options: Options, tool: str) -> list[tuple[str | None, str, str]]:
    """Source, where it ends up, and how the source was written, for cp, mv and ln."""
    into = options.values.get("t") or options.values.get("target-directory")
    sources = options.operands if into else options.operands[:-1]
    target = into or (options.operands[-1] if sources else None)
    place = shell.key(target)
    if place is None or target is None:
        return []
    a_folder = bool(into) or len(sources) > 1 or target.endswith(("/", "/.", "/.."))
    a_folder = a_folder or target in (".", "..", "~") or shell.world.is_folder(place)
    if a_folder and not options.has("T", "no-target-directory"):
        shell.world.folders.add(place)
        return [found for source in sources for found in _into(shell, source, place, options, tool)]
    written = sources[0] or ""
    if shell.refused(tool, written or target) or _kept(shell, place, options):
        return []
    return [(shell.key(written), place, written)]


def _into(
    shell: Shell, source: str | None, folder: str, options: Options, tool: str
) -> list[tuple[str | None, str, str]]:
    key = shell.key(source)
    if key is None or source is None or shell.refused(tool, source):
        return []
    contents = source.endswith("/.") or source == "."
    target = folder if contents else f"{folder.rstrip('/')}/{basename(key)}"
    return [] if _kept(shell, target, options) else [(key, target, source)]


def _kept(shell: Shell, target: str, options: Options) -> bool:
    return options.has("n", "no-clobber") and shell.world.exists(target) is True
