"""The protocols of databases and stores. Each store passes the same tests under tests/contract."""

from __future__ import annotations

from typing import Any, Protocol, TypedDict

from holdfast.state.types import State
from holdfast.transcript.types import Cursor


class SessionRow(TypedDict):
    id: str
    host: str
    project: str
    transcript: str
    cursor: Cursor | None
    state: State
    revision: int
    """Incremented by each save, to notice that another process has saved meanwhile."""
    first_line: int
    """The number of transcript lines that the first save had read."""
    started_at: float
    seen_at: float
    """The time of the last save."""
    ended_at: float | None
    is_damaged: bool
    """Whether cursor and state could not be read; both are empty then."""


class TranscriptRow(TypedDict):
    """A session without its state."""

    id: str
    host: str
    project: str
    transcript: str
    seen_at: float
    ended_at: float | None


class SnapshotRow(TypedDict):
    id: str
    session: str
    reason: str
    created_at: float
    line: int
    """The last transcript line that it contains."""
    richness: int
    """The number of items in the state."""
    context: int
    """The tokens in the context at that time."""
    state: State


class SnapshotWithFolder(SnapshotRow):
    folder: str
    """The project folder of its session."""


class CompactionRow(TypedDict):
    session: str
    ordinal: int
    trigger_name: str | None
    opened_at: float
    snapshot: str | None
    summary: str | None
    brief_id: str | None
    brief: str | None
    brief_at: float | None
    brief_line: int | None
    delivered_by: str | None
    receipt: str
    receipt_line: int | None


class HandoffRow(TypedDict):
    id: str
    session: str
    agent: str
    agent_type: str
    task: str
    line: int
    status: str
    decision: str
    content: dict[str, Any]
    raw: str
    tokens_before: int
    tokens_after: int
    captured_at: float


class Database(Protocol):
    """Runs statements and transactions in one SQL dialect. Values are for `?` or `:name`."""

    dialect: str
    path: str
    """The path of the SQLite file; empty for PostgreSQL."""

    def close(self) -> None: ...

    @property
    def in_transaction(self) -> bool: ...

    def run(
        self, statement: str, values: Any = (), lock: str = ""
    ) -> tuple[list[dict[str, Any]], int]:
        """Run a statement; return the rows that it selects and the number of rows it changes.

        Outside a transaction, `lock` names a lock to hold meanwhile. SQLite ignores it, because it
        allows one writer at a time.
        """

    def begin(self, lock: str = "") -> None:
        """Begin a transaction; transactions with the same `lock` run one after the other."""

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def notify_listeners(self) -> None:
        """Notify listeners that changes of the ledger were committed."""


class Store(Protocol):
    """Stores sessions and what belongs to them, by the exact session id."""

    database: Database

    def close(self) -> None:
        """Close the connection. A transaction that is open is rolled back."""

    def begin(self) -> None:
        """Begin a transaction and take the write lock."""

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def session(self, session: str) -> SessionRow | None:
        """Return a session, or None."""

    def sessions(
        self, project: str | None, limit: int = 50, before: tuple[float, str] | None = None
    ) -> list[SessionRow]:
        """Return sessions, the latest first, of a project folder or of all.

        `before` is the `seen_at` and id of the last session of the previous page.
        """

    def transcripts(self, project: str | None) -> list[TranscriptRow]:
        """Return the sessions of a project folder or of all, without states, the latest first."""

    def save_session(
        self,
        *,
        session: str,
        host: str,
        project: str,
        transcript: str,
        cursor: Cursor | None,
        state: State,
        revision: int,
        now: float,
        first_line: int | None = None,
        replace: bool = False,
    ) -> bool:
        """Save a session. Return False, and save nothing, if another process has saved it since
        `revision` was read. The revision of a new session is 0.

        `first_line` is kept with a new session; it is that of the state if it is not given. With
        `replace`, every column of a damaged row is written.
        """

    def end_session(self, session: str, now: float) -> None:
        """Set the time at which a session ended."""

    def reopen_session(self, session: str) -> None:
        """Remove the end time of a session that continues."""

    def add_snapshot(self, session: str, reason: str, state: State, now: float) -> str:
        """Write a snapshot, read it back, compare, and return its id.

        Raises StoreUnavailable if it does not read back as it was written.
        """

    def snapshot(self, ident: str) -> SnapshotRow:
        """Return a snapshot. Raises NotFound if there is none."""

    def snapshots(self, session: str, limit: int = 50) -> list[SnapshotRow]:
        """Return the snapshots of a session, newest first."""

    def snapshots_before(
        self,
        session: str | None,
        before: tuple[float, str] | None,
        limit: int,
        folder: str | None = None,
    ) -> list[SnapshotWithFolder]:
        """Return snapshots of a session, of a project folder or of all, newest first.

        `before` is the time and id of the last snapshot of the previous page.
        """

    def richest_snapshot(self, session: str) -> SnapshotRow | None:
        """Return the snapshot of a session with the most items, or None."""

    def prune(self, session: str, *, snapshots: int, compactions: int) -> None:
        """Delete all but the latest `snapshots` threshold snapshots, and the texts of summary and
        brief of all but the latest `compactions`.

        The richest snapshot and snapshots that belong to a compaction are never deleted.
        """

    def compactions(self, session: str) -> list[CompactionRow]:
        """Return the compactions of a session, in order."""

    def compaction(self, session: str, ordinal: int) -> CompactionRow | None:
        """Return one compaction of a session, or None. The first has the ordinal 1."""

    def open_compaction(
        self, session: str, ordinal: int, *, trigger: str | None, snapshot: str | None, now: float
    ) -> None:
        """Add the row of a compaction. If it exists, its trigger and snapshot are replaced."""

    def note_summary(self, session: str, ordinal: int, summary: str) -> None:
        """Store the host's summary of a compaction."""

    def note_brief(
        self,
        session: str,
        ordinal: int,
        *,
        brief_id: str,
        brief: str,
        line: int,
        delivered_by: str,
        now: float,
    ) -> None:
        """Store the brief that was sent after a compaction."""

    def note_receipt(self, session: str, ordinal: int, receipt: str, line: int | None) -> None:
        """Store whether the brief arrived, and in which transcript line."""

    def last_save_and_receipt(self, session: str) -> tuple[float, str]:
        """Return the time of the last snapshot (0 if none) and the receipt of the last brief."""

    def get_mark(self, session: str, name: str) -> dict[str, Any]:
        """Return the JSON object stored for a session under this name; empty if there is none."""

    def set_mark(
        self, session: str, name: str, value: dict[str, Any], *, is_redacted: bool = False
    ) -> None:
        """Store a JSON object for a session. It is redacted first, unless `is_redacted`.

        To change a mark, read and set it within one transaction.
        """

    def add_handoff(
        self,
        session: str,
        *,
        agent: str,
        agent_type: str,
        task: str,
        line: int,
        status: str,
        decision: str,
        content: dict[str, Any],
        raw: str,
        tokens_before: int,
        tokens_after: int,
        now: float,
    ) -> str:
        """Store the handoff of a sub-agent in place of its previous one, and return its id."""

    def handoff(self, ident: str) -> HandoffRow:
        """Return a handoff. Raises NotFound if there is none."""

    def handoffs(self, session: str, limit: int = 50) -> list[HandoffRow]:
        """Return the handoffs of a session, newest first."""

    def record_hook(
        self, host: str, event: str, session: str, milliseconds: float, now: float
    ) -> None:
        """Count a run of a hook and record its duration."""

    def hook_runs(self) -> list[dict[str, Any]]:
        """Return the last run of each hook of each host, the latest first."""
