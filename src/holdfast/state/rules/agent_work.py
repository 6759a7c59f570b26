"""What sub-agents do themselves, as the main log or their own tells it: files and last words.

It never counts as the main session's doing.
"""

from __future__ import annotations

from holdfast.foreign_json import told
from holdfast.state.paths import relative
from holdfast.state.rules.agents import LONGEST_RESULT, named, touch
from holdfast.state.wording import keep, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import Agent, State
    from holdfast.transcript.model import Event

DOES = {"Read": "read", "Write": "edited", "Edit": "edited", "MultiEdit": "edited"}
DOES["NotebookEdit"] = "edited"


def apply(state: State, event: Event) -> None:
    """Only called with what a sub-agent did."""
    if event["kind"] == "tool":
        if event["ok"] and event["name"] in DOES and (agent := _whose(state, event)):
            _touched(state, agent, event)
    elif event["kind"] == "reply":
        agent = _whose(state, event)
        if agent is not None and agent["status"] == "running":
            agent["result"] = keep(one_line(event["text"], 2 * LONGEST_RESULT), LONGEST_RESULT)


def _touched(state: State, agent: Agent, event: Event) -> None:
    given = event["input"]
    path = given.get("file_path") or given.get("notebook_path")
    if isinstance(path, str) and path:
        new = told(event.get("detail")).get("type") == "create"
        touch(agent, relative(state, path), "created" if new else DOES[event["name"]])


def _whose(state: State, event: Event) -> Agent | None:
    """The agent of that id or call; old logs name neither, and there one runs at a time."""
    agent = named(state, event.get("parent", "")) or named(state, event["agent"])
    if agent is None and event["agent"] == "sidechain":
        running = [known for known in state["agents"] if known["status"] == "running"]
        return running[-1] if running else None
    return agent
