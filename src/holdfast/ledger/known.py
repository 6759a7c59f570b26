"""What the ledger knows of a session, in one statement: which snapshots, and what is open.

A restore asks for all of this, and on PostgreSQL every statement is a way over the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast import quick_json
from holdfast.ledger.contexts import GROWING, OPEN_WORK, SNAPSHOT, is_rich, says_anything
from holdfast.ledger.ledger import EVERYTHING
from holdfast.ledger.messages import BY_SESSION
from holdfast.ledger.standing import DONE
from holdfast.ledger.tables import ACTIONS, BLOCKINGS, CONTEXTS, REQUESTS, SUBTASKS, TASKS, WAVES
from holdfast.store.questions import Question

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.store.questions import Rows

# How many snapshots of a session are looked at for what the newest of them does not say.
LOOKED_AT = 20
# More than there is room for, of each kind and of each one's words.
MOST, LONGEST = 200, 1000
FEW = 10
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
UNION ALL SELECT * FROM (
    SELECT 'request', id, substr(prompt, 1, {LONGEST + 1}), status, '', '', created_at
    FROM requests WHERE session = :session AND {{{REQUESTS.name}}}
    ORDER BY created_at DESC, id DESC LIMIT 1
) AS latest
UNION ALL SELECT * FROM (
    SELECT 'agent', id, agent_id, substr(progress_summary, 1, {LONGEST + 1}), agent_type,
        CASE WHEN length(role_context) <= {4 * LONGEST} THEN role_context ELSE '{{{{}}}}' END,
        updated_at
    FROM agent_contexts
    WHERE session = :session AND agent_type <> '{SNAPSHOT}' AND {{{CONTEXTS.name}}}
    ORDER BY updated_at DESC, id DESC LIMIT {FEW}
) AS agents_of_it
UNION ALL SELECT * FROM (
    SELECT 'action', id, tool_name, '', '', file_paths, created_at FROM actions
    WHERE session = :session AND {{{ACTIONS.name}}}
    ORDER BY created_at DESC, id DESC LIMIT {FEW}
) AS last_actions
UNION ALL SELECT * FROM (
    SELECT 'blocking', id, blocked_id, reason, blocker_id, '', updated_at FROM blockings
    WHERE blocked_id IN (
        SELECT :session UNION ALL SELECT :agent
        UNION ALL SELECT agent_id FROM agents WHERE session = :session
    ) AND (project = '' OR project IN ({BY_SESSION}) OR NOT EXISTS ({BY_SESSION}))
    AND {{{BLOCKINGS.name}}}
    ORDER BY updated_at DESC, id DESC LIMIT {FEW}
) AS who_waits
UNION ALL SELECT 'wave', id, CAST(wave_number AS TEXT), status, CAST(completed_tasks AS TEXT),
    CAST(total_tasks AS TEXT), -wave_number
FROM waves WHERE session = :session AND {{{WAVES.name}}}
ORDER BY kind, at DESC, id DESC
"""
_TABLES = (CONTEXTS, TASKS, SUBTASKS, WAVES, REQUESTS, ACTIONS, BLOCKINGS)
_WHOLE = _STATEMENT.format_map({table.name: EVERYTHING for table in _TABLES})


class Known(NamedTuple):
    """Two that are equal say the same."""

    snapshots: list[str]
    """Their ids, the newest first: what one says never changes."""
    waves: list[str]
    open_work: list[str]
    is_part: bool
    """Whether there is more than this."""
    request: str
    """What was asked for last; nothing if the ledger has no work of this session."""
    agents: list[tuple[str, ...]]
    """As they are stored: to be read if somebody is told of them."""
    actions: list[tuple[str, str]]
    waits: list[str]
    """Who waits for whom."""


def known(ledger: Ledger, session: str, agent: str = "") -> Known:
    """What there is of this session, by its exact id, and for whom that agent of it waits."""
    shown = {table.name: ledger.shown(table) for table in _TABLES}
    given = {"session": session, "agent": agent, **ledger.held}
    return told(ledger.database.run(_STATEMENT.format_map(shown), given)[0])


