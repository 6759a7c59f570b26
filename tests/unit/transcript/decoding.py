"""Helpers that decode Claude Code's lines."""

from __future__ import annotations

from typing import Any

from holdfast.transcript.types import Event
from tests.unit.transcript_lines import Line, events_of

IMAGE = {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo="}}


def kinds(*lines: Line) -> list[str]:
    return [event["kind"] for event in events_of(*lines)]


def single_event(*lines: Line) -> Event:
    (event,) = events_of(*lines)
    return event


def drop_fields(event: Event, *names: str) -> dict[str, Any]:
    """Return the event without its line, its time and the named fields."""
    return {name: value for name, value in event.items() if name not in ("line", "at", *names)}
