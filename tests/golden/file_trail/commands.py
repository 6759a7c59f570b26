"""The commands that change files, by name, and wrappers like `sudo` that run another command."""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import basename, dirname
from typing import TYPE_CHECKING

from tests.golden.file_trail.git import git
from tests.golden.file_trail.moves import cp, ln, mv, rm
from tests.golden.file_trail.options import parse_options
from tests.golden.file_trail.patch import apply_patch

if TYPE_CHECKING:
    from tests.golden.file_trail.shell import Shell

Words = list[str | None]
# Commands that run another command, with their options that take a value.
WRAPPERS = {
    "sudo": "u g h p C D R T U",
    "env": "u C S",
    "nice": "n",
    "timeout": "k s",
    "stdbuf": "i o e",
    "time": "f o",
    "nohup": "",
    "command": "",
    "builtin": "",
    "exec": "a",
    "doas": "u C",
}
ASSIGNMENT = re.compile(r"\w+=")


def without_wrappers(words: Words) -> Words:
    """Turn `sudo -u me rm x` into `rm x`."""
    while words and words[0] is not None and (name := basename(words[0])) in WRAPPERS:
        valued_options = WRAPPERS[name].split()
        words = words[1:]
        if name == "command" and words[:1] in (["-v"], ["-V"]):
            return []
        while words and (words[0] or "").startswith("-"):
            words = words[2 if (words[0] or "")[-1:] in valued_options else 1 :]
        if name == "timeout":
            words = words[1:]
        while words and ASSIGNMENT.match(words[0] or ""):
            words = words[1:]
    return words


def known_output(
    name: str, rest: list[str | None], stdin: str | None, cwd: str | None
) -> str | None:
    """Return the output of a command, for the few whose output follows from their arguments."""
    if name == "tee" or (name == "cat" and all(word == "-" for word in rest)):
        return stdin
    if name == "pwd":
        return cwd
    words = [word for word in rest if word is not None]
    if len(words) < len(rest) or not words:
        return None
    if name == "echo":
        return " ".join(words) + "\n" if not words[0].startswith("-") else None
    if name == "dirname":
        return dirname(words[0].rstrip("/")) or "."
    if name == "basename":
        return basename(words[0].rstrip("/")).removesuffix(words[1] if len(words) > 1 else "")
    return None


def touch(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parse_options(words, "d t r A date reference")
    if options.has("c", "h", "no-create"):
        return
    for operand in options.operands:
        key = shell.key(operand)
        if (
            key
            and operand
            and not shell.reported_error("touch", operand)
            and not shell.disk.is_folder(key)
        ):
            shell.disk.touch(key)


def tee(shell: Shell, words: Words, _stdin: str | None) -> None:
    options = parse_options(words)
    for operand in options.operands:
        key = shell.key(operand)
        if key and operand and not shell.reported_error("tee", operand):
            (shell.disk.change if options.has("a", "append") else shell.disk.write)(key)


def mkdir(shell: Shell, words: Words, _stdin: str | None) -> None:
    keys = [shell.key(operand) for operand in parse_options(words, "m mode").operands]
    shell.disk.folders |= {key for key in keys if key}


def sed(shell: Shell, words: Words, _stdin: str | None) -> None:
    in_place, suffix = False, ""
    rest: Words = []
    pending = list(words)
    while pending:
        word = pending.pop(0)
        match = re.match(r"-[nErsuz]*i(.*)|--in-place=?(.*)", word or "", re.S)
        if not match or word is None:
            rest.append(word)
            continue
        in_place, suffix = True, match[1] or match[2] or ""
        # On macOS the suffix is a separate word, which is usually empty.
        if word.endswith("i") and pending and pending[0] == "":
            pending.pop(0)
    options = parse_options(rest, "e f l expression file line-length")
    files = (
        options.operands if options.has("e", "f", "expression", "file") else options.operands[1:]
    )
    if in_place:
        _edit_in_place(shell, "sed", files, suffix)


def perl(shell: Shell, words: Words, _stdin: str | None) -> None:
    in_place, suffix, has_script = False, "", False
    files: Words = []
    pending = list(words)
    while pending:
        word = pending.pop(0)
        if word is None or not word.startswith("-") or word == "-":
            files.append(word)
        elif match := re.fullmatch(r"-[a-zA-Z0-9]*?i(\.[^\s]+)?(e?)", word):
            in_place, suffix = True, match[1] or ""
            has_script = _script_follows(bool(match[2]), pending) or has_script
        else:
            has_script = _script_follows(word[-1:] in "eE", pending) or has_script
    if in_place:
        _edit_in_place(shell, "perl", files if has_script else files[1:], suffix)


def _script_follows(expected: bool, pending: Words) -> bool:
    if expected and pending:
        pending.pop(0)
    return expected


def _edit_in_place(shell: Shell, tool: str, files: Words, suffix: str) -> None:
    for file in files:
        key = shell.key(file)
        if key is None or file is None or shell.reported_error(tool, file):
            continue
        if suffix:
            shell.disk.copy(key, key + suffix if "*" not in suffix else key)
        shell.disk.change(key)


def patch(shell: Shell, words: Words, stdin: str | None) -> None:
    options = parse_options(words, "p i d o r B D F V Y z input strip directory output")
    folder = options.values.get("d") or options.values.get("directory") or "."
    if stdin and not options.has("dry-run", "i", "input", "o", "output", "C"):
        strip = options.values.get("p") or options.values.get("strip") or ""
        apply_patch(shell, stdin, folder, int(strip) if strip.isdigit() else None, options)


COMMANDS: dict[str, Callable[[Shell, Words, str | None], None]] = {
    "rm": rm, "unlink": rm, "mv": mv, "cp": cp, "ln": ln, "touch": touch, "tee": tee,
    "mkdir": mkdir, "sed": sed, "gsed": sed, "perl": perl, "patch": patch, "git": git,
}  # fmt: skip
