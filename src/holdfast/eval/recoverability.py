"""Measure whether what is needed after a compaction is in the brief or one lookup away.

Each needed entity is looked for in the 1,000-token brief, in the first three hits for its own name,
in the first three hits for the words around its last mention, and in the text that the ref of that
mention opens.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from posixpath import basename
from typing import Any

from holdfast.errors import UnreadableTranscript
from holdfast.eval.cuts import REAL, Cut
from holdfast.eval.entities import CLASSES, Entity
from holdfast.eval.matching import TextMatcher
from holdfast.eval.methods import FoldedSession, build_brief_candidate
from holdfast.eval.run import find_scorable_cuts, map_transcripts, truncated_transcript
from holdfast.eval.session import Piece, Session, load_session

BRIEF_TOKENS, MAX_HITS = 1000, 3
# Entities tried at each compaction, drawn with a fixed seed.
MAX_ENTITIES, SEED = 60, 7
WORD = re.compile(r"[A-Za-z]{3,}")
NEARBY_CHARS, MAX_WORDS_PER_SIDE = 120, 4


@dataclass(frozen=True, slots=True)
class Lookups:
    """Functions that search a transcript by words, best hit first, and by line number."""

    by_words: Callable[[str, str], list[str]]
    at_line: Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupTrial:
    """Where one entity was found."""

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


SHARES: dict[str, Callable[[LookupTrial], bool]] = {
    "in the 1,000-token brief": lambda trial: trial.in_brief,
    "in the first three hits, asked for by itself": lambda trial: trial.by_itself,
    "in the first three hits, by the words around it": lambda trial: trial.by_neighbours,
    "in the brief or in the first three hits": lambda trial: trial.recovered,
    "by its exact ref": lambda trial: trial.by_ref,
}
# The share to reach, for each of SHARES; None where there is no target.
TARGETS = (None, None, None, 0.99, 1.0)


def try_all(paths: Sequence[str], lookups: Lookups) -> Iterator[list[LookupTrial]]:
    """Yield the trials of each transcript as it completes."""
    return map_transcripts(TranscriptTrial(lookups), paths)


@dataclass(frozen=True, slots=True)
class TranscriptTrial:
    """Tries one transcript; a class, because worker processes must be able to pickle it."""

    lookups: Lookups

    def __call__(self, path: str) -> list[LookupTrial]:
        try:
            session = load_session(path)
        except UnreadableTranscript:
            return []
        return list(try_session(session, self.lookups))


def try_session(session: Session, lookups: Lookups) -> Iterator[LookupTrial]:
    """Yield a trial for every sampled entity at every compaction of one session."""
    folded = FoldedSession(session.path)
    for cut, needed in find_scorable_cuts(session):
        if cut.arm != REAL:
            continue
        matcher = TextMatcher(
            build_brief_candidate(folded.fold_until(cut.line), BRIEF_TOKENS).text, session.paths
        )
        names = sorted(needed.weights)
        sample = random.Random(SEED).sample(names, min(MAX_ENTITIES, len(names)))
        with truncated_transcript(session, cut) as file:
            yield from (
                _try_entity(session, cut, entity, matcher, file, lookups) for entity in sample
            )


def summarize(trials: Iterable[LookupTrial]) -> dict[str, Any]:
    """Return the shares, over all entities and by class."""
    trials = list(trials)
    kinds = [kind for kind in CLASSES.values() if any(trial.kind == kind for trial in trials)]
    return {
        "entities": len(trials),
        "sessions": len({trial.session for trial in trials}),
        "compactions": len({(trial.session, trial.line) for trial in trials}),
        "shares": [
            {
                "what": what,
                "aim": target,
                "all": _share(trials, is_hit),
                **{kind: _share([trial for trial in trials if trial.kind == kind], is_hit)
                   for kind in kinds},
            }
            for (what, is_hit), target in zip(SHARES.items(), TARGETS, strict=True)
        ],
        "lost": [
            {"session": trial.session, "line": trial.line, "kind": trial.kind, "name": trial.name}
            for trial in trials
            if not trial.recovered or not trial.by_ref
        ],
    }  # fmt: skip


def _share(trials: list[LookupTrial], is_hit: Callable[[LookupTrial], bool]) -> float:
    return sum(map(is_hit, trials)) / (len(trials) or 1)


def _try_entity(
    session: Session, cut: Cut, entity: Entity, matcher: TextMatcher, file: str, lookups: Lookups
) -> LookupTrial:
    kind, name = entity
    last_piece = _find_last_piece(session, cut, entity)
    words = _find_neighbours(last_piece.text, name)

    def is_in(texts: list[str]) -> bool:
        return any(TextMatcher(text, session.paths).mentions(entity) for text in texts)

    return LookupTrial(
        session=session.name,
        line=cut.line,
        kind=CLASSES[kind],
        name=name,
        in_brief=matcher.mentions(entity),
        by_itself=is_in(lookups.by_words(file, name)[:MAX_HITS]),
        by_neighbours=bool(words) and is_in(lookups.by_words(file, words)[:MAX_HITS]),
        by_ref=any(
            _shows_entity(text, entity, session) for text in lookups.at_line(file, last_piece.line)
        ),
    )


def _shows_entity(text: str, entity: Entity, session: Session) -> bool:
    """Whether a text names an entity.

    The base name of a file is enough: a command in a subfolder names files relative to it.
    """
    matcher = TextMatcher(text, session.paths)
    return matcher.mentions(entity) or (entity[0] == "P" and matcher.names_basename(entity[1]))


def _find_last_piece(session: Session, cut: Cut, entity: Entity) -> Piece:
    """Return the last piece before the cut that names a needed entity; there always is one."""
    return [piece for piece in session.before(cut.line) if entity in piece.names][-1]


def _find_neighbours(text: str, name: str) -> str:
    """Return the words around a name, without the name."""
    spelling = name if name in text else basename(name)
    at = text.find(spelling)
    end = at + len(spelling)
    before = WORD.findall(text[max(0, at - NEARBY_CHARS) : at])[-MAX_WORDS_PER_SIDE:]
    after = WORD.findall(text[end : end + NEARBY_CHARS])[:MAX_WORDS_PER_SIDE]
    return " ".join(before + after)
