"""M8: what is left of old things after several compactions.

Two ways to compact again: from the whole transcript, as Holdfast does, and from nothing but the
previous brief and the lines since, as a summary of a summary is made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from holdfast.brief.render import build
from holdfast.eval.arms import CHARACTERS
from holdfast.eval.artifacts.lines import raw_lines
from holdfast.eval.cuts import Cut
from holdfast.eval.entities import Entity
from holdfast.eval.matching import Said
from holdfast.eval.references import References
from holdfast.eval.session import Session
from holdfast.names.index import new_index, observe
from holdfast.state.fold import advance, new_state
from holdfast.transcript.events import decode

ONLY_BRIEF = "brief of a brief"


def first_seen(session: Session) -> dict[Entity, int]:
    """In which span between compactions each entity was named first."""
    ends = [each.line for each in session.compactions]
    found: dict[Entity, int] = {}
    span = 0
    for piece in session.pieces:
        while span < len(ends) and piece.line > ends[span]:
            span += 1
        if piece.kind != "summary":
            for entity in piece.names:
                found.setdefault(entity, span)
    return found


def survival(
    said: Said, references: References, seen: dict[Entity, int], cut: Cut
) -> dict[str, float]:
    """S(k): of what is needed and was first named k compactions ago or earlier, the share said."""
    found: dict[str, float] = {}
    for ago in range(1, cut.number + 1):
        old = [one for one in references.weights if seen.get(one, cut.number) <= cut.number - ago]
        if old:
            found[f"survival_{ago}"] = sum(map(said.says, old)) / len(old)
    return found


def briefs_of_briefs(session: Session, tokens: int) -> dict[int, str]:
    """At each compaction, a brief that was made of the previous one and the lines since."""
    found: dict[int, str] = {}
    previous, start = "", 0
    lines = list(raw_lines(session.path))
    for compaction in session.compactions:
        state = new_state()
        since = list(enumerate(lines, 1))[start : compaction.line - 1]
        events = list(decode([*_told(previous, start), *since]))
        advance(state, events)
        index = new_index()
        observe(index, events)
        previous = build(state, index=index, tokens=tokens, characters=CHARACTERS).text
        found[compaction.line] = previous
        start = compaction.summary_line
    return found


def _told(brief: str, line: int) -> Iterator[tuple[int, bytes]]:
    if brief:
        message = {"role": "user", "content": brief}
        yield line, json.dumps({"type": "user", "uuid": "brief", "message": message}).encode()
