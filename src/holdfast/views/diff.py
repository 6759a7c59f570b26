"""What became of a session between two of its states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from holdfast.state.model import FileTrail, State
from holdfast.state.wording import one_line


class Difference(NamedTuple):
    kind: str
    change: str
    """added, gone or changed."""
    text: str
    line: int
    before: str = ""
    after: str = ""


Thing = tuple[str, str, str, int]  # kind, what names it, how it stands, its line


def difference(old: State, new: State) -> list[Difference]:
    """Everything that one knows and the other does not, or knows otherwise."""
    known = {(kind, name): (stands, line) for kind, name, stands, line in _things(old)}
    found = []
    for kind, name, stands, line in _things(new):
        before = known.pop((kind, name), None)
        if before is None:
            found.append(Difference(kind, "added", name, line, "", stands))
        elif before[0] != stands:
            found.append(Difference(kind, "changed", name, line, before[0], stands))
    gone = [
        Difference(kind, "gone", name, line, stands, "")
        for (kind, name), (stands, line) in known.items()
    ]
    return [*found, *gone]


def _things(state: State) -> Iterable[Thing]:
    for request in state["requests"]:
        yield "request", one_line(request["text"], 300), "", request["line"]
    for rule in state["rules"]:
        stands = "taken back" if rule["superseded"] else "holds"
        yield rule["kind"], one_line(rule["text"], 300), stands, rule["line"]
    for decision in state["decisions"]:
        yield "decision", one_line(decision["text"], 300), decision["kind"], decision["line"]
    for item in state["plan"]:
        yield "plan", one_line(item["text"], 300), item["status"], item["line"]
    for path, trail in state["files"].items():
        yield "file", path, _file(trail), trail.get("line", 0)
    for check in state["checks"]:
        stands = "passes" if check["ok"] else "fails"
        yield "check", one_line(check["command"], 300), stands, check["line"]
    for commit in state["commits"]:
        yield "commit", f"{commit['sha']} {commit['subject']}", "", commit["line"]
    for agent in state["agents"]:
        yield "agent", f"{agent['type']} {agent['id']}".strip(), agent["status"], agent["line"]
    for command in state["commands"]:
        yield "command", f"/{command['name']}", "", command["line"]


def _file(trail: FileTrail) -> str:
    if trail.get("deleted"):
        return "deleted"
    kind = "created" if trail.get("created") else "changed" if trail.get("edits") else "read"
    edits = trail.get("edits", 0)
    return f"{kind}, {edits} edits" if edits else kind
