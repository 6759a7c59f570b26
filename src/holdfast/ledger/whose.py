"""Which project something is of where nobody says so: that of its session, of the message that was
read, of the agent that is named. What may be of several is of none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger.tables import AGENTS, PROJECT_PATHS, PROJECTS, READS
from holdfast.store.questions import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.store.questions import Asking

    Folders = Callable[[Collection[str]], dict[str, str]]

_OF_READS = (
    "SELECT message_reads.id AS read, messages.id AS record, messages.project, messages.session "
    "FROM message_reads JOIN messages ON messages.id = message_reads.message "
    "WHERE message_reads.id IN "
)
_OF_SESSION = " UNION ".join(
    f"SELECT session, project FROM {table} WHERE project <> '' AND session IN {{0}}"
    for table in ("requests", "agents")
)
_LED_IN = "SELECT project AS folder FROM sessions WHERE id = :session"
_OF_FOLDER = f"SELECT project FROM {PROJECT_PATHS.name} WHERE id = :folder"


def with_projects(ledger: Ledger, changes: list[Row], folders: Folders) -> list[Row]:
    """The same changes, each with the project that it is known to be of; `folders` tells where
    sessions are led.
    """
    if all(one["project"] for one in changes):
        return changes
    above = _above(ledger, changes)
    changes = [{**one, **above.get(one["id"], {})} for one in changes]
    sessions = {one["session"] for one in changes if not one["project"]} - {""}
    known = of_sessions(ledger, sessions, folders) if sessions else {}
    return [{**one, "project": one["project"] or known.get(one["session"], "")} for one in changes]


def of_sessions(ledger: Ledger, sessions: Collection[str], folders: Folders) -> dict[str, str]:
    """The project of each of these, as far as it is known and only one."""
    found = _known_in(ledger, sessions)
    led_in = folders(sessions)
    paths = ledger.among(PROJECT_PATHS, "id", set(led_in.values()))
    projects = {row["id"]: row["project"] for row in paths}
    for session, folder in led_in.items():
        # A folder that is nobody's yet may become another's.
        found[session].add(projects.get(folder, ""))
    return {session: some.pop() for session, some in found.items() if len(some) == 1}


def asking_for(session: str) -> Asking[str]:
    """The same of one session, for an event loop."""
    listed, values = _listed([session])
    known, led_in = yield [
        Question(_OF_SESSION.format(listed), values),
        Question(_LED_IN, {"session": session}, is_ledgers=False),
    ]
    some = {row["project"] for row in known}
    if led_in:
        (paths,) = yield [Question(_OF_FOLDER, led_in[0])]
        some.add(paths[0]["project"] if paths else "")
    return some.pop() if len(some) == 1 else ""


def led_elsewhere(ledger: Ledger, sessions: Collection[str], project: str) -> set[str]:
    """Those of them that are known in other projects, and not in this one."""
    if not sessions:
        return set()
    found = _known_in(ledger, {*sessions})
    return {session for session, some in found.items() if some and project not in some}


def _known_in(ledger: Ledger, sessions: Collection[str]) -> dict[str, set[str]]:
    """The projects in which each of these has work or agents."""
    found: dict[str, set[str]] = {session: set() for session in sessions}
    listed, values = _listed(sessions)
    for row in ledger.database.run(_OF_SESSION.format(listed), values)[0]:
        found[row["session"]].add(row["project"])
    return found


def of_agent(ledger: Ledger, agent: str) -> str:
    """The one project in which an agent of that name is known."""
    found = {row["project"] for row in ledger.rows(AGENTS, agent_id=agent)} - {""}
    return found.pop() if len(found) == 1 else ""


def _above(ledger: Ledger, changes: list[Row]) -> dict[str, Row]:
    """Project and session of what changes are about, by the change."""
    found = {
        one["id"]: {"project": one["record"]} for one in changes if one["kind"] == PROJECTS.name
    }
    reads = [one for one in changes if one["kind"] == READS.name]
    if reads:
        listed, values = _listed({one["record"] for one in reads})
        rows = ledger.database.run(_OF_READS + listed, values)[0]
        # Whoever hears of it asks for the message.
        messages = {row.pop("read"): row for row in rows}
        found |= {one["id"]: messages[one["record"]] for one in reads if one["record"] in messages}
    return found


def _listed(values: Collection[str]) -> tuple[str, Row]:
    given = {f"v{number}": value for number, value in enumerate(values)}
    return f"({', '.join(f':{name}' for name in given)})", given
