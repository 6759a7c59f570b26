"""Sub-agents: what each was asked, how it stands, and what came back."""

from __future__ import annotations

from holdfast.foreign_json import told
from holdfast.state.wording import keep, one_line, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.foreign_json import Told
    from holdfast.state.model import Agent, State
    from holdfast.transcript.model import Event

HANDLES = ("tool_call", "tool", "agent_done")
MOST = 60
MOST_FILES = 60
LONGEST_RESULT = 600
STARTS = ("Agent", "Task")
ASKS_ABOUT = ("TaskOutput", "AgentOutputTool", "TaskStop", "SendMessage")
TOOLS = (*STARTS, *ASKS_ABOUT)


def apply(state: State, event: Event) -> None:
    kind = event["kind"]
    if kind == "agent_done":
        agent = named(state, event["id"])
        if agent is not None:
            _ended(agent, event["name"] or "completed", event["text"], event["line"])
    elif event["name"] in STARTS:
        (_started if kind == "tool_call" else _answered)(state, event)
    elif kind == "tool" and event["name"] in ASKS_ABOUT:
        _asked_about(state, event)


def named(state: State, ident: str) -> Agent | None:
    """The sub-agent of that id, or started by the call of that id."""
    known = (agent for agent in reversed(state["agents"]) if ident in (agent["id"], agent["call"]))
    return next(known, None) if ident else None


def _started(state: State, event: Event) -> None:
    given = event["input"]
    state["agents"].append(
        {
            "id": event["id"],
            "call": event["id"],
            "type": keep(plain(given.get("subagent_type")), 100),
            "task": keep(plain(given.get("description") or given.get("prompt")), 200),
            "status": "running",
            "result": "",
            "files": {},
            "line": event["line"],
            "told": event["line"],
        }
    )
    del state["agents"][:-MOST]


def _answered(state: State, event: Event) -> None:
    agent = named(state, event["id"])
    if agent is None:
        return
    detail = told(event.get("detail"))
    running = detail.get("status") == "async_launched"
    status = "running" if running else "completed" if event["ok"] else "failed"
    # What the host says when it starts one in the background is no finding.
    words = "" if running else _said(detail) or event.get("text", "")
    _ended(agent, status, words, event["line"])
    agent["id"] = keep(plain(detail.get("agentId")), 100) or agent["id"]


def _asked_about(state: State, event: Event) -> None:
    detail = told(event.get("detail"))
    if not event["ok"]:
        return
    task = detail.get("task")
    task = task if isinstance(task, dict) else detail
    ident = plain(task.get("task_id")) or plain(detail.get("resumedAgentId"))
    agent = named(state, ident)
    if agent is None:
        return
    if event["name"] == "TaskStop":
        _ended(agent, "stopped", "", event["line"])
    elif event["name"] == "SendMessage":
        _ended(agent, "running", "", event["line"])
    elif status := plain(task.get("status")):
        words = plain(task.get("result")) or plain(task.get("output"))
        _ended(agent, status, "" if status == "running" else words, event["line"])


def _ended(agent: Agent, status: str, words: str, line: int) -> None:
    agent["status"] = keep(status, 40)
    agent["result"] = keep(one_line(words, 2 * LONGEST_RESULT), LONGEST_RESULT) or agent["result"]
    agent["line"] = line


def touch(agent: Agent, path: str, happened: str) -> None:
    """Note what an agent did to a file; having changed one outweighs having read it."""
    files = agent["files"]
    if happened == "read" and path in files:
        return
    if path in files or len(files) < MOST_FILES or _make_room(files, happened):
        files[path] = happened


def _make_room(files: dict[str, str], happened: str) -> bool:
    read = next((path for path, known in files.items() if known == "read"), None)
    if happened == "read" or read is None:
        return False
    del files[read]
    return True


def _said(detail: Told) -> str:
    """The agent's own last words, without what the client wraps around them."""
    content = detail.get("content")
    texts = [
        plain(part.get("text"))
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type") == "text"
    ]
    return next((text for text in reversed(texts) if text.strip()), "")
