"""What a host leaves of the conversation at a compaction: its summary, and messages it keeps.

Claude Code passes the summary to a hook. Codex only writes it to the log, as a boundary line.
The Codex hook after a compaction loads this module, so slow imports are inside the functions.
"""

from __future__ import annotations

from holdfast import fast_json
from holdfast.transcript import codex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.state.types import State
    from holdfast.store.protocols import SessionRow

# Large enough for any summary: it is read in full.
MAX_SUMMARY_TOKENS = 1_000_000
# The boundary is among the last lines of the log, and holds at most some hundred kilobytes.
TAIL_BYTES = 8 << 20
BOUNDARY_MARKER = b'"type":"compacted"'


class HostSummary:
    """The text that the model is left with after a compaction."""

    __slots__ = ("is_mixed", "is_sealed", "kept", "text")

    def __init__(
        self, text: str, kept: str = "", is_sealed: bool = False, is_mixed: bool = False
    ) -> None:
        self.text = text
        """The summary; empty if it is unknown or sealed."""
        self.kept = kept
        """User messages that the host keeps beside its summary."""
        self.is_sealed = is_sealed
        """The summary is encrypted: only the host's server can read it."""
        self.is_mixed = is_mixed
        """`text` may include kept messages: the log that would tell them apart is gone."""

    @property
    def everything(self) -> str:
        return "\n\n".join(filter(None, (self.text, self.kept)))


def load_host_summary(row: SessionRow, state: State, number: int, recorded: str) -> HostSummary:
    """Return the summary of one compaction; `recorded` is what hooks stored at the time."""
    from holdfast.lenient_json import as_text
    from holdfast.redaction import redact

    compactions = state["compactions"][number - 1 : number]
    line = compactions[0]["summary_line"] if compactions else 0
    if row["host"] != codex.HOST_NAME:
        return HostSummary(recorded or _read_summary(row["transcript"], line))
    boundary = _read_boundary(row["transcript"], line)
    if boundary is None:
        return HostSummary(recorded, is_mixed=bool(recorded))
    summary = redact(as_text(boundary.get("message")).strip())
    kept = redact("\n\n".join(dict.fromkeys(codex.find_kept_prompts(boundary))))
    return HostSummary(summary, kept, codex.has_encrypted_summary(boundary))


def _read_boundary(transcript: str, line: int) -> dict[str, Any] | None:
    """Return the payload of a boundary line, or None if it is gone or damaged."""
    from holdfast.errors import HoldfastError
    from holdfast.services.recall import refs

    try:
        for _, raw in refs.read_raw_lines(transcript, refs.Ref("", line, line)):
            return _parse_payload(raw)
    except (HoldfastError, ValueError, RecursionError):
        return None
    return None


def _read_summary(transcript: str, line: int) -> str:
    """Return the summary at this line of the transcript, or nothing if the file is gone."""
    from holdfast.errors import HoldfastError
    from holdfast.services.recall.lookup import look_up_in_file

    if not line:
        return ""
    try:
        answer = look_up_in_file(transcript, f"L{line}", MAX_SUMMARY_TOKENS)
    except HoldfastError:
        return ""
    return "\n".join(hit.text for hit in answer.hits if hit.kind == "summary")


def read_last_summary(transcript: str) -> str:
    """Return what the last boundary of a Codex log leaves to the model; empty without one."""
    for line in reversed(_read_tail(transcript).split(b"\n")):
        if BOUNDARY_MARKER not in line[:300]:
            continue
        try:
            payload = _parse_payload(line)
        except (ValueError, RecursionError):
            return ""
        return codex.render_remaining_context(payload) if payload is not None else ""
    return ""


def _parse_payload(raw: bytes) -> dict[str, Any] | None:
    """Return the payload of a log line; raises ValueError or RecursionError if it is damaged."""
    record = fast_json.loads(raw.decode("utf-8", "replace"))
    payload = record.get("payload") if isinstance(record, dict) else None
    return payload if isinstance(payload, dict) else None


def _read_tail(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            return file.read(TAIL_BYTES)
    except (OSError, ValueError):
        return b""
