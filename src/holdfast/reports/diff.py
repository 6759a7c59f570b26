"""Compares two states of a session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from holdfast.state.text import one_line
from holdfast.state.types import FileTrail, State


class StateChange(NamedTuple):
    """One difference between two states."""

    kind: str
    change: str
    """added, gone or changed."""
    text: str
    line: int
    before: str = ""
    after: str = ""


Fact = tuple[str, str, str, int]  # kind, name, status, transcript line


def diff_states(old: State, new: State) -> list[StateChange]:
    """Return what only one of the states has, and what has a different status in each."""
    known = {(kind, name): (status, line) for kind, name, status, line in _facts(old)}
    changes = []
    for kind, name, status, line in _facts(new):
        before = known.pop((kind, name), None)
        if before is None:
            changes.append(StateChange(kind, "added", name, line, "", status))
        elif before[0] != status:
            changes.append(StateChange(kind, "changed", name, line, before[0], status))
    gone = [
        StateChange(kind, "gone", name, line, status, "")
        for (kind, name), (status, line) in known.items()
    ]
    return [*changes, *gone]


def _facts(state: State) -> Iterable[Fact]:
    for request in state["requests"]:
        yield "request", one_line(request["text"], 300), "", request["line"]
    for rule in state["rules"]:
        status = "taken back" if rule["superseded"] else "holds"
        yield rule["kind"], one_line(rule["text"], 300), status, rule["line"]
    for decision in state["decisions"]:
        yield "decision", one_line(decision["text"], 300), decision["kind"], decision["line"]
    for item in state["plan"]:
        yield "plan", one_line(item["text"], 300), item["status"], item["line"]
    for path, trail in state["files"].items():
        yield "file", path, _file_status(trail), trail.get("line", 0)
    for check in state["checks"]:
        status = "passes" if check["ok"] else "fails"
        yield "check", one_line(check["command"], 300), status, check["line"]
    for commit in state["commits"]:
        yield "commit", f"{commit['sha']} {commit['subject']}".strip(), "", commit["line"]
    for agent in state["agents"]:
        yield "agent", f"{agent['type']} {agent['id']}".strip(), agent["status"], agent["line"]
    for command in state["commands"]:
        yield "command", f"/{command['name']}", "", command["line"]


def _file_status(trail: FileTrail) -> str:
    if trail.get("deleted"):
        return "deleted"
    status = "created" if trail.get("created") else "changed" if trail.get("edits") else "read"
    edits = trail.get("edits", 0)
    return f"{status}, {edits} edits" if edits else status
