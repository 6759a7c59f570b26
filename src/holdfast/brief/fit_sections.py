"""Fits sections of lines into a budget that is never exceeded.

Lines are shortened before any is left out; when lines must go, the least important go first.
"""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from holdfast.tokens.estimate import NEWEST_RATES, Estimator, utf16_units

TRUNCATION_NOTICE = "*[Brief truncated due to token limit]*"
# Lines are shortened to no less than READABLE_LINE_CHARS before others are left out; in a very
# small budget the minimum is MIN_LINE_CHARS.
READABLE_LINE_CHARS, MIN_LINE_CHARS = 120, 30
# A paragraph of prose may be so many times as long as a line.
PROSE_LINE_FACTOR = 3
# A suffix in brackets, `(running)`, up to so many characters stays when its line is shortened.
MAX_SUFFIX_CHARS = 40
# The costs of parts are added up, and sums are rounded.
ROUNDING_TOKENS = 0.01

PROSE_CHARS_PER_TOKEN = NEWEST_RATES[1]
_cost = Estimator(*NEWEST_RATES).cost


class Section(NamedTuple):
    heading: str
    lines: list[str]
    """The most important first."""
    is_prose: bool = False
    is_reversed: bool = False
    """Whether the lines are printed in reverse, the most important last."""

    def max_line_chars(self, max_chars: int) -> int:
        return max_chars * PROSE_LINE_FACTOR if self.is_prose else max_chars

    def render(self, max_chars: int) -> list[str]:
        """The heading and the lines, none longer than `max_chars`."""
        if not self.lines:
            return []
        limit = self.max_line_chars(max_chars)
        lines = [line if len(line) <= limit else shorten_line(line, limit) for line in self.lines]
        return ["", self.heading, *(reversed(lines) if self.is_reversed else lines)]


class SectionsBudget:
    """What is left of a budget of tokens and of UTF-16 units, which hosts count."""

    def __init__(self, tokens: int, characters: int) -> None:
        self.tokens = tokens - ROUNDING_TOKENS
        self.characters = characters

    def measure(self, text: str) -> tuple[float, int] | None:
        """The tokens and units of a text; None if it does not fit."""
        # Prose has the most characters per token, so a longer text is rejected without the slow
        # look at each word.
        if len(text) > min(self.characters, self.tokens * PROSE_CHARS_PER_TOKEN):
            return None
        size = _cost(text), utf16_units(text)
        return size if size[0] <= self.tokens and size[1] <= self.characters else None

    def take(self, lines: list[str]) -> bool:
        """Use the budget for these lines; returns False, and takes nothing, if they do not fit."""
        # Measuring many lines at once takes hardly longer than measuring one.
        size = self.measure("\n".join([*lines, ""]))
        if size is None:
            return False
        self.tokens -= size[0]
        self.characters -= size[1]
        return True


def fit_sections(
    title: str, sections: list[Section], *, tokens: int, characters: int, is_partial: bool = False
) -> str:
    """All sections as text if they fit, else as much as fits and a truncation notice.

    The notice is also added if the sections given are only a part (`is_partial`). Empty if not a
    single line fits.
    """
    new_budget = partial(SectionsBudget, tokens, characters)
    longest = max((len(line) for section in sections for line in section.lines), default=0)
    all_lines = _render_lines(title, sections, longest)
    if not is_partial and new_budget().take(all_lines):
        return "\n".join(all_lines)
    shortest = max(MIN_LINE_CHARS, min(READABLE_LINE_CHARS, tokens // 5))
    kept = _select_lines(title, sections, shortest, new_budget())
    if not any(section.lines for section in kept):
        return ""
    # Find the greatest line length at which the kept lines fit.
    while shortest < longest:
        middle = (shortest + longest + 1) // 2
        fits = new_budget().take([*_render_lines(title, kept, middle), "", TRUNCATION_NOTICE])
        shortest, longest = (middle, longest) if fits else (shortest, middle - 1)
    return "\n".join([*_render_lines(title, kept, shortest), "", TRUNCATION_NOTICE])


def _select_lines(
    title: str, sections: list[Section], max_chars: int, budget: SectionsBudget
) -> list[Section]:
    """The sections with the lines that fit if each is cut to `max_chars`: the first line of every
    section, then the second of every section, and so on."""
    kept = [section._replace(lines=[]) for section in sections]
    if not budget.take([*filter(None, (title,)), "", TRUNCATION_NOTICE]):
        return kept
    columns = [
        _shorten_lines(target, section.lines, section.max_line_chars(max_chars))
        for target, section in zip(kept, sections, strict=True)
    ]
    candidates = [one for row in zip_longest(*columns) for one in row if one]
    # Take as many lines at once as fit; where they do not fit, try half as many.
    start, count = 0, len(candidates)
    while start < len(candidates):
        batch = candidates[start : start + count]
        lines = [short for _, _, short in batch]
        for section in {id(one): one for one, _, _ in batch if not one.lines}.values():
            lines += "", section.heading
        if budget.take(lines):
            for section, line, _ in batch:
                section.lines.append(line)
            start += count
        elif count > 1:
            count //= 2
        else:
            # A later line may be shorter and fit.
            start += 1
            while start < len(candidates) and budget.measure(candidates[start][2]) is None:
                start += 1
    return kept


def _shorten_lines(
    section: Section, lines: list[str], max_chars: int
) -> list[tuple[Section, str, str]]:
    """For each line: its section, the line, and the shortened line."""
    return [(section, line, shorten_line(line, max_chars)) for line in lines]


def _render_lines(title: str, sections: list[Section], max_chars: int) -> list[str]:
    lines = [title] if title else []
    for section in sections:
        lines += section.render(max_chars)
    return lines


def shorten_line(line: str, max_chars: int) -> str:
    """The line in at most `max_chars`, with its suffix in brackets if that is short."""
    if len(line) <= max_chars:
        return line
    before, bracket, after = line.rpartition(" (")
    max_suffix = min(MAX_SUFFIX_CHARS, max_chars // 2)
    has_suffix = bool(before) and line.endswith(")") and len(after) < max_suffix
    suffix = f"{bracket}{after}" if has_suffix else ""
    return f"{line[: max_chars - 1 - len(suffix)].rstrip()}…{suffix}"
