"""Derive the work in a session from its state: a prompt is a request, a plan item a task, a
sub-agent a subtask. Pure: nothing is read from the ledger.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from holdfast.ledger.schema import NO_WAVE, make_fingerprint
from holdfast.state.types import PlanItem, State

UNPLANNED_TASK_NAME = "Work outside the plan"
# The status in the ledger for each status word of a host that differs from it.
STATUS_BY_HOST_WORD = {
    "in_progress": "running",
    "async_launched": "running",
    "stopped": "cancelled",
    "killed": "cancelled",
    "error": "failed",
}
STATUSES = ("pending", "running", "paused", "blocked", "completed", "failed", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """A request, task or subtask that the fold found in a transcript."""

    source: str
    """Identifies the same work when the transcript is folded again."""
    parent: str
    """The source of the parent."""
    text: str
    status: str
    at: str = ""
    wave: int = NO_WAVE
    agent_type: str = ""
    agent_id: str = ""
    result: str = ""


def find_requests(session: str, state: State, *, ended: bool) -> list[WorkItem]:
    """Return the requests in the state; only the last one of an open session is active."""
    last = len(state["requests"]) - 1
    return [
        WorkItem(
            source=make_request_source(session, request["line"]), parent="", text=request["text"],
            status="completed" if ended or number < last else "active", at=request["at"],
        )
        for number, request in enumerate(state["requests"])
    ]  # fmt: skip


def find_tasks(session: str, state: State) -> list[WorkItem]:
    """Return the plan items, each under the request that was current when it was written (at the
    transcript line `source_line`).
    """
    return [
        WorkItem(
            source=f"{session}:plan:{make_fingerprint(item['id'].partition('@')[0], item['text'])}",
            parent=_find_current_request(session, state, item["source_line"]), text=item["text"],
            status=_to_status(item["status"]), wave=_find_wave(item),
        )
        for item in state["plan"]
        if state["requests"]
    ]  # fmt: skip


def find_subtasks(session: str, state: State, known: Collection[str]) -> list[WorkItem]:
    """Return the sub-agents. A running one belongs to the plan item that is running, if there is
    exactly one; the others belong to the task for unplanned work.

    `known` contains the sources of the tasks that are in the ledger.
    """
    if not state["requests"]:
        return []
    running = [
        task
        for task in find_tasks(session, state)
        if task.status == "running" and task.source in known
    ]
    return [
        WorkItem(
            source=make_agent_source(session, agent["call"]),
            parent=running[0].source
            if len(running) == 1 and agent["status"] == "running"
            else make_unplanned_source(
                _find_current_request(session, state, agent.get("source_line", agent["line"]))
            ),
            text=agent["task"], status=_to_status(agent["status"]), agent_type=agent["type"],
            agent_id=agent["id"], result=agent["result"],
        )
        for agent in state["agents"]
    ]  # fmt: skip


def make_request_source(session: str, line: int) -> str:
    return f"{session}:L{line}"


def make_agent_source(session: str, call: str) -> str:
    return f"{session}:agent:{call}"


def make_unplanned_source(request: str) -> str:
    return f"{request}:unplanned"


def _find_current_request(session: str, state: State, line: int) -> str:
    """Return the source of the latest request up to this line, else of the first."""
    lines = [request["line"] for request in state["requests"]]
    return make_request_source(
        session, max((other for other in lines if other <= line), default=lines[0])
    )


def _find_wave(item: PlanItem) -> int:
    """Return the wave of a plan item. In the state, 0 means both wave 0 and no wave: it is wave 0
    only if the item's text says so.
    """
    is_wave_zero = f" {item['text'].lower()}".partition(" wave ")[2].split(":")[0].strip() == "0"
    return item["wave"] or (0 if is_wave_zero else NO_WAVE)


def _to_status(word: str) -> str:
    status = STATUS_BY_HOST_WORD.get(word, word)
    return status if status in STATUSES else "pending"
