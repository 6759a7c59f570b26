"""A session as a person would want to read it: turns, and in each what was done and how it went.

The fold already knows what an edit, a commit or a test is; this view watches it at work, event by
event, and writes down what is new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.state.fold import advance, new_state
from holdfast.state.wording import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.state.model import Compaction, State
    from holdfast.transcript.model import Event


class Entry(NamedTuple):
    """One thing that happened."""

    line: int
    kind: str
    """turn, edit, delete, test (or lint, build, run), commit, pull_request or compaction."""
    text: str
    at: str = ""
    ok: bool | None = None
    """How a check ended."""


def timeline(events: Iterable[Event]) -> Iterator[Entry]:
    """What happened, in order."""
    state = new_state()
    for event in events:
        before = _Seen(state)
        advance(state, [event])
        at = event.get("at", "")
        for entry in before.news(state, event["line"]):
            yield entry._replace(at=at)


class _Seen:
    """What was known before an event."""

    def __init__(self, state: State) -> None:
        self.requests = len(state["requests"]) + state["requests_dropped"]
        self.compactions = len(state["compactions"])
        self.links = len(state["pull_requests"])
        self.commits = {(commit["sha"], commit["line"]) for commit in state["commits"]}
        self.checks = {check["command"]: check["runs"] for check in state["checks"]}
        self.edits = {path: trail.get("edits", 0) for path, trail in state["files"].items()}
        self.deleted = {path for path, trail in state["files"].items() if trail.get("deleted")}

    def news(self, state: State, line: int) -> Iterator[Entry]:
        if len(state["requests"]) + state["requests_dropped"] > self.requests:
            yield Entry(line, "turn", state["requests"][-1]["text"])
        for path, trail in state["files"].items():
            if trail.get("edits", 0) > self.edits.get(path, 0):
                yield Entry(line, "edit", path)
            if trail.get("deleted") and path not in self.deleted:
                yield Entry(line, "delete", path)
        yield from self._checks(state, line)
        for commit in state["commits"]:
            if (commit["sha"], commit["line"]) not in self.commits:
                yield Entry(line, "commit", f"{commit['sha']} {commit['subject']}")
        for link in state["pull_requests"][self.links :]:
            yield Entry(line, "pull_request", link["text"])
        for number, made in enumerate(state["compactions"][self.compactions :], 1):
            yield Entry(line, "compaction", _compaction(self.compactions + number, made))

    def _checks(self, state: State, line: int) -> Iterator[Entry]:
        for check in state["checks"]:
            if check["runs"] > self.checks.get(check["command"], 0):
                where = f" at {check['where']}" if check["where"] and not check["ok"] else ""
                text = one_line(check["command"], 120) + where
                yield Entry(line, check["kind"], text, ok=check["ok"])


def _compaction(number: int, made: Compaction) -> str:
    sizes = f", {made['before']:,} tokens" if made["before"] else ""
    sizes += f" → {made['after']:,}" if made["after"] else ""
    return f"{number} ({made['trigger'] or 'by the host'}{sizes})"
