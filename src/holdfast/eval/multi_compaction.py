"""Measure what survives several compactions.

Holdfast builds each brief from the whole transcript. For comparison, a chained brief is built from
only the previous brief and the lines since, as a summary of a summary is made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from holdfast.brief.render import build_brief
from holdfast.eval.cuts import Cut
from holdfast.eval.entities import Entity
from holdfast.eval.lines import read_raw_lines
from holdfast.eval.matching import TextMatcher
from holdfast.eval.methods import MAX_BRIEF_UNITS
from holdfast.eval.references import References
from holdfast.eval.session import Session
from holdfast.state.fold import advance, new_state
from holdfast.transcript.decoder import decode

CHAINED_BRIEF = "brief of a brief"


def find_first_spans(session: Session) -> dict[Entity, int]:
    """Return the number of the span between compactions in which each entity was named first."""
    ends = [compaction.line for compaction in session.compactions]
    first_spans: dict[Entity, int] = {}
    span = 0
    for piece in session.pieces:
        while span < len(ends) and piece.line > ends[span]:
            span += 1
        if piece.kind != "summary":
            for entity in piece.names:
                first_spans.setdefault(entity, span)
    return first_spans


def measure_survival(
    matcher: TextMatcher, references: References, first_spans: dict[Entity, int], cut: Cut
) -> dict[str, float]:
    """Return S(k) for each k: of the needed entities that were first named k compactions ago or
    earlier, the share that the text mentions.
    """
    figures: dict[str, float] = {}
    for ago in range(1, cut.number + 1):
        old = [
            entity
            for entity in references.weights
            if first_spans.get(entity, cut.number) <= cut.number - ago
        ]
        if old:
            figures[f"survival_{ago}"] = sum(map(matcher.mentions, old)) / len(old)
    return figures


def build_chained_briefs(session: Session, tokens: int) -> dict[int, str]:
    """Return, by the line of each compaction, a brief of the previous brief and the lines since."""
    briefs: dict[int, str] = {}
    previous, start = "", 0
    lines = list(read_raw_lines(session.path))
    for compaction in session.compactions:
        state = new_state()
        since = list(enumerate(lines, 1))[start : compaction.line - 1]
        advance(state, decode([*_to_lines(previous, start), *since]))
        previous = build_brief(state, tokens=tokens, characters=MAX_BRIEF_UNITS).text
        briefs[compaction.line] = previous
        start = compaction.summary_line
    return briefs


def _to_lines(brief: str, line: int) -> Iterator[tuple[int, bytes]]:
    if brief:
        message = {"role": "user", "content": brief}
        yield line, json.dumps({"type": "user", "uuid": "brief", "message": message}).encode()
