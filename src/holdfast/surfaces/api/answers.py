"""Rows as callers see them: times in ISO 8601, links by `…_id`, nothing that is ours alone."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from holdfast.ledger import agents
from holdfast.ledger.waves import NO_WAVE

if TYPE_CHECKING:
    from holdfast.store.base import ListedSnapshot

Answer = dict[str, Any]

TIMES = frozenset({
    "created_at", "updated_at", "completed_at", "started_at", "expires_at", "ended_at", "seen_at",
    "compacted_at", "revoked_at", "opened_at", "brief_at",
})  # fmt: skip
LINKS = {
    "project": "project_id",
    "session": "session_id",
    "request": "request_id",
    "task": "task_id",
    "subtask": "subtask_id",
}
OURS = frozenset({"source", "likeness", "posted", "folded", "retry", "retry_words", "hash"})


def stamp(then: float | None) -> str | None:
    if then is None:
        return None
    second, micro = divmod(round(then * 1_000_000), 1_000_000)
    return f"{_second(second)}.{micro // 1000:03d}Z"


# Many rows are of the same second.
@lru_cache(maxsize=1024)
def _second(then: int) -> str:
    return datetime.fromtimestamp(then, UTC).isoformat().removesuffix("+00:00")


def answer(row: dict[str, Any]) -> Answer:
    """Any row of the ledger."""
    told: Answer = {}
    for name, value in row.items():
        if name in OURS:
            continue
        if name in TIMES:
            value = stamp(value)
        elif name in LINKS:
            # What is not known is null, as callers of databases expect.
            value = value or None
        told[LINKS.get(name, name)] = value
    if row.get("wave_number") == NO_WAVE:
        told["wave_number"] = None
    return told


def subtask(row: dict[str, Any]) -> Answer:
    return {**answer(row), "task_list_id": row["task"], "agent_id": row["agent_id"] or None}


def tree(found: dict[str, Any]) -> Answer:
    """The hierarchy with everything in the callers' words."""
    return {
        "project": answer(found["project"]),
        "requests": [
            {
                **answer({**request, "tasks": None}),
                "tasks": [
                    {
                        **answer({**task, "subtasks": None}),
                        "subtasks": [subtask(one) for one in task["subtasks"]],
                    }
                    for task in request["tasks"]
                ],
            }
            for request in found["requests"]
        ],
    }


def context(row: dict[str, Any]) -> Answer:
    told = answer(row)
    told["last_updated"] = told.pop("updated_at")
    return told


def message(row: dict[str, Any], read_by: list[str] | None = None) -> Answer:
    told = {**answer(row), "to_agent_id": row["to_agent_id"] or None}
    return told if read_by is None else {**told, "read_by": read_by}


def agent(row: dict[str, Any], now: float) -> Answer:
    told = answer(row)
    del told["rate"]
    told |= {
        "current_usage": told.pop("used"),
        "max_capacity": told.pop("capacity"),
        "compact_count": told.pop("compactions"),
        "last_compact_at": told.pop("compacted_at"),
        "parent_agent_id": told.pop("parent") or None,
    }
    return {**told, **agents.capacity(row, now)}


def session(row: dict[str, Any]) -> Answer:
    """A session without its state, which has a page of its own."""
    state = row["state"]
    return {
        "id": row["id"],
        "host": row["host"],
        "project_path": row["project"],
        "started_at": stamp(row["started_at"]),
        "seen_at": stamp(row["seen_at"]),
        "ended_at": stamp(row["ended_at"]),
        "context_tokens": state["usage"]["context"],
        "context_window": state["usage"]["window"],
        "total_tools_used": state["usage"]["tool_calls"],
        "compactions": len(state["compactions"]),
    }


def snapshot(row: ListedSnapshot, project: str) -> Answer:
    """A snapshot of the store as a context of type `compact-snapshot`."""
    state = row["state"]
    latest = state["requests"][-1]["text"] if state["requests"] else ""
    edited = [path for path, trail in state["files"].items() if trail.get("edits")]
    return {
        "id": row["id"],
        "project_id": project or None,
        "session_id": row["session"],
        "agent_id": row["session"],
        "agent_type": "compact-snapshot",
        "role_context": {
            "session_id": row["session"],
            "trigger": row["reason"],
            "context_summary": latest,
            "active_tasks": [
                {"description": item["text"], "status": item["status"]}
                for item in state["plan"]
                if item["status"] != "completed"
            ],
            "modified_files": edited[-20:],
            "key_decisions": [one["text"] for one in state["decisions"]],
            "agent_states": [
                {"agent_id": one["id"], "agent_type": one["type"], "status": one["status"]}
                for one in state["agents"]
            ],
            "context_tokens": row["context"],
            "line": row["line"],
        },
        "skills_to_restore": [one["name"] for one in state["commands"]],
        "tools_used": [],
        "progress_summary": latest,
        "created_at": stamp(row["created_at"]),
        "last_updated": stamp(row["created_at"]),
    }