def question(session: str, agent: str) -> Question:
    """The same for whoever may see everything."""
    return Question(_WHOLE, {"session": session, "agent": agent})


def told(rows: Rows) -> Known:
    kinds = "snapshot", "task", "subtask", "wave", "request", "agent", "action", "blocking"
    found: dict[str, Rows] = {kind: [] for kind in kinds}
    for row in rows:
        found[row["kind"]].append(row)
    work = [*found["task"], *found["subtask"]]
    return Known(
        [row["id"] for row in found["snapshot"]],
        [_wave(row) for row in found["wave"]],
        [*map(_task, found["task"][:MOST]), *map(_subtask, found["subtask"][:MOST])],
        max(len(found["task"]), len(found["subtask"])) > MOST
        or any(len(row["name"]) > LONGEST for row in work),
        next((_short(row["name"]) for row in found["request"]), ""),
        [(row["name"], row["who"], row["status"], row["more"]) for row in found["agent"]],
        [(row["name"], row["more"]) for row in found["action"]],
        [_wait(row) for row in found["blocking"]],
    )


def said(ledger: Ledger, snapshots: list[str]) -> dict[str, Any]:
    """What these snapshots say: of every field the first value that says anything, so that a thin
    snapshot hides no rich one, and of what grows all that was ever in it.
    """
    if not snapshots:
        return {}
    asked = question_for(snapshots)
    return said_in(ledger.database.run(asked.statement, asked.values)[0], snapshots)


def question_for(snapshots: list[str]) -> Question:
    """Everything that at least one snapshot says."""
    names = {f"s{number}": ident for number, ident in enumerate(snapshots)}
    listed = ", ".join(f":{name}" for name in names)
    return Question(f"SELECT id, role_context FROM agent_contexts WHERE id IN ({listed})", names)


def said_in(rows: Rows, snapshots: list[str]) -> dict[str, Any]:
    bodies = {row["id"]: row["role_context"] for row in rows}
    said: dict[str, Any] = {}
    # One may have gone since it was named.
    for body in filter(None, map(bodies.get, snapshots)):
        told = quick_json.loads(body)
        for name, value in told.items():
            if name not in said:
                if says_anything(value) or (name == OPEN_WORK and is_rich(told)):
                    said[name] = value
            elif name in GROWING and value != said[name]:
                said[name] = _longer(said[name], value)
    return said


def _longer(newer: Any, older: Any) -> Any:
    """What an earlier snapshot had in a list that grows at its end, and a later one does not."""
    if not (isinstance(newer, list) and isinstance(older, list)):
        return newer
    known = set(map(quick_json.dumps, newer))
    return [*(one for one in older if quick_json.dumps(one) not in known), *newer]


def agent(stored: tuple[str, ...]) -> Row:
    name, kind, summary, context = stored
    told = {"agent_id": name, "agent_type": kind, "progress_summary": summary}
    return {**told, "role_context": quick_json.loads(context)}


def action(stored: tuple[str, str]) -> Row:
    return {"tool_name": stored[0], "file_paths": quick_json.loads(stored[1])}


def _wave(row: Row) -> str:
    return f"- Wave {row['name']}: {row['status']} ({row['who']} of {row['more']} tasks)"


def _wait(row: Row) -> str:
    reason = f": {row['status']}" if row["status"] else ""
    return f"- {row['name']} waits for {row['who']}{reason}"


def _task(row: Row) -> str:
    return f"- {_short(row['name'])} ({row['status']})"


def _subtask(row: Row) -> str:
    waits = ""
    if row["status"] == "blocked":
        waits = f", waits for {len(quick_json.loads(row['more']))}"
    return f"- {row['who'] or 'agent'}: {_short(row['name'])} ({row['status']}{waits})"


def _short(words: str) -> str:
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
