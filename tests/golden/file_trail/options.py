"""Options and operands of a command line."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Options:
    """Flags without their dashes, values of those that take one, and what is left."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, str | None] = field(default_factory=dict)
    operands: list[str | None] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        return any(name in self.flags or name in self.values for name in names)


def parsed(words: list[str | None], valued: str = "") -> Options:
    """Splits words; `valued` names the options that take a value, separated by spaces."""
    takes, found, waiting = set(valued.split()), Options(), list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            found.operands += waiting
            break
        if word is None or word == "-" or not word.startswith("-"):
            found.operands.append(word)
        elif word.startswith("--"):
            name, sign, value = word[2:].partition("=")
            _take(found, name, value if sign else None, takes, waiting)
        else:
            _cluster(found, word[1:], takes, waiting)
    return found


def _cluster(found: Options, letters: str, takes: set[str], waiting: list[str | None]) -> None:
    for at, letter in enumerate(letters):
        if letter in takes:
            _take(found, letter, letters[at + 1 :] or None, takes, waiting)
            return
        found.flags.add(letter)


def _take(
    found: Options, name: str, value: str | None, takes: set[str], waiting: list[str | None]
) -> None:
    if value is not None:
        found.values[name] = value
    elif name in takes and waiting:
        found.values[name] = waiting.pop(0)
    else:
        found.flags.add(name)
