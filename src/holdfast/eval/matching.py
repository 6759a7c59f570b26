"""Decide whether a text mentions an entity."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import basename

from holdfast.eval.entities import Entity, Paths

WORDS = re.compile(r"\w+")
# A name that is no part of a longer path.
NAME = re.compile(r"(?<![\w./\\@~+\-\[\]])[\w@~+\-\[\]][\w.@~+\-\[\]]*(?![\w/\\])")
# `src/auth/: login.py, token.py`, or `src/auth/` alone on its line with names below it.
FOLDER = re.compile(r"^[\s>*+#`-]*(?P<folder>[\w.@~+\-\[\]/]*/)[`*]*\s*(?P<rest>[:—–(-].*|)$")
CONTINUES_BEFORE = re.compile(r"[\w.@~+\-/\\\]]\Z")
CONTINUES_AFTER = re.compile(r"[\w\-/\\]|\.\w")
DOT_SLASH = re.compile(r"(?:^|[^\w.@~+\-/\\\]])\./\Z")


class TextMatcher:
    """A text, indexed once for many `mentions` calls."""

    def __init__(self, text: str, paths: Paths) -> None:
        self.text = text
        self.paths = paths
        self._words = frozenset(WORDS.findall(text))
        self._flat = collapse_spaces(text)
        self._grouped = frozenset(_find_grouped_files(text, paths))

    def mentions(self, entity: Entity) -> bool:
        kind, name = entity
        if kind == "P":
            return self.names_file(name)
        if kind == "I":
            return name in self._words
        if kind == "C":
            return name in self._flat
        return _has_whole_word(name, self.text)

    def names_file(self, path: str) -> bool:
        """Whether the text has the path, relative or absolute, or its base name in a list."""
        if path in self._grouped:
            return True
        return any(_has_path(spelling, self.text) for spelling in self.paths.spellings(path))

    def names_basename(self, path: str) -> bool:
        """Whether the text has the base name of the path, anywhere."""
        return _has_whole_word(basename(path), self.text)


def collapse_spaces(text: str) -> str:
    return " ".join(text.split())


def _has_whole_word(name: str, text: str) -> bool:
    """Whether the name occurs on word boundaries; `str.find` first, because it is much faster."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (_is_word_char(text[at - 1 : at]) or _is_word_char(text[end : end + 1])):
            return True
        at = text.find(name, at + 1)
    return False


def _is_word_char(char: str) -> bool:
    return char == "_" or char.isalnum()


def _has_path(path: str, text: str) -> bool:
    """Whether exactly this path occurs, not as part of a longer one."""
    at = text.find(path)
    while at >= 0:
        before, after = text[max(0, at - 3) : at], text[at + len(path) : at + len(path) + 2]
        starts_here = not CONTINUES_BEFORE.search(before) or DOT_SLASH.search(before)
        if starts_here and not CONTINUES_AFTER.match(after):
            return True
        at = text.find(path, at + 1)
    return False


def _find_grouped_files(text: str, paths: Paths) -> Iterator[str]:
    """Yield files listed by base name under a folder, on its line or below it."""
    open_folder = ""
    for line in text.splitlines():
        heading = FOLDER.match(line)
        folder = paths.normalize(heading["folder"]).rstrip("/") if heading else open_folder
        names = NAME.findall(heading["rest"] if heading else line)
        if heading and not names:
            open_folder = folder
        elif not line.strip() or line.lstrip().startswith("#") or heading:
            open_folder = ""
        if folder:
            yield from (f"{folder}/{name.rstrip('.')}" for name in names)
