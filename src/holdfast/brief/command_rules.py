"""Extracts from a slash command's file the rules that must still hold after a compaction.

The file marks them between COMPACT_SUMMARY markers or lists them in its front matter. Of a file
that does neither, the lines that read like rules are taken. Pure: text in, text out.
"""

from __future__ import annotations

from holdfast.brief.front_matter import parse_front_matter, to_list, to_text
from holdfast.state.quoting import block_quote
from holdfast.state.text import Cues, TokenizedText, one_line
from holdfast.tokens.estimate import utf16_units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

START_MARKER, END_MARKER = "<!-- COMPACT_SUMMARY_START -->", "<!-- COMPACT_SUMMARY_END -->"
# The limit without markers, where the author did not choose the lines.
MAX_UNMARKED_UNITS = 1500
MAX_RULE_CHARS = 400
PRIORITY_WEIGHTS = {"critical": 4, "high": 3, "medium": 2, "normal": 2, "low": 1}
# A line of a command file with one of these reads like a rule.
RULE_WORDS = Cues(
    "never", "don't", "dont", "do not", "must not", "should not", "shouldn't", "avoid", "without",
    "no longer", "not allowed", "forbidden", "stop", "always", "only", "must", "make sure",
    "ensure", "keep", "should", "prefer", "instead", "have to", "has to", "need to", "required",
    "rather than", "at least", "at most", "exactly", "remember",
    anywhere=("하지 마", "금지", "반드시", "항상", "禁止", "必ず", "不要", "必须"),
)  # fmt: skip
EMPHASIS_CHARS = "*_` "


class CommandRules:
    """The rules of one command, before `fit_rules` cuts them to their share of the budget."""

    __slots__ = ("is_marked", "output_only", "text", "weight")

    def __init__(self, text: str, weight: int, *, output_only: bool, is_marked: bool) -> None:
        self.text = text
        self.weight = weight
        self.output_only = output_only
        """Whether the command only prints something, so that nothing of it has to continue."""
        self.is_marked = is_marked
        """Whether the file marks its rules."""


def extract_rules(file: str, command_state: Mapping[str, Any]) -> CommandRules:
    """The rules in a command file's text, with the fields of the command's state it asks for."""
    front, body = parse_front_matter(file)
    context = front.get("compact_context")
    context = context if isinstance(context, dict) else {}
    kinds = (to_text(front.get("type")), to_text(context.get("type")))
    output_only = "output-only" in kinds or "true" in (
        to_text(front.get("output_only")), to_text(context.get("output_only")),
    )  # fmt: skip
    marked = _between_markers(body)
    main = marked or _shorten(_find_rule_lines(body), MAX_UNMARKED_UNITS)
    rules = [rule for rule in to_list(context.get("preserve_rules")) if rule not in main]
    parts = [
        "\n".join(f"- {rule}" for rule in rules),
        main,
        _render_state_fields(context, command_state),
    ]
    text = "\n\n".join(part for part in parts if part)
    weight = PRIORITY_WEIGHTS.get(to_text(context.get("priority")).lower(), 2)
    return CommandRules(text, weight, output_only=output_only, is_marked=bool(marked))


def _render_state_fields(context: Mapping[str, Any], command_state: Mapping[str, Any]) -> str:
    """The fields that the file names, or all if it names none."""
    names = to_list(context.get("state_fields")) or command_state
    fields = [(name, command_state[name]) for name in names if name in command_state]
    return "\n".join(f"- {name}: {one_line(str(value), 200)}" for name, value in fields)


def _between_markers(body: str) -> str:
    """The marked parts; a part without an end marker reaches to the end of the file."""
    parts = [rest.partition(END_MARKER)[0].strip() for rest in body.split(START_MARKER)[1:]]
    return "\n\n".join(part for part in parts if part)


def _find_rule_lines(body: str) -> str:
    """The lines that forbid or demand something, each below its heading."""
    kept: list[str] = []
    heading, in_code = "", False
    for line in body.splitlines():
        text = line.strip()
        if text.startswith(("```", "~~~")):
            in_code = not in_code
        elif text.startswith("#") and not in_code:
            heading = text
        elif not in_code and text and _is_rule(text):
            if heading:
                kept.extend(["", heading] if kept else [heading])
                heading = ""
            bullet = text if text.startswith(("-", "*", "+")) or text[0].isdigit() else f"- {text}"
            kept.append(one_line(bullet, MAX_RULE_CHARS))
    return "\n".join(kept)


def _is_rule(text: str) -> bool:
    start = text.lstrip("-*+>0123456789. ").strip(EMPHASIS_CHARS)
    tokenized = TokenizedText(text)
    if RULE_WORDS.match(tokenized):
        return True
    return start.startswith(("NEVER", "ALWAYS", "MUST", "DO NOT", "IMPORTANT", "CRITICAL"))


def fit_rules(commands: Sequence[CommandRules], max_units: int) -> list[str]:
    """The rules of each command, cut so that all fit into `max_units` UTF-16 units.

    The units are shared by priority; what one command does not need goes to the others.
    """
    sizes = [_count_units(command.text) for command in commands]
    shares = [0] * len(commands)
    waiting = [index for index, size in enumerate(sizes) if size]
    while waiting:
        total = sum(commands[index].weight for index in waiting)
        satisfied = [
            index
            for index in waiting
            if sizes[index] <= max_units * commands[index].weight // total
        ]
        for index in satisfied or waiting:
            shares[index] = min(sizes[index], max_units * commands[index].weight // total)
        max_units -= sum(shares[index] for index in satisfied)
        waiting = [index for index in waiting if index not in satisfied] if satisfied else []
    return [_shorten(command.text, share) for command, share in zip(commands, shares, strict=True)]


def _count_units(text: str) -> int:
    """The UTF-16 units of a text as it is shown, with the marks of a quotation."""
    return utf16_units(block_quote(text))


def _shorten(text: str, max_units: int) -> str:
    """As many whole sections as fit, then whole lines of the next, and what was left out."""
    if _count_units(text) <= max_units:
        return text
    kept: list[str] = []
    left_out: list[str] = []
    room = max_units - 80  # for the line about what was left out
    for section in _split_sections(text):
        if _count_units(section) + 2 <= room:
            kept.append(section)
        elif not kept and (part := _leading_lines(section, room)):
            kept.append(part)
            left_out.append(f"the rest of {_title(section)}")
        else:
            left_out.append(_title(section))
            continue
        room -= _count_units(kept[-1]) + 2
    if not kept:
        return ""
    return "\n\n".join([*kept, f"(left out for room: {one_line('; '.join(left_out), 50)})"])


def _split_sections(text: str) -> list[str]:
    """The parts below each heading; the paragraphs of a text without headings."""
    lines = text.splitlines()
    has_headings = any(line.startswith("#") for line in lines)
    parts: list[list[str]] = [[]]
    for line in lines:
        is_start = line.startswith("#") if has_headings else not line.strip()
        if is_start and parts[-1]:
            parts.append([])
        parts[-1].append(line)
    sections = ("\n".join(part).strip("\n") for part in parts)
    return [section for section in sections if section.strip()]


def _leading_lines(section: str, room: int) -> str:
    kept: list[str] = []
    for line in section.splitlines():
        room -= _count_units(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept)


def _title(section: str) -> str:
    return one_line(section.lstrip().partition("\n")[0].lstrip("#-* "), 40)
