"""Recall (FRR) and precision (FRP) of what was needed later, and the share of bare lists.

Recall: how much of what was needed a text names. Precision: how much of what it names was needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from holdfast.eval.entities import CLASSES, Entity, extract_entities
from holdfast.eval.matching import TextMatcher, collapse_spaces
from holdfast.eval.references import References

MAX_OTHER_WORDS, MIN_LISTED_NAMES = 5, 3
SIGNS = "`,;:()[]·—-*“”\"'."


def measure_recall(matcher: TextMatcher, references: References) -> dict[str, float]:
    weights = references.weights
    mentioned = {entity for entity in weights if matcher.mentions(entity)}
    by_basename = mentioned | {
        entity for entity in weights if entity[0] == "P" and matcher.names_basename(entity[1])
    }

    def share(entities: set[Entity], wanted: Callable[[Entity], bool]) -> float | None:
        total = sum(weight for entity, weight in weights.items() if wanted(entity))
        kept = sum(weights[entity] for entity in entities if wanted(entity))
        return kept / total if total else None

    memory = references.from_memory
    shares = {
        "frr": share(mentioned, lambda _: True),
        "frr_basename": share(by_basename, lambda _: True),
        "frr_memory": share(mentioned, lambda entity: entity in memory),
        "frr_rediscovered": share(mentioned, lambda entity: entity not in memory),
        **{f"frr_{kind}": share(mentioned, partial(_is_kind, kind)) for kind in CLASSES},
    }
    return {name: value for name, value in shares.items() if value is not None}


def _is_kind(kind: str, entity: Entity) -> bool:
    return entity[0] == kind


def measure_precision(matcher: TextMatcher, references: References) -> dict[str, float]:
    named = find_named_entities(matcher, references)
    if not named:
        return {"bare_list_share": 0.0}
    needed = sum(entity in references.weights for entity in named)
    return {"frp": needed / len(named), "bare_list_share": bare_list_share(matcher)}


def find_named_entities(matcher: TextMatcher, references: References) -> set[Entity]:
    """Return every entity of the text; commands only if the session has them."""
    text = collapse_spaces(matcher.text)
    commands = {name for kind, name in references.known if kind == "C" and name in text}
    longest = {
        name for name in commands if not any(name in other and name != other for other in commands)
    }
    listed = {
        entity for entity in references.known if entity[0] == "P" and matcher.mentions(entity)
    }
    other = {
        entity
        for entity in extract_entities(matcher.text, matcher.paths)
        if entity[0] != "P" or not _is_listed_basename(entity, listed)
    }
    return other | listed | {("C", name) for name in longest}


def _is_listed_basename(entity: Entity, listed: set[Entity]) -> bool:
    """Whether this is the end of the path of a file that is already counted."""
    return any(path.endswith("/" + entity[1]) for _, path in listed)


def bare_list_share(matcher: TextMatcher) -> float:
    """Return the share of characters in bare lists: three names or more with hardly another word.

    A list is one line, or consecutive lines that hold nothing but names.
    """
    lines = [line for line in matcher.text.splitlines() if line.strip()]
    bare, run = 0, list[str]()
    for line in [*lines, ""]:
        names, others = _count_names(line, matcher)
        if names and not others:
            run.append(line)
            continue
        bare += sum(map(len, run)) if _total_names(run, matcher) >= MIN_LISTED_NAMES else 0
        run = []
        if names >= MIN_LISTED_NAMES and others < MAX_OTHER_WORDS:
            bare += len(line)
    return bare / max(1, sum(map(len, lines)))


def _total_names(lines: list[str], matcher: TextMatcher) -> int:
    return sum(_count_names(line, matcher)[0] for line in lines)


def _count_names(line: str, matcher: TextMatcher) -> tuple[int, int]:
    """Return the number of names in a line, and of other words."""
    names = {name for _, name in extract_entities(line, matcher.paths)}
    words = (word.strip(SIGNS) for word in line.split())
    return len(names), sum(word.isalpha() and word not in names for word in words)
