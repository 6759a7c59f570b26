"""Contexts of agents, and the snapshots that API callers save before a compaction.

A snapshot is stored as a context with the agent type `compact-snapshot`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast import fast_json
from holdfast.ledger.schema import CONTEXTS, make_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ledger.repository import Ledger, Row

SNAPSHOT_AGENT_TYPE = "compact-snapshot"
EMPTY_VALUES: tuple[Any, ...] = (None, "", [], {})
# Lists in a snapshot that only grow, and the list that becomes empty when all work is done.
ACCUMULATING_FIELDS = ("key_decisions", "decisions", "modified_files")
OPEN_WORK_FIELD = "active_tasks"
SNAPSHOT_METADATA_FIELDS = ("session_id", "trigger", "timestamp", "project_id", "cwd")


def save_snapshot(
    ledger: Ledger,
    session: str,
    project: str,
    body: dict[str, Any],
    now: float,
    dumps: Callable[[Any], str] = fast_json.dumps,
) -> Row:
    """Save a caller's snapshot. Saving the same content again makes the existing row the newest."""
    row, _ = build_snapshot(session, project, body, now, dumps)
    if known := ledger.get(CONTEXTS, row["id"]):
        row = {**known, "updated_at": max(now, known["updated_at"])}
    return ledger.write(CONTEXTS, row)


def build_snapshot(
    session: str,
    project: str,
    body: dict[str, Any],
    now: float,
    dumps: Callable[[Any], str] = fast_json.dumps,
) -> tuple[Row, str]:
    """Return the row of a snapshot, whose id is a hash of its content, and the content as JSON."""
    body = dict(sorted(_remove_snapshots(body).items()))
    text = dumps(body)
    return {
        "id": make_id("snapshot", session, text), "project": project, "session": session,
        "agent_id": session, "agent_type": SNAPSHOT_AGENT_TYPE, "role_context": body,
        "skills_to_restore": [], "tools_used": [],
        "progress_summary": _to_text(body.get("context_summary")),
        "created_at": now, "updated_at": now,
    }, text  # fmt: skip


def _remove_snapshots(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body without earlier snapshots in its list of agents. The API lists snapshots
    with the contexts of agents; if a caller saved them again, each snapshot would contain all
    earlier ones.
    """
    states = body.get("agent_states")
    contexts = states.get("contexts") if isinstance(states, dict) else states
    if not isinstance(contexts, list) or not any(map(is_snapshot, contexts)):
        return body
    kept = [context for context in contexts if not is_snapshot(context)]
    return {
        **body,
        "agent_states": {**states, "contexts": kept} if isinstance(states, dict) else kept,
    }


def is_snapshot(context: Any) -> bool:
    return isinstance(context, dict) and context.get("agent_type") == SNAPSHOT_AGENT_TYPE


def save_context(
    ledger: Ledger,
    now: float,
    *,
    agent_id: str,
    agent_type: str,
    session: str = "",
    project: str = "",
    role_context: dict[str, Any] | None = None,
    skills_to_restore: list[str] | None = None,
    tools_used: list[str] | None = None,
    progress_summary: str = "",
) -> Row:
    """Save the context of an agent in a session; it replaces the previous one."""
    row: Row = {
        "id": make_id("context", session, agent_id, agent_type), "project": project,
        "session": session, "agent_id": agent_id, "agent_type": agent_type,
        "role_context": role_context or {}, "skills_to_restore": skills_to_restore or [],
        "tools_used": tools_used or [], "progress_summary": progress_summary, "created_at": now,
        "updated_at": now,
    }  # fmt: skip
    return ledger.write(CONTEXTS, row)


def build_partial_index_condition(agent_type: str | None, project: str | None) -> str:
    """Return a condition that follows from this agent type and project. It repeats the condition of
    a partial index, without which a database does not use that index.
    """
    of_type = (
        f"agent_type <> '{SNAPSHOT_AGENT_TYPE}'"
        if agent_type not in (None, SNAPSHOT_AGENT_TYPE)
        else ""
    )
    of_project = "project <> ''" if project else ""
    return " AND ".join(filter(None, (of_type, of_project)))


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def has_content(value: Any) -> bool:
    """Return whether a field of a snapshot has a value; `false` and 0 are values."""
    return value not in EMPTY_VALUES
