"""A realistic session, generated: `holdfast demo` and `holdfast doctor --loop` replay it.

A developer and an assistant work for two hours on a small job queue until the host compacts.
The lines are in the form Claude Code 2.1.325 writes them; nothing in them is anyone's data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from holdfast.example.compaction import hook_attachment
from holdfast.example.compaction import lines as lines_after
from holdfast.example.facts import PLANTED, RAW_SUMMARY, Fact
from holdfast.example.payloads import payload
from holdfast.example.session import Line, Session
from holdfast.example.story import Story, tell
from holdfast.example.writer import Recorder, record, write

__all__ = ["Example", "Fact", "Session", "build", "hook_attachment", "payload", "write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One session up to its compaction, what the summary made of it, and how it goes on."""

    session: Session
    before: list[Line]
    turn_ends: list[int]
    """Indexes into `before`: a Stop hook fires when the line with that index has been written."""
    summary: str
    """The summariser's raw answer, with its analysis."""
    planted: tuple[Fact, ...]
    _recorder: Recorder = field(repr=False)
    _story: Story = field(repr=False)

    def after(
        self, brief_attachment: Sequence[Line] | None = None, transcript_path: str = ""
    ) -> list[Line]:
        """The compaction and the turn after it; `brief_attachment` is from `hook_attachment`."""
        path = transcript_path or self.session.transcript_path("~/.claude")
        return lines_after(self._recorder, self._story, brief_attachment or (), path)


def build(project_dir: str, session_id: str, started: float) -> Example:
    """The example session in that directory; the same arguments give the same lines."""
    session = Session(project_dir, session_id, started)
    story = tell(session)
    recorder = record(session, story.before, story.files["CLAUDE.md"])
    return Example(
        session=session,
        before=recorder.lines,
        turn_ends=list(recorder.turn_ends),
        summary=RAW_SUMMARY,
        planted=PLANTED,
        _recorder=recorder,
        _story=story,
    )
