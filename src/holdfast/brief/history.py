"""Items of earlier eras: what was asked and committed before each earlier compaction.

An era is the part of a session between two compactions. The older an era is, the shorter it is
described.
"""

from __future__ import annotations

from holdfast.brief.items import Item, cite_lines, ref
from holdfast.state.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeVar

    from holdfast.state.types import Commit, Request, State

    T = TypeVar("T", Commit, Request)

# So many eras have a line each; all eras before them share one.
MAX_SEPARATE_ERAS = 4
# Characters of each quoted request, from the latest era to the oldest.
REQUEST_CHARS_BY_AGE = (240, 160, 100, 60)


def era_items(state: State) -> Iterator[Item]:
    """One required item for all earlier eras, with their requests and commits.

    Its shorter forms shorten the eras rather than leaving one out.
    """
    ends = era_end_lines(state)
    if not ends:
        return
    starts = [0, *ends[:-1]]
    merged = max(0, len(ends) - MAX_SEPARATE_ERAS)
    starts, ends = [0, *starts[merged + 1 :]], ends[merged:]
    eras = [
        _Era(merged + index + 1, _between(state["requests"][1:-1], start, end),
             _between(state["commits"], start, end), end)
        for index, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]  # fmt: skip
    oldest = len(REQUEST_CHARS_BY_AGE) - 1
    sizes = [REQUEST_CHARS_BY_AGE[min(age, oldest)] for age in range(len(eras))][::-1]
    full = [era.render_full(size) for era, size in zip(eras, sizes, strict=True)]
    medium, short = [era.render_medium() for era in eras], [era.render_short() for era in eras]
    total = [f"- {describe_earlier(state)} {ref(ends[-1])}"]
    forms = (full, [*medium[:-1], full[-1]], medium, short, total)
    yield Item("earlier", "era", 62.0, ends[-1], tuple(map("\n".join, forms)), is_required=True)


def describe_earlier(state: State) -> str:
    """How many requests and commits the earlier eras have, and where they end."""
    last = era_end_lines(state)[-1]
    requests = _between(state["requests"], 0, last)
    commits = _between(state["commits"], 0, last)
    return f"{_render_counts(len(requests), len(commits))} before L{last}"


def era_end_lines(state: State) -> list[int]:
    """The lines of earlier compactions. A last compaction without a reply after it is the one that
    was just made, and does not count."""
    compactions = state["compactions"]
    is_current = bool(compactions) and not compactions[-1]["reply_line"]
    return [one["line"] for one in (compactions[:-1] if is_current else compactions)]


def is_in_earlier_era(state: State, line: int) -> bool:
    """Whether an earlier compaction came after this transcript line."""
    return any(line <= end for end in era_end_lines(state)[-1:])


def _between(entries: Sequence[T], start: int, end: int) -> list[T]:
    return [entry for entry in entries if start < entry["line"] <= end]


class _Era:
    """One era, which can be rendered at three lengths."""

    def __init__(
        self, ordinal: int, requests: list[Request], commits: list[Commit], end: int
    ) -> None:
        self.head = f"- before compaction {ordinal}: "
        self.requests, self.commits, self.end = requests, commits, end

    def render_full(self, request_chars: int) -> str:
        """Every request and every commit."""
        parts = [
            *(_render_request(request, request_chars) for request in self.requests),
            *_render_commits(self.commits),
        ]
        return self.head + "; ".join(parts) if parts else self.render_short()

    def render_medium(self) -> str:
        """The longest request and the last commit."""
        parts = [
            *_render_longest_request(self.requests, 60),
            *_render_commits(self.commits[-1:], len(self.commits) - 1),
        ]
        return self.head + "; ".join(parts) if parts else self.render_short()

    def render_short(self) -> str:
        """How many requests and commits."""
        return f"{self.head}{_render_counts(len(self.requests), len(self.commits))} {ref(self.end)}"


def _render_request(request: Request, max_chars: int) -> str:
    return f"“{one_line(request['text'], max_chars)}” {ref(request['line'])}"


def _render_longest_request(requests: Sequence[Request], max_chars: int) -> Iterator[str]:
    if not requests:
        return
    longest = max(requests, key=lambda request: len(request["text"]))
    yield _render_request(longest, max_chars)
    if others := [[request["line"]] for request in requests if request is not longest]:
        yield f"{len(others)} more {cite_lines(others)}"


def _render_commits(commits: Sequence[Commit], more: int = 0) -> Iterator[str]:
    for commit in commits:
        yield f"commit {commit['sha']} {one_line(commit['subject'], 60)} {ref(commit['line'])}"
    if more > 0:
        yield f"{more} more"


def _render_counts(requests: int, commits: int) -> str:
    counts = [f"{requests} asked"] if requests else []
    counts += [f"{commits} committed"] if commits else []
    return ", ".join(counts) or "nothing asked, nothing committed"
