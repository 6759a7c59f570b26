"""Fold events into the working state of a session.

`fold(state, events) -> state` is pure and deterministic, and a log may be split anywhere:
`fold(fold(s, a), b) == fold(s, a + b)`.
"""

from __future__ import annotations

from holdfast.state import prompt_queue, rules
from holdfast.state.rules.decisions import MCP_PREFIX
from holdfast.state.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from holdfast.state.types import PendingCall, State
    from holdfast.transcript.types import Event

# A state of another version is discarded, and its log folded again.
VERSION = 7
MAX_BAD_LINES = 20
MAX_PENDING_CALLS = 100
# How much of a tool's input is kept until its result arrives.
MAX_INPUT_CHARS, MAX_COMMAND_CHARS, MAX_INPUT_KEYS, MAX_INPUT_DEPTH = 4000, 16_000, 100, 8


def new_state() -> State:
    """Return the state of a session in which nothing has happened."""
    return {
        "version": VERSION,
        "lines": 0,
        "bad_lines": [],
        "place": {},
        "requests": [],
        "requests_dropped": 0,
        "rules": [],
        "decisions": [],
        "plan": [],
        "plan_file": None,
        "files": {},
        "checks": [],
        "branch": "",
        "commits": [],
        "dirty": None,
        "pull_requests": [],
        "questions": [],
        "blockers": [],
        "doing": None,
        "reports": [],
        "findings": [],
        "shell": [],
        "failed_commands": [],
        "workarounds": [],
        "records": [],
        "task_shown": None,
        "servers": [],
        "pushed": 0,
        "agents": [],
        "commands": [],
        "usage": {
            "context": 0,
            "window": 200_000,
            "model": "",
            "message": "",
            "line": 0,
            "tool_calls": 0,
            "calls_since_compaction": 0,
            "at_prompt": 0,
            "growth": 0,
        },
        "compactions": [],
        "calls": {},
        "agent_calls": {},
        "queue": [],
    }


def fold(state: State, events: Iterable[Event]) -> State:
    """Return the state after these events; the given state is not changed."""
    folded: State = _copy(state)
    advance(folded, events)
    return folded


def advance(state: State, events: Iterable[Event]) -> None:
    """Fold events into a state in place."""
    rules_by_kind, rules_by_tool = rules.BY_KIND, rules.BY_TOOL
    apply_subagent_event = rules.apply_subagent_event
    rules_for_any_tool = rules_by_tool[""]
    for event in events:
        kind = event["kind"]
        if "refused" in event and _is_of_mcp_server(state, event):
            continue
        if kind == "place":
            event = _update_place(state, event)
            if not event["place"]:
                continue
        if event["line"] > state["lines"]:
            state["lines"] = event["line"]
        if kind == "tool_call":
            _add_pending_call(_pending_calls(state, event), event, state["place"].get("cwd", ""))
        elif kind == "tool_result":
            if "running" in event:
                _keep_running_call(_pending_calls(state, event), event)
                continue
            event = _to_tool_event(state, event)
            kind = "tool"
        elif kind == "queue":
            message = prompt_queue.apply_operation(state, event)
            if message is None:
                continue
            event, kind = message, message["kind"]
        elif kind == "bad_line":
            state["bad_lines"] = [*state["bad_lines"], event["line"]][:MAX_BAD_LINES]
        if "agent" in event:
            # A sub-agent's actions never count as the main session's.
            apply_subagent_event(state, event)
        elif "queued" not in event or not prompt_queue.is_duplicate(state, event):
            for apply in (
                rules_by_kind.get(kind, ())
                if kind != "tool"
                else rules_by_tool.get(event["name"], rules_for_any_tool)
            ):
                apply(state, event)


def _update_place(state: State, event: Event) -> Event:
    """Return the event reduced to what has changed.

    A reader that starts in the middle of a log repeats the whole place.
    """
    place, known = event["place"], state["place"]
    changes = {name: value for name, value in place.items() if known.get(name) != value}
    state["place"] = {"root": place.get("cwd", ""), **known, **changes}
    return {**event, "place": changes}


def _pending_calls(state: State, event: Event) -> dict[str, PendingCall]:
    """Return the calls without a result: the session's own, or those of sub-agents."""
    return state["agent_calls"] if "agent" in event else state["calls"]


def _is_of_mcp_server(state: State, event: Event) -> bool:
    """Whether the call that the user is said to have refused is of an MCP server: its output may be
    anything, also what the client writes about a refused call."""
    call = _pending_calls(state, event).get(event["refused"])
    return call is not None and call["name"].startswith(MCP_PREFIX)


def _add_pending_call(calls: dict[str, PendingCall], event: Event, folder: str) -> None:
    arguments = event["input"]
    if isinstance(earlier := arguments.get("continues"), str) and earlier in calls:
        calls[event["id"]] = calls.pop(earlier)
        return
    call = calls[event["id"]] = {
        "name": event["name"],
        "input": {
            name: value
            if isinstance(value, str) and len(value) <= MAX_INPUT_CHARS
            else _shorten(value, MAX_INPUT_DEPTH)
            for name, value in _first_keys(arguments).items()
        },
        "line": event["line"],
        # The folder at the time of the call: a command may change it before its result.
        "cwd": event.get("cwd") or folder,
    }
    if isinstance(command := arguments.get("command"), str):
        call["input"]["command"] = clip(command, MAX_COMMAND_CHARS)
    while len(calls) > MAX_PENDING_CALLS:
        del calls[next(iter(calls))]


def _keep_running_call(calls: dict[str, PendingCall], event: Event) -> None:
    """Keep a call that continues in the background, under the id that a later call will name."""
    call = calls.pop(event["id"], None)
    if call is not None:
        calls[event["running"]] = {**call, "running": True}


def _first_keys(arguments: dict[str, Any]) -> dict[str, Any]:
    if len(arguments) <= MAX_INPUT_KEYS:
        return arguments
    return dict(list(arguments.items())[:MAX_INPUT_KEYS])


def _shorten(value: Any, depth: int) -> Any:
    """Keep enough of a tool's input to understand its result, but never a whole file."""
    if isinstance(value, str):
        # Not redacted here: rules redact what they keep, and the store redacts all it writes.
        return clip(value, MAX_INPUT_CHARS)
    if isinstance(value, list | dict) and not depth:
        return None
    if isinstance(value, list):
        return [_shorten(part, depth - 1) for part in value[:MAX_INPUT_KEYS]]
    if isinstance(value, dict):
        return {name: _shorten(part, depth - 1) for name, part in _first_keys(value).items()}
    return value


def _to_tool_event(state: State, event: Event) -> Event:
    """Join a result with its call to one event of kind `tool`."""
    call = _pending_calls(state, event).pop(event["id"], None)
    if call is None:
        return {**event, "kind": "tool", "name": "", "input": {}}
    return {
        **event,
        "kind": "tool",
        "name": call["name"],
        "input": call["input"],
        "call_line": call["line"],
        "cwd": call.get("cwd", ""),
    }


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_copy(part) for part in value]
    return value
