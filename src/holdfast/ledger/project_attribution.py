"""Find the project of rows that have none: the project of their session, of the message that was
read, or of the agent. An ambiguous project stays empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger.schema import AGENTS, PROJECTS, READS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from holdfast.ledger.repository import Ledger, Row

_MESSAGES_OF_READS = (
    "SELECT message_reads.id AS read, messages.id AS record, messages.project, messages.session "
    "FROM message_reads JOIN messages ON messages.id = message_reads.message "
    "WHERE message_reads.id IN "
)
_SESSION_PROJECTS = " UNION ".join(
    f"SELECT session, project FROM {table} WHERE project <> '' AND session IN {{0}}"
    for table in ("requests", "agents")
)


def add_projects(
    ledger: Ledger, changes: list[Row], find_project: Callable[[str], str]
) -> list[Row]:
    """Return the changes with their projects, as far as these are known; `find_project` returns the
    project of a session, or "".
    """
    if all(change["project"] for change in changes):
        return changes
    owners = _find_owners(ledger, changes)
    changes = [{**change, **owners.get(change["id"], {})} for change in changes]
    sessions = {change["session"] for change in changes if not change["project"]} - {""}
    projects = {session: find_project(session) for session in sessions}
    return [
        {**change, "project": change["project"] or projects.get(change["session"], "")}
        for change in changes
    ]


def find_foreign_sessions(ledger: Ledger, sessions: Collection[str], project: str) -> set[str]:
    """Return the sessions that are known in other projects, but not in this one."""
    if not sessions:
        return set()
    by_session = _find_session_projects(ledger, {*sessions})
    return {
        session for session, projects in by_session.items() if projects and project not in projects
    }


def _find_session_projects(ledger: Ledger, sessions: Collection[str]) -> dict[str, set[str]]:
    """Return the projects in which each session has requests or agents."""
    projects: dict[str, set[str]] = {session: set() for session in sessions}
    placeholders, values = _to_parameters(sessions)
    for row in ledger.database.run(_SESSION_PROJECTS.format(placeholders), values)[0]:
        projects[row["session"]].add(row["project"])
    return projects


def find_agent_project(ledger: Ledger, agent: str) -> str:
    """Return the project in which an agent is known, "" if there is none or more than one."""
    projects = {row["project"] for row in ledger.find(AGENTS, agent_id=agent)} - {""}
    return projects.pop() if len(projects) == 1 else ""


def _find_owners(ledger: Ledger, changes: list[Row]) -> dict[str, Row]:
    """Return project and session for changes of projects and of read receipts, by change id."""
    owners = {
        change["id"]: {"project": change["record"]}
        for change in changes
        if change["kind"] == PROJECTS.name
    }
    reads = [change for change in changes if change["kind"] == READS.name]
    if reads:
        placeholders, values = _to_parameters({change["record"] for change in reads})
        rows = ledger.database.run(_MESSAGES_OF_READS + placeholders, values)[0]
        # The record becomes the message: that is what a reader of the change looks up.
        messages = {row.pop("read"): row for row in rows}
        owners |= {
            change["id"]: messages[change["record"]]
            for change in reads
            if change["record"] in messages
        }
    return owners


def _to_parameters(values: Collection[str]) -> tuple[str, Row]:
    """Return placeholders for an IN condition, and the values by placeholder."""
    parameters = {f"v{number}": value for number, value in enumerate(values)}
    return f"({', '.join(f':{name}' for name in parameters)})", parameters
