"""The brief of a session for API callers: from its log, saved snapshots and the ledger."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.brief import roles
from holdfast.brief.render import build_brief
from holdfast.brief.shared import ledger_lines, message_lines, render_shared_brief, role_or_default
from holdfast.hosts import claude_code
from holdfast.ledger import messages
from holdfast.ledger.contexts import (
    ACCUMULATING_FIELDS,
    EMPTY_VALUES,
    OPEN_WORK_FIELD,
    SNAPSHOT_AGENT_TYPE,
    SNAPSHOT_METADATA_FIELDS,
)
from holdfast.ledger.messages import SESSION_PROJECTS
from holdfast.ledger.schema import (
    ACTIONS,
    BLOCKINGS,
    CONTEXTS,
    FINISHED_STATUSES,
    REQUESTS,
    SUBTASKS,
    TASKS,
    WAVES,
)
from holdfast.services.compaction.handoffs import with_handoffs
from holdfast.state.completeness import count_items
from holdfast.tokens.estimate import estimate_tokens, utf16_units

if TYPE_CHECKING:
    from holdfast.ledger.repository import Ledger, Row
    from holdfast.state.types import State
    from holdfast.store.protocols import Store

# If a session has both a log and rows in the ledger, the part from the log gets at least this
# share of the tokens, and whatever the other part leaves unused.
MIN_LOG_SHARE = 0.7
MAX_MESSAGES = 100
# The line break between both parts takes one token and one character.
SEPARATOR_SIZE = 1
# Fields that the newest snapshot lacks are taken from older ones, up to this many snapshots.
MAX_SNAPSHOTS = 20
# Each of these is more than fits into a brief.
MAX_ROWS, MAX_TEXT_CHARS, MAX_ROLE_CONTEXT_CHARS = 200, 1000, 4000
MAX_RECENT_ROWS = 10
# Table names in braces are replaced by the condition that limits rows to the ledger's project.
_OVERVIEW = f"""\
SELECT * FROM (
    SELECT 'snapshot' AS kind, id, '' AS name, '' AS status, '' AS who, '' AS more,
        updated_at AS at
    FROM agent_contexts
    WHERE agent_id = :session AND agent_type = '{SNAPSHOT_AGENT_TYPE}' AND {{{CONTEXTS.name}}}
    ORDER BY updated_at DESC, id DESC LIMIT {MAX_SNAPSHOTS}
) AS snapshots
UNION ALL SELECT * FROM (
    SELECT 'task', id, substr(name, 1, {MAX_TEXT_CHARS + 1}), status, '', '', created_at FROM tasks
    WHERE session = :session AND status NOT IN {FINISHED_STATUSES} AND {{{TASKS.name}}}
    ORDER BY created_at DESC, id DESC LIMIT {MAX_ROWS + 1}
) AS open_tasks
UNION ALL SELECT * FROM (
    SELECT 'subtask', id, substr(description, 1, {MAX_TEXT_CHARS + 1}), status,
        CASE WHEN agent_type <> '' THEN agent_type ELSE agent_id END, blocked_by, created_at
    FROM subtasks
    WHERE session = :session AND status NOT IN {FINISHED_STATUSES} AND {{{SUBTASKS.name}}}
    ORDER BY created_at DESC, id DESC LIMIT {MAX_ROWS + 1}
) AS open_subtasks
UNION ALL SELECT * FROM (
    SELECT 'request', id, substr(prompt, 1, {MAX_TEXT_CHARS + 1}), status, '', '', created_at
    FROM requests WHERE session = :session AND {{{REQUESTS.name}}}
    ORDER BY created_at DESC, id DESC LIMIT 1
) AS latest_request
UNION ALL SELECT * FROM (
    SELECT 'agent', id, agent_id, substr(progress_summary, 1, {MAX_TEXT_CHARS + 1}), agent_type,
        CASE WHEN length(role_context) <= {MAX_ROLE_CONTEXT_CHARS} THEN role_context
            ELSE '{{{{}}}}' END,
        updated_at
    FROM agent_contexts
    WHERE session = :session AND agent_type <> '{SNAPSHOT_AGENT_TYPE}' AND {{{CONTEXTS.name}}}
    ORDER BY updated_at DESC, id DESC LIMIT {MAX_RECENT_ROWS}
) AS session_agents
UNION ALL SELECT * FROM (
    SELECT 'action', id, tool_name, '', '', file_paths, created_at FROM actions
    WHERE session = :session AND {{{ACTIONS.name}}}
    ORDER BY created_at DESC, id DESC LIMIT {MAX_RECENT_ROWS}
) AS last_actions
UNION ALL SELECT * FROM (
    SELECT 'blocking', id, blocked_id, reason, blocker_id, '', updated_at FROM blockings
    WHERE blocked_id IN (
        SELECT :session UNION ALL SELECT :agent
        UNION ALL SELECT agent_id FROM agents WHERE session = :session
    ) AND (project = '' OR project IN ({SESSION_PROJECTS}) OR NOT EXISTS ({SESSION_PROJECTS}))
    AND {{{BLOCKINGS.name}}}
    ORDER BY updated_at DESC, id DESC LIMIT {MAX_RECENT_ROWS}
) AS waiting_agents
UNION ALL SELECT 'wave', id, CAST(wave_number AS TEXT), status, CAST(completed_tasks AS TEXT),
    CAST(total_tasks AS TEXT), -wave_number
