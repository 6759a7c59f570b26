"""What a host made of the conversation at one compaction: its summary, and the words it kept."""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast import quick_json
from holdfast.actions import refs
from holdfast.actions.lookup import look_up_in_file
from holdfast.actions.refs import Ref
from holdfast.errors import HoldfastError
from holdfast.redact import redact
from holdfast.state.model import State
from holdfast.store.base import SessionRow
from holdfast.transcript import codex
from holdfast.transcript.codex_tools import word

WHOLE_SUMMARY = 1_000_000


class HostSummary(NamedTuple):
    """What the model is left with in words."""

    text: str
    """The summary; nothing where none is known or it is sealed."""
    kept: str = ""
    """What people said, where the host leaves that beside its summary."""
    is_sealed: bool = False
    """Whether only the host's server can read the summary."""
    is_mixed: bool = False
    """Whether the text may hold kept words too: the log that would part them is gone."""

    @property
    def everything(self) -> str:
        return "\n\n".join(filter(None, (self.text, self.kept)))


def host_summary(row: SessionRow, state: State, number: int, noted: str) -> HostSummary:
    """Of one compaction; `noted` is what hooks were told or read at the time."""
    told = state["compactions"][number - 1 : number]
    line = told[0]["summary_line"] if told else 0
    if row["host"] != codex.NAME:
        return HostSummary(noted or _from_log(row["transcript"], line))
    boundary = _boundary(row["transcript"], line)
    if boundary is None:
        return HostSummary(noted, is_mixed=bool(noted))
    summary = redact(word(boundary.get("message")).strip())
    kept = redact("\n\n".join(dict.fromkeys(codex.kept_words(boundary))))
    return HostSummary(summary, kept, codex.is_sealed(boundary))


def _boundary(transcript: str, line: int) -> dict[str, Any] | None:
    """What the line of the boundary says, if it is still there."""
    try:
        for _, raw in refs.raw_lines(transcript, Ref("", line, line)):
            told = quick_json.loads(raw.decode("utf-8", "replace"))
            payload = told.get("payload") if isinstance(told, dict) else None
            return payload if isinstance(payload, dict) else None
    except (HoldfastError, ValueError, RecursionError):
        return None
    return None


def _from_log(transcript: str, line: int) -> str:
    """The summary as it stands in the transcript, if that is still there."""
    if not line:
        return ""
    try:
        found = look_up_in_file(transcript, f"L{line}", WHOLE_SUMMARY)
    except HoldfastError:
        return ""
    return "\n".join(hit.text for hit in found.hits if hit.kind == "summary")
