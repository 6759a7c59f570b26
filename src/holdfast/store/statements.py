"""Our statements and their values as PostgreSQL and its driver want them."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import count
from typing import Any

_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_NAMED = re.compile(r"(?<![:\w']):([a-z_][a-z0-9_]*)")


@lru_cache(maxsize=1000)
def translated(statement: str) -> str:
    """For psycopg: `?` and `:name` become `%s` and `%(name)s`."""
    bare = _COMMENT.sub("", statement).replace("%", "%%").strip()
    return _NAMED.sub(r"%(\1)s", bare).replace("?", "%s")


@lru_cache(maxsize=100)
def numbered(statement: str) -> tuple[str, tuple[str, ...]]:
    """For PostgreSQL itself: `?`, or each `:name`, becomes `$1`, `$2` and so on; and the names in
    the order of their numbers.
    """
    bare = _COMMENT.sub("", statement).strip()
    names = tuple(dict.fromkeys(_NAMED.findall(bare)))
    numbers = count(1)
    bare = re.sub(r"\?", lambda _: f"${next(numbers)}", bare)
    return _NAMED.sub(lambda found: f"${names.index(found[1]) + 1}", bare), names


def storable(value: Any) -> Any:
    """PostgreSQL takes neither lone surrogates nor NUL, and a name with one is not another's."""
    if isinstance(value, str):
        if not value.isascii():
            value = value.encode("utf-8", "replace").decode("utf-8")
        return value.replace("\0", "\ufffd")
    return value
