"""What a compaction left of the conversation, where the host writes it down and tells no hook."""

from __future__ import annotations

from holdfast import quick_json
from holdfast.transcript.codex import left_over

# The boundary is among the last lines; what it holds is at most some hundred kilobytes.
TAIL = 8 << 20
BOUNDARY = b'"type":"compacted"'


def written_summary(transcript: str) -> str:
    """What the model is left with, as the last boundary of this log has it; empty if none has."""
    for line in reversed(_tail(transcript).split(b"\n")):
        if BOUNDARY not in line[:300]:
            continue
        try:
            told = quick_json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return ""
        payload = told.get("payload") if isinstance(told, dict) else None
        return left_over(payload) if isinstance(payload, dict) else ""
    return ""


def _tail(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL))
            return file.read(TAIL)
    except (OSError, ValueError):
        return b""
