"""Sub-agents: what each was asked, and what came back."""

from __future__ import annotations

from holdfast.state.wording import keep, one_line, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("tool_call", "tool", "agent_done")
MOST = 60
TOOLS = ("Agent", "Task")


def apply(state: State, event: Event) -> None:
    if event["kind"] == "agent_done":
        _came_back(state, event)
        return
    if event["name"] not in TOOLS:
        return
    if event["kind"] == "tool_call":
        given = event["input"]
        state["agents"].append(
            {
                "id": event["id"],
                "type": plain(given.get("subagent_type")),
                "task": keep(plain(given.get("description") or given.get("prompt")), 200),
                "status": "running",
                "result": "",
                "line": event["line"],
            }
        )
        del state["agents"][:-MOST]
        return
    agent = next((known for known in state["agents"] if known["id"] == event["id"]), None)
    if agent is None:
        return
    detail = event.get("detail")
    started = isinstance(detail, dict) and detail.get("status") == "async_launched"
    agent["status"] = "running" if started else "completed" if event["ok"] else "failed"
    agent["result"] = keep(one_line(_said(detail) or event.get("text", ""), 1200), 600)
    agent["line"] = event["line"]
    if isinstance(detail, dict):
        agent["id"] = plain(detail.get("agentId")) or agent["id"]


def _came_back(state: State, event: Event) -> None:
    """An agent in the background is done; the client says so in the user's name."""
    for agent in state["agents"]:
        if agent["id"] == event["id"]:
            agent["status"] = keep(event["name"], 40) or "completed"
            agent["result"] = keep(one_line(event["text"], 1200), 600)
            agent["line"] = event["line"]


def _said(detail: Any) -> str:
    """The agent's own last words, without what the client wraps around them."""
    content = detail.get("content") if isinstance(detail, dict) else None
    texts = [
        plain(part.get("text"))
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") == "text"
    ]
    return next((text for text in reversed(texts) if text.strip()), "")
