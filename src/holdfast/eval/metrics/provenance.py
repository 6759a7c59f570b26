"""Measure whether the lines of a brief carry references, and whether the references hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from posixpath import basename

from holdfast.eval.entities import extract_entities
from holdfast.eval.line_refs import find_refs, strip_refs
from holdfast.eval.matching import FOLDER, TextMatcher, collapse_spaces
from holdfast.eval.session import Session

# What a brief says about itself: how to read it, and how to look things up.
SELF_DESCRIPTION = re.compile(
    r"[^.\n]*\b(?:transcript line|verbatim|recall|lookup|truncated due to)\b[^.\n]*\.?"
)
QUOTED = re.compile(r"“([^”\n]+)”|`([^`\n]+)`|\"([^\"\n]+)\"")
CLIPPED = re.compile(r"\[…\]|…|\[redacted:[^\]]*\]")
# Counts over many lines: no single line states them.
COUNT = re.compile(
    r"\b\d+\s*(?:×|%|(?:more|others?|files?|times|of|created|modified|edited|edits|deleted|reads?|done"
    r"|calls?|tokens?|runs?|failed|passed|before|compactions?|items?|lines?|asked|committed)\b)"
    r"|\b(?:created|modified|edited|changed|deleted|done|read|left out)\W{1,3}\d+\b|\b\d+/\d+\b",
    re.I,
)
NUMBER = re.compile(r"(?<![\w.#-])\d+(?:\.\d+)*(?![\w-])")
# How Claude Code writes down a slash command.
COMMAND_MARKUP = re.compile(r"</?command-(?:name|message|args)>")
COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


def measure_provenance(text: str, session: Session) -> dict[str, float]:
    """Return the share of lines with claims that have a reference, and of references that hold.

    A reference holds if the lines that it names contain every claim. Empty without claims.
    """
    statements = [
        (line, claims)
        for line in split_statements(text)
        if (claims := list(find_claims(line, session)))
    ]
    if not statements:
        return {}
    referenced = [(line, claims) for line, claims in statements if any(find_refs(line))]

    def share_that_holds(*, calls: bool) -> float:
        holding = sum(_all_hold(line, claims, session, calls=calls) for line, claims in referenced)
        return holding / (len(referenced) or 1)

    return {
        "lines_with_ref": len(referenced) / len(statements),
        "refs_hold": share_that_holds(calls=False),
        "refs_hold_with_calls": share_that_holds(calls=True),
    }


def find_unsupported_claims(text: str, session: Session) -> list[tuple[str, str]]:
    """Return each line with a claim that is not found at the line's reference, and that claim."""
    return [
        (line, claim)
        for line in split_statements(text)
        for referenced in [_referenced_text(line, session, calls=False)]
        for claim, holds in find_claims(line, session)
        if not holds(referenced)
    ]


Claim = tuple[str, Callable[[TextMatcher], bool]]


def _all_hold(line: str, claims: list[Claim], session: Session, *, calls: bool) -> bool:
    referenced = _referenced_text(line, session, calls=calls)
    return all(holds(referenced) for _, holds in claims)


def _referenced_text(line: str, session: Session, *, calls: bool) -> TextMatcher:
    """Return the text of the referenced lines; with `calls`, of the calls they answer as well."""
    numbers = list(dict.fromkeys(find_refs(line)))
    if calls:
        numbers += [call for number in numbers for call in session.call_lines.get(number, ())]
    text = " ".join(session.line_text(number) for number in numbers)
    return TextMatcher(f"{text} {_as_typed(text)}", session.paths)


def _as_typed(text: str) -> str:
    """Return a text without colours, line continuations and the host's command markup."""
    return collapse_spaces(COMMAND_MARKUP.sub(" ", COLOUR.sub("", text).replace("\\ ", " ")))


def split_statements(text: str) -> Iterator[str]:
    """Yield the lines that can hold claims, each with the indented lines below it.

    Headings and the names of folders hold none.
    """
    statement = ""
    for line in map(_strip_self_description, text.splitlines()):
        folder = FOLDER.match(line)
        if not line.strip() or line.startswith("#") or (folder and not folder["rest"].strip(": ")):
            if statement:
                yield statement
            statement = ""
        elif line.startswith("  ") and statement:
            statement += "\n" + line
        else:
            if statement:
                yield statement
            statement = line
    if statement:
        yield statement


def _strip_self_description(line: str) -> str:
    """Return a line without what it says about the brief itself; list items never do."""
    return line if LIST_MARK.match(line) else SELF_DESCRIPTION.sub("", line)


def find_claims(line: str, session: Session) -> Iterator[Claim]:
    """Yield quoted spans, entities and numbers, each with a test whether a text contains it."""
    rest = strip_refs(LIST_MARK.sub("", line))
    for quoted in QUOTED.finditer(rest):
        span = next(part for part in quoted.groups() if part)
        yield span, _quote_test(span, session)
    rest = QUOTED.sub(" ", rest)
    for kind, name in sorted(extract_entities(rest, session.paths)):
        yield name, _entity_test(kind, name)
        rest = rest.replace(name, " ")
    for number in NUMBER.findall(COUNT.sub(" ", rest)):
        yield number, lambda matcher, number=number: number in matcher.text  # type: ignore[misc]


def _quote_test(span: str, session: Session) -> Callable[[TextMatcher], bool]:
    named = session.paths.extract(span)
    if len(named) == 1 and " " not in span:
        return _entity_test("P", named.pop())
    parts = [collapse_spaces(part) for part in CLIPPED.split(span)]
    return lambda matcher: all(part in matcher.text for part in parts)


def _entity_test(kind: str, name: str) -> Callable[[TextMatcher], bool]:
    def holds(matcher: TextMatcher) -> bool:
        # A command that ran in a subfolder names its files relative to it.
        return matcher.mentions((kind, name)) or (
            kind == "P" and matcher.names_basename(basename(name))
        )

    return holds
