"""The tables of the ledger, the SQL statements that all tables share, and the ids of rows.

Table and column names come from this file only, never from a caller, so it is safe to put them into
a statement.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import Any

from holdfast.redaction import redact, redact_value

# Enough to distinguish two texts, and less than the fold keeps of any text.
FINGERPRINT_CHARS = 150
LONG_TEXT_CHARS = 500
# Compact, and ASCII only: this can also encode a lone surrogate.
_to_json = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns, and how rows are written, selected, encoded and decoded."""

    name: str
    columns: tuple[str, ...]
    json_columns: frozenset[str] = field(default=frozenset())
    order_column: str = "created_at"
    """The column that lists are sorted by; the id settles ties."""

    upsert: str = field(init=False, repr=False, compare=False)
    """Inserts a row or replaces an older one. The newest version of a row stays, in whatever order
    the versions arrive.
    """

    def __post_init__(self) -> None:
        insert = f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES"
        placeholders = ", ".join(f":{column}" for column in self.columns)
        assignments = ", ".join(map(self._build_assignment, self.columns[1:]))
        is_newer = f"WHERE excluded.updated_at >= {self.name}.updated_at"
        statement = (
            f"{insert} ({placeholders}) ON CONFLICT (id) DO UPDATE SET {assignments} {is_newer}"
        )
        object.__setattr__(self, "upsert", statement)

    def _build_assignment(self, column: str) -> str:
        """Return how an upsert sets a column from the stored row and the new one."""
        stored, new = f"{self.name}.{column}", f"excluded.{column}"
        if column == "created_at":
            return f"{column} = CASE WHEN {new} < {stored} THEN {new} ELSE {stored} END"
        if column == "project":
            # The newest version may come from a machine that does not know the project.
            return f"{column} = CASE WHEN {new} = '' THEN {stored} ELSE {new} END"
        if column == "posted":
            return f"{column} = CASE WHEN {new} > {stored} THEN {new} ELSE {stored} END"
        if column in ("source", "retry", "retry_words"):
            return f"{column} = coalesce({new}, {stored})"
        return f"{column} = {new}"

    def select(
        self, conditions: list[str], *, newest_first: bool, has_limit: bool, order_by: str = ""
    ) -> str:
        """Return a SELECT statement; `order_by` comes before the time, the limit is `:limit`."""
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        direction = "DESC" if newest_first else "ASC"
        limit = " LIMIT :limit" if has_limit else ""
        # Not `*`: a prepared statement fails in PostgreSQL when a migration adds a column.
        columns = ", ".join(self.columns)
        return (
            f"SELECT {columns} FROM {self.name}{where} "
            f"ORDER BY {order_by}{self.order_column} {direction}, id {direction}{limit}"
        )

    def encode(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the row as it is stored: all columns, without secrets, lists and objects as JSON.

        Raises KeyError if a column is missing.
        """
        redacted = {column: redact_value(row[column], column) for column in self.columns}
        return {
            column: _to_json(value) if column in self.json_columns else value
            for column, value in redacted.items()
        }

    def decode(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a stored row with its JSON columns parsed."""
        return {
            column: json.loads(row[column]) if column in self.json_columns else row[column]
            for column in self.columns
        }


# Columns of requests, tasks and subtasks by which rows of the fold and of API callers are merged:
# `source` identifies the work in its transcript, `likeness` is the fingerprint of the text,
# `posted` is 1 if a caller has sent the row, `folded` is the last status that the transcript
# reported, and `retry` and `retry_words` are hashes of the caller's idempotency key and of the
# texts sent with it.
_MERGE_COLUMNS = ("source", "likeness", "posted", "folded", "retry", "retry_words")
_TIME_COLUMNS = ("created_at", "completed_at", "updated_at")

PROJECTS = Table(
    "projects", ("id", "path", "name", "metadata", "created_at", "updated_at"),
    frozenset({"metadata"}),
)  # fmt: skip
PROJECT_PATHS = Table("project_paths", ("id", "project", "updated_at"), order_column="updated_at")
REQUESTS = Table(
    "requests",
    (
        "id",
        "project",
        "session",
        "prompt",
        "prompt_type",
        "status",
        "metadata",
        *_MERGE_COLUMNS,
        *_TIME_COLUMNS,
    ),
    frozenset({"metadata"}),
)
TASKS = Table(
    "tasks",
    (
        "id",
        "project",
        "session",
        "request",
        "name",
        "wave_number",
        "status",
        *_MERGE_COLUMNS,
        *_TIME_COLUMNS,
    ),
)
SUBTASKS = Table(
    "subtasks",
    (
        "id", "project", "session", "task", "agent_type", "agent_id", "description", "status",
        "blocked_by", "result", "priority", "retry_count", *_MERGE_COLUMNS, "started_at",
        *_TIME_COLUMNS,
    ),
    frozenset({"blocked_by", "result"}),
)  # fmt: skip
ACTIONS = Table(
    "actions",
    (
        "id", "project", "session", "subtask", "tool_name", "tool_type", "input", "output",
        "file_paths", "exit_code", "duration_ms", "metadata", "created_at", "updated_at",
    ),
    frozenset({"input", "output", "file_paths", "metadata"}),
)  # fmt: skip
WAVES = Table(
    "waves",
    (
        "id", "session", "wave_number", "status", "total_tasks", "completed_tasks", "failed_tasks",
        "created_at", "started_at", "completed_at", "updated_at",
    ),
    order_column="wave_number",
)  # fmt: skip
AGENTS = Table(
    "agents",
    (
        "id", "agent_id", "project", "session", "agent_type", "parent", "status", "capacity",
        "used", "rate", "compactions", "compacted_at", "created_at", "updated_at",
    ),
    order_column="updated_at",
)  # fmt: skip
CONTEXTS = Table(
    "agent_contexts",
    (
        "id", "project", "session", "agent_id", "agent_type", "role_context", "skills_to_restore",
        "tools_used", "progress_summary", "created_at", "updated_at",
    ),
    frozenset({"role_context", "skills_to_restore", "tools_used"}),
    order_column="updated_at",
)  # fmt: skip
MESSAGES = Table(
    "messages",
    (
        "id", "project", "session", "from_agent_id", "to_agent_id", "message_type", "topic",
        "payload", "priority", "created_at", "expires_at", "updated_at",
    ),
    frozenset({"payload"}),
)  # fmt: skip
READS = Table(
    "message_reads", ("id", "message", "agent_id", "updated_at"), order_column="updated_at"
)
SUBSCRIPTIONS = Table(
    "subscriptions", ("id", "project", "agent_id", "topic", "created_at", "updated_at")
)
BLOCKINGS = Table(
    "blockings",
    ("id", "project", "blocked_id", "blocker_id", "reason", "created_at", "updated_at"),
)
TOKENS = Table(
    "tokens",
    (
        "id", "name", "hash", "scope", "project", "created_at", "expires_at", "revoked_at",
        "updated_at",
    ),
)  # fmt: skip

# Tables that are synchronised with a team's database. Tokens belong to one server.
SHARED_TABLES = {
    table.name: table
    for table in (
        PROJECTS, PROJECT_PATHS, REQUESTS, TASKS, SUBTASKS, ACTIONS, WAVES, AGENTS, CONTEXTS,
        MESSAGES, READS, SUBSCRIPTIONS, BLOCKINGS,
    )
}  # fmt: skip
ALL_TABLES = {**SHARED_TABLES, TOKENS.name: TOKENS}
# The child table of each table, and the column in it that names the parent.
CHILDREN = {
    PROJECTS.name: (REQUESTS, "project"),
    REQUESTS.name: (TASKS, "request"),
    TASKS.name: (SUBTASKS, "task"),
}


DEFAULT_PRIORITY = 5
# Orchestrators count waves from 0, so a task without a wave needs a number of its own.
NO_WAVE = -1
FINISHED_STATUSES = ("completed", "failed", "cancelled")


# Ids


def make_id(*parts: object) -> str:
    """Return a UUID (version 8) that is a hash of these parts."""
    return _format_uuid(
        hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()
    )


def _format_uuid(digest: str) -> str:
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"


def make_fingerprint(*texts: str) -> str:
    """Return a hash that ignores case, white space, secrets and everything after the first
    FINGERPRINT_CHARS characters of each text.
    """
    plain = ["".join(redact(text).casefold().split())[:FINGERPRINT_CHARS] for text in texts]
    return hashlib.sha256("\0".join(plain).encode("utf-8", "replace")).hexdigest()[:24]


def make_random_id(now: float) -> str:
    """Return a random UUID (version 7), which begins with the time. Ids of the same time are
    neighbours in an index, and writing to an index page that is in the cache costs half as much.
    """
    time, random = f"{int(now * 1000) & 0xFFFFFFFFFFFF:012x}", os.urandom(10).hex()
    return f"{time[:8]}-{time[8:]}-7{random[:3]}-a{random[3:6]}-{random[6:18]}"


def make_version_id(kind: str, row: dict[str, Any]) -> str:
    """Return the id of one version of a row: its time, so that ids are in order in an index, and a
    hash of its content.
    """
    digest = hashlib.sha256()
    short: list[Any] = [kind]
    for value in row.values():
        if isinstance(value, str) and len(value) >= LONG_TEXT_CHARS:
            # Hashing a long text is faster than escaping it with ascii(). Below, its length takes
            # its place.
            digest.update(value.encode("utf-8", "surrogatepass"))
            value = len(value)
        short.append(value)
    digest.update(ascii(short).encode("ascii"))
    written = int(row["updated_at"] * 1000) & 0xFFFFFFFFFFFF
    return f"{written:012x}{digest.hexdigest()[:28]}"
