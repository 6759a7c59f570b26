"""One line for the host's status bar: how full the context is, and whether all is well.

Started several times a minute, so it loads as little as a hook. It reads, and never writes.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast import quick_json, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.store.base import Store

WIDTH = 10
# From this share of the window on, the colour says so: yellow, orange, red, critical.
ZONES = ((95, "1;31"), (85, "31"), (70, "38;5;208"), (50, "33"), (0, "32"))
LEFT_OPEN: list[Store] = []
ALARMS = {"never": "the last brief did not arrive", "cut": "the last brief was cut"}


def main() -> None:
    """Print one line; whatever goes wrong, the line is only shorter."""
    try:
        payload = quick_json.loads(sys.stdin.buffer.read().decode("utf-8", "replace"))
        text = line(payload if isinstance(payload, dict) else {}, "NO_COLOR" not in os.environ)
    except BaseException:
        text = ""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
    os._exit(0)


def line(payload: dict[str, Any], colour: bool) -> str:
    window = payload.get("context_window")
    parts = [_gauge(window if isinstance(window, dict) else {}, colour)]
    saved, receipt = _glance(str(payload.get("session_id") or ""))
    if saved:
        parts.append(f"saved {_ago(time.time() - saved)} ago")
    if receipt in ALARMS:
        parts.append(_painted(f"! {ALARMS[receipt]}", "31", colour))
    return " · ".join(parts)


def _gauge(window: dict[str, Any], colour: bool) -> str:
    percent, tokens = window.get("used_percentage"), window.get("total_input_tokens")
    if not isinstance(percent, int | float):
        return f"{'░' * WIDTH} –"
    filled = min(WIDTH, max(0, round(percent * WIDTH / 100)))
    shade = next(code for least, code in ZONES if percent >= least or not least)
    bar = _painted("█" * filled, shade, colour) + "░" * (WIDTH - filled)
    size = f" · {round(tokens / 1000)}k" if isinstance(tokens, int) else ""
    return f"{bar} {percent:.0f} %{size}"


def _painted(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour and text else text


def _glance(session: str) -> tuple[float, str]:
    """When the session was last saved, and what became of its last brief."""
    path = settings.load(os.environ).database
    if not session or not os.path.exists(path):
        return 0.0, ""
    from holdfast.store.sqlite import SQLiteStore

    store = SQLiteStore(path, busy_seconds=0.05)
    # Not closed, as in a hook: closing would wait for the disk.
    LEFT_OPEN.append(store)
    return store.glance(session)


def _ago(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"
