"""What the ledger knows of a session, in one statement: which snapshots, and what is open.

A restore asks for all of this, and on PostgreSQL every statement is a way over the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast import quick_json
from holdfast.ledger.contexts import SNAPSHOT, says_anything
from holdfast.ledger.standing import DONE
from holdfast.ledger.tables import CONTEXTS, SUBTASKS, TASKS, WAVES

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row

# How many snapshots of a session are looked at for what the newest of them does not say.
LOOKED_AT = 20
# More than there is room for, of each kind and of each one's words.
MOST, LONGEST = 200, 1000
# In braces: which rows of a table this ledger shows.
_STATEMENT = f"""\
SELECT * FROM (
    SELECT 'snapshot' AS kind, id, '' AS name, '' AS status, '' AS who, '' AS more,
        updated_at AS at
    FROM agent_contexts
    WHERE agent_id = :session AND agent_type = '{SNAPSHOT}' AND {{{CONTEXTS.name}}}
    ORDER BY updated_at DESC, id DESC LIMIT {LOOKED_AT}
) AS snapshots
UNION ALL SELECT * FROM (
    SELECT 'task', id, substr(name, 1, {LONGEST + 1}), status, '', '', created_at FROM tasks
    WHERE session = :session AND status NOT IN {DONE} AND {{{TASKS.name}}}
    ORDER BY created_at DESC, id DESC LIMIT {MOST + 1}
) AS open_tasks
UNION ALL SELECT * FROM (
    SELECT 'subtask', id, substr(description, 1, {LONGEST + 1}), status,
        CASE WHEN agent_type <> '' THEN agent_type ELSE agent_id END, blocked_by, created_at
    FROM subtasks
    WHERE session = :session AND status NOT IN {DONE} AND {{{SUBTASKS.name}}}
    ORDER BY created_at DESC, id DESC LIMIT {MOST + 1}
) AS open_subtasks
UNION ALL SELECT 'wave', id, CAST(wave_number AS TEXT), status, CAST(completed_tasks AS TEXT),
    CAST(total_tasks AS TEXT), -wave_number
FROM waves WHERE session = :session AND {{{WAVES.name}}}
ORDER BY kind, at DESC, id DESC
"""


class Known(NamedTuple):
    """Two that are equal say the same."""

    snapshots: list[str]
    """Their ids, the newest first: what one says never changes."""
    waves: list[str]
    open_work: list[str]
    is_part: bool
    """Whether there is more than this."""


def known(ledger: Ledger, session: str) -> Known:
    """What there is of this session, by its exact id."""
    shown = {table.name: ledger.shown(table) for table in (CONTEXTS, TASKS, SUBTASKS, WAVES)}
    found: dict[str, list[Row]] = {"snapshot": [], "task": [], "subtask": [], "wave": []}
    given = {"session": session, **ledger.held}
    for row in ledger.database.run(_STATEMENT.format_map(shown), given)[0]:
        found[row["kind"]].append(row)
    work = [*found["task"], *found["subtask"]]
    return Known(
        [row["id"] for row in found["snapshot"]],
        [_wave(row) for row in found["wave"]],
        [*map(_task, found["task"][:MOST]), *map(_subtask, found["subtask"][:MOST])],
        max(len(found["task"]), len(found["subtask"])) > MOST
        or any(len(row["name"]) > LONGEST for row in work),
    )


def said(ledger: Ledger, snapshots: list[str]) -> dict[str, Any]:
    """What these snapshots say: of every field the first value that says anything, so that a thin
    snapshot hides no rich one.
    """
    if not snapshots:
        return {}
    names = {f"s{number}": ident for number, ident in enumerate(snapshots)}
    listed = ", ".join(f":{name}" for name in names)
    bodies = {
        row["id"]: row["role_context"]
        for row in ledger.database.run(
            f"SELECT id, role_context FROM agent_contexts WHERE id IN ({listed})", names
        )[0]
    }
    said: dict[str, Any] = {}
    # One may have gone since it was named.
    for body in filter(None, map(bodies.get, snapshots)):
        for name, value in quick_json.loads(body).items():
            if name not in said and says_anything(value):
                said[name] = value
    return said


def _wave(row: Row) -> str:
    return f"- Wave {row['name']}: {row['status']} ({row['who']} of {row['more']} tasks)"


def _task(row: Row) -> str:
    return f"- {_short(row['name'])} ({row['status']})"


def _subtask(row: Row) -> str:
    waits = ""
    if row["status"] == "blocked":
        waits = f", waits for {len(quick_json.loads(row['more']))}"
    return f"- {row['who'] or 'agent'}: {_short(row['name'])} ({row['status']}{waits})"


def _short(words: str) -> str:
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
