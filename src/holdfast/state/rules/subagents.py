"""Sub-agents: the task, the status and the result of each."""

from __future__ import annotations

from holdfast.lenient_json import as_object
from holdfast.state.text import clip, redact_and_clip, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.lenient_json import JsonObject
    from holdfast.state.types import State, Subagent
    from holdfast.transcript.types import Event

HANDLES = ("tool_call", "tool", "agent_done")
MAX_AGENTS = 60
MAX_FILES_PER_AGENT = 60
MAX_RESULT_CHARS = 1500
START_TOOLS = ("Agent", "Task")
FOLLOW_UP_TOOLS = ("TaskOutput", "AgentOutputTool", "TaskStop", "SendMessage")
TOOLS = (*START_TOOLS, *FOLLOW_UP_TOOLS)


def apply(state: State, event: Event) -> None:
    kind = event["kind"]
    if kind == "agent_done":
        agent = find_agent(state, event["id"])
        if agent is not None:
            _set_status(agent, event["name"] or "completed", event["text"], event["line"])
    elif event["name"] in START_TOOLS:
        (_add_agent if kind == "tool_call" else _apply_start_result)(state, event)
    elif kind == "tool" and event["name"] in FOLLOW_UP_TOOLS:
        _apply_follow_up(state, event)


def find_agent(state: State, ident: str) -> Subagent | None:
    """Return the sub-agent with this id, or started by the call with this id; None if unknown."""
    matches = (
        known for known in reversed(state["agents"]) if ident in (known["id"], known["call"])
    )
    return next(matches, None) if ident else None


def _add_agent(state: State, event: Event) -> None:
    arguments = event["input"]
    task = to_text(arguments.get("description") or arguments.get("prompt"))
    state["agents"].append(
        {
            "id": event["id"],
            "call": event["id"],
            "type": redact_and_clip(to_text(arguments.get("subagent_type")), 100),
            "task": redact_and_clip(task, 200),
            "status": "running",
            "result": "",
            "files": {},
            "line": event["line"],
            "source_line": event["line"],
        }
    )
    del state["agents"][:-MAX_AGENTS]


def _apply_start_result(state: State, event: Event) -> None:
    """Apply the result of the call that started an agent: its reply, or that it is running."""
    agent = find_agent(state, event["id"])
    if agent is None:
        return
    detail = as_object(event.get("detail"))
    is_running = detail.get("status") == "async_launched"
    status = "running" if is_running else "completed" if event["ok"] else "failed"
    # The host's notice that an agent started in the background is no result.
    text = "" if is_running else _final_text(detail) or event.get("text", "")
    _set_status(agent, status, text, event["line"])
    agent["id"] = redact_and_clip(to_text(detail.get("agentId")), 100) or agent["id"]


def _apply_follow_up(state: State, event: Event) -> None:
    """Apply a call that asks about, stops or writes to an agent."""
    detail = as_object(event.get("detail"))
    if not event["ok"]:
        return
    task = detail.get("task")
    task = task if isinstance(task, dict) else detail
    ident = to_text(task.get("task_id")) or to_text(detail.get("resumedAgentId"))
    agent = find_agent(state, ident)
    if agent is None:
        return
    if event["name"] == "TaskStop":
        _set_status(agent, "stopped", "", event["line"])
    elif event["name"] == "SendMessage":
        _set_status(agent, "running", "", event["line"])
    elif status := to_text(task.get("status")):
        text = to_text(task.get("result")) or to_text(task.get("output"))
        _set_status(agent, status, "" if status == "running" else text, event["line"])


def _set_status(agent: Subagent, status: str, result: str, line: int) -> None:
    """Set the status and the result; an empty result leaves the known one."""
    agent["status"] = redact_and_clip(status, 40)
    result = redact_and_clip(clip(result.strip(), 2 * MAX_RESULT_CHARS), MAX_RESULT_CHARS)
    agent["result"] = result or agent["result"]
    agent["line"] = line


def record_file(agent: Subagent, path: str, action: str) -> None:
    """Record what an agent did to a file: read, edited or created.

    A read never replaces a change, and gives way to one if there are too many files.
    """
    files = agent["files"]
    if action == "read" and path in files:
        return
    if path in files or len(files) < MAX_FILES_PER_AGENT or _make_room(files, action):
        files[path] = action


def _make_room(files: dict[str, str], action: str) -> bool:
    oldest_read = next((path for path, known in files.items() if known == "read"), None)
    if action == "read" or oldest_read is None:
        return False
    del files[oldest_read]
    return True


def _final_text(detail: JsonObject) -> str:
    """Return the agent's final reply, without what the client adds to it."""
    content = detail.get("content")
    texts = [
        to_text(part.get("text"))
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") == "text"
    ]
    return next((text for text in reversed(texts) if text.strip()), "")
