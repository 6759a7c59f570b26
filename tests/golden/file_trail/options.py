"""Parses options and operands of a command line."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Options:
    """Flags without their dashes, the values of options that take one, and operands."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, str | None] = field(default_factory=dict)
    operands: list[str | None] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        return any(name in self.flags or name in self.values for name in names)


def parse_options(words: list[str | None], valued: str = "") -> Options:
    """Parse words; `valued` lists the options that take a value, separated by spaces."""
    valued_names, options, pending = set(valued.split()), Options(), list(words)
    while pending:
        word = pending.pop(0)
        if word == "--":
            options.operands += pending
            break
        if word is None or word == "-" or not word.startswith("-"):
            options.operands.append(word)
        elif word.startswith("--"):
            name, sign, value = word[2:].partition("=")
            _add_option(options, name, value if sign else None, valued_names, pending)
        else:
            _add_short_options(options, word[1:], valued_names, pending)
    return options


def _add_short_options(
    options: Options, letters: str, valued_names: set[str], pending: list[str | None]
) -> None:
    for position, letter in enumerate(letters):
        if letter in valued_names:
            _add_option(options, letter, letters[position + 1 :] or None, valued_names, pending)
            return
        options.flags.add(letter)


def _add_option(
    options: Options,
    name: str,
    value: str | None,
    valued_names: set[str],
    pending: list[str | None],
) -> None:
    if value is not None:
        options.values[name] = value
    elif name in valued_names and pending:
        options.values[name] = pending.pop(0)
    else:
        options.flags.add(name)
