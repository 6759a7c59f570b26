"""What of a slash command's own text must hold on after a compaction.

A command says so itself between markers or in its front matter; of one that does not, the lines
that read like rules are taken. Pure: text in, text out.
"""

from __future__ import annotations

from holdfast.brief.front_matter import listed, parse, word
from holdfast.brief.tokens import units
from holdfast.state.rules.rules_of_user import PROHIBITIONS, REQUIREMENTS
from holdfast.state.wording import Heard, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

START, END = "<!-- COMPACT_SUMMARY_START -->", "<!-- COMPACT_SUMMARY_END -->"
# Without markers a command gets no more than this: nobody chose those lines.
MOST_UNMARKED = 1500
LONGEST_RULE = 400
PRIORITIES = {"critical": 4, "high": 3, "medium": 2, "normal": 2, "low": 1}
STARS = "*_` "


class CommandText:
    """One command's contribution, before it is fitted into a share of the room."""

    __slots__ = ("is_marked", "output_only", "text", "weight")

    def __init__(self, text: str, weight: int, *, output_only: bool, is_marked: bool) -> None:
        self.text = text
        self.weight = weight
        self.output_only = output_only
        """It printed something once: there is nothing to go on with."""
        self.is_marked = is_marked


def of_file(file: str, given: Mapping[str, Any]) -> CommandText:
    """What this file asks to be kept, with the fields of the command's state that it names."""
    front, body = parse(file)
    told = front.get("compact_context")
    told = told if isinstance(told, dict) else {}
    kinds = (word(front.get("type")), word(told.get("type")))
    output_only = "output-only" in kinds or "true" in (
        word(front.get("output_only")), word(told.get("output_only")),
    )  # fmt: skip
    marked = _between_markers(body)
    main = marked or _fitted(_rule_like(body), MOST_UNMARKED)
    rules = [rule for rule in listed(told.get("preserve_rules")) if rule not in main]
    parts = ["\n".join(f"- {rule}" for rule in rules), main, _fields(told, given)]
    text = "\n\n".join(part for part in parts if part)
    weight = PRIORITIES.get(word(told.get("priority")).lower(), 2)
    return CommandText(text, weight, output_only=output_only, is_marked=bool(marked))


def _fields(told: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    named = listed(told.get("state_fields"))
    shown = [(name, given[name]) for name in named or given if name in given]
    return "\n".join(f"- {name}: {one_line(str(value), 200)}" for name, value in shown)


def _between_markers(body: str) -> str:
    """Every marked part; one that is not closed reaches to the end."""
    parts = [rest.partition(END)[0].strip() for rest in body.split(START)[1:]]
    return "\n\n".join(part for part in parts if part)


def _rule_like(body: str) -> str:
    """The lines that forbid or demand something, under their headings."""
    kept: list[str] = []
    heading, fenced = "", False
    for line in body.splitlines():
        text = line.strip()
        if text.startswith(("```", "~~~")):
            fenced = not fenced
        elif text.startswith("#") and not fenced:
            heading = text
        elif not fenced and text and _is_rule(text):
            if heading:
                kept.extend(["", heading] if kept else [heading])
                heading = ""
            bullet = text if text.startswith(("-", "*", "+")) or text[0].isdigit() else f"- {text}"
            kept.append(one_line(bullet, LONGEST_RULE))
    return "\n".join(kept)


def _is_rule(text: str) -> bool:
    shouted = text.lstrip("-*+>0123456789. ").strip(STARS)
    heard = Heard(text)
    if PROHIBITIONS.among(heard) or REQUIREMENTS.among(heard):
        return True
    return shouted.startswith(("NEVER", "ALWAYS", "MUST", "DO NOT", "IMPORTANT", "CRITICAL"))


def shared(texts: Sequence[CommandText], room: int) -> list[str]:
    """Each text within its share of the room: what one does not need, the others get."""
    sizes = [units(text.text) for text in texts]
    shares = [0] * len(texts)
    waiting = [number for number, size in enumerate(sizes) if size]
    while waiting:
        weight = sum(texts[number].weight for number in waiting)
        content = [n for n in waiting if sizes[n] <= room * texts[n].weight // weight]
        for number in content or waiting:
            shares[number] = min(sizes[number], room * texts[number].weight // weight)
        room -= sum(shares[number] for number in content)
        waiting = [number for number in waiting if number not in content] if content else []
    return [_fitted(text.text, share) for text, share in zip(texts, shares, strict=True)]


def _fitted(text: str, most: int) -> str:
    """Whole sections as long as they fit, then whole lines of the next; what is missing is told."""
    if units(text) <= most:
        return text
    kept: list[str] = []
    left_out: list[str] = []
    room = most - 80
    for section in _sections(text):
        if units(section) + 2 <= room:
            kept.append(section)
        elif not kept and (part := _lines_of(section, room)):
            kept.append(part)
            left_out.append(f"the rest of {_title(section)}")
        else:
            left_out.append(_title(section))
            continue
        room -= units(kept[-1]) + 2
    if not kept:
        return ""
    return "\n\n".join([*kept, f"(left out for room: {one_line('; '.join(left_out), 50)})"])


def _sections(text: str) -> list[str]:
    """Parts that begin with a heading; of a text without headings, its paragraphs."""
    lines = text.splitlines()
    has_headings = any(line.startswith("#") for line in lines)
    found: list[list[str]] = [[]]
    for line in lines:
        begins = line.startswith("#") if has_headings else not line.strip()
        if begins and found[-1]:
            found.append([])
        found[-1].append(line)
    sections = ("\n".join(part).strip("\n") for part in found)
    return [section for section in sections if section.strip()]


def _lines_of(section: str, room: int) -> str:
    kept: list[str] = []
    for line in section.splitlines():
        room -= units(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept)


def _title(section: str) -> str:
    return one_line(section.lstrip().partition("\n")[0].lstrip("#-* "), 40)
