"""Generates the page of secret formats from the table that the tests check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from docs.reference.markdown import render_table, render_title
from holdfast.redaction import MAX_PASSES, budget
from holdfast.redaction.vendor_keys import INFIX_KEYS, PREFIXED_KEYS

FORMATS = Path(__file__).parents[2] / "tests" / "unit" / "redaction" / "formats.tsv"
SECTIONS = {
    "assignment": "Values that belong to a name",
    "command": "Command lines",
    "web": "HTTP and URLs",
    "file": "Files",
    "cut": "Keys that were cut off",
    "disguise": "Disguises",
}
MILLION = 1_000_000
TEXT_MILLIONS = budget.MAX_TEXT_UNITS // MILLION
REQUEST_MILLIONS = budget.MAX_REQUEST_UNITS // MILLION
HOOK_MILLIONS = budget.HOOK_UNITS_PER_SECOND // MILLION
INTRODUCTION = f"""\
Holdfast replaces secrets by `[redacted:kind]`: when text enters, that is when a transcript line is
decoded or a request body is read, after terminal codes are removed and before anything is cut; and
again in everything that hooks, the command line, MCP and the server emit. It finds the formats on
this page. A secret in another format, such as a random value without a name, is not found.

- `●●●` stands for the secret, `…` for a value that stays. `tests/unit/redaction/formats.tsv` is the
  table behind this page, `benign.txt` beside it lists look-alikes that are kept.
- A key that was cut off is found if at least 10 characters follow a prefix that nothing else has;
  of these at least one must be a digit.
- Colours, no-break spaces, zero-width and full-width signs, `\\u003d`, `%3D`, HTML entities, and
  prefixes such as those of `grep -n` and timestamps do not hide a secret. Base64 is decoded if it
  contains the name of a secret, or if a command decodes it.
- The work is counted in characters times patterns: {TEXT_MILLIONS} million per text,
  {REQUEST_MILLIONS} million per request, {HOOK_MILLIONS} million per second of a hook's deadline.
  What exceeds it is replaced by `[redacted:withheld]`, and so is a text that still changes after
  {MAX_PASSES} passes.
""".splitlines()


def build_page() -> str:
    """Return the page as Markdown."""
    return "\n".join([render_title("Redaction: known formats"), *_render_lines()]) + "\n"


def _render_lines() -> Iterator[str]:
    yield from INTRODUCTION
    yield "\n## Keys with a fixed part\n"
    kinds: dict[str, list[str]] = {}
    for kind, prefixes, _ in PREFIXED_KEYS:
        kinds.setdefault(kind, []).extend(f"`{prefix}`" for prefix in prefixes.split())
    for kind, marker, *_ in INFIX_KEYS:
        kinds.setdefault(kind, []).append(f"`…{marker}…`")
    yield from render_table(
        ("kind", "begins with or contains"),
        [(kind, " ".join(parts)) for kind, parts in sorted(kinds.items())],
    )
    rows = [line.split("\t", 1) for line in FORMATS.read_text("utf-8").splitlines()]
    for section, title in SECTIONS.items():
        yield f"\n## {title}\n\n```text"
        yield from (_hide(text) for kind, text in rows if kind == section)
        yield "```"


def _hide(text: str) -> str:
    return re.sub(r"‹\w+›", "…", re.sub(r"«\w+»", "●●●", text))
