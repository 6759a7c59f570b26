"""The second stage: regular expressions that decide what is a secret and where it ends.

Everything here works on the UTF-8 bytes of a text, decoded as Latin-1, so that positions are those
of the bytes, and letters of other scripts are ordinary characters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache

from holdfast.redaction import assignments, command_lines, disguises, files, hints, web
from holdfast.redaction.budget import scan
from holdfast.redaction.vendor_keys import INFIX_KEYS, PREFIXED_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.redaction.budget import Budget

    # Where a secret starts and ends, and its kind.
    Span = tuple[int, int, str]
    Finder = Callable[[str, Budget], Iterator[Span]]

REDACTION_MARK = b"[redacted:"
_MARK = re.compile(rb"\[redacted:[\w-]+\]")
# A key with fewer characters than this after its prefix must have a digit.
MIN_SLUG_CHARS = 20
_ELLIPSIS = "…".encode().decode("latin-1")
# What is left of a key's end if its middle was cut out.
_REST = rf"(?:(?:\.{{3}}|{_ELLIPSIS})[\w-]++)?"
_PREFIXED = {
    prefix: (kind, body) for kind, prefixes, body in PREFIXED_KEYS for prefix in prefixes.split()
}
_INFIX = {marker: (kind, before, count, after) for kind, marker, before, count, after in INFIX_KEYS}
_FINDERS: dict[str, list[Finder]] = {
    "private-key": [files.find_private_keys],
    "url-password": [web.find_url_passwords],
    "url-key": [web.find_url_keys],
    "discord-token": [files.find_discord_tokens],
    "twilio-token": [files.find_twilio_tokens],
    "login": [command_lines.find_logins],
    "positional": [command_lines.find_positional],
    "piped-password": [command_lines.find_piped],
    "cookie": [web.find_cookies],
    "auth-pair": [web.find_auth_pairs],
    "password-hash": [files.find_hashes],
    "password-file": [files.find_password_lines],
    "sql-password": [files.find_sql_passwords],
    "master-key": [files.find_master_keys],
    "encoded": [files.find_encoded],
    "assignment": [assignments.find_assigned],
}


@cache
def _compile_prefixed(prefix: str) -> re.Pattern[str]:
    """Return the pattern of a key; group 1 is what follows the prefix."""
    body = _PREFIXED[prefix][1]
    escaped = re.escape(prefix)
    # At the beginning of a word, or after an escaped line end.
    word = rf"(?:(?<![\w-]{escaped})|(?<=\\[nrt]{escaped}))"
    return re.compile(
        f"(?a){escaped}({body.replace('^', word, 1) if body[0] == '^' else body}){_REST}"
    )


@cache
def _compile_infix(marker: str) -> re.Pattern[str]:
    _, before, count, after = _INFIX[marker]
    escaped = re.escape(marker)
    return re.compile(f"(?a)(?<={before}{{{count}}}){escaped}{after}")


def _find_keys(name: str, text: str, budget: Budget) -> Iterator[Span]:
    """Yield the keys of one vendor."""
    if name in _PREFIXED:
        for match in scan(_compile_prefixed(name), text, budget):
            if not _is_slug(match[1]):
                yield (*match.span(), _PREFIXED[name][0])
    else:
        kind, _, count, _ = _INFIX[name]
        keeps_start = kind == "telegram-token"
        for match in scan(_compile_infix(name), text, budget):
            start = match.start() + 1 if keeps_start else match.start() - count
            yield start, match.end(), kind


def _is_slug(body: str) -> bool:
    """Return whether it is a masked key (`sk-XXXX`) or a slug (`sk-some-long-name`)."""
    has_digit = any(char in "0123456789" for char in body)
    slug = not has_digit and (
        len(body) < MIN_SLUG_CHARS or body.islower() or not body.replace("=", "").isalnum()
    )
    return slug or "xxxxxx" in body.lower()


def find_spans(data: bytes, names: list[str], budget: Budget) -> list[Span]:
    """Return the secrets that these rules find, in order and without overlaps.

    The bytes are searched as they are, without disguises, and without terminal codes alone; of
    overlapping secrets the kind of the first rule is given.
    """
    variants = [(data, []), disguises.reveal(data)]
    if disguises.ESCAPE in data:
        # A password may contain what looks like an escape, such as %41.
        plain, moves = disguises.remove_terminal_codes(data)
        variants.append((plain, [moves]))
    found = []
    for searched, steps in variants if variants[1][1] else variants[:1]:
        for order, (start, end, kind) in enumerate(_apply(searched, names, budget)):
            found.append((*disguises.find_original_span(steps, start, end), order, kind))
    return _merge(data, sorted(_keep_marks(data, found)))


def _apply(data: bytes, names: list[str], budget: Budget) -> Iterator[Span]:
    text = data.decode("latin-1")
    for name in names:
        if name.startswith("key "):
            yield from _find_keys(name.removeprefix("key "), text, budget)
        else:
            for find in _FINDERS[name]:
                yield from find(text, budget)


def _keep_marks(
    data: bytes, found: list[tuple[int, int, int, str]]
) -> list[tuple[int, int, int, str]]:
    """Return what is found without parts of earlier replacements."""
    if REDACTION_MARK not in data:
        return found
    marks = [match.span() for match in _MARK.finditer(data)]
    starts = [start for start, _ in marks]

    def cuts_mark(start: int, end: int) -> bool:
        first = max(0, bisect_right(starts, start) - 1)
        return any(
            mark_start < end and start < mark_end and not (start < mark_start and mark_end < end)
            for mark_start, mark_end in marks[first : bisect_right(starts, end)]
        )

    return [span for span in found if not cuts_mark(span[0], span[1])]


def _merge(data: bytes, found: list[tuple[int, int, int, str]]) -> list[Span]:
    spans: list[Span] = []
    best = 0
    for start, end, order, kind in found:
        while start > 0 and data[start : start + 1] and data[start] & 0xC0 == 0x80:
            start -= 1
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        if spans and start < spans[-1][1]:
            first, last, old = spans[-1]
            spans[-1] = (first, max(last, end), kind if order < best else old)
            best = min(best, order)
        else:
            spans.append((start, end, kind))
            best = order
    return spans


def has_secret(text: str, budget: Budget) -> bool:
    """Return whether a decoded text contains a secret."""
    data = text.encode("latin-1")
    names = hints.find_rules(data)
    return bool(names) and bool(find_spans(data, [n for n in names if n != "encoded"], budget))
