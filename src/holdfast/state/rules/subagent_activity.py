"""What sub-agents do themselves, from the main log or from their own: files and final replies.

None of it counts as the main session's work.
"""

from __future__ import annotations

from holdfast.lenient_json import as_object
from holdfast.state.paths import to_project_path
from holdfast.state.rules.subagents import MAX_RESULT_CHARS, find_agent, record_file
from holdfast.state.text import clip, redact_and_clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import State, Subagent
    from holdfast.transcript.types import Event

ACTION_BY_TOOL = {
    "Read": "read", "Write": "edited", "Edit": "edited", "MultiEdit": "edited",
    "NotebookEdit": "edited",
}  # fmt: skip


def apply(state: State, event: Event) -> None:
    """Apply an event of a sub-agent; the fold calls this for no others."""
    if event["kind"] == "tool":
        if event["ok"] and event["name"] in ACTION_BY_TOOL and (agent := _find_actor(state, event)):
            _record_file_use(state, agent, event)
    elif event["kind"] == "reply":
        agent = _find_actor(state, event)
        if agent is not None and agent["status"] == "running":
            text = clip(event["text"].strip(), 2 * MAX_RESULT_CHARS)
            agent["result"] = redact_and_clip(text, MAX_RESULT_CHARS)


def _record_file_use(state: State, agent: Subagent, event: Event) -> None:
    arguments = event["input"]
    path = arguments.get("file_path") or arguments.get("notebook_path")
    if isinstance(path, str) and path:
        is_new = as_object(event.get("detail")).get("type") == "create"
        action = "created" if is_new else ACTION_BY_TOOL[event["name"]]
        record_file(agent, to_project_path(state, path), action)


def _find_actor(state: State, event: Event) -> Subagent | None:
    """Return the sub-agent of an event, or None.

    Old logs name neither the agent nor its call; with those hosts only one runs at a time.
    """
    agent = find_agent(state, event.get("parent", "")) or find_agent(state, event["agent"])
    if agent is None and event["agent"] == "sidechain":
        running = [known for known in state["agents"] if known["status"] == "running"]
        return running[-1] if running else None
    return agent
