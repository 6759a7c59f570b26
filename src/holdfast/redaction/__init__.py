"""Remove secrets from text before it is stored, logged, or shown to a summarizer or a model.

This is done in two stages: `hints` searches for fixed strings without regular expressions, which a
hook should not import, and `rules` decides what is a secret and where it ends.
docs/reference/redaction.md lists the formats.
"""

from __future__ import annotations

from holdfast.redaction import disguises
from holdfast.redaction.hints import find_rules
from holdfast.redaction.names import is_password_name, is_secret_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

_REPLACEMENT = "[redacted:assignment]"
# A longer text is redacted in pieces of about this size, each of which ends with a line.
PIECE_BYTES = 1 << 18
# A pass finds only the first of several keys without a separator, so it is repeated. What still
# changes then is nothing but keys, and is withheld.
MAX_PASSES = 4
NAME_KEYS = ("name", "key", "variable", "Name", "Key", "id")
COOKIE_NAMES = ("cookie", "set-cookie")
VALUE_KEYS = ("value", "Value", "val", "default")


def redact(text: str) -> str:
    """Return the text with every secret replaced by `[redacted:kind]`.

    If the work for it exceeds the budget (see `budget`), the rest is replaced by
    `[redacted:withheld]`, without having been searched.
    """
    return _redact(text, keep_lines=False)


def redact_lines(text: str) -> list[str]:
    """Return the lines of a text with its secrets replaced. The number of lines stays the same: a
    secret of several lines is replaced by one line and empty ones.
    """
    return _redact(text, keep_lines=True).split("\n")


def clean_value(value: T) -> T:
    """Return a JSON value of another program as it may enter: without terminal codes, then without
    secrets. Returns `value` itself if nothing changed.
    """
    clean: T = redact_value(_strip_codes(value))
    return clean


def _strip_codes(value: Any) -> Any:
    if isinstance(value, str):
        return strip_terminal_codes(value)
    if isinstance(value, dict):
        return {_strip_codes(key): _strip_codes(item) for key, item in value.items()}
    return [_strip_codes(item) for item in value] if isinstance(value, list) else value


def redact_value(value: T, name: object = None) -> T:
    """Return a JSON value without the secrets in its strings and under secret-sounding keys.

    `name` is the key that the value is stored under. Returns `value` itself if nothing changed.
    """
    clean: Any = value
    secret = name if isinstance(name, str) and is_secret_name(name) else ""
    if isinstance(value, str):
        clean = redact(value)
        if clean == value and isinstance(name, str) and name.lower() in COOKIE_NAMES:
            clean = redact(f"{name}: {value}").removeprefix(f"{name}: ")
        if secret and clean == value:
            from holdfast.redaction.values import is_secret_value

            clean = _REPLACEMENT if is_secret_value(secret, value) else value
    elif isinstance(value, dict):
        clean = _redact_object(value, secret)
    elif isinstance(value, list):
        clean = _redact_list(value, secret, name)
    elif is_password_name(secret) and type(value) in (int, float):
        clean = _REPLACEMENT
    same: T = value if clean == value else clean
    return same


def _redact_object(value: dict[Any, Any], secret: str) -> dict[Any, Any]:
    """Redact the values of an object; those of `value` also by the name beside it."""
    named = next((value[key] for key in NAME_KEYS if isinstance(value.get(key), str)), "")
    named = secret or (named if is_secret_name(named) else "")
    return {
        redact_value(key): redact_value(item, named if key in VALUE_KEYS and named else key)
        for key, item in value.items()
    }


def _redact_list(value: list[Any], secret: str, name: object) -> list[Any]:
    """Redact the items of a list, which may be the arguments of a program."""
    clean = [redact_value(item, secret) for item in value]
    if len(value) > 1 and all(isinstance(item, str) for item in value):
        if name == "auth" and len(value) == 2:
            return [clean[0], "[redacted:auth-pair]"]
        if any(item[:1] == "-" for item in value):
            from holdfast.redaction.command_lines import find_list_secrets

            for index in find_list_secrets(value):
                clean[index] = "[redacted:flag]" if clean[index] == value[index] else clean[index]
    return clean


def redact_json(text: str) -> str:
    """Return a JSON text without secrets, which is still JSON; other text is redacted as it is."""
    if not may_contain_secret(text):
        return text
    from holdfast.fast_json import dumps, loads

    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return redact(text)
    clean = redact_value(value)
    return text if clean is value else dumps(clean)


def redact_log_line(text: str) -> str:
    """Return a line of a log without secrets: in its own format if it is still JSON then."""
    from holdfast.fast_json import loads

    clean = redact(text)
    try:
        value = loads(clean)
    except (ValueError, RecursionError):
        return redact_json(text)
    return clean if redact_value(value) is value else redact_json(text)


def may_contain_secret(text: str | bytes) -> bool:
    """Return whether any hint of a secret was found; False means that there is no secret."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return bool(find_rules(disguises.reveal(data)[0]))


def strip_terminal_codes(text: str) -> str:
    """Return a text without terminal escape sequences, such as colours."""
    if "\x1b" not in text:
        return text
    data = disguises.remove_terminal_codes(text.encode("utf-8", "surrogatepass"))[0]
    return data.decode("utf-8", "surrogatepass")


def _redact(text: str, *, keep_lines: bool) -> str:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= PIECE_BYTES and not find_rules(disguises.reveal(data)[0]):
        return text
    clean = _redact_pieces(data, keep_lines=keep_lines)
    return text if clean == data else clean.decode("utf-8", "surrogatepass")


def _redact_pieces(data: bytes, *, keep_lines: bool) -> bytes:
    """Redact one piece after the other, until the budget of the text is used up."""
    budget: Any = None
    parts: list[bytes] = []
    at = 0
    while at < len(data):
        end = _find_piece_end(data, at)
        piece = data[at:end] if at or end < len(data) else data
        if names := find_rules(disguises.reveal(piece)[0]):
            from holdfast.redaction import budget as budgets

            budget = budget or budgets.start_text()
            try:
                piece = _redact_piece(piece, names, budget, keep_lines=keep_lines)
            except budgets.OverBudgetError:
                parts.append(_withhold(data[at:], keep_lines=keep_lines))
                break
        parts.append(piece)
        at = end
    return b"".join(parts)


def _find_piece_end(data: bytes, at: int) -> int:
    """Return the end of a piece: after a line, else after a word, else anywhere but in a sign."""
    end = at + PIECE_BYTES
    if end >= len(data):
        return len(data)
    for separator in (b"\n", b" "):
        found = data.rfind(separator, at + PIECE_BYTES // 2, end)
        if found >= 0:
            return found + 1
    while data[end] & 0xC0 == 0x80:
        end -= 1
    return end


def _redact_piece(data: bytes, names: list[str], budget: Any, *, keep_lines: bool) -> bytes:
    from holdfast.redaction.rules import find_spans

    for _ in range(MAX_PASSES):
        spans = find_spans(data, names, budget)
        if not spans:
            return data
        parts, at = [], 0
        for start, end, kind in spans:
            parts += [data[at:start], f"[redacted:{kind}]".encode()]
            if keep_lines:
                parts.append(b"\n" * data.count(b"\n", start, end))
            at = end
        data = b"".join(parts) + data[at:]
        if not (names := find_rules(disguises.reveal(data)[0])):
            return data
    return data if not find_spans(data, names, budget) else _withhold(data, keep_lines=keep_lines)


def _withhold(data: bytes, *, keep_lines: bool) -> bytes:
    return b"[redacted:withheld]" + (b"\n" * data.count(b"\n") if keep_lines else b"")
