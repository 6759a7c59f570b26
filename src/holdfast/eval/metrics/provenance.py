"""M6: does every line that states something say where from, and does it stand there?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from posixpath import basename

from holdfast.eval.entities import entities
from holdfast.eval.matching import FOLDER, Said, flat
from holdfast.eval.pointers import refs, without_refs
from holdfast.eval.session import Session

# What a brief says about itself: how to read it, and how to look things up.
ABOUT_ITSELF = re.compile(
    r"[^.\n]*\b(?:transcript line|verbatim|recall|lookup|truncated due to)\b[^.\n]*\.?"
)
QUOTED = re.compile(r"“([^”\n]+)”|`([^`\n]+)`|\"([^\"\n]+)\"")
CLIPPED = re.compile(r"…|\[redacted:[^\]]*\]")
# Numbers that are counted from many lines, and so stand in none.
COUNTED = re.compile(
    r"\b\d+\s*(?:×|%|(?:more|others?|files?|times|of|created|modified|edited|edits|deleted|reads?|done"
    r"|calls?|tokens?|runs?|failed|passed|before|compactions?|items?|lines?|asked|committed)\b)"
    r"|\b(?:created|modified|edited|changed|deleted|done|read|left out)\W{1,3}\d+\b|\b\d+/\d+\b",
    re.I,
)
NUMBER = re.compile(r"(?<![\w.#-])\d+(?:\.\d+)*(?![\w-])")
# How Claude Code writes down a slash command.
MARKUP = re.compile(r"</?command-(?:name|message|args)>")
COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


def provenance(text: str, session: Session) -> dict[str, float]:
    """Shares of stating lines with a reference, and of references under which all of it stands."""
    stating = [(line, found) for line in statements(text) if (found := list(claims(line, session)))]
    if not stating:
        return {}
    told = [(line, found) for line, found in stating if any(refs(line))]
    whole = len(told) or 1
    return {
        "lines_with_ref": len(told) / len(stating),
        "refs_hold": sum(_holds(line, found, session, calls=False) for line, found in told) / whole,
        "refs_hold_with_calls": sum(
            _holds(line, found, session, calls=True) for line, found in told
        )
        / whole,
    }


def unsupported(text: str, session: Session) -> list[tuple[str, str]]:
    """Each claim that does not stand where its line says, with that line."""
    return [
        (line, shown)
        for line in statements(text)
        for there in [_referenced(line, session, calls=False)]
        for shown, holds in claims(line, session)
        if not holds(there)
    ]


Claim = tuple[str, Callable[[Said], bool]]


def _holds(line: str, found: list[Claim], session: Session, *, calls: bool) -> bool:
    there = _referenced(line, session, calls=calls)
    return all(holds(there) for _, holds in found)


def _referenced(line: str, session: Session, *, calls: bool) -> Said:
    """The text of the lines referred to; with `calls`, of the calls that they answer as well."""
    numbers = list(dict.fromkeys(refs(line)))
    if calls:
        numbers += [call for number in numbers for call in session.call_lines.get(number, ())]
    text = " ".join(session.text_of(number) for number in numbers)
    return Said(f"{text} {_as_typed(text)}", session.paths)


def _as_typed(text: str) -> str:
    """Commands as a person types them, a continued line as one and without the host's markup, and
    output as a terminal shows it.
    """
    return flat(MARKUP.sub(" ", COLOUR.sub("", text).replace("\\ ", " ")))


def statements(text: str) -> Iterator[str]:
    """The lines that state something; what is indented below a line belongs to it."""
    whole = ""
    for line in map(_stated, text.splitlines()):
        folder = FOLDER.match(line)
        if not line.strip() or line.startswith("#") or (folder and not folder["rest"].strip(": ")):
            if whole:
                yield whole
            whole = ""
        elif line.startswith("  ") and whole:
            whole += "\n" + line
        else:
            if whole:
                yield whole
            whole = line
    if whole:
        yield whole


def _stated(line: str) -> str:
    """A line without what it says about the brief; an item of a list is about the session."""
    return line if LIST_MARK.match(line) else ABOUT_ITSELF.sub("", line)


def claims(line: str, session: Session) -> Iterator[Claim]:
    """Quoted spans, entities and numbers, each with the question whether a text holds it."""
    rest = without_refs(LIST_MARK.sub("", line))
    for found in QUOTED.finditer(rest):
        span = next(part for part in found.groups() if part)
        yield span, _quote(span, session)
    rest = QUOTED.sub(" ", rest)
    for kind, name in sorted(entities(rest, session.paths)):
        yield name, _entity(kind, name)
        rest = rest.replace(name, " ")
    for number in NUMBER.findall(COUNTED.sub(" ", rest)):
        yield number, lambda there, number=number: number in there.text  # type: ignore[misc]


def _quote(span: str, session: Session) -> Callable[[Said], bool]:
    named = session.paths.of_text(span)
    if len(named) == 1 and " " not in span:
        return _entity("P", named.pop())
    parts = [flat(part) for part in CLIPPED.split(span)]
    return lambda there: all(part in there.text for part in parts)


def _entity(kind: str, name: str) -> Callable[[Said], bool]:
    def holds(there: Said) -> bool:
        # A command that ran in a folder below names its files from there.
        return there.says((kind, name)) or (kind == "P" and there.names_base(basename(name)))

    return holds