FROM waves WHERE session = :session AND {{{WAVES.name}}}
ORDER BY kind, at DESC, id DESC
"""
_TABLES = (CONTEXTS, TASKS, SUBTASKS, WAVES, REQUESTS, ACTIONS, BLOCKINGS)


class RestoreRequest(NamedTuple):
    """The session and the agent to restore, and how long the brief may be."""

    session: str
    agent_id: str = ""
    agent_type: str = ""
    tokens: int = 2000

    @property
    def agent(self) -> str:
        return self.agent_type or self.agent_id


def build_shared_brief(store: Store, ledger: Ledger, request: RestoreRequest, now: float) -> str:
    """Return the brief for an agent of this session, within the request's tokens.

    Empty if neither the store nor the ledger knows the session.
    """
    overview = load_overview(ledger, request.session, request.agent_id)
    snapshots = merge_snapshots(ledger, overview.snapshots)
    unread = _unread_lines(ledger, request, now)
    state = _find_state(store, request.session)
    lines = {
        "waves": overview.waves, "subtasks": overview.open_work, "agents": overview.waits,
        "messages": unread[:MAX_MESSAGES],
    }  # fmt: skip
    # With a log these lines are left out: the ledger has them from the log, which has more.
    if state is None:
        agents, actions = map(_to_agent, overview.agents), map(_to_action, overview.actions)
        from_ledger = ledger_lines(overview.request, [*agents], [*actions])
        lines |= {**from_ledger, "agents": [*overview.waits, *from_ledger["agents"]]}
    render_shared = partial(
        render_shared_brief, snapshots, lines, role=role_or_default(request.agent),
        has_ledger_work=bool(overview.request),
        is_partial=overview.is_partial or len(unread) > MAX_MESSAGES,
    )  # fmt: skip
    shared_part = render_shared(tokens=request.tokens, characters=claude_code.MAX_BRIEF_UNITS)
    if state is None:
        return shared_part
    tokens = request.tokens
    if shared_part:
        left = tokens - estimate_tokens(shared_part) - SEPARATOR_SIZE
        tokens = max(left, int(tokens * MIN_LOG_SHARE))
    log_part = _render_log(store, request, state, tokens)
    if not log_part:
        return shared_part
    shared_part = render_shared(
        tokens=request.tokens - estimate_tokens(log_part) - SEPARATOR_SIZE,
        characters=claude_code.MAX_BRIEF_UNITS - utf16_units(log_part) - SEPARATOR_SIZE,
        has_title=False,
    )
    return "\n".join(filter(None, (log_part, shared_part)))


def _render_log(store: Store, request: RestoreRequest, state: State, tokens: int) -> str:
    """Return the part of the brief that comes from the session's log."""
    return build_brief(
        with_handoffs(store, request.session, state),
        tokens=tokens,
        characters=claude_code.MAX_BRIEF_UNITS,
        template=roles.find_template(roles.find_role(request.agent)),
        session=request.session,
    ).text


def _find_state(store: Store, session: str) -> State | None:
    """Return the session's state or the richest snapshot, whichever covers more of the log.

    None if there is neither, or if it is empty.
    """
    row = store.session(session)
    snapshot = store.richest_snapshot(session)
    states = [record["state"] for record in (row, snapshot) if record is not None]
    best = max(states, key=lambda state: state["lines"], default=None)
    return best if best is not None and count_items(best) else None


def _unread_lines(ledger: Ledger, request: RestoreRequest, now: float) -> list[str]:
    """Return a line for each unread message of the agent, at most one more than is shown."""
    if not request.agent_id:
        return []
    limit = MAX_MESSAGES + 1
    return message_lines(
        messages.list_inbox(ledger, request.agent_id, now, limit, session=request.session)
    )


