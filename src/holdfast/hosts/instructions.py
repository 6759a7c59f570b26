"""The sections that Holdfast manages in a CLAUDE.md: for the summarizer, and for sub-agents.

Works on text only. Adding a section adds exactly one line end before it and one after it, so that
removing it restores every other byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.errors import UnusableSettingsFile

START = "<!-- HOLDFAST_INSTRUCTIONS_START: kept by `holdfast instructions` -->"
END = "<!-- HOLDFAST_INSTRUCTIONS_END -->"
TITLE = "## Compact Instructions"
# Seven things that every summary should have. It tells nothing to be left out: summaries that were
# told so lost more than the room they saved.
PRESERVE = (
    "**Session identity**: the session's id if it is known (`.holdfast/CURRENT_SESSION`), the "
    "branch and the folder.",
    "**Active task**: the issue, document or plan item that is worked on, with its id and status.",
    "**Work completed**: what is done and verified, with figures and commits; and what was written "
    "but not run.",
    "**Work in progress**: what was being done at this moment, and what comes next.",
    "**Decisions and open questions**: what was decided or ruled out and why, the user's rules "
    "word for word, questions that wait for an answer.",
    "**Agent state**: sub-agents and background tasks by id, what each is to bring back, servers "
    "and their ports.",
    "**Key file paths**: files that are being edited, created or deleted, and how commands must be "
    "run here to work.",
)


@dataclass(frozen=True, slots=True)
class InstructionsSection:
    """The lines of a section and the markers around them."""

    start: str
    end: str
    lines: tuple[str, ...]


COMPACT_SECTION = InstructionsSection(
    START,
    END,
    (
        TITLE,
        "",
        "When summarizing this conversation, preserve:",
        "",
        *(f"{number}. {text}" for number, text in enumerate(PRESERVE, 1)),
    ),
)


def with_own_items(items: Sequence[str]) -> InstructionsSection:
    """Return the section with items of the project's own after the seven."""
    first = len(PRESERVE) + 1
    own = (f"{number}. {text}" for number, text in enumerate(items, first))
    return replace(COMPACT_SECTION, lines=(*COMPACT_SECTION.lines, *own))


def find_own_items(text: str | None) -> list[str]:
    """Return the items that a project has added to the section in this text.

    They are the numbered lines after the seven; a line without a number continues the one before.
    """
    span = find_section(text or "")
    if span is None:
        return []
    items: list[str] = []
    for line in (text or "")[slice(*span)].splitlines():
        number, dot, item = line.partition(". ")
        if dot and number.isdigit():
            if int(number) > len(PRESERVE):
                items.append(item.strip())
        elif items and line.strip() and not line.startswith("<!--"):
            items[-1] += f" {line.strip()}"
    return items


def handoff_section(rules: str) -> InstructionsSection:
    """Return the section that tells sub-agents what to put into their handoff."""
    return InstructionsSection(
        "<!-- HOLDFAST_HANDOFF_START: kept by `holdfast instructions --handoff` -->",
        "<!-- HOLDFAST_HANDOFF_END -->",
        ("If you are a sub-agent that works for another agent:", "", *rules.splitlines()),
    )


def render_section(line_end: str = "\n", section: InstructionsSection = COMPACT_SECTION) -> str:
    """Return the section with its markers, without a line end after it."""
    return line_end.join([section.start, *section.lines, section.end])


def add_section(text: str | None, section: InstructionsSection = COMPACT_SECTION) -> str:
    """Return the text with the section at its end, or with its existing section updated."""
    if text is None:
        return render_section(section=section) + "\n"
    if span := find_section(text, section):
        return (
            text[: span[0]]
            + render_section(_line_end(text, span[0], section), section)
            + text[span[1] :]
        )
    line_end = "\r\n" if "\r\n" in text else "\n"
    return f"{text}{line_end}{render_section(line_end, section)}{line_end}"


def remove_section(text: str, section: InstructionsSection = COMPACT_SECTION) -> str | None:
    """Return the text without the section; None if nothing else is left, so the file was ours."""
    span = find_section(text, section)
    if span is None:
        return text
    start, end = span
    line_end = _line_end(text, start, section)
    before, after = text[:start], text[end:].removeprefix(line_end)
    if not before and not after:
        return None
    return before.removesuffix(line_end) + after


def _line_end(text: str, start: int, section: InstructionsSection) -> str:
    """Return the line end that the section at `start` was written with."""
    return "\r\n" if text.startswith("\r\n", start + len(section.start)) else "\n"


def find_section(
    text: str, section: InstructionsSection = COMPACT_SECTION
) -> tuple[int, int] | None:
    """Return start and end of the section, or None; raises if its markers are damaged."""
    start, end = text.find(section.start), text.find(section.end)
    if start < 0 and end < 0:
        return None
    if not 0 <= start < end or section.start in text[start + 1 :] or section.end in text[end + 1 :]:
        raise UnusableSettingsFile(
            "the markers around Holdfast's section are damaged",
            hint=f"delete the section by hand, from {section.start} to {section.end}",
        )
    return start, end + len(section.end)


def has_own_instructions(text: str) -> bool:
    """Return whether the file has compact instructions besides ours."""
    span = find_section(text)
    rest = text if span is None else text[: span[0]] + text[span[1] :]
    return any(line.strip().lower() == TITLE.lower() for line in rest.splitlines())
