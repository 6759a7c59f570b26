"""The commands that remove, move, copy and link files."""

from __future__ import annotations

import re
from posixpath import basename
from typing import TYPE_CHECKING

from tests.golden.file_trail.options import Options, parse_options

if TYPE_CHECKING:
    from tests.golden.file_trail.shell import Shell

Words = list[str | None]
LOOKS_LIKE_FILE = re.compile(r"[^/.][^/]*\.[A-Za-z][A-Za-z0-9]{0,4}\Z")


def rm(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parse_options(words)
    recursive = options.has("r", "R", "recursive")
    for operand in options.operands:
        key = shell.key(operand)
        if key and operand and not shell.reported_error("rm", operand):
            remove(shell, key, operand, recursive)


def remove(shell: Shell, key: str, operand: str, recursive: bool) -> None:
    """Remove a file, or the known files in a folder: folders themselves are in no set."""
    disk = shell.disk
    if disk.exists(key) is not None or not _is_folder(shell, key, operand, recursive):
        disk.remove(key)
    elif recursive:
        for file in disk.under(key):
            disk.remove(file)
        disk.folders -= {folder for folder in disk.folders if (folder + "/").startswith(key + "/")}


def _is_folder(shell: Shell, key: str, operand: str, recursive: bool) -> bool:
    """An unknown operand of `rm -r` counts as a folder unless it has a file extension."""
    if shell.disk.is_folder(key) or operand.endswith("/"):
        return True
    return recursive and not LOOKS_LIKE_FILE.search(key)


def mv(shell: Shell, words: Words, _stdin: str | None) -> None:
    for source, target, _ in resolve_targets(
        shell, parse_options(words, "t S target-directory"), "mv"
    ):
        if source is None:
            shell.disk.write(target)
            continue
        files = shell.disk.under(source) if shell.disk.is_folder(source) else [source]
        for file in files:
            shell.disk.move(file, target + file[len(source) :])


def cp(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parse_options(words, "t S target-directory")
    recursive = options.has("r", "R", "a", "recursive", "archive")
    for source, target, operand in resolve_targets(shell, options, "cp"):
        if source is None:
            shell.disk.write(target)
        elif shell.disk.is_folder(source):
            for file in shell.disk.under(source) if recursive else ():
                shell.disk.copy(file, target + file[len(source) :])
        elif (
            recursive and shell.disk.exists(source) is None and not LOOKS_LIKE_FILE.search(operand)
        ):
            shell.disk.folders.add(target)  # a folder with unknown files
        else:
            shell.disk.copy(source, target)


def ln(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parse_options(words, "t S target-directory")
    if len(options.operands) == 1:
        options.operands.append(".")
    for _, target, _ in resolve_targets(shell, options, "ln"):
        shell.disk.write(target)


def resolve_targets(shell: Shell, options: Options, tool: str) -> list[tuple[str | None, str, str]]:
    """Return source key, target key and source operand for each file of cp, mv and ln."""
    target_option = options.values.get("t") or options.values.get("target-directory")
    sources = options.operands if target_option else options.operands[:-1]
    target = target_option or (options.operands[-1] if sources else None)
    target_key = shell.key(target)
    if target_key is None or target is None:
        return []
    is_folder = bool(target_option) or len(sources) > 1 or target.endswith(("/", "/.", "/.."))
    is_folder = is_folder or target in (".", "..", "~") or shell.disk.is_folder(target_key)
    if is_folder and not options.has("T", "no-target-directory"):
        shell.disk.folders.add(target_key)
        return [
            resolved
            for source in sources
            for resolved in _target_in_folder(shell, source, target_key, options, tool)
        ]
    source = sources[0] or ""
    if shell.reported_error(tool, source or target):
        return []
    if _must_not_overwrite(shell, target_key, options):
        return []
    return [(shell.key(source), target_key, source)]


def _target_in_folder(
    shell: Shell, source: str | None, folder: str, options: Options, tool: str
) -> list[tuple[str | None, str, str]]:
    key = shell.key(source)
    if key is None or source is None or shell.reported_error(tool, source):
        return []
    copies_contents = source.endswith("/.") or source == "."
    target = folder if copies_contents else f"{folder.rstrip('/')}/{basename(key)}"
    return [] if _must_not_overwrite(shell, target, options) else [(key, target, source)]


def _must_not_overwrite(shell: Shell, target: str, options: Options) -> bool:
    return options.has("n", "no-clobber") and shell.disk.exists(target) is True
