"""Items of earlier stretches: the work that was finished before each earlier compaction.

A stretch is the part of a session between two compactions. No summary can tell of it: each has seen
only the summary before it.
"""

from __future__ import annotations

from holdfast.brief.items import Item, base_name, cite_lines, name_commit, ref
from holdfast.brief.statements import is_lasting, split_statements, stands_alone
from holdfast.state.quoting import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.state.types import State

# So many stretches have an item each; all stretches before them share one.
MAX_SEPARATE_STRETCHES = 6
LATEST_VALUE, VALUE_STEP = 64.0, 4.0
MAX_COMMITS, MAX_REPORTS, MAX_FILES = 8, 3, 8


def stretch_items(state: State) -> Iterator[Item]:
    """One item for each earlier stretch, the latest first: what was reported, committed and
    changed in it. The latest is required."""
    ends = stretch_ends(state)
    starts = [0, *ends[:-1]]
    merged = max(0, len(ends) - MAX_SEPARATE_STRETCHES)
    for number in reversed(range(merged, len(ends))):
        start = starts[number] if number > merged else 0
        forms = tuple(_render(state, number + 1, start, ends[number], level) for level in range(3))
        age = len(ends) - 1 - number
        yield Item(
            "earlier", "stretch", LATEST_VALUE - VALUE_STEP * age, ends[number], forms,
            quote=forms[0], is_required=not age, is_prose=True,
        )  # fmt: skip


def _render(state: State, number: int, start: int, end: int, level: int) -> str:
    """A stretch at one of three lengths, 0 being the longest."""
    share = (1.0, 0.5, 0.0)[level]
    commits = [one for one in state["commits"] if start < one["line"] <= end]
    reports = [one for one in state["reports"] if start < one["line"] <= end]
    files = {
        path: trail["line"]
        for path, trail in state["files"].items()
        if start < trail["line"] <= end and (trail.get("edits") or trail.get("deleted"))
    }
    parts = []
    for report in reports[-max(1, int(MAX_REPORTS * share)) :]:
        if sentence := _find_statement(report["text"]):
            parts.append(f"reported {quote(sentence, int(100 + 80 * share))} {ref(report['line'])}")
    shown = commits[-max(1, int(MAX_COMMITS * share)) :]
    parts += [f"commit {name_commit(one, 70)} {ref(one['line'])}" for one in shown]
    if len(commits) > len(shown):
        parts.append(f"{len(commits) - len(shown)} more commits")
    if files and share:
        names = [base_name(path) for path in files][-int(MAX_FILES * share) :]
        lines = cite_lines([line] for line in list(files.values())[-len(names) :])
        more = f" and {len(files) - len(names)} more" if len(files) > len(names) else ""
        parts.append(f"changed {', '.join(names)}{more} {lines}")
    text = "; ".join(parts) or f"nothing reported or committed {ref(end)}"
    return f"- before compaction {number}: {text}"


def _find_statement(text: str) -> str:
    """The first statement of a report that can be understood alone, or nothing."""
    statements = [one for one in split_statements(text) if stands_alone(one)]
    return next(filter(is_lasting, statements), statements[0] if statements else "")


def stretch_ends(state: State) -> list[int]:
    """The lines of earlier compactions. A last compaction without a reply after it is the one that
    was just made, and does not count."""
    compactions = state["compactions"]
    is_current = bool(compactions) and not compactions[-1]["reply_line"]
    return [one["line"] for one in (compactions[:-1] if is_current else compactions)]


def is_in_earlier_stretch(state: State, line: int) -> bool:
    """Whether an earlier compaction came after this transcript line."""
    return any(line <= end for end in stretch_ends(state)[-1:])
