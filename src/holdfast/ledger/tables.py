"""The ledger's tables and the statements that all of them share.

Names come from this file only, never from a caller, so putting them into a statement is safe.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from holdfast import quick_json
from holdfast.ledger.unsuspected import Unsuspected
from holdfast.redact import redact_value

_UNSUSPECTED = Unsuspected()


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: tuple[str, ...]
    json: frozenset[str] = field(default=frozenset())
    order: str = "created_at"
    """The column that lists are sorted by, with the id to settle ties."""

    add: str = field(init=False, repr=False, compare=False)
    """Insert a row, unless there is one of that id; the values come in the columns' order."""
    touch: str = field(init=False, repr=False, compare=False)
    """The same for an id that names what the row says: one that is there is as new again."""
    put: str = field(init=False, repr=False, compare=False)
    """Insert a row, or take over a newer one: whatever order rows come in, the last stays."""

    def __post_init__(self) -> None:
        insert = f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES"
        places = ", ".join("?" for _ in self.columns)
        given = ", ".join(f":{column}" for column in self.columns)
        taken = ", ".join(map(self._taken, self.columns[1:]))
        newer = f"WHERE excluded.updated_at >= {self.name}.updated_at"
        statements = {
            "add": f"({places}) ON CONFLICT (id) DO NOTHING",
            "touch": f"({places}) ON CONFLICT (id) DO UPDATE "
            f"SET updated_at = excluded.updated_at {newer}",
            "put": f"({given}) ON CONFLICT (id) DO UPDATE SET {taken} {newer}",
        }
        for name, rest in statements.items():
            object.__setattr__(self, name, f"{insert} {rest}")

    def _taken(self, column: str) -> str:
        mine, theirs = f"{self.name}.{column}", f"excluded.{column}"
        if column == "created_at":
            return f"{column} = CASE WHEN {theirs} < {mine} THEN {theirs} ELSE {mine} END"
        if column == "project":
            # Who does not know of which project it is may be the last to tell of it.
            return f"{column} = CASE WHEN {theirs} = '' THEN {mine} ELSE {theirs} END"
        if column == "posted":
            return f"{column} = CASE WHEN {theirs} > {mine} THEN {theirs} ELSE {mine} END"
        if column in ("source", "retry", "retry_words"):
            return f"{column} = coalesce({theirs}, {mine})"
        return f"{column} = {theirs}"

    def select(
        self, conditions: list[str], *, newest_first: bool, most: bool, first: str = ""
    ) -> str:
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        way = "DESC" if newest_first else "ASC"
        limit = " LIMIT :most" if most else ""
        # By their names: PostgreSQL would not go on with a statement whose columns become more.
        columns = ", ".join(self.columns)
        return (
            f"SELECT {columns} FROM {self.name}{where} "
            f"ORDER BY {first}{self.order} {way}, id {way}{limit}"
        )

    def encoded(self, row: dict[str, Any], **known: str) -> dict[str, Any]:
        """As it is stored: every column there, secrets taken out, lists and objects as JSON.

        `known` is the JSON of columns for which somebody has made it already.
        """
        # An id is made anew for each row; names, words and what stands in lists come again.
        values = [row[column] for column in self.columns if column != "id"]
        if _UNSUSPECTED.are_clean(values, once=row["id"]):
            return self._stored(row, known)
        clean = {column: redact_value(row[column], column) for column in self.columns}
        return self._stored(clean, {})

    def _stored(self, row: dict[str, Any], known: dict[str, str]) -> dict[str, Any]:
        return {
            column: known.get(column) or quick_json.dumps(row[column])
            if column in self.json
            else row[column]
            for column in self.columns
        }

    def decoded(self, row: dict[str, Any]) -> dict[str, Any]:
        return {
            column: quick_json.loads(row[column]) if column in self.json else row[column]
            for column in self.columns
        }


_MET = ("source", "likeness", "posted", "folded", "retry", "retry_words")
_TIMES = ("created_at", "completed_at", "updated_at")

PROJECTS = Table(
    "projects", ("id", "path", "name", "metadata", "created_at", "updated_at"),
    frozenset({"metadata"}),
)  # fmt: skip
PROJECT_PATHS = Table("project_paths", ("id", "project", "updated_at"), order="updated_at")
REQUESTS = Table(
    "requests",
    ("id", "project", "session", "prompt", "prompt_type", "status", "metadata", *_MET, *_TIMES),
    frozenset({"metadata"}),
)
TASKS = Table(
    "tasks",
    ("id", "project", "session", "request", "name", "wave_number", "status", *_MET, *_TIMES),
)
SUBTASKS = Table(
    "subtasks",
    (
        "id", "project", "session", "task", "agent_type", "agent_id", "description", "status",
        "blocked_by", "result", "priority", "retry_count", *_MET, "started_at", *_TIMES,
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
    order="wave_number",
)  # fmt: skip
AGENTS = Table(
    "agents",
    (
        "id", "agent_id", "project", "session", "agent_type", "parent", "status", "capacity",
        "used", "rate", "compactions", "compacted_at", "created_at", "updated_at",
    ),
    order="updated_at",
)  # fmt: skip
CONTEXTS = Table(
    "agent_contexts",
    (
        "id", "project", "session", "agent_id", "agent_type", "role_context", "skills_to_restore",
        "tools_used", "progress_summary", "created_at", "updated_at",
    ),
    frozenset({"role_context", "skills_to_restore", "tools_used"}),
    order="updated_at",
)  # fmt: skip
MESSAGES = Table(
    "messages",
    (
        "id", "project", "session", "from_agent_id", "to_agent_id", "message_type", "topic",
        "payload", "priority", "created_at", "expires_at", "updated_at",
    ),
    frozenset({"payload"}),
)  # fmt: skip
READS = Table("message_reads", ("id", "message", "agent_id", "updated_at"), order="updated_at")
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

# What a team is told; tokens are each server's own.
SHARED = {
    table.name: table
    for table in (
        PROJECTS, PROJECT_PATHS, REQUESTS, TASKS, SUBTASKS, ACTIONS, WAVES, AGENTS, CONTEXTS,
        MESSAGES, READS, SUBSCRIPTIONS, BLOCKINGS,
    )
}  # fmt: skip
ALL = {**SHARED, TOKENS.name: TOKENS}
# What hangs on a row of each table, and by which column.
PARTS = {
    PROJECTS.name: (REQUESTS, "project"),
    REQUESTS.name: (TASKS, "request"),
    TASKS.name: (SUBTASKS, "task"),
}
