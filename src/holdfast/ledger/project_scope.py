"""A ledger that is limited to one project: rows of other projects cannot be read or written.

All functions of the ledger use the basic operations of `Ledger`, which are limited here, so they
are limited too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from holdfast.errors import Forbidden, NotFound
from holdfast.ledger.contexts import SNAPSHOT_AGENT_TYPE
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import (
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

    from holdfast.ledger.schema import Table
    from holdfast.store.protocols import Database

_OTHER_PROJECT = "NOT IN ('', :within)"
_IN_SESSION = "(SELECT 1 FROM {0} WHERE {0}.session = waves.session AND {0}.project {1})"
# A wave counts the tasks of its whole session. It is visible if the session belongs to this project
# and no part of it to another.
_WAVE_IN_PROJECT = (
    f"(EXISTS {_IN_SESSION.format('requests', '= :within')} "
    f"OR EXISTS {_IN_SESSION.format('agents', '= :within')}) "
    f"AND NOT EXISTS {_IN_SESSION.format('requests', _OTHER_PROJECT)} "
    f"AND NOT EXISTS {_IN_SESSION.format('tasks', _OTHER_PROJECT)}"
)
# A row without a project was written before the agent's project was known. It belongs to every
# agent with this name.
_AGENT_IN_PROJECT = (
    "({0}.project = :within OR ({0}.project = '' AND EXISTS (SELECT 1 FROM agents "
    "WHERE agents.agent_id = {0}.{1} AND agents.project = :within)))"
)
# The conditions for tables without a project column, and for rows that may have none.
_CONDITIONS = {
    SUBSCRIPTIONS.name: _AGENT_IN_PROJECT.format(SUBSCRIPTIONS.name, "agent_id"),
    BLOCKINGS.name: _AGENT_IN_PROJECT.format(BLOCKINGS.name, "blocked_id"),
    PROJECTS.name: "id = :within",
    WAVES.name: f"({_WAVE_IN_PROJECT})",
    READS.name: "EXISTS (SELECT 1 FROM messages WHERE messages.id = message_reads.message "
    "AND messages.project = :within)",
    TOKENS.name: "1 = 0",
}
_AGENT_COLUMNS = {SUBSCRIPTIONS.name: ("agent_id",), BLOCKINGS.name: ("blocked_id", "blocker_id")}
_SESSION_IN_OTHER_PROJECT = (
    " UNION ALL ".join(
        f"SELECT 1 AS n FROM {table} WHERE {of_session} AND project {_OTHER_PROJECT}"
        for table, of_session in (
            ("requests", "session = :session"), ("agents", "session = :session"),
            ("actions", "session = :session"),
            ("agent_contexts", f"agent_id = :session AND agent_type = '{SNAPSHOT_AGENT_TYPE}'"),
        )
    )
    + " LIMIT 1"
)  # fmt: skip


class ProjectLedger(Ledger):
    """Reads and writes the rows of one project. Other rows are treated as missing."""

    def __init__(
        self,
        database: Database,
        project: str,
        is_foreign_session: Callable[[str], bool] | None = None,
    ) -> None:
        """`is_foreign_session` returns whether a session is known to belong to another project."""
        super().__init__(database)
        self.project = project
        self.scope_values = {"within": project}
        self._is_foreign_session = is_foreign_session

    @property
    def unscoped(self) -> Ledger:
        return Ledger(self.database)

    def build_scope_condition(self, table: Table) -> str:
        return _CONDITIONS.get(table.name) or f"{table.name}.project = :within"

    def find(
        self, table: Table, *, where: str = "", values: Row | None = None, **more: Any
    ) -> list[Row]:
        where, values = self._add_scope(table, where, values)
        return super().find(table, where=where, values=values, **more)

    def count(
        self, table: Table, *, where: str = "", values: Row | None = None, **equal: Any
    ) -> int:
        where, values = self._add_scope(table, where, values)
        return super().count(table, where=where, values=values, **equal)

    def _add_scope(self, table: Table, where: str, values: Row | None) -> tuple[str, Row]:
        scope = self.build_scope_condition(table)
        return f"({where}) AND {scope}" if where else scope, {**(values or {}), **self.scope_values}

    def write(self, table: Table, row: Row) -> Row:
        """Write a row of this project. Raises Forbidden if it belongs to another project."""
        row = self._check_row(table, row)
        known = super().find(table, limit=1, id=row["id"])
        if known and self.get(table, row["id"]) is None:
            raise Forbidden(f"{row['id']} belongs to another project")
        return super().write(table, row)

    def delete(self, table: Table, row: Row, now: float) -> None:
        if self.get(table, row["id"]) is not None:
            super().delete(table, row, now)

    def _check_row(self, table: Table, row: Row) -> Row:
        """Return the row with this project. Raises Forbidden or NotFound if it, its session, its
        agents or the rows that it refers to are not of this project.
        """
        if session := row.get("session"):
            self._check_session(str(session))
        if table is TOKENS or (table is PROJECTS and row["id"] != self.project):
            raise Forbidden("This token is for another project")
        if (
            table is WAVES
            and not self.database.run(
                f"SELECT 1 AS n FROM (SELECT :session AS session) AS waves WHERE "
                f"{self.build_scope_condition(WAVES)}",
                {"session": row["session"], **self.scope_values},
            )[0]
        ):
            hint = "POST /api/requests or /api/agents creates one"
            raise NotFound(f"No session {row['session']} in this project", hint=hint)
        if table is READS:
            self.require(MESSAGES, row["message"])
        for column in _AGENT_COLUMNS.get(table.name, ()):
            self._check_agent(row[column])
        if table is MESSAGES and row["to_agent_id"]:
            self._check_recipient(row["to_agent_id"])
        if table is ACTIONS and row["subtask"] and not self.get(SUBTASKS, row["subtask"]):
            raise NotFound(f"No subtask {row['subtask']} in this project")
        if "project" not in table.columns:
            return row
        if row["project"] not in ("", self.project):
            raise Forbidden(f"This token is not for project {row['project']}")
        return {**row, "project": self.project}

    def _check_session(self, session: str) -> None:
        values = {"session": session, "within": self.project}
        if self.database.run(_SESSION_IN_OTHER_PROJECT, values)[0] or (
            self._is_foreign_session is not None and self._is_foreign_session(session)
        ):
            raise Forbidden(f"Session {session} belongs to another project")

    def _check_agent(self, agent: str) -> None:
        if self.find_one(AGENTS, agent_id=agent) is None:
            raise NotFound(f"No agent {agent} in this project", hint="POST /api/agents creates one")

    def _check_recipient(self, agent: str) -> None:
        """Raise Forbidden if an agent is known in another project only.

        Messages to an agent that is not known yet are allowed. The id of a session is the id of its
        main agent.
        """
        self._check_session(agent)
        agents = super().find(AGENTS, agent_id=agent)
        if any(row["project"] not in ("", self.project) for row in agents):
            raise Forbidden(f"Agent {agent} belongs to another project")

    # The change feed and the progress of readers belong to the whole ledger.

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise Forbidden("This needs a token for all projects")

    write_unpublished = load_progress = save_progress = _refuse
    get_last_position = list_changes = count_changed_rows = get_pruned_position = record_pruned = (
        _refuse
    )
    get_sent_position = save_sent_position = delete_sent_position = _refuse
