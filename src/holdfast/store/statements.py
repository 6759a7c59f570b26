"""Our named statements as psycopg wants them: `?` and `:name` become `%s` and `%(name)s`."""

from __future__ import annotations

import re

from holdfast.store import schema

_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_NAMED = re.compile(r"(?<![:\w']):([a-z_]+)")


def for_postgres(*names: str) -> dict[str, str]:
    """The statements of these files under sql/; a later file's replace an earlier one's."""
    found: dict[str, str] = {}
    for name in names:
        found |= {key: translated(text) for key, text in schema.queries(name).items()}
    return found


def translated(statement: str) -> str:
    bare = _COMMENT.sub("", statement).replace("%", "%%").strip()
    return _NAMED.sub(r"%(\1)s", bare).replace("?", "%s")
