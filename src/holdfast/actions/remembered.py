"""Texts that were made before, by what they were made of: the last ones used, within a size."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 4 << 20
# What an entry takes beside its text.
EACH = 250
# A caller's words may hold half of a character.
CODE = "utf-8", "surrogatepass"


class Remembered:
    """Threads may share one. Nothing here grows old: what a text is made of is its whole name."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._texts: OrderedDict[bytes, bytes] = OrderedDict()
        self._turn = Lock()
        self.size = 0

    def text(self, made_of: object, make: Callable[[], str]) -> str:
        """The text that `make` gives for values that are written like these."""
        key = key_of(made_of)
        found = self.find(key)
        return self.keep(key, make()) if found is None else found

    def find(self, key: bytes) -> str | None:
        with self._turn:
            if (found := self._texts.get(key)) is None:
                return None
            self._texts.move_to_end(key)
        return found.decode(*CODE)

    def keep(self, key: bytes, made: str) -> str:
        """And what was kept."""
        # One quotation mark that is not ASCII doubles what a text takes; bytes stay what it is.
        text = made.encode(*CODE)
        with self._turn:
            if key not in self._texts:
                self.size += len(text) + EACH
            self._texts[key] = text
            while self.size > self._most:
                self.size -= len(self._texts.popitem(last=False)[1]) + EACH
        return made


def key_of(made_of: object) -> bytes:
    """Values that are written alike have the same."""
    return hashlib.sha256(repr(made_of).encode(*CODE)).digest()
