"""Find out what a shell command does to files if it succeeds.

Only what the command line itself says counts: what programs write on their own is not guessed.
"""

from __future__ import annotations

from holdfast.state import shell_parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal, NamedTuple

    Kind = Literal[
        "write", "append", "edit", "touch", "delete", "delete tree", "move", "copy", "restore",
        "folder",
    ]  # fmt: skip

    class Effect(NamedTuple):
        """`path` may hold wildcards; `target` is where a move or copy goes."""

        kind: Kind
        path: str
        target: str

else:

    def Effect(kind, path, target=""):  # noqa: N802
        return (kind, path, target)


# Words before a command that do not change what it does to files.
PREFIXES = frozenset(("sudo", "command", "env", "nohup", "exec", "builtin", "doas"))
# With these, git takes one side of a conflict: that edits the file and undoes nothing.
CONFLICT_SIDES = frozenset(("--theirs", "--ours"))
NOT_FILES = ("/dev/", "/proc/", "/sys/")
# A script without any of these needs no parsing.
HINTS = (">", "rm", "mv", "cp ", "sed ", "perl ", "tee", "touch", "mkdir", "git ", "ln ", "patch")


def find_effects(script: str, folder: str) -> list[Effect]:
    """Return the effects of a script that starts in `folder`, in order.

    Paths are absolute if `folder` is.
    """
    if not any(hint in script for hint in HINTS):
        return []
    effects: list[Effect] = []
    outer_folders: list[str] = []
    for command in shell_parser.parse_commands(script):
        # Entering a subshell saves the folder, leaving it restores the folder.
        while len(outer_folders) < command.depth:
            outer_folders.append(folder)
        while len(outer_folders) > command.depth:
            folder = outer_folders.pop()
        words = strip_prefixes(command.words)
        if words[:1] == ["cd"]:
            folder = join_path(folder, words[1] or "") if len(words) > 1 and words[1] else folder
            continue
        for kind, path, target in (
            *_find_command_effects(words, command.heredoc),
            *_find_redirection_effects(command),
        ):
            if path.startswith(NOT_FILES):
                continue
            target = join_path(folder, target) if target else ""
            effects.append(Effect(kind, join_path(folder, path), target))
    return effects


def strip_prefixes(words: list[str | None]) -> list[str | None]:
    """Return the words from the command's own name on: `sudo -u x rm a` is `rm a`."""
    while words and words[0] in PREFIXES:
        words = words[1:]
        while words and (words[0] or "").startswith("-"):
            words = words[1:]
        while words and "=" in (words[0] or ""):
            words = words[1:]
    return words


def join_path(folder: str, path: str) -> str:
    """Return `path` as seen from `folder`, with `.` and `..` resolved where possible."""
    if path.startswith(("~", "\\")) or path[1:3] in (":\\", ":/"):
        return path
    joined = path if path.startswith("/") else f"{folder}/{path}"
    parts: list[str] = []
    for part in joined.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    root = "/" if joined.startswith("/") else ""
    return root + "/".join(parts) + ("/" if path.endswith("/") and parts else "")


def _find_redirection_effects(command: shell_parser.ShellCommand) -> Iterator[Effect]:
    for operator, target in command.redirections:
        if not target or target.isdigit() or target == "-":
            continue
        if operator in (">", ">|", "&>", ">&"):
            yield Effect("write", target, "")
        elif operator in (">>", "&>>"):
            yield Effect("append", target, "")


def _find_command_effects(words: list[str | None], heredoc: str) -> Iterator[Effect]:
    if not words or words[0] is None:
        return
    name = words[0].rpartition("/")[2]
    rest = [word for word in words[1:] if word is not None]
    if name == "git":
        yield from _find_git_effects(rest, heredoc)
    elif name in _FINDERS:
        yield from _FINDERS[name](rest)
    elif name == "patch":
        yield from _find_diff_effects(heredoc)


def _find_git_effects(words: list[str], heredoc: str) -> Iterator[Effect]:
    while words[:1] and words[0] in ("-C", "-c"):
        words = words[2:]
    verb, rest = (words[0], words[1:]) if words else ("", [])
    if verb == "rm" and "--cached" not in rest:
        yield from _find_rm_effects(rest)
    elif verb == "mv":
        yield from _find_mv_effects(rest)
    elif verb == "apply":
        yield from _find_diff_effects(heredoc)
    elif verb in ("checkout", "restore") and not CONFLICT_SIDES.isdisjoint(rest):
        for path in _find_arguments(rest):
            yield Effect("edit", path, "")
    elif verb == "checkout" and "--" in rest:
        for path in rest[rest.index("--") + 1 :]:
            yield Effect("restore", path, "")
    elif verb == "restore" and "--staged" not in rest:
        for path in _find_arguments(rest, ("-s", "--source")):
            yield Effect("restore", path, "")


