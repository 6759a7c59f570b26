"""Check for `holdfast doctor` that each compaction got its brief, and that the brief arrived."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.services.compaction.history import find_missing_briefs
from holdfast.services.compaction.receipts import UNPROVEN
from holdfast.services.doctor.hook_checks import RECENT_SECONDS, Finding
from holdfast.services.sessions import refresh_session
from holdfast.state.types import Compaction
from holdfast.store.protocols import CompactionRow, SessionRow
from holdfast.store.sqlite import SQLiteStore

MAX_SESSIONS = 50
# The logs of so many sessions are read to their end; of the others, what hooks read counts.
MAX_REFRESHED_SESSIONS = 20
MAX_LISTED = 3
PROBLEM_RECEIPTS = ("never", "cut", "twice")
LOST_HINT = "`holdfast brief --session ID` shows what should have been there"
MISSING_HINT = (
    "`holdfast brief --session {session}` prints it, to be pasted into the session; if its hooks\n"
    "run again, the next prompt delivers the brief of the last compaction. The checks of hooks\n"
    "and log may say why none came; `holdfast doctor --loop` tests the hooks"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingBrief:
    """A compaction that the session's log shows and that got no brief."""

    session: SessionRow
    ordinal: int
    compaction: Compaction

    @property
    def description(self) -> str:
        place = f"line {self.compaction['line']} of {self.session['transcript']}"
        return f"none for compaction {self.ordinal} of session {self.session['id']} ({place})"

    def is_recent(self, now: float) -> bool:
        """Whether the log has grown lately; a log that is gone counts from its last hook."""
        try:
            grown_at = os.path.getmtime(self.session["transcript"])
        except (OSError, ValueError):
            grown_at = self.session["seen_at"]
        return now - grown_at < RECENT_SECONDS


def check_briefs(store: SQLiteStore, now: float) -> Iterator[Finding]:
    """Yield one finding: how many briefs arrived whole, and which are missing or damaged.

    A compaction without a brief is a failure, a brief that was lost, cut or repeated a warning. If
    the log has not grown for a week, it is only a warning too: that session is over.
    """
    sessions = store.sessions(None, MAX_SESSIONS)
    missing = [*_find_missing(store, sessions)]
    rows = [row for session in sessions for row in store.compactions(session["id"])]
    sent = [row for row in rows if row["brief_id"]]
    if not sent and not missing:
        yield Finding(name="briefs", status="info", detail="none sent yet")
        return
    problems = [
        *(entry.description for entry in missing),
        *(
            f"{row['receipt']} in {row['session']} (compaction {row['ordinal']})"
            for row in sent
            if row["receipt"] in PROBLEM_RECEIPTS
        ),
    ]
    whole = sum(row["receipt"] == "whole" for row in sent)
    detail = f"{whole} of {len(sent) + len(missing)} arrived whole"
    detail += "".join(f"; {problem}" for problem in problems[:MAX_LISTED])
    if len(problems) > MAX_LISTED:
        detail += f"; and {len(problems) - MAX_LISTED} more"
    if any(entry.is_recent(now) for entry in missing):
        hint = MISSING_HINT.format(session=missing[0].session["id"])
        yield Finding(name="briefs", status="fail", detail=detail, hint=hint)
    elif problems:
        yield Finding(name="briefs", status="warn", detail=detail, hint=LOST_HINT)
    elif whole:
        yield Finding(name="briefs", status="ok", detail=detail)
    else:
        # Nothing is wrong, and nothing is proven either.
        yield Finding(name="briefs", status="info", detail=f"{detail}; {_explain(sent)}")


def _explain(sent: list[CompactionRow]) -> str:
    """Return why no brief is known to have arrived: the client does not log it, or not yet."""
    if any(row["receipt"] == UNPROVEN for row in sent):
        return "this client does not log what hooks add, so their arrival cannot be proven"
    return "the model has not answered since"


def _find_missing(store: SQLiteStore, sessions: list[SessionRow]) -> Iterator[MissingBrief]:
    """Yield the compactions without a brief, latest session first.

    If the hooks stopped working, only the log knows of the compaction, so it is read first.
    """
    for number, session in enumerate(sessions):
        state = session["state"]
        if number < MAX_REFRESHED_SESSIONS:
            state = refresh_session(store, session).state
        for ordinal, compaction in find_missing_briefs(store, session, state).items():
            yield MissingBrief(session=session, ordinal=ordinal, compaction=compaction)
