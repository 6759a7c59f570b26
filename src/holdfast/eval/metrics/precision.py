"""M2: how much of what a text names was needed (FRP), and how much of it is bare lists."""

from __future__ import annotations

from holdfast.eval.entities import Entity, entities
from holdfast.eval.matching import Said, flat
from holdfast.eval.references import References

MOST_WORDS, FEWEST_NAMES = 5, 3
SIGNS = "`,;:()[]·—-*“”\"'."


def precision(said: Said, references: References) -> dict[str, float]:
    named = names(said, references)
    if not named:
        return {"bare_list_share": 0.0}
    needed = sum(entity in references.weights for entity in named)
    return {"frp": needed / len(named), "bare_list_share": bare_list_share(said)}


def names(said: Said, references: References) -> set[Entity]:
    """Every entity of the text; commands are those of the session that it repeats."""
    text = flat(said.text)
    commands = {name for kind, name in references.known if kind == "C" and name in text}
    longest = {
        one for one in commands if not any(one in other and one != other for other in commands)
    }
    listed = {entity for entity in references.known if entity[0] == "P" and said.says(entity)}
    other = {
        one for one in entities(said.text, said.paths) if one[0] != "P" or not _tail(one, listed)
    }
    return other | listed | {("C", name) for name in longest}


def _tail(entity: Entity, listed: set[Entity]) -> bool:
    """A base name that stands for a file already counted."""
    return any(path.endswith("/" + entity[1]) for _, path in listed)


def bare_list_share(said: Said) -> float:
    """The share of characters in lists of three names or more that hardly say anything.

    A list is one line, or lines one below the other that hold nothing but names.
    """
    lines = [line for line in said.text.splitlines() if line.strip()]
    bare, run = 0, list[str]()
    for line in [*lines, ""]:
        names, others = _counted(line, said)
        if names and not others:
            run.append(line)
            continue
        bare += sum(map(len, run)) if _names_in(run, said) >= FEWEST_NAMES else 0
        run = []
        if names >= FEWEST_NAMES and others < MOST_WORDS:
            bare += len(line)
    return bare / max(1, sum(map(len, lines)))


def _names_in(lines: list[str], said: Said) -> int:
    return sum(_counted(line, said)[0] for line in lines)


def _counted(line: str, said: Said) -> tuple[int, int]:
    """How many names a line holds, and how many words beside them."""
    found = {name for _, name in entities(line, said.paths)}
    words = (word.strip(SIGNS) for word in line.split())
    return len(found), sum(word.isalpha() and word not in found for word in words)
