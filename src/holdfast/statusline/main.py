"""One line for the host's status bar: how full the context is, and whether the brief arrived.

The host runs it several times a minute, so it imports as little as a hook. It takes a snapshot
when a threshold is passed; otherwise it only reads. A status line that was there before still
runs: `holdfast install --statusline` appends its command to ours.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast import diagnostics, fast_json
from holdfast.redaction import redact
from holdfast.settings import load as load_settings
from holdfast.state import thresholds
from holdfast.state.gauge import compaction_limit, turns_left
from holdfast.statusline.render import Figures, render_gauge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.settings import Settings
    from holdfast.store.protocols import Store

OPEN_STORES: list[Store] = []
"""Stores that stay open until the process ends, so that their `__del__` does not close them."""
# Between the output of the chained command and our gauge.
SEPARATOR = " │ "
ESCAPE = "\x1b"
STORE_TIMEOUT_SECONDS = 0.05


def main(chained_command: str = "") -> None:
    """Print the status line and exit 0. A failure is logged and makes the line shorter."""
    gauge, chained_output = "", b""
    try:
        raw = sys.stdin.buffer.read()
        if chained_command:
            from holdfast.statusline.chained_command import ChainedCommand

            # It runs while we do our own work.
            process = ChainedCommand(chained_command, raw)
            gauge = try_render_status_line(raw)
            chained_output = process.output()
        else:
            gauge = try_render_status_line(raw)
    except BaseException as problem:
        diagnostics.log(load_settings(os.environ).log, f"statusline: {problem!r}", os.environ)
    columns = terminal_columns(os.environ)
    output = redact(join_status_lines(chained_output.decode("utf-8", "replace"), gauge, columns))
    sys.stdout.buffer.write(output.encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()
    os._exit(0)


def try_render_status_line(raw: bytes) -> str:
    """Return our line for this payload, or "" if anything fails."""
    try:
        payload = fast_json.loads(raw.decode("utf-8", "replace"))
        payload = payload if isinstance(payload, dict) else {}
        return render_status_line(payload, "NO_COLOR" not in os.environ)
    except Exception:
        return ""


def render_status_line(payload: dict[str, Any], colour: bool) -> str:
    """Return our line; if the store cannot be used, with the figures of the payload alone."""
    window = payload.get("context_window")
    window = window if isinstance(window, dict) else {}
    percent, tokens = window.get("used_percentage"), window.get("total_input_tokens")
    figures = Figures(
        percent=percent if isinstance(percent, int | float) else None,
        tokens=tokens if isinstance(tokens, int) else None,
    )
    cwd = payload.get("cwd")
    settings = load_settings(os.environ, cwd if isinstance(cwd, str) else None)
    try:
        _add_stored_figures(payload, figures, window, settings)
    except Exception as problem:
        message = f"statusline: {type(problem).__name__}: {problem}"
        diagnostics.log(settings.log, message, os.environ)
    return render_gauge(figures, settings.zones, colour=colour, width=terminal_columns(os.environ))


def _add_stored_figures(
    payload: dict[str, Any], figures: Figures, window: dict[str, Any], settings: Settings
) -> None:
    """Add what the store knows of the session, and take a snapshot if a threshold was passed."""
    session = str(payload.get("session_id") or "")
    if not session or not os.path.exists(settings.database):
        return
    from holdfast.store import sqlite_migrations
    from holdfast.store.sqlite import SQLiteStore

    sqlite_migrations.report = lambda message: diagnostics.log(settings.log, message, os.environ)
    store = SQLiteStore(settings.database, busy_seconds=STORE_TIMEOUT_SECONDS)
    # Left open as in a hook: closing would wait for the disk.
    OPEN_STORES.append(store)
    saved_at, figures.receipt = store.last_save_and_receipt(session)
    guard = store.get_mark(session, thresholds.GUARD_KEY)
    if figures.percent is not None and figures.tokens:
        remaining = 100 - figures.percent
        if thresholds.due_thresholds(guard, figures.tokens, remaining, settings):
            saved_at = _save(store, payload, figures.tokens, remaining, settings) or saved_at
        limit = compaction_limit(os.environ, guard.get("limit"), window.get("context_window_size"))
        figures.turns = turns_left(figures.tokens, guard.get("growth"), limit)
    figures.compactions = guard.get("compactions", 0)
    figures.saved_ago = time.time() - saved_at if saved_at else None


def _save(
    store: Store, payload: dict[str, Any], tokens: int, remaining: float, settings: Settings
) -> float:
    """Take a snapshot and return when. Only now are the modules that fold and save imported."""
    from holdfast.hosts import claude_code
    from holdfast.services.compaction.autosave import save_from_status_line

    event = claude_code.parse_payload({**payload, "hook_event_name": "StatusLine"})
    return save_from_status_line(store, event, tokens, remaining, settings, time.time())


def terminal_columns(environ: Mapping[str, str]) -> int:
    """Return the width of the terminal, or 0 if it is unknown."""
    columns = environ.get("COLUMNS", "")
    if columns.isdecimal():
        return int(columns)
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


def join_status_lines(chained_output: str, gauge: str, width: int) -> str:
    """Append the gauge to the first line of the chained output if it fits, else put it below."""
    chained_output = chained_output.rstrip("\n")
    if not chained_output.strip() or not gauge:
        return chained_output if chained_output.strip() else gauge
    first, _, rest = chained_output.partition("\n")
    joined = first + SEPARATOR + gauge
    if width and visible_width(joined) > width:
        return f"{chained_output}\n{gauge}"
    return f"{joined}\n{rest}" if rest else joined


def visible_width(text: str) -> int:
    """Return the number of characters without the escape sequences for colours."""
    parts = text.split(ESCAPE)
    return len(parts[0]) + sum(len(part.partition("m")[2]) for part in parts[1:])
