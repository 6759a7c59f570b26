"""One line for the host's status bar: how full the context is, and whether all is well.

Started several times a minute, so it loads as little as a hook. It takes a snapshot when a
threshold is passed, and otherwise only reads. A status line that was there before runs along:
`holdfast install --statusline` puts its command behind ours.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast import log, quick_json, settings
from holdfast.state import guard as rules
from holdfast.surfaces.gauge import Figures, draw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.settings import Settings
    from holdfast.store.base import Store

LEFT_OPEN: list[Store] = []
# Between what was there before and the gauge.
JOINT = " │ "
ESCAPE = "\x1b"


def main(wrapped: str = "") -> None:
    """Print one line; whatever goes wrong, the line is only shorter."""
    text, theirs = "", b""
    try:
        raw = sys.stdin.buffer.read()
        if wrapped:
            from holdfast.surfaces.wrapped import Wrapped

            other = Wrapped(wrapped, raw)
            text = safe_line(raw)
            theirs = other.output()
        else:
            text = safe_line(raw)
    except BaseException as problem:
        log.note(settings.load(os.environ).log, f"statusline: {problem!r}", os.environ)
    out = joined(theirs.decode("utf-8", "replace"), text, columns(os.environ))
    sys.stdout.buffer.write(out.encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()
    os._exit(0)


def safe_line(raw: bytes) -> str:
    try:
        payload = quick_json.loads(raw.decode("utf-8", "replace"))
        return line(payload if isinstance(payload, dict) else {}, "NO_COLOR" not in os.environ)
    except Exception:
        return ""


def line(payload: dict[str, Any], colour: bool) -> str:
    window = payload.get("context_window")
    window = window if isinstance(window, dict) else {}
    percent, tokens = window.get("used_percentage"), window.get("total_input_tokens")
    told = Figures(
        percent=percent if isinstance(percent, int | float) else None,
        tokens=tokens if isinstance(tokens, int) else None,
    )
    cwd = payload.get("cwd")
    chosen = settings.load(os.environ, cwd if isinstance(cwd, str) else None)
    try:
        _look_up(payload, told, window, chosen)
    except Exception as problem:
        log.note(chosen.log, f"statusline: {type(problem).__name__}: {problem}", os.environ)
    return draw(told, chosen.zones, colour=colour, width=columns(os.environ))


def _look_up(
    payload: dict[str, Any], told: Figures, window: dict[str, Any], chosen: Settings
) -> None:
    """Add what the store knows, and save if it is time to."""
    session = str(payload.get("session_id") or "")
    if not session or not os.path.exists(chosen.database):
        return
    from holdfast.store.sqlite import SQLiteStore

    store = SQLiteStore(chosen.database, busy_seconds=0.05)
    # Not closed, as in a hook: closing would wait for the disk.
    LEFT_OPEN.append(store)
    saved, told.receipt = store.glance(session)
    guard = store.mark(session, rules.MARK)
    if told.percent is not None and told.tokens:
        if rules.due(guard, told.tokens, 100 - told.percent, chosen):
            saved = _save(store, payload, told.tokens, 100 - told.percent, chosen) or saved
        told.turns = turns_left(told.tokens, window, guard, os.environ)
    told.compactions = guard.get("compactions", 0)
    told.saved_ago = time.time() - saved if saved else None


def _save(
    store: Store, payload: dict[str, Any], tokens: int, remaining: float, chosen: Settings
) -> float:
    """A threshold was passed: only now is it worth loading what folds and saves."""
    from holdfast.actions.guardian import at_gauge
    from holdfast.hosts import claude_code

    call = claude_code.call({**payload, "hook_event_name": "StatusLine"})
    return at_gauge(store, call, tokens, remaining, chosen, time.time())


def turns_left(
    tokens: int, window: dict[str, Any], guard: dict[str, Any], environ: Mapping[str, str]
) -> int | None:
    """How many more turns fit before the host compacts, if they go on as they did."""
    growth = guard.get("growth")
    given = environ.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "")
    limit = int(given) if given.isdecimal() else guard.get("limit") or window.get(
        "context_window_size"
    )  # fmt: skip
    if not isinstance(growth, int) or not isinstance(limit, int) or growth < 1:
        return None
    return max(0, (limit - tokens) // growth)


def columns(environ: Mapping[str, str]) -> int:
    """How wide the terminal is; 0 if nobody knows."""
    given = environ.get("COLUMNS", "")
    if given.isdecimal():
        return int(given)
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return 0
    try:
        return os.get_terminal_size(terminal).columns
    except OSError:
        return 0
    finally:
        os.close(terminal)


def joined(theirs: str, ours: str, width: int) -> str:
    """Behind their first line if it fits, otherwise below all of them."""
    theirs = theirs.rstrip("\n")
    if not theirs.strip() or not ours:
        return theirs if theirs.strip() else ours
    first, _, rest = theirs.partition("\n")
    one = first + JOINT + ours
    if width and seen_width(one) > width:
        return f"{theirs}\n{ours}"
    return f"{one}\n{rest}" if rest else one


def seen_width(text: str) -> int:
    """Characters that show: without the colours."""
    parts = text.split(ESCAPE)
    return len(parts[0]) + sum(len(part.partition("m")[2]) for part in parts[1:])