def _find_arguments(words: list[str], valued: tuple[str, ...] = ()) -> list[str]:
    """Return the words that are no options; a `valued` option takes the next word as its value."""
    arguments: list[str] = []
    skip = options_ended = False
    for word in words:
        if skip:
            skip = False
        elif options_ended:
            arguments.append(word)
        elif word == "--":
            options_ended = True
        elif word.startswith("-") and len(word) > 1:
            skip = word in valued
        elif word:
            arguments.append(word)
    return arguments


def _find_rm_effects(words: list[str]) -> Iterator[Effect]:
    options = [word for word in words if word.startswith("-")]
    is_recursive = any(word == "--recursive" or _has_short(word, "rR") for word in options)
    for path in _find_arguments(words):
        yield Effect("delete tree" if is_recursive else "delete", path, "")


def _has_short(word: str, letters: str) -> bool:
    """Whether a group of short options such as `-rf` contains one of the letters."""
    return not word.startswith("--") and any(letter in word for letter in letters)


def _find_mv_effects(words: list[str]) -> Iterator[Effect]:
    yield from _find_transfer_effects("move", words)


def _find_cp_effects(words: list[str]) -> Iterator[Effect]:
    yield from _find_transfer_effects("copy", words)


def _find_transfer_effects(kind: Literal["move", "copy"], words: list[str]) -> Iterator[Effect]:
    paths = _find_arguments(words, ("-t", "--target-directory"))
    if len(paths) < 2:
        return
    *sources, target = paths
    is_folder = target in (".", "..") or target.endswith(("/.", "/.."))
    needs_slash = (len(sources) > 1 or is_folder) and not target.endswith("/")
    for source in sources:
        yield Effect(kind, source, f"{target}/" if needs_slash else target)


def _find_touch_effects(words: list[str]) -> Iterator[Effect]:
    for path in _find_arguments(words, ("-t", "-d", "-r")):
        yield Effect("touch", path, "")


def _find_tee_effects(words: list[str]) -> Iterator[Effect]:
    kind: Literal["append", "write"] = "append" if {"-a", "--append"} & set(words) else "write"
    for path in _find_arguments(words):
        yield Effect(kind, path, "")


def _find_mkdir_effects(words: list[str]) -> Iterator[Effect]:
    for path in _find_arguments(words, ("-m", "--mode")):
        yield Effect("folder", path, "")


def _find_sed_effects(words: list[str]) -> Iterator[Effect]:
    if not any(word.startswith(("-i", "--in-place")) or word in ("-Ei", "-ni") for word in words):
        return
    has_script_option = any(word in ("-e", "-f", "--expression", "--file") for word in words)
    paths = _find_arguments(words, ("-e", "-f", "--expression", "--file"))
    for path in paths if has_script_option else paths[1:]:
        yield Effect("edit", path, "")


def _find_perl_effects(words: list[str]) -> Iterator[Effect]:
    if not any(word.startswith("-") and "i" in word and "e" not in word[:2] for word in words):
        return
    for path in _find_arguments(words, ("-e", "-pe", "-ne", "-pie", "-i")):
        yield Effect("edit", path, "")


def _find_ln_effects(words: list[str]) -> Iterator[Effect]:
    paths = _find_arguments(words)
    if len(paths) == 2:
        yield Effect("write", paths[1], "")


def _find_diff_effects(text: str) -> Iterator[Effect]:
    """Yield the effects of a unified diff in a here-document."""
    old = ""
    for line in text.splitlines():
        if line.startswith("--- "):
            old = line[4:].split("\t")[0].strip()
        elif line.startswith("+++ "):
            new = line[4:].split("\t")[0].strip()
            if new == "/dev/null":
                yield Effect("delete", old.removeprefix("a/"), "")
            else:
                kind: Literal["write", "edit"] = "write" if old == "/dev/null" else "edit"
                yield Effect(kind, new.removeprefix("b/"), "")


_FINDERS = {
    "rm": _find_rm_effects,
    "unlink": _find_rm_effects,
    "mv": _find_mv_effects,
    "cp": _find_cp_effects,
    "touch": _find_touch_effects,
    "tee": _find_tee_effects,
    "mkdir": _find_mkdir_effects,
    "sed": _find_sed_effects,
    "gsed": _find_sed_effects,
    "perl": _find_perl_effects,
    "ln": _find_ln_effects,
}
