"""fold(state, events) -> state: deterministic, and it does not matter where a log is split."""

from __future__ import annotations

from holdfast.state import rules
from holdfast.state.wording import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from holdfast.state.model import State
    from holdfast.transcript.model import Event

VERSION = 1
MOST_BAD_LINES = 20
MOST_CALLS = 100
LONGEST_INPUT, LONGEST_COMMAND, DEEPEST_INPUT = 4000, 16_000, 8


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
        "files": {},
        "checks": [],
        "branch": "",
        "commits": [],
        "pull_requests": [],
        "last_speaker": "",
        "question": None,
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
    }


def fold(state: State, events: Iterable[Event]) -> State:
    """The state after these events; the one given is left as it was."""
    folded: State = _copy(state)
    advance(folded, events)
    return folded


def advance(state: State, events: Iterable[Event]) -> None:
    """Fold events into a state that the caller owns, such as one just read from the store."""
    for event in events:
        kind = event["kind"]
        if kind == "place":
            event = _moved(state, event)
            if not event["place"]:
                continue
        state["lines"] = max(state["lines"], event["line"])
        if kind == "bad_line":
            state["bad_lines"] = [*state["bad_lines"], event["line"]][:MOST_BAD_LINES]
        if kind == "tool_call" and not event.get("agent"):
            _remember(state, event)
        elif kind == "tool_result" and not event.get("agent"):
            rules.apply(state, _paired(state, event))
        rules.apply(state, event)


def _moved(state: State, event: Event) -> Event:
    """What is new about the place: a reader that begins in the middle tells all of it again."""
    told, known = event["place"], state["place"]
    news = {name: value for name, value in told.items() if known.get(name) != value}
    state["place"] = {"root": told.get("cwd", ""), **known, **news}
    return {**event, "place": news}


def _remember(state: State, event: Event) -> None:
    calls, given = state["calls"], _slim(event["input"], DEEPEST_INPUT)
    if isinstance(command := event["input"].get("command"), str):
        given["command"] = clip(command, LONGEST_COMMAND)
    calls[event["id"]] = {
        "name": event["name"],
        "input": given,
        "line": event["line"],
        # Where the call was made: its result can tell another folder, if it went there.
        "cwd": state["place"].get("cwd", ""),
    }
    while len(calls) > MOST_CALLS:
        del calls[next(iter(calls))]


def _slim(value: Any, depth: int) -> Any:
    """Enough of a tool's input to understand its result: never a whole file."""
    if isinstance(value, str):
        # Rules redact what they keep of it, and the store looks over all of it once more.
        return clip(value, LONGEST_INPUT)
    if isinstance(value, list | dict) and not depth:
        return None
    if isinstance(value, list):
        return [_slim(part, depth - 1) for part in value[:100]]
    if isinstance(value, dict):
        return {name: _slim(part, depth - 1) for name, part in list(value.items())[:100]}
    return value


def _paired(state: State, event: Event) -> Event:
    """The call and its result as one event of kind `tool`."""
    call = state["calls"].pop(event["id"], None)
    tool: dict[str, Any] = {**event, "kind": "tool", "name": "", "input": {}}
    if call is not None:
        tool.update(
            name=call["name"], input=call["input"], call_line=call["line"], cwd=call.get("cwd", "")
        )
    return tool  # type: ignore[return-value]


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_copy(part) for part in value]
    return value
