"""Output of commands: tables and colour for people, JSON for programs.

Rich is imported when a table is printed, and `json` for `--json`: `holdfast recall`, which an agent
waits for, needs neither.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from holdfast.redaction import redact, redact_value

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

T = TypeVar("T")
# In a pipe nothing is wrapped: that would break ids and paths.
UNWRAPPED_COLUMNS = 10_000
# Output is passed on at the latest when this much waits.
MAX_WAITING_CHARS = 1 << 18
# Control characters. A transcript may contain some that would control the reader's terminal.
CONTROL_CHARS = dict.fromkeys(
    [code for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"]
)


class RedactedStream(io.TextIOBase):
    """A text stream that redacts what is written to it, as a whole, whenever it is flushed.

    A long text is passed on in parts that end with a line.
    """

    def __init__(self, stream: TextIO, *, by_line: bool = False) -> None:
        """With `by_line`, each line is passed on at once."""
        self._stream = stream
        self._by_line = by_line
        self._parts: list[str] = []
        self._chars = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    # `io.TextIOBase` has these itself, so they do not reach `__getattr__`.
    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self._stream.errors

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._parts.append(text)
        self._chars += len(text)
        is_message = self._by_line and text.endswith("\n")
        if is_message or (self._chars > MAX_WAITING_CHARS and text.endswith("\n")):
            self.flush()
        return len(text)

    def write_secret(self, text: str) -> None:
        """Write a secret that the user asked for, as it is."""
        self.flush()
        self._stream.write(text)

    def flush(self) -> None:
        text, self._parts, self._chars = "".join(self._parts), [], 0
        if text:
            self._stream.write(redact(text))
        self._stream.flush()


def print_secret(text: str) -> None:
    """Print a line with a secret, such as a new token, to stdout without redaction."""
    if isinstance(sys.stdout, RedactedStream):
        sys.stdout.write_secret(f"{text}\n")
    else:
        print(text)


def make_console() -> Console:
    """Return a console for data on stdout. Rich itself respects NO_COLOR."""
    from rich.console import Console

    return Console(
        highlight=False, emoji=False, width=None if sys.stdout.isatty() else UNWRAPPED_COLUMNS
    )


def print_message(text: str, style: str = "") -> None:
    """Print a message about the data to stderr, so that the data itself can be piped."""
    if not sys.stderr.isatty() and not os.environ.get("FORCE_COLOR"):
        print(text, file=sys.stderr)
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, highlight=False, soft_wrap=True).print(Text(text, style))


def bold(text: str) -> str:
    """Return a heading in bold if stdout is a terminal with colours."""
    is_colored = sys.stdout.isatty() or os.environ.get("FORCE_COLOR")
    return f"\x1b[1m{text}\x1b[0m" if is_colored and not os.environ.get("NO_COLOR") else text


def print_json(value: Any, *, is_secret: bool = False) -> None:
    """Print a value as indented JSON to stdout, redacted unless it is a secret to be shown."""
    import json

    if is_secret:
        print_secret(json.dumps(value, indent=2, ensure_ascii=False))
        return
    json.dump(redact_value(value), sys.stdout, indent=2, ensure_ascii=False)
    print()


def strip_control_chars(text: str) -> str:
    """Return a text without control characters except tab and newline."""
    return text.translate(CONTROL_CHARS)


def make_table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """Return a borderless table; control characters are removed from the cells."""
    from rich.table import Table
    from rich.text import Text

    is_plain = os.environ.get("NO_COLOR")
    result = Table(box=None, header_style="" if is_plain else "bold", pad_edge=False)
    for column in columns:
        result.add_column(column, overflow="fold")
    for row in rows:
        result.add_row(*(Text(strip_control_chars(cell)) for cell in row))
    return result


def show_progress(work: Iterable[T], title: str, total: int) -> Iterator[T]:
    """Yield the results of the work, with a progress bar on stderr if that is a terminal."""
    from rich.console import Console
    from rich.progress import track

    is_hidden = not sys.stderr.isatty()
    yield from track(work, title, total=total, console=Console(stderr=True), disable=is_hidden)


def format_age(then: float | None, now: float | None = None) -> str:
    """Return how long ago it was, such as `3 min ago`; `never` for None."""
    if then is None:
        return "never"
    seconds = max(0.0, (time.time() if now is None else now) - then)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now" if seconds < 5 else f"{int(seconds)} s ago"


def to_iso_time(then: float | None) -> str | None:
    """Return a time as ISO 8601 in UTC."""
    return None if then is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(then))


def format_count(number: int) -> str:
    """Return a number with thousands separators."""
    return f"{number:,}"
