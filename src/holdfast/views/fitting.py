"""Sections of lines within a budget: lines are shortened before any is left out, and the least
important go first. The limit is hard.
"""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from holdfast.brief.tokens import NEWEST, Estimator, units

CUT = "*[Brief truncated due to token limit]*"
# Shorter than this a line says little, so others go instead; where hardly anything fits, it may be
# as short as the second.
READABLE, LEAST = 120, 30
# A paragraph may have so many times the room of a line.
PARAGRAPH = 3
# What stands in brackets behind a line, `(running)`, stays when the line is shortened.
LONGEST_END = 40
# Costs of parts are added up.
ROUNDING = 0.01

WORDS = NEWEST[1]
_cost = Estimator(*NEWEST).cost


class Section(NamedTuple):
    heading: str
    lines: list[str]
    """The most important first."""
    is_prose: bool = False
    is_turned: bool = False
    """Whether the most important stands last."""

    def limit(self, most: int) -> int:
        return most * PARAGRAPH if self.is_prose else most

    def text(self, most: int) -> list[str]:
        """With no line longer than that."""
        if not self.lines:
            return []
        limit = self.limit(most)
        lines = [line if len(line) <= limit else shortened(line, limit) for line in self.lines]
        return ["", self.heading, *(reversed(lines) if self.is_turned else lines)]


class Room:
    """What is left of a budget of tokens and of the units that hosts count."""

    def __init__(self, tokens: int, characters: int) -> None:
        self.tokens = tokens - ROUNDING
        self.characters = characters

    def size(self, text: str) -> tuple[float, int] | None:
        """What it takes, if there is so much room."""
        # Nothing takes fewer tokens than words do, and to look at each of them takes long.
        if len(text) > min(self.characters, self.tokens * WORDS):
            return None
        size = _cost(text), units(text)
        return size if size[0] <= self.tokens and size[1] <= self.characters else None

    def takes(self, lines: list[str]) -> bool:
        """Whether these lines still fit; if so, they have their place."""
        # To measure many at once takes hardly longer than one of them.
        size = self.size("\n".join([*lines, ""]))
        if size is None:
            return False
        self.tokens -= size[0]
        self.characters -= size[1]
        return True


def fitted(
    title: str, sections: list[Section], *, tokens: int, characters: int, is_part: bool = False
) -> str:
    """Everything, if there is room; else as much as there is room for, and that it is not all.
    That is also said if the sections were a part already.
    """
    room = partial(Room, tokens, characters)
    longest = max((len(line) for section in sections for line in section.lines), default=0)
    whole = _lines(title, sections, longest)
    if not is_part and room().takes(whole):
        return "\n".join(whole)
    least = max(LEAST, min(READABLE, tokens // 5))
    kept = _chosen(title, sections, least, room())
    if not any(section.lines for section in kept):
        return ""
    while least < longest:
        middle = (least + longest + 1) // 2
        fits = room().takes([*_lines(title, kept, middle), "", CUT])
        least, longest = (middle, longest) if fits else (least, middle - 1)
    return "\n".join([*_lines(title, kept, least), "", CUT])


def _chosen(title: str, sections: list[Section], least: int, room: Room) -> list[Section]:
    """What fits if all of it is as short as can be: of every section the first line, then of every
    section the second, and so on.
    """
    kept = [section._replace(lines=[]) for section in sections]
    if not room.takes([*filter(None, (title,)), "", CUT]):
        return kept
    columns = [
        _short(own, section.lines, section.limit(least))
        for own, section in zip(kept, sections, strict=True)
    ]
    wanted = [one for row in zip_longest(*columns) for one in row if one]
    at, many = 0, len(wanted)
    while at < len(wanted):
        some = wanted[at : at + many]
        lines = [short for _, _, short in some]
        for section in {id(one): one for one, _, _ in some if not one.lines}.values():
            lines += "", section.heading
        if room.takes(lines):
            for section, line, _ in some:
                section.lines.append(line)
            at += many
        elif many > 1:
            many //= 2
        else:
            # What comes after it may be shorter.
            at += 1
            while at < len(wanted) and room.size(wanted[at][2]) is None:
                at += 1
    return kept


def _short(section: Section, lines: list[str], most: int) -> list[tuple[Section, str, str]]:
    """For each line the section that it is for, and what it is when it is short."""
    return [(section, line, shortened(line, most)) for line in lines]


def _lines(title: str, sections: list[Section], most: int) -> list[str]:
    lines = [title] if title else []
    for section in sections:
        lines += section.text(most)
    return lines


def shortened(line: str, most: int) -> str:
    if len(line) <= most:
        return line
    before, bracket, after = line.rpartition(" (")
    is_end = bool(before) and line.endswith(")") and len(after) < min(LONGEST_END, most // 2)
    end = f"{bracket}{after}" if is_end else ""
    return f"{line[: most - 1 - len(end)].rstrip()}…{end}"
