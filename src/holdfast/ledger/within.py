"""The ledger as one project sees it: rows of others are not there, and cannot be written.

Everything goes through the few operations of a ledger, so whatever is built on them is held too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from holdfast.errors import NoSuchRecord, NotAllowed
from holdfast.ledger.contexts import SNAPSHOT
from holdfast.ledger.ledger import Ledger, Row
from holdfast.ledger.tables import (
    ACTIONS,
    AGENTS,
    BLOCKINGS,
    MESSAGES,
    PROJECTS,
    READS,
    SUBSCRIPTIONS,
    SUBTASKS,
    TOKENS,
    WAVES,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ledger.tables import Table
    from holdfast.store.base import Database

THEIRS = "NOT IN ('', :within)"
_WHERE = "(SELECT 1 FROM {0} WHERE {0}.session = waves.session AND {0}.project {1})"
# A wave counts the tasks of all who work in its session: if some are others', it is nobody's alone.
_SESSION = (
    f"(EXISTS {_WHERE.format('requests', '= :within')} "
    f"OR EXISTS {_WHERE.format('agents', '= :within')}) "
    f"AND NOT EXISTS {_WHERE.format('requests', THEIRS)} "
    f"AND NOT EXISTS {_WHERE.format('tasks', THEIRS)}"
)
# What an agent chose before anybody knew of which project it is counts for all of its name.
_OF_AGENT = (
    "({0}.project = :within OR ({0}.project = '' AND EXISTS (SELECT 1 FROM agents "
    "WHERE agents.agent_id = {0}.{1} AND agents.project = :within)))"
)
# Tables that name no project hang on one that does.
_HANGS = {
    SUBSCRIPTIONS.name: _OF_AGENT.format(SUBSCRIPTIONS.name, "agent_id"),
    BLOCKINGS.name: _OF_AGENT.format(BLOCKINGS.name, "blocked_id"),
    PROJECTS.name: "id = :within",
    WAVES.name: f"({_SESSION})",
    READS.name: "EXISTS (SELECT 1 FROM messages WHERE messages.id = message_reads.message "
    "AND messages.project = :within)",
    TOKENS.name: "1 = 0",
}
_AGENTS_OF = {SUBSCRIPTIONS.name: ("agent_id",), BLOCKINGS.name: ("blocked_id", "blocker_id")}
_ELSEWHERE = (
    " UNION ALL ".join(
        f"SELECT 1 AS n FROM {table} WHERE {whose} AND project {THEIRS}"
        for table, whose in (
            ("requests", "session = :session"), ("agents", "session = :session"),
            ("actions", "session = :session"),
            ("agent_contexts", f"agent_id = :session AND agent_type = '{SNAPSHOT}'"),
        )
    )
    + " LIMIT 1"
)  # fmt: skip


class LedgerWithin(Ledger):
    """Reads and writes of one project."""

    def __init__(
        self, database: Database, project: str, is_theirs: Callable[[str], bool] | None = None
    ) -> None:
        """`is_theirs` tells of a session whether somebody else is known to lead it."""
        super().__init__(database)
        self.project = project
        self.held = {"within": project}
        self._is_theirs = is_theirs

    @property
    def everywhere(self) -> Ledger:
        return Ledger(self.database)

    def shown(self, table: Table) -> str:
        return _HANGS.get(table.name) or f"{table.name}.project = :within"

    def rows(
        self, table: Table, *, also: str = "", values: Row | None = None, **more: Any
    ) -> list[Row]:
        also, values = self._narrowed(table, also, values)
        return super().rows(table, also=also, values=values, **more)

    def count(
        self, table: Table, *, also: str = "", values: Row | None = None, **equal: Any
    ) -> int:
        also, values = self._narrowed(table, also, values)
        return super().count(table, also=also, values=values, **equal)

    def _narrowed(self, table: Table, also: str, values: Row | None) -> tuple[str, Row]:
        shown = self.shown(table)
        return f"({also}) AND {shown}" if also else shown, {**(values or {}), **self.held}

    def write(self, table: Table, row: Row) -> Row:
        row = self._claimed(table, row)
        known = super().rows(table, most=1, id=row["id"])
        if known and self.get(table, row["id"]) is None:
            raise NotAllowed(f"{row['id']} is another project's")
        return super().write(table, row)

    def remove(self, table: Table, row: Row, now: float) -> None:
        if self.get(table, row["id"]) is not None:
            super().remove(table, row, now)

    def _claimed(self, table: Table, row: Row) -> Row:
        """The row as one of this project's, if it can be one."""
        if session := row.get("session"):
            self._check_session(str(session))
        if table is TOKENS or (table is PROJECTS and row["id"] != self.project):
            raise NotAllowed("this token is for one project, and this is not it")
        if (
            table is WAVES
            and not self.database.run(
                f"SELECT 1 AS n FROM (SELECT :session AS session) AS waves WHERE "
                f"{self.shown(WAVES)}",
                {"session": row["session"], **self.held},
            )[0]
        ):
            hint = "POST /api/requests or /api/agents tells of one"
            raise NoSuchRecord(f"session {row['session']} in this project", hint=hint)
        if table is READS:
            self.need(MESSAGES, row["message"])
        for column in _AGENTS_OF.get(table.name, ()):
            self._check_agent(row[column])
        if table is MESSAGES and row["to_agent_id"]:
            self._check_addressee(row["to_agent_id"])
        if table is ACTIONS and row["subtask"] and not self.get(SUBTASKS, row["subtask"]):
            raise NoSuchRecord(f"subtask {row['subtask']} in this project")
        if "project" not in table.columns:
            return row
        if row["project"] not in ("", self.project):
            raise NotAllowed(f"this token is not for project {row['project']}")
        return {**row, "project": self.project}

    def _check_session(self, session: str) -> None:
        given = {"session": session, "within": self.project}
        if self.database.run(_ELSEWHERE, given)[0] or (
            self._is_theirs is not None and self._is_theirs(session)
        ):
            raise NotAllowed(f"session {session} is another project's")

    def _check_agent(self, agent: str) -> None:
        if self.first(AGENTS, agent_id=agent) is None:
            raise NoSuchRecord(f"agent {agent} in this project", hint="POST /api/agents makes one")

    def _check_addressee(self, agent: str) -> None:
        """Somebody who is yet to come may be written to; a session is an agent by its id."""
        self._check_session(agent)
        everywhere = super().rows(AGENTS, agent_id=agent)
        if any(row["project"] not in ("", self.project) for row in everywhere):
            raise NotAllowed(f"agent {agent} is another project's")

    # What only the whole ledger has.

    def _whole(self, *_: Any, **__: Any) -> NoReturn:
        raise NotAllowed("this is for tokens that are good for all projects")

    take_over = last_change = reading = keep_reading = sent = keep_sent = _whole
    count_changes = changes = forgotten = forget = forget_sent = _whole
