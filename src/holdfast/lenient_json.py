"""Reads transcript lines: tolerantly, and the largest part of a line only on demand.

A line with a tool's result holds it twice: as the model saw it, and again, with whole files and
patches, under the key "toolUseResult". That detail is a third of a real transcript, and few rules
need any of it, so it is decoded only when it is read.
"""

from __future__ import annotations

from holdfast import fast_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class JsonObject(Protocol):
        """An object, decoded or not, that returns the value of a key."""

        def get(self, name: str, default: Any = None, /) -> Any: ...


DETAIL, DETAIL_KEY = b',"toolUseResult":', "toolUseResult"
# The first key after the detail. Newer clients write more keys after it, such as the folder.
KEY_AFTER_DETAIL = b',"sourceToolAssistantUUID":'
# How far that key may be from the end of the line.
MAX_TAIL_BYTES = 1000
# The keys that must be found outside the detail; other keys after it are not needed.
REQUIRED_KEYS = frozenset(
    ("type", "message", "uuid", "timestamp", "isSidechain", "cwd", "sessionId", "version")
)


class LazyObject:
    """The detail of a line, not decoded yet; secrets are removed when it is."""

    __slots__ = ("_at", "_raw", "_value")

    def __init__(self, raw: bytes, at: int) -> None:
        self._raw = raw
        self._at = at
        self._value: Any = self

    def get(self, name: str, default: Any = None, /) -> Any:
        """Like dict.get; decodes nothing if the key does not occur in the text."""
        if self._raw.find(b'"%b"' % name.encode(), self._at) < 0:
            return default
        value = self.value()
        return value.get(name, default) if isinstance(value, dict) else default

    def __eq__(self, other: object) -> bool:
        return bool(self.value() == (other.value() if isinstance(other, LazyObject) else other))

    __hash__ = None  # type: ignore[assignment]

    def value(self) -> Any:
        """Return the decoded value."""
        if self._value is self:
            from holdfast.redaction import clean_value

            line = parse_json(b"{" + self._raw[self._at + 1 :])
            self._value = clean_value(line.get(DETAIL_KEY)) if isinstance(line, dict) else None
        return self._value


def as_object(detail: Any) -> JsonObject:
    """Return the detail of a tool's result, or {} if it is not an object."""
    return detail if isinstance(detail, dict | LazyObject) else {}


def parse_line(raw: bytes) -> Any:
    """Return the value of a line, with its detail as a LazyObject if possible; None if invalid."""
    at = raw.find(DETAIL)
    line = _without_detail(raw, at) if at > 0 else None
    return parse_json(raw) if line is None else line


def _without_detail(raw: bytes, at: int) -> dict[str, Any] | None:
    """Return the line with its detail not decoded, or None if the line must be decoded whole.

    The comma before the quote shows that a key begins there, not text in a string. If the text
    before it, closed with a brace, parses as an object, the key belongs to the line itself.
    """
    if not raw.endswith((b"}", b"}\r")):
        return None
    line = _parse_object(raw[:at] + b"}")
    if line is None:
        return None
    end = raw.rfind(KEY_AFTER_DETAIL, max(at, len(raw) - MAX_TAIL_BYTES))
    if end > 0:
        rest = _parse_object(b"{" + raw[end + 1 :])
        line = {**line, **rest} if rest is not None else line
    if not line.keys() >= REQUIRED_KEYS or (line["isSidechain"] and "agentId" not in line):
        return None
    line[DETAIL_KEY] = LazyObject(raw, at)
    return line


def _parse_object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = fast_json.loads(raw.decode("utf-8", "replace").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parse_json(raw: bytes) -> Any:
    """Return the decoded value, or None if it is not JSON."""
    text = raw.decode("utf-8", "replace").lstrip("\ufeff")
    # The text can be long: free the bytes before it is parsed.
    del raw
    try:
        return fast_json.loads(text)
    except RecursionError:
        return None
    except ValueError:
        return _parse_with_broken_escapes(text)


def _parse_with_broken_escapes(text: str) -> Any:
    """Decode a text in which only escape sequences are broken; None if that is not enough.

    Tools that mask secrets in published transcripts cut through `\\n` and `\\u1234`.
    """
    import re

    try:
        return fast_json.loads(re.sub(r'\\(?:\\|(?!["/bfnrt]|u[0-9a-fA-F]{4}))', r"\\\\", text))
    except (ValueError, RecursionError):
        return None


def as_text(value: Any) -> str:
    """Return a string as it is, and "" for anything else."""
    return value if isinstance(value, str) else ""


def as_dict(value: Any) -> dict[str, Any]:
    """Return an object as it is, and {} for anything else."""
    return value if isinstance(value, dict) else {}
