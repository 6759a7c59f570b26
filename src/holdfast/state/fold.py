"""fold(state, events) -> state: deterministic, and it does not matter where a log is split."""

from __future__ import annotations

from holdfast.state import queue, rules
from holdfast.state.wording import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from holdfast.state.model import Call, State
    from holdfast.transcript.model import Event

VERSION = 3
MOST_BAD_LINES = 20
MOST_CALLS = 100
LONGEST_INPUT, LONGEST_COMMAND, WIDEST, DEEPEST_INPUT = 4000, 16_000, 100, 8


def new_state() -> State:
    """The state of a session in which nothing has happened."""
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
        "last_speaker": "",
        "questions": [],
        "blockers": [],
        "doing": None,
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
    """The state after these events; the one given is left as it was."""
    folded: State = _copy(state)
    advance(folded, events)
    return folded


def advance(state: State, events: Iterable[Event]) -> None:
    """Fold events into a state that the caller owns, such as one just read from the store."""
    by_kind, by_tool, of_agent = rules.BY_KIND, rules.BY_TOOL, rules.of_agent
    about_any = by_tool[""]
    for event in events:
        kind = event["kind"]
        if kind == "place":
            event = _moved(state, event)
            if not event["place"]:
                continue
        if event["line"] > state["lines"]:
            state["lines"] = event["line"]
        if kind == "tool_call":
            _remember(_calls(state, event), event, state["place"].get("cwd", ""))
        elif kind == "tool_result":
            if "running" in event:
                _goes_on(_calls(state, event), event)
                continue
            event = _paired(state, event)
            kind = "tool"
        elif kind == "queue":
            waited = queue.moved(state, event)
            if waited is None:
                continue
            event, kind = waited, waited["kind"]
        elif kind == "bad_line":
            state["bad_lines"] = [*state["bad_lines"], event["line"]][:MOST_BAD_LINES]
        if "agent" in event:
            # What a sub-agent did is its own: it never counts as the main session's doing.
            of_agent(state, event)
        elif "queued" not in event or not queue.was_heard(state, event):
            for apply in (
                by_kind.get(kind, ()) if kind != "tool" else by_tool.get(event["name"], about_any)
            ):
                apply(state, event)


def _moved(state: State, event: Event) -> Event:
    """What is new about the place: a reader that begins in the middle tells all of it again."""
    told, known = event["place"], state["place"]
    news = {name: value for name, value in told.items() if known.get(name) != value}
    state["place"] = {"root": told.get("cwd", ""), **known, **news}
    return {**event, "place": news}


def _calls(state: State, event: Event) -> dict[str, Call]:
    """The calls that wait for a result: sub-agents' are kept apart from the session's own."""
    return state["agent_calls"] if "agent" in event else state["calls"]


def _remember(calls: dict[str, Call], event: Event, folder: str) -> None:
    given = event["input"]
    if isinstance(earlier := given.get("continues"), str) and earlier in calls:
        calls[event["id"]] = calls.pop(earlier)
        return
    call = calls[event["id"]] = {
        "name": event["name"],
        "input": {
            name: value
            if isinstance(value, str) and len(value) <= LONGEST_INPUT
            else _slim(value, DEEPEST_INPUT)
            for name, value in _first(given).items()
        },
        "line": event["line"],
        # Where the call was made: its result can tell another folder, if it went there.
        "cwd": event.get("cwd") or folder,
    }
    if isinstance(command := given.get("command"), str):
        call["input"]["command"] = clip(command, LONGEST_COMMAND)
    while len(calls) > MOST_CALLS:
        del calls[next(iter(calls))]


def _goes_on(calls: dict[str, Call], event: Event) -> None:
    """A command that is not done yet: its outcome comes with a later call that names it."""
    call = calls.pop(event["id"], None)
    if call is not None:
        calls[event["running"]] = {**call, "running": True}


def _first(given: dict[str, Any]) -> dict[str, Any]:
    return given if len(given) <= WIDEST else dict(list(given.items())[:WIDEST])


def _slim(value: Any, depth: int) -> Any:
    """Enough of a tool's input to understand its result: never a whole file."""
    if isinstance(value, str):
        # Rules redact what they keep of it, and the store looks over all of it once more.
        return clip(value, LONGEST_INPUT)
    if isinstance(value, list | dict) and not depth:
        return None
    if isinstance(value, list):
        return [_slim(part, depth - 1) for part in value[:WIDEST]]
    if isinstance(value, dict):
        return {name: _slim(part, depth - 1) for name, part in _first(value).items()}
    return value


def _paired(state: State, event: Event) -> Event:
    """The call and its result as one event of kind `tool`."""
    call = _calls(state, event).pop(event["id"], None)
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
