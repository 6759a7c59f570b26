"""Our statements as psycopg wants them: `?` and `:name` become `%s` and `%(name)s`."""

from __future__ import annotations

import re
from functools import lru_cache

_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_NAMED = re.compile(r"(?<![:\w']):([a-z_][a-z0-9_]*)")


@lru_cache(maxsize=1000)
def translated(statement: str) -> str:
    """The same statement for PostgreSQL."""
    bare = _COMMENT.sub("", statement).replace("%", "%%").strip()
    return _NAMED.sub(r"%(\1)s", bare).replace("?", "%s")
