"""Lists what happened in a session for people to read: turns, edits, checks, commits, compactions.

The fold already knows what an edit, a commit or a test is. The timeline folds the events one by one
and reports what each has added to the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from holdfast.state.fold import advance, new_state
from holdfast.state.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.state.types import Compaction, State
    from holdfast.transcript.types import Event


class TimelineEntry(NamedTuple):
    """One thing that happened."""

    line: int
    kind: str
    """turn, edit, delete, test (or lint, build, run), commit, pull_request or compaction."""
    text: str
    at: str = ""
    ok: bool | None = None
    """Whether a check passed; None for other kinds."""


def build_timeline(events: Iterable[Event]) -> Iterator[TimelineEntry]:
    """Yield the entries of these events, in order."""
    state = new_state()
    for event in events:
        before = _StateCounts(state)
        advance(state, [event])
        at = event.get("at", "")
        for entry in before.find_new(state, event["line"]):
            yield entry._replace(at=at)


class _StateCounts:
    """What a state had before an event, to find what the event added."""

    def __init__(self, state: State) -> None:
        self.requests = len(state["requests"]) + state["requests_dropped"]
        self.compactions = len(state["compactions"])
        self.links = len(state["pull_requests"])
        self.commits = {(commit["subject"], commit["line"]) for commit in state["commits"]}
        self.checks = {check["command"]: check["runs"] for check in state["checks"]}
        self.edits = {path: trail.get("edits", 0) for path, trail in state["files"].items()}
        self.deleted = {path for path, trail in state["files"].items() if trail.get("deleted")}

    def find_new(self, state: State, line: int) -> Iterator[TimelineEntry]:
        if len(state["requests"]) + state["requests_dropped"] > self.requests:
            yield TimelineEntry(line, "turn", state["requests"][-1]["text"])
        for path, trail in state["files"].items():
            if trail.get("edits", 0) > self.edits.get(path, 0):
                yield TimelineEntry(line, "edit", path)
            if trail.get("deleted") and path not in self.deleted:
                yield TimelineEntry(line, "delete", path)
        yield from self._find_checks(state, line)
        for commit in state["commits"]:
            if (commit["subject"], commit["line"]) not in self.commits:
                text = f"{commit['sha']} {commit['subject']}".strip()
                yield TimelineEntry(line, "commit", text)
        for link in state["pull_requests"][self.links :]:
            yield TimelineEntry(line, "pull_request", link["text"])
        for index, compaction in enumerate(state["compactions"][self.compactions :], 1):
            text = _render_compaction(self.compactions + index, compaction)
            yield TimelineEntry(line, "compaction", text)

    def _find_checks(self, state: State, line: int) -> Iterator[TimelineEntry]:
        for check in state["checks"]:
            if check["runs"] > self.checks.get(check["command"], 0):
                where = f" at {check['where']}" if check["where"] and not check["ok"] else ""
                text = one_line(check["command"], 120) + where
                yield TimelineEntry(line, check["kind"], text, ok=check["ok"])


def _render_compaction(number: int, compaction: Compaction) -> str:
    sizes = f", {compaction['before']:,} tokens" if compaction["before"] else ""
    sizes += f" → {compaction['after']:,}" if compaction["after"] else ""
    return f"{number} ({compaction['trigger'] or 'by the host'}{sizes})"