class SessionOverview(NamedTuple):
    """What the ledger has about a session, limited to what a brief can show."""

    snapshots: list[str]
    """Ids of saved snapshots, the newest first."""
    waves: list[str]
    open_work: list[str]
    is_partial: bool
    """Whether rows were left out or texts were truncated."""
    request: str
    """The latest request; empty if the ledger has no work of this session."""
    agents: list[tuple[str, ...]]
    """Columns as stored; their JSON is decoded only if they are shown."""
    actions: list[tuple[str, str]]
    waits: list[str]
    """Lines that say which agent waits for which other."""


def load_overview(ledger: Ledger, session: str, agent: str = "") -> SessionOverview:
    """Read everything in one statement, because each one is a round trip on PostgreSQL."""
    conditions = {table.name: ledger.build_scope_condition(table) for table in _TABLES}
    parameters = {"session": session, "agent": agent, **ledger.scope_values}
    kinds = "snapshot", "task", "subtask", "wave", "request", "agent", "action", "blocking"
    rows: dict[str, list[Row]] = {kind: [] for kind in kinds}
    for row in ledger.database.run(_OVERVIEW.format_map(conditions), parameters)[0]:
        rows[row["kind"]].append(row)
    work = [*rows["task"], *rows["subtask"]]
    return SessionOverview(
        [row["id"] for row in rows["snapshot"]],
        [_wave_line(row) for row in rows["wave"]],
        [
            *map(_task_line, rows["task"][:MAX_ROWS]),
            *map(_subtask_line, rows["subtask"][:MAX_ROWS]),
        ],
        max(len(rows["task"]), len(rows["subtask"])) > MAX_ROWS
        or any(len(row["name"]) > MAX_TEXT_CHARS for row in work),
        next((_shorten(row["name"]) for row in rows["request"]), ""),
        [(row["name"], row["who"], row["status"], row["more"]) for row in rows["agent"]],
        [(row["name"], row["more"]) for row in rows["action"]],
        [_wait_line(row) for row in rows["blocking"]],
    )


def merge_snapshots(ledger: Ledger, snapshots: list[str]) -> dict[str, Any]:
    """Return the fields of these snapshots, given newest first.

    Each field has its newest value that is not empty, so that a thin snapshot does not hide a
    rich one. Lists that only grow are merged.
    """
    if not snapshots:
        return {}
    names = {f"s{number}": ident for number, ident in enumerate(snapshots)}
    placeholders = ", ".join(f":{name}" for name in names)
    rows, _ = ledger.database.run(
        f"SELECT id, role_context FROM agent_contexts WHERE id IN ({placeholders})", names
    )
    bodies = {row["id"]: row["role_context"] for row in rows}
    merged: dict[str, Any] = {}
    # A snapshot may have been deleted since its id was read.
    for body in filter(None, map(bodies.get, snapshots)):
        fields = json.loads(body)
        for name, value in fields.items():
            if name not in merged:
                # An empty list of open work in a rich snapshot means that all of it is done.
                if value not in EMPTY_VALUES or (name == OPEN_WORK_FIELD and _is_rich(fields)):
                    merged[name] = value
            elif name in ACCUMULATING_FIELDS and value != merged[name]:
                merged[name] = _add_missing(merged[name], value)
    return merged


def _is_rich(body: dict[str, Any]) -> bool:
    """Whether a snapshot has any value beside those that describe the snapshot itself."""
    return any(
        value not in EMPTY_VALUES
        for name, value in body.items()
        if name not in SNAPSHOT_METADATA_FIELDS
    )


def _add_missing(newer: Any, older: Any) -> Any:
    """Return the newer list, preceded by the elements that only the older one has."""
    if not (isinstance(newer, list) and isinstance(older, list)):
        return newer
    known = set(map(json.dumps, newer))
    return [*(item for item in older if json.dumps(item) not in known), *newer]


def _to_agent(stored: tuple[str, ...]) -> Row:
    name, kind, summary, context = stored
    fields = {"agent_id": name, "agent_type": kind, "progress_summary": summary}
    return {**fields, "role_context": json.loads(context)}


def _to_action(stored: tuple[str, str]) -> Row:
    return {"tool_name": stored[0], "file_paths": json.loads(stored[1])}


def _wave_line(row: Row) -> str:
    return f"- Wave {row['name']}: {row['status']} ({row['who']} of {row['more']} tasks)"


def _wait_line(row: Row) -> str:
    reason = f": {row['status']}" if row["status"] else ""
    return f"- {row['name']} waits for {row['who']}{reason}"


def _task_line(row: Row) -> str:
    return f"- {_shorten(row['name'])} ({row['status']})"


def _subtask_line(row: Row) -> str:
    waits = ""
    if row["status"] == "blocked":
        waits = f", waits for {len(json.loads(row['more']))}"
    return f"- {row['who'] or 'agent'}: {_shorten(row['name'])} ({row['status']}{waits})"


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]}…"
