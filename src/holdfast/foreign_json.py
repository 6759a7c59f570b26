"""JSON that others wrote: read tolerantly, and the large part of a line only if it is asked for.

A tool's result stands in its line twice: as the model saw it, and again with whole files and
patches under a key of its own. A third of a real log is such detail, and few rules ask for any.
"""

from __future__ import annotations

from holdfast import quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Told(Protocol):
        """What can be asked for the value of a key: an object, decoded or not."""

        def get(self, name: str, default: Any = None, /) -> Any: ...


DETAIL, DETAIL_KEY = b',"toolUseResult":', "toolUseResult"
# What hosts write behind the detail: this key first, and in newer ones where the session stands.
BEHIND = b',"sourceToolAssistantUUID":'
# How near to the end of the line it stands, if it does.
LATE = 1000
# What must be known of a line that has a detail; what else may stand behind that matters to none.
NEEDED = frozenset(
    ("type", "message", "uuid", "timestamp", "isSidechain", "cwd", "sessionId", "version")
)


class Unread:
    """An object under a key of a line, still as it was written."""

    __slots__ = ("_at", "_raw", "_value")

    def __init__(self, raw: bytes, at: int) -> None:
        self._raw = raw
        self._at = at
        self._value: Any = self

    def get(self, name: str, default: Any = None, /) -> Any:
        """As of a dict; nothing is decoded if the name is not even there."""
        if self._raw.find(b'"%b"' % name.encode(), self._at) < 0:
            return default
        value = self.value()
        return value.get(name, default) if isinstance(value, dict) else default

    def __eq__(self, other: object) -> bool:
        return bool(self.value() == (other.value() if isinstance(other, Unread) else other))

    __hash__ = None  # type: ignore[assignment]

    def value(self) -> Any:
        """All of it."""
        if self._value is self:
            line = parsed(b"{" + self._raw[self._at + 1 :])
            self._value = line.get(DETAIL_KEY) if isinstance(line, dict) else None
        return self._value


def told(detail: Any) -> Told:
    """What a host adds to a tool's result; what is no object says nothing."""
    return detail if isinstance(detail, dict | Unread) else {}


def line_of(raw: bytes) -> Any:
    """The value of a line, or None. Its detail may be left unread."""
    at = raw.find(DETAIL)
    line = _without_detail(raw, at) if at > 0 else None
    return parsed(raw) if line is None else line


def _without_detail(raw: bytes, at: int) -> dict[str, Any] | None:
    """The line around its detail, or None if that is not all that counts.

    A comma before the quote says that a key begins there, and not some text; that the rest is an
    object of its own without it says that the key is the line's.
    """
    if not raw.endswith((b"}", b"}\r")):
        return None
    line = _strict(raw[:at] + b"}")
    if line is None:
        return None
    end = raw.rfind(BEHIND, max(at, len(raw) - LATE))
    if end > 0:
        rest = _strict(b"{" + raw[end + 1 :])
        line = {**line, **rest} if rest is not None else line
    if not line.keys() >= NEEDED or (line["isSidechain"] and "agentId" not in line):
        return None
    line[DETAIL_KEY] = Unread(raw, at)
    return line


def _strict(raw: bytes) -> dict[str, Any] | None:
    try:
        value = quick_json.loads(raw.decode("utf-8", "replace").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parsed(raw: bytes) -> Any:
    """The value of a whole text, or None."""
    text = raw.decode("utf-8", "replace").lstrip("\ufeff")
    # It can be long: nothing of it is held twice.
    del raw
    try:
        return quick_json.loads(text)
    except RecursionError:
        return None
    except ValueError:
        return _mended(text)


def _mended(text: str) -> Any:
    """A line in which only escapes are broken is still worth reading.

    Tools that mask secrets in published transcripts cut through `\\n` and `\\u1234`.
    """
    import re

    try:
        return quick_json.loads(re.sub(r'\\(?:\\|(?!["/bfnrt]|u[0-9a-fA-F]{4}))', r"\\\\", text))
    except (ValueError, RecursionError):
        return None
