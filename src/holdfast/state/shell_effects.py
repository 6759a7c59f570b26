"""What a shell command does to files, if it succeeds.

Only what the command line itself says: nothing is guessed about programs that write on their own.
"""

from __future__ import annotations

from holdfast.state import shell

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


# Words before the command that do not change what it does to files.
PREFIXES = frozenset(("sudo", "command", "env", "nohup", "exec", "builtin", "doas"))
# One side of a conflict: new to the file, and nothing is undone.
SIDES = frozenset(("--theirs", "--ours"))
NOT_FILES = ("/dev/", "/proc/", "/sys/")
# Cheap test on the whole text before it is parsed.
HINTS = (">", "rm", "mv", "cp ", "sed ", "perl ", "tee", "touch", "mkdir", "git ", "ln ", "patch")


def effects(script: str, folder: str) -> list[Effect]:
    """The effects of a script that starts in `folder`, in order; paths are absolute if it is."""
    if not any(hint in script for hint in HINTS):
        return []
    found: list[Effect] = []
    outside: list[str] = []
    for command in shell.commands(script):
        while len(outside) < command.depth:
            outside.append(folder)
        while len(outside) > command.depth:
            folder = outside.pop()
        words = _bare(command.words)
        if words[:1] == ["cd"]:
            folder = _join(folder, words[1] or "") if len(words) > 1 and words[1] else folder
            continue
        for kind, path, target in (*_of_words(words, command.heredoc), *_of_redirections(command)):
            if path.startswith(NOT_FILES):
                continue
            found.append(Effect(kind, _join(folder, path), _join(folder, target) if target else ""))
    return found


def _bare(words: list[str | None]) -> list[str | None]:
    """The words from the command's own name on."""
    while words and words[0] in PREFIXES:
        words = words[1:]
        while words and (words[0] or "").startswith("-"):
            words = words[1:]
        while words and "=" in (words[0] or ""):
            words = words[1:]
    return words


def _join(folder: str, path: str) -> str:
    """`path` seen from `folder`, without `.` and `..` where they can be worked out."""
    if path.startswith(("~", "\\")) or path[1:3] in (":\\", ":/"):
        return path
    whole = path if path.startswith("/") else f"{folder}/{path}"
    parts: list[str] = []
    for part in whole.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    lead = "/" if whole.startswith("/") else ""
    return lead + "/".join(parts) + ("/" if path.endswith("/") and parts else "")


def _of_redirections(command: shell.Command) -> Iterator[Effect]:
    for sign, target in command.redirections:
        if not target or target.isdigit() or target == "-":
            continue
        if sign in (">", ">|", "&>", ">&"):
            yield Effect("write", target, "")
        elif sign in (">>", "&>>"):
            yield Effect("append", target, "")


def _of_words(words: list[str | None], heredoc: str) -> Iterator[Effect]:
    if not words or words[0] is None:
        return
    name = words[0].rpartition("/")[2]
    rest = [word for word in words[1:] if word is not None]
    if name == "git":
        yield from _of_git(rest, heredoc)
    elif name in _BY_NAME:
        yield from _BY_NAME[name](rest)
    elif name == "patch":
        yield from _of_patch(heredoc)


def _of_git(words: list[str], heredoc: str) -> Iterator[Effect]:
    while words[:1] and words[0] in ("-C", "-c"):
        words = words[2:]
    verb, rest = (words[0], words[1:]) if words else ("", [])
    if verb == "rm" and "--cached" not in rest:
        yield from _remove(rest)
    elif verb == "mv":
        yield from _move(rest)
    elif verb == "apply":
        yield from _of_patch(heredoc)
    elif verb in ("checkout", "restore") and not SIDES.isdisjoint(rest):
        for path in _plain(rest):
            yield Effect("edit", path, "")
    elif verb == "checkout" and "--" in rest:
        for path in rest[rest.index("--") + 1 :]:
            yield Effect("restore", path, "")
    elif verb == "restore" and "--staged" not in rest:
        for path in _plain(rest, ("-s", "--source")):
            yield Effect("restore", path, "")


def _plain(words: list[str], valued: tuple[str, ...] = ()) -> list[str]:
    """What is not an option; `valued` options take the next word with them."""
    found: list[str] = []
    skip = only = False
    for word in words:
        if skip:
            skip = False
        elif only:
            found.append(word)
        elif word == "--":
            only = True
        elif word.startswith("-") and len(word) > 1:
            skip = word in valued
        elif word:
            found.append(word)
    return found


def _remove(words: list[str]) -> Iterator[Effect]:
    options = [word for word in words if word.startswith("-")]
    tree = any(word == "--recursive" or _short(word, "rR") for word in options)
    for path in _plain(words):
        yield Effect("delete tree" if tree else "delete", path, "")


def _short(word: str, letters: str) -> bool:
    """Whether short options such as `-rf` hold one of the letters."""
    return not word.startswith("--") and any(letter in word for letter in letters)


def _move(words: list[str]) -> Iterator[Effect]:
    yield from _transfer("move", words)


def _copy(words: list[str]) -> Iterator[Effect]:
    yield from _transfer("copy", words)


def _transfer(kind: Literal["move", "copy"], words: list[str]) -> Iterator[Effect]:
    paths = _plain(words, ("-t", "--target-directory"))
    if len(paths) < 2:
        return
    *sources, target = paths
    folder = target in (".", "..") or target.endswith(("/.", "/.."))
    into = (len(sources) > 1 or folder) and not target.endswith("/")
    for source in sources:
        yield Effect(kind, source, f"{target}/" if into else target)


def _touch(words: list[str]) -> Iterator[Effect]:
    for path in _plain(words, ("-t", "-d", "-r")):
        yield Effect("touch", path, "")


def _tee(words: list[str]) -> Iterator[Effect]:
    kind: Literal["append", "write"] = "append" if {"-a", "--append"} & set(words) else "write"
    for path in _plain(words):
        yield Effect(kind, path, "")


def _make_folder(words: list[str]) -> Iterator[Effect]:
    for path in _plain(words, ("-m", "--mode")):
        yield Effect("folder", path, "")


def _sed(words: list[str]) -> Iterator[Effect]:
    if not any(word.startswith(("-i", "--in-place")) or word in ("-Ei", "-ni") for word in words):
        return
    scripted = any(word in ("-e", "-f", "--expression", "--file") for word in words)
    paths = _plain(words, ("-e", "-f", "--expression", "--file"))
    for path in paths if scripted else paths[1:]:
        yield Effect("edit", path, "")


def _perl(words: list[str]) -> Iterator[Effect]:
    if not any(word.startswith("-") and "i" in word and "e" not in word[:2] for word in words):
        return
    for path in _plain(words, ("-e", "-pe", "-ne", "-pie", "-i")):
        yield Effect("edit", path, "")


def _link(words: list[str]) -> Iterator[Effect]:
    paths = _plain(words)
    if len(paths) == 2:
        yield Effect("write", paths[1], "")


def _of_patch(text: str) -> Iterator[Effect]:
    """The files that a patch in a here-document names."""
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


_BY_NAME = {
    "rm": _remove,
    "unlink": _remove,
    "mv": _move,
    "cp": _copy,
    "touch": _touch,
    "tee": _tee,
    "mkdir": _make_folder,
    "sed": _sed,
    "gsed": _sed,
    "perl": _perl,
    "ln": _link,
}
