"""Texts in which no secret was found. What comes again is not looked through again.

Callers repeat themselves: a snapshot says what the one before it said, and a little more. To look
for secrets is the dearest part of writing a row, to find a text among known ones next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.redact import is_secret_name, is_suspect

if TYPE_CHECKING:
    from collections.abc import Iterable

# So many bytes are remembered, for each text some more than it has characters. Then it begins anew:
# whatever still comes is known again soon.
MOST, EACH = 1 << 21, 100
# Of a caller who says much that is new, one time in so many is remembered: who repeats himself is
# known soon, and who never does pays little for it.
MUCH, SELDOM = 16, 8


class Unsuspected:
    """Threads may share one: at worst two of them look at the same text."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._turn = 0
        self._begin()

    def _begin(self) -> None:
        self._texts: set[str] = set()
        # Under which a text is no more suspect than elsewhere.
        self._names: set[str] = set()
        self._room = self._most

    def are_clean(self, values: Iterable[Any], once: str = "") -> bool:
        """Whether nothing in these, as deep as they go, can be a secret. If something may be, each
        part has to be looked at. `once` is a text that will not come again.
        """
        unknown: list[str] = []
        if not all(self._is_plain(value, unknown) for value in values):
            return False
        # One look at all of them is quicker than one at each.
        if is_suspect("\n".join([*unknown, once])):
            return False
        self._turn += 1
        if len(unknown) < MUCH or self._turn % SELDOM == 0:
            self._remember(self._texts, unknown)
        return True

    def _is_plain(self, value: Any, unknown: list[str]) -> bool:
        """Whether nothing stands under a secret's name; texts that are not known are noted."""
        if isinstance(value, str):
            if value not in self._texts:
                unknown.append(value)
        elif isinstance(value, list):
            texts = self._texts
            for one in value:
                # Most lists are of texts.
                if isinstance(one, str):
                    if one not in texts:
                        unknown.append(one)
                elif not self._is_plain(one, unknown):
                    return False
        elif isinstance(value, dict):
            for name, one in value.items():
                if not (self._is_plain_name(name) and self._is_plain(one, unknown)):
                    return False
        return True

    def _is_plain_name(self, name: Any) -> bool:
        if name in self._names or not isinstance(name, str):
            return True
        if is_secret_name(name) or is_suspect(name):
            return False
        self._remember(self._names, [name])
        return True

    def _remember(self, known: set[str], more: list[str]) -> None:
        self._room -= sum(map(len, more)) + EACH * len(more)
        if self._room < 0:
            self._begin()
        else:
            known.update(more)
