"""Estimates what fills the context window, and how its size changed over a session."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.transcript.types import Event

# A chart shows no more points than this.
MAX_POINTS = 2000
# Tools whose output is the content of a file.
FILE_TOOLS = (
    "Read", "NotebookRead", "mcp__filesystem__read_file", "mcp__filesystem__read_text_file",
)  # fmt: skip
OTHER_TOOL = "unknown tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowContents:
    """What fills the window, in tokens. All but `tokens` is estimated from the texts in the log."""

    tokens: int
    """The host's own count of the last request."""
    line: int
    """The line of that count."""
    since_line: int
    """The line of the last compaction, from which on texts are counted; 0 if there was none."""
    tools: dict[str, int]
    """Output of each tool, the largest first; without the content of files."""
    files: int
    """Content of files that were read, or that the host attached."""
    user: int
    """The user's messages."""
    assistant: int
    """The agent's replies."""
    calls: int
    """What the agent wrote to tools: commands, edits, new files."""
    summary: int
    """The summary of the last compaction, and what hooks added, such as the brief."""
    system: int | None
    """What the first request had beside these texts: system prompt, descriptions of tools, memory
    files, and files that the host attached without logging them. None if it cannot be told."""
    rest: int | None
    """What remains: thinking, images, texts that are not logged, and the error of the estimates.
    None if the estimates add up to more than the host counted."""


def measure_window(
    events: Iterable[Event], cost: Callable[[str], float], since_line: int = 0
) -> WindowContents | None:
    """Measure the events from the last compaction on; None if the log has no count of tokens.

    Only what precedes the last counted request is part of it.
    """
    sizes = _Sizes(cost)
    usage: Event | None = None
    counted: Counter[tuple[str, str]] = Counter()
    system: int | None = None
    for event in events:
        if "agent" in event:
            continue
        if event["kind"] == "usage" and event["context"]:
            counted = sizes.before_line(event["line"])
            system = event["context"] - counted.total() if usage is None else system
            usage = event
        else:
            sizes.add(event)
    return _to_contents(usage, counted, since_line, system or 0) if usage else None


class _Sizes:
    """The estimated tokens by part and tool, with those of the current line apart."""

    def __init__(self, cost: Callable[[str], float]) -> None:
        self._cost = cost
        self._total: Counter[tuple[str, str]] = Counter()
        self._line = 0
        self._on_line: Counter[tuple[str, str]] = Counter()
        self._tools: dict[str, str] = {}

    def before_line(self, line: int) -> Counter[tuple[str, str]]:
        """Return the sizes of everything before this line: a reply is not part of its request."""
        return self._total.copy() if line == self._line else self._total + self._on_line

    def add(self, event: Event) -> None:
        part = self._classify(event)
        if part is None:
            return
        key, text = part
        if event["line"] != self._line:
            self._total += self._on_line
            self._line, self._on_line = event["line"], Counter()
        self._on_line[key] += round(self._cost(text))

    def _classify(self, event: Event) -> tuple[tuple[str, str], str] | None:
        """Return the part of the window and the tool that a text belongs to, and the text."""
        kind, text = event["kind"], event.get("text", "")
        if kind == "tool_call":
            self._tools[event["id"]] = event["name"]
            arguments = json.dumps(event["input"], ensure_ascii=False, default=str)
            return ("calls", ""), f"{event['name']} {arguments}"
        if kind == "tool_result":
            tool = self._tools.pop(event["id"], "") or OTHER_TOOL
            return (("files", "") if tool in FILE_TOOLS else ("tools", tool)), text
        if kind == "attached_file":
            return ("files", ""), text
        parts = {"prompt": "user", "command": "user", "reply": "assistant", "summary": "summary",
                 "injected": "summary"}  # fmt: skip
        return ((parts[kind], ""), text) if kind in parts else None


def _to_contents(
    usage: Event, sizes: Counter[tuple[str, str]], since_line: int, system: int
) -> WindowContents:
    tools = {tool: tokens for (part, tool), tokens in sizes.most_common() if part == "tools"}
    parts = {part: sizes[part, ""] for part in ("files", "user", "assistant", "calls", "summary")}
    system = max(system, 0)
    rest = usage["context"] - sizes.total() - system
    return WindowContents(
        tokens=usage["context"],
        line=usage["line"],
        since_line=since_line,
        tools=tools,
        system=system or None,
        rest=rest if rest >= 0 else None,
        **parts,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPoint:
    """The size of the context at one request."""

    line: int
    at: str
    tokens: int


def find_context_points(events: Iterable[Event], most: int = MAX_POINTS) -> list[ContextPoint]:
    """Return the size of the context at each request of a session, at most `most` of them."""
    points: list[ContextPoint] = []
    for event in events:
        if event["kind"] != "usage" or "agent" in event or not event["context"]:
            continue
        if points and points[-1].tokens == event["context"]:
            continue
        points.append(
            ContextPoint(line=event["line"], at=event.get("at", ""), tokens=event["context"])
        )
    return thin_points(points, most)


def thin_points(points: Sequence[ContextPoint], most: int) -> list[ContextPoint]:
    """Return at most `most` points: of each run of points the smallest and the largest.

    So the drop at a compaction and the peak before it stay.
    """
    if len(points) <= most:
        return list(points)
    buckets = max(1, most // 2)
    kept: list[ContextPoint] = []
    for index in range(buckets):
        run = points[index * len(points) // buckets : (index + 1) * len(points) // buckets]
        extremes = {min(run, key=_tokens), max(run, key=_tokens)}
        kept += sorted(extremes, key=lambda point: point.line)
    return kept


def _tokens(point: ContextPoint) -> int:
    return point.tokens
