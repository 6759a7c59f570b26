"""What a store can do. Each store passes the same tests under tests/contract."""

from __future__ import annotations

from typing import Any, Protocol, TypedDict

from holdfast.state.model import State
from holdfast.transcript.model import Cursor


class SessionRow(TypedDict):
    id: str
    host: str
    project: str
    transcript: str
    cursor: Cursor | None
    state: State
    revision: int
    first_line: int
    started_at: float
    seen_at: float
    ended_at: float | None


class TranscriptRow(TypedDict):
    """A session without its state: where its transcript is."""

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
    richness: int
    context: int
    state: State


class ListedSnapshot(SnapshotRow):
    folder: str
    """Where its session was led."""


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
    """Statements and transactions, the same for every dialect; named statements are in sql/."""

    dialect: str
    path: str
    """The file, where it is one."""

    def close(self) -> None: ...

    @property
    def in_transaction(self) -> bool: ...

    def run(
        self, statement: str, values: Any = (), lock: str = ""
    ) -> tuple[list[dict[str, Any]], int]:
        """The rows found and the number of rows changed.

        `lock` is what to hold where writers do not exclude each other by themselves.
        """

    def run_many(self, statement: str, rows: list[tuple[Any, ...]]) -> int:
        """The same statement for each of these, and the number of rows changed in all.

        Outside of a transaction it is one by itself where values go over a network.
        """

    def begin(self, lock: str = "") -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def told(self) -> None:
        """Let whoever waits for changes know that some have been committed."""


class Store(Protocol):
    """Everything is scoped by the exact session id."""

    database: Database

    def close(self) -> None:
        """What was not committed is as if it had never been."""

    def begin(self) -> None:
        """Take the write lock; everything until `commit` happens together or not at all."""

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def session(self, session: str) -> SessionRow | None: ...

    def sessions(
        self, project: str | None, most: int = 50, before: tuple[float, str] | None = None
    ) -> list[SessionRow]:
        """The latest first; `before` is when the last one of a page was seen, and its id."""

    def transcripts(self, project: str | None) -> list[TranscriptRow]:
        """Every session's transcript, the latest first; of one project or of all."""

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
    ) -> bool:
        """False if another process saved this session since `revision` was read."""

    def end_session(self, session: str, now: float) -> None: ...

    def reopen_session(self, session: str) -> None: ...

    def add_snapshot(self, session: str, reason: str, state: State, now: float) -> str:
        """Write an immutable snapshot, read it back, compare, and return its id."""

    def snapshot(self, ident: str) -> SnapshotRow: ...

    def snapshots(self, session: str, most: int = 50) -> list[SnapshotRow]: ...

    def snapshots_before(
        self,
        session: str | None,
        before: tuple[float, str] | None,
        most: int,
        folder: str | None = None,
    ) -> list[ListedSnapshot]:
        """Of one session, of one project's folder or of all, newest first; `before` is time and
        id where a page ended.
        """

    def richest_snapshot(self, session: str) -> SnapshotRow | None: ...

    def restorable(self, session: str) -> tuple[Any, ...]:
        """Names what is restored from (state, richest snapshot, handoffs): the same as long as they
        are, and empty if there is none of them.
        """

    def prune(self, session: str, *, snapshots: int, compactions: int) -> None:
        """Keep so many snapshots at thresholds, and summary and brief of so many compactions.

        The richest snapshot and those that a compaction points to stay, whatever their number.
        """

    def compactions(self, session: str) -> list[CompactionRow]: ...

    def compaction(self, session: str, ordinal: int) -> CompactionRow | None: ...

    def open_compaction(
        self, session: str, ordinal: int, *, trigger: str | None, snapshot: str | None, now: float
    ) -> None: ...

    def note_summary(self, session: str, ordinal: int, summary: str) -> None: ...

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
    ) -> None: ...

    def note_receipt(self, session: str, ordinal: int, receipt: str, line: int | None) -> None: ...

    def glance(self, session: str) -> tuple[float, str]:
        """When the session was last saved (0 if never), and the receipt of its last brief."""

    def mark(self, session: str, name: str) -> dict[str, Any]:
        """What is kept of a session under this name beside its transcript; empty if nothing."""

    def set_mark(
        self, session: str, name: str, value: dict[str, Any], *, clean: bool = False
    ) -> None:
        """Keep a JSON object, redacted unless it was looked over for secrets before (`clean`).

        Read and set it within one transaction.
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
        """Keep what a sub-agent handed on; one for each, the last counts. Returns its id."""

    def handoff(self, ident: str) -> HandoffRow: ...

    def handoffs(self, session: str, most: int = 50) -> list[HandoffRow]:
        """Newest first."""

    def hook_seen(
        self, host: str, event: str, session: str, milliseconds: float, now: float
    ) -> None: ...

    def hooks_seen(self) -> list[dict[str, Any]]: ...
