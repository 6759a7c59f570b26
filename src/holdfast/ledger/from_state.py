"""The hierarchy that a session's state tells of: prompt → request, plan item → task, sub-agent →
subtask. Pure: what is there already is the caller's to know.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from holdfast.ledger import ids
from holdfast.ledger.waves import NO_WAVE
from holdfast.state.model import PlanItem, State

UNPLANNED = "Work outside the plan"
# The host's words for where something stands, and ours.
STATUS = {
    "in_progress": "running",
    "async_launched": "running",
    "stopped": "cancelled",
    "killed": "cancelled",
    "error": "failed",
}
OURS = ("pending", "running", "paused", "blocked", "completed", "failed", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Something that the fold knows, with the name by which it is known again."""

    source: str
    parent: str
    text: str
    status: str
    at: str = ""
    wave: int = NO_WAVE
    agent_type: str = ""
    agent_id: str = ""
    result: str = ""


def requests(session: str, state: State, *, ended: bool) -> list[Found]:
    """Every request that the state still has; only the last of an open session is active."""
    last = len(state["requests"]) - 1
    return [
        Found(
            source=request_source(session, request["line"]), parent="", text=request["text"],
            status="completed" if ended or number < last else "active", at=request["at"],
        )
        for number, request in enumerate(state["requests"])
    ]  # fmt: skip


def tasks(session: str, state: State) -> list[Found]:
    """The plan, each item under the request that was in force when it was written down."""
    return [
        Found(
            source=f"{session}:plan:{ids.likeness(item['id'].partition('@')[0], item['text'])}",
            parent=_in_force(session, state, item["told"]), text=item["text"],
            status=_status(item["status"]), wave=_wave(item),
        )
        for item in state["plan"]
        if state["requests"]
    ]  # fmt: skip


def subtasks(session: str, state: State, known: Collection[str]) -> list[Found]:
    """Sub-agents: under the plan item that is being worked on, if it is only one.

    `known` are the sources of the tasks that are there.
    """
    if not state["requests"]:
        return []
    running = [
        found
        for found in tasks(session, state)
        if found.status == "running" and found.source in known
    ]
    return [
        Found(
            source=agent_source(session, agent["call"]),
            parent=running[0].source
            if len(running) == 1 and agent["status"] == "running"
            else unplanned_source(_in_force(session, state, agent.get("told", agent["line"]))),
            text=agent["task"], status=_status(agent["status"]), agent_type=agent["type"],
            agent_id=agent["id"], result=agent["result"],
        )
        for agent in state["agents"]
    ]  # fmt: skip


def request_source(session: str, line: int) -> str:
    return f"{session}:L{line}"


def agent_source(session: str, call: str) -> str:
    return f"{session}:agent:{call}"


def unplanned_source(request: str) -> str:
    return f"{request}:unplanned"


def _in_force(session: str, state: State, line: int) -> str:
    """The source of the latest request up to that line, else of the first."""
    lines = [request["line"] for request in state["requests"]]
    return request_source(session, max((one for one in lines if one <= line), default=lines[0]))


def _wave(item: PlanItem) -> int:
    """The state has 0 for none, and only the words tell whether it is the first of all."""
    says_first = f" {item['text'].lower()}".partition(" wave ")[2].split(":")[0].strip() == "0"
    return item["wave"] or (0 if says_first else NO_WAVE)


def _status(word: str) -> str:
    known = STATUS.get(word, word)
    return known if known in OURS else "pending"
