"""What agents know, and the snapshots that callers save before a compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast import quick_json
from holdfast.ledger import ids
from holdfast.ledger.tables import CONTEXTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ledger.ledger import Ledger, Row

SNAPSHOT = "compact-snapshot"
_NOTHING: tuple[Any, ...] = (None, "", [], {})
# Lists that callers only add to, and the one that is empty when all is done.
GROWING = ("key_decisions", "decisions", "modified_files")
OPEN_WORK = "active_tasks"
_ABOUT = ("session_id", "trigger", "timestamp", "project_id", "cwd")


def save_snapshot(
    ledger: Ledger,
    session: str,
    project: str,
    body: dict[str, Any],
    now: float,
    dumps: Callable[[Any], str] = quick_json.dumps,
) -> Row:
    """Keep a caller's snapshot; the same one again is the one that is there, and the newest."""
    fresh, _ = snapshot(session, project, body, now, dumps)
    known = ledger.get(CONTEXTS, fresh["id"])
    later = {**known, "updated_at": max(now, known["updated_at"])} if known else fresh
    return ledger.write(CONTEXTS, later)


def snapshot(
    session: str,
    project: str,
    body: dict[str, Any],
    now: float,
    dumps: Callable[[Any], str] = quick_json.dumps,
) -> tuple[Row, str]:
    """The row of a snapshot, named by what it says, and its body as JSON, which `dumps` makes."""
    body = dict(sorted(_without_snapshots(body).items()))
    text = dumps(body)
    return {
        "id": ids.ident("snapshot", session, text), "project": project, "session": session,
        "agent_id": session, "agent_type": SNAPSHOT, "role_context": body, "skills_to_restore": [],
        "tools_used": [], "progress_summary": _text(body.get("context_summary")),
        "created_at": now, "updated_at": now,
    }, text  # fmt: skip


def _without_snapshots(body: dict[str, Any]) -> dict[str, Any]:
    """A list of agents as this ledger gives it has snapshots too: each would hold all before it."""
    states = body.get("agent_states")
    listed = states.get("contexts") if isinstance(states, dict) else states
    if not isinstance(listed, list) or not any(map(is_snapshot, listed)):
        return body
    kept = [one for one in listed if not is_snapshot(one)]
    return {
        **body,
        "agent_states": {**states, "contexts": kept} if isinstance(states, dict) else kept,
    }


def is_snapshot(one: Any) -> bool:
    return isinstance(one, dict) and one.get("agent_type") == SNAPSHOT


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
    """What this agent of this session knows now; it has one context, which moves on."""
    row: Row = {
        "id": ids.ident("context", session, agent_id, agent_type), "project": project,
        "session": session, "agent_id": agent_id, "agent_type": agent_type,
        "role_context": role_context or {}, "skills_to_restore": skills_to_restore or [],
        "tools_used": tools_used or [], "progress_summary": progress_summary, "created_at": now,
        "updated_at": now,
    }  # fmt: skip
    return ledger.write(CONTEXTS, row)


def few(agent_type: str | None, project: str | None) -> str:
    """What follows from the type and the project that are asked for, said once more: without it a
    database cannot know that its index of those few is enough.
    """
    of_type = f"agent_type <> '{SNAPSHOT}'" if agent_type not in (None, SNAPSHOT) else ""
    of_project = "project <> ''" if project else ""
    return " AND ".join(filter(None, (of_type, of_project)))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def is_rich(body: dict[str, Any]) -> bool:
    """Whether a snapshot says more than that there is one."""
    return any(says_anything(value) for name, value in body.items() if name not in _ABOUT)


def says_anything(value: Any) -> bool:
    """Whether a field of a snapshot was saved for a reason: `false` and 0 were."""
    return value not in _NOTHING
