"""The managed "Compact Instructions" section of a CLAUDE.md. Works on text only.

The section brings exactly one line end before it and one after it, so that taking it out leaves
every other byte as it was.
"""

from __future__ import annotations

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


def section(line_end: str = "\n") -> str:
    """The section between its markers, without a line end after it."""
    lines = [START, TITLE, "", "When summarizing this conversation, preserve:", ""]
    lines += [f"{number}. {text}" for number, text in enumerate(PRESERVE, 1)]
    lines += ["", "Do NOT spend summary space on:", ""]
    lines += [f"- {text}" for text in DO_NOT]
    return line_end.join([*lines, END])


def add(text: str | None) -> str:
    """The text with the section at its end, or with the section it has brought up to date."""
    if text is None:
        return section() + "\n"
    if span := find(text):
        return text[: span[0]] + section(_line_end(text, span[0])) + text[span[1] :]
    line_end = "\r\n" if "\r\n" in text else "\n"
    return f"{text}{line_end}{section(line_end)}{line_end}"


def remove(text: str) -> str | None:
    """The text without the section; None if there is nothing else, so the file was ours."""
    span = find(text)
    if span is None:
        return text
    start, end = span
    line_end = _line_end(text, start)
    before, after = text[:start], text[end:].removeprefix(line_end)
    if not before and not after:
        return None
    return before.removesuffix(line_end) + after


def _line_end(text: str, start: int) -> str:
    """What the section that begins here was written with."""
    return "\r\n" if text.startswith("\r\n", start + len(START)) else "\n"


def find(text: str) -> tuple[int, int] | None:
    """Where the section is."""
    start, end = text.find(START), text.find(END)
    if start < 0 and end < 0:
        return None
    if not 0 <= start < end or START in text[start + 1 :] or END in text[end + 1 :]:
        raise SettingsFileUnusable(
            "the markers around Holdfast's section are damaged",
            hint=f"delete the section by hand, from {START} to {END}",
        )
    return start, end + len(END)


def has_its_own(text: str) -> bool:
    """Whether somebody wrote such a section besides ours."""
    span = find(text)
    rest = text if span is None else text[: span[0]] + text[span[1] :]
    return any(line.strip().lower() == TITLE.lower() for line in rest.splitlines())
