"""Whether a text says an entity: the one place where presence is decided."""

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
GOES_ON_BEFORE = re.compile(r"[\w.@~+\-/\\\]]\Z")
GOES_ON_AFTER = re.compile(r"[\w\-/\\]|\.\w")
HERE = re.compile(r"(?:^|[^\w.@~+\-/\\\]])\./\Z")


class Said:
    """A text prepared for many questions."""

    def __init__(self, text: str, paths: Paths) -> None:
        self.text = text
        self.paths = paths
        self._words = frozenset(WORDS.findall(text))
        self._flat = flat(text)
        self._grouped = frozenset(_grouped(text, paths))

    def says(self, entity: Entity) -> bool:
        kind, name = entity
        if kind == "P":
            return self.names_file(name)
        if kind == "I":
            return name in self._words
        if kind == "C":
            return name in self._flat
        return _bounded(name, self.text)

    def names_file(self, path: str) -> bool:
        """In full, relative or absolute, or by its base name under its folder."""
        if path in self._grouped:
            return True
        return any(_stands(spelling, self.text) for spelling in self.paths.spellings(path))

    def names_base(self, path: str) -> bool:
        """The lenient variant: the base name alone, anywhere."""
        return _bounded(basename(path), self.text)


def flat(text: str) -> str:
    return " ".join(text.split())


def _bounded(name: str, text: str) -> bool:
    """On word boundaries; found by plain search first, which is much faster."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (_wordy(text[at - 1 : at]) or _wordy(text[end : end + 1])):
            return True
        at = text.find(name, at + 1)
    return False


def _wordy(sign: str) -> bool:
    return sign == "_" or sign.isalnum()


def _stands(path: str, text: str) -> bool:
    """This very path, not the end or the beginning of a longer one."""
    at = text.find(path)
    while at >= 0:
        before, after = text[max(0, at - 3) : at], text[at + len(path) : at + len(path) + 2]
        alone = not GOES_ON_BEFORE.search(before) or HERE.search(before)
        if alone and not GOES_ON_AFTER.match(after):
            return True
        at = text.find(path, at + 1)
    return False


def _grouped(text: str, paths: Paths) -> Iterator[str]:
    """The files that stand by their base name under a folder, on its line or below it."""
    above = ""
    for line in text.splitlines():
        heading = FOLDER.match(line)
        folder = paths.normal(heading["folder"]).rstrip("/") if heading else above
        names = NAME.findall(heading["rest"] if heading else line)
        if heading and not names:
            above = folder
        elif not line.strip() or line.lstrip().startswith("#") or heading:
            above = ""
        if folder:
            yield from (f"{folder}/{name.rstrip('.')}" for name in names)
