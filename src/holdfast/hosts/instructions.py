"""The managed sections of a CLAUDE.md: for the summariser, and for sub-agents. Works on text only.

A section brings exactly one line end before it and one after it, so that taking it out leaves
every other byte as it was.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.errors import SettingsFileUnusable

START = "<!-- HOLDFAST_INSTRUCTIONS_START: kept by `holdfast instructions` -->"
END = "<!-- HOLDFAST_INSTRUCTIONS_END -->"
TITLE = "## Compact Instructions"
# What only a summary can hold. Everything a transcript tells word for word comes back in the brief.
PRESERVE = (
    "**The goal**: what the user wants in the end, and why.",
    "**Rules and prohibitions** of the user, word for word.",
    "**Decisions** and the approaches that were ruled out, each with its reason.",
    "**Where the work stands**: what is done, what was being done at this moment, what comes next.",
    "**What was understood**: causes, measurements and suspicions that stand in no file.",
    "**What is open**: questions to the user, failing checks and the current explanation for them.",
    "**Who is at work**: sub-agents and background tasks by id, and what each is to bring back.",
)
DO_NOT = (
    "Lists of files that were read or changed: they are restored after the summary.",
    "Output of commands and tools: it can be looked up or produced again.",
    "Code: it is on disk.",
    "This file and other instructions: they are sent again.",
    "Plan items and earlier messages in full: they are restored word for word.",
)


@dataclass(frozen=True, slots=True)
class Section:
    """What stands between which markers."""

    start: str
    end: str
    lines: tuple[str, ...]


COMPACT = Section(
    START,
    END,
    (
        TITLE,
        "",
        "When summarizing this conversation, preserve:",
        "",
        *(f"{number}. {text}" for number, text in enumerate(PRESERVE, 1)),
        "",
        "Do NOT spend summary space on:",
        "",
        *(f"- {text}" for text in DO_NOT),
    ),
)


def handoff(rules: str) -> Section:
    """The section that tells sub-agents what to hand on."""
    return Section(
        "<!-- HOLDFAST_HANDOFF_START: kept by `holdfast instructions --handoff` -->",
        "<!-- HOLDFAST_HANDOFF_END -->",
        ("If you are a sub-agent that works for another agent:", "", *rules.splitlines()),
    )


def section(line_end: str = "\n", of: Section = COMPACT) -> str:
    """The section between its markers, without a line end after it."""
    return line_end.join([of.start, *of.lines, of.end])


def add(text: str | None, of: Section = COMPACT) -> str:
    """The text with the section at its end, or with the section it has brought up to date."""
    if text is None:
        return section(of=of) + "\n"
    if span := find(text, of):
        return text[: span[0]] + section(_line_end(text, span[0], of), of) + text[span[1] :]
    line_end = "\r\n" if "\r\n" in text else "\n"
    return f"{text}{line_end}{section(line_end, of)}{line_end}"


def remove(text: str, of: Section = COMPACT) -> str | None:
    """The text without the section; None if there is nothing else, so the file was ours."""
    span = find(text, of)
    if span is None:
        return text
    start, end = span
    line_end = _line_end(text, start, of)
    before, after = text[:start], text[end:].removeprefix(line_end)
    if not before and not after:
        return None
    return before.removesuffix(line_end) + after


def _line_end(text: str, start: int, of: Section) -> str:
    """What the section that begins here was written with."""
    return "\r\n" if text.startswith("\r\n", start + len(of.start)) else "\n"


def find(text: str, of: Section = COMPACT) -> tuple[int, int] | None:
    """Where the section is."""
    start, end = text.find(of.start), text.find(of.end)
    if start < 0 and end < 0:
        return None
    if not 0 <= start < end or of.start in text[start + 1 :] or of.end in text[end + 1 :]:
        raise SettingsFileUnusable(
            "the markers around Holdfast's section are damaged",
            hint=f"delete the section by hand, from {of.start} to {of.end}",
        )
    return start, end + len(of.end)


def has_its_own(text: str) -> bool:
    """Whether somebody wrote such a section besides ours."""
    span = find(text)
    rest = text if span is None else text[: span[0]] + text[span[1] :]
    return any(line.strip().lower() == TITLE.lower() for line in rest.splitlines())
