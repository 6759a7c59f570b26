"""Is what is needed after a compaction in the brief, or one lookup away?

Each needed entity is looked for in the 1,000-token brief, in the first three hits for its own name,
in the first three hits for the words around the place where it was named last, and in what the ref
of that place opens.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from posixpath import basename
from typing import Any

from holdfast.errors import NotATranscript
from holdfast.eval.arms import Folded, brief
from holdfast.eval.cuts import REAL, Cut
from holdfast.eval.entities import CLASSES, Entity
from holdfast.eval.matching import Said
from holdfast.eval.run import beginning, eligible, spread
from holdfast.eval.session import Piece, Session, load

BRIEF, TOP = 1000, 3
# So many entities of each compaction are tried, drawn with the same seed every time.
MOST, SEED = 60, 7
WORD = re.compile(r"[A-Za-z]{3,}")
AROUND, ON_EACH_SIDE = 120, 4


@dataclass(frozen=True, slots=True)
class Desk:
    """How things are looked up in a transcript: by words, the best first, and by a line."""

    by_words: Callable[[str, str], list[str]]
    at_line: Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What became of one entity."""

    session: str
    line: int
    kind: str
    name: str
    in_brief: bool
    by_itself: bool
    by_neighbours: bool
    by_ref: bool

    @property
    def recovered(self) -> bool:
        return self.in_brief or self.by_itself or self.by_neighbours


SHARES: dict[str, Callable[[Tried], bool]] = {
    "in the 1,000-token brief": lambda one: one.in_brief,
    "in the first three hits, asked for by itself": lambda one: one.by_itself,
    "in the first three hits, by the words around it": lambda one: one.by_neighbours,
    "in the brief or in the first three hits": lambda one: one.recovered,
    "by its exact ref": lambda one: one.by_ref,
}
# What is asked of the last two.
AIMS = (None, None, None, 0.99, 1.0)


def try_all(paths: Sequence[str], desk: Desk) -> Iterator[list[Tried]]:
    """The entities of each transcript as it is done."""
    return spread(Trial(desk), paths)


@dataclass(frozen=True, slots=True)
class Trial:
    desk: Desk

    def __call__(self, path: str) -> list[Tried]:
        try:
            session = load(path)
        except NotATranscript:
            return []
        return list(tried(session, self.desk))


def tried(session: Session, desk: Desk) -> Iterator[Tried]:
    """Every sampled entity at every compaction of one session."""
    folded = Folded(session.path)
    for cut, needed in eligible(session):
        if cut.arm != REAL:
            continue
        said = Said(brief(folded.until(cut.line), BRIEF).text, session.paths)
        names = sorted(needed.weights)
        sample = random.Random(SEED).sample(names, min(MOST, len(names)))
        with beginning(session, cut) as file:
            yield from (_try(session, cut, entity, said, file, desk) for entity in sample)


def summary(found: Iterable[Tried]) -> dict[str, Any]:
    """The shares, of all and of each class."""
    everything = list(found)
    kinds = [kind for kind in CLASSES.values() if any(one.kind == kind for one in everything)]
    return {
        "entities": len(everything),
        "sessions": len({one.session for one in everything}),
        "compactions": len({(one.session, one.line) for one in everything}),
        "shares": [
            {
                "what": what,
                "aim": aim,
                "all": _share(everything, hit),
                **{kind: _share([one for one in everything if one.kind == kind], hit)
                   for kind in kinds},
            }
            for (what, hit), aim in zip(SHARES.items(), AIMS, strict=True)
        ],
        "lost": [
            {"session": one.session, "line": one.line, "kind": one.kind, "name": one.name}
            for one in everything
            if not one.recovered or not one.by_ref
        ],
    }  # fmt: skip


def _share(found: list[Tried], hit: Callable[[Tried], bool]) -> float:
    return sum(map(hit, found)) / (len(found) or 1)


def _try(session: Session, cut: Cut, entity: Entity, said: Said, file: str, desk: Desk) -> Tried:
    kind, name = entity
    place = _last_named(session, cut, entity)
    words = _neighbours(place.text, name)

    def shown(texts: list[str]) -> bool:
        return any(Said(text, session.paths).says(entity) for text in texts)

    return Tried(
        session=session.name,
        line=cut.line,
        kind=CLASSES[kind],
        name=name,
        in_brief=said.says(entity),
        by_itself=shown(desk.by_words(file, name)[:TOP]),
        by_neighbours=bool(words) and shown(desk.by_words(file, words)[:TOP]),
        by_ref=any(_opens(text, entity, session) for text in desk.at_line(file, place.line)),
    )


def _opens(text: str, entity: Entity, session: Session) -> bool:
    """A command that ran in a folder below names its files from there."""
    said = Said(text, session.paths)
    return said.says(entity) or (entity[0] == "P" and said.names_base(entity[1]))


def _last_named(session: Session, cut: Cut, entity: Entity) -> Piece:
    """Every needed entity was named before the cut: that is what needed means."""
    return [piece for piece in session.before(cut.line) if entity in piece.names][-1]


def _neighbours(text: str, name: str) -> str:
    """The words around a name, without it, as somebody would remember them."""
    spelled = name if name in text else basename(name)
    at = text.find(spelled)
    end = at + len(spelled)
    before = WORD.findall(text[max(0, at - AROUND) : at])[-ON_EACH_SIDE:]
    after = WORD.findall(text[end : end + AROUND])[:ON_EACH_SIDE]
    return " ".join(before + after)
