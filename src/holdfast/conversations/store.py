"""Stores conversations in their own tables of Holdfast's SQLite file, or in a file of their own.

All threads of a process share one connection behind a lock; every process has its own.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypedDict

from holdfast.errors import BadSetting, StoreUnavailable
from holdfast.redaction import redact_value
from holdfast.store import sqlite_migrations

BUSY_SECONDS = 30.0
# How many events of a conversation are kept.
MAX_STORED_EVENTS = 200


class ConversationRow(TypedDict):
    id: str
    session: str
    feature: str
    agent_description: str
    project_context: str
    messages: int
    live_messages: int
    live_tokens: int
    version: int
    lease: str
    leased_until: float
    created_at: float
    updated_at: float
    archived_at: float | None


class StoredMessageRow(TypedDict):
    conversation: str
    ordinal: int
    role: str
    content: str
    tokens: int
    added_at: float
    compacted_in: int | None


class CheckpointRow(TypedDict):
    conversation: str
    version: int
    content: str
    tokens: int
    made_by: str
    messages: int
    tokens_before: int
    tokens_reclaimed: int
    made_at: float


class ConversationStore:
    """Runs the named statements of `conversations.sql`; `transaction` makes several atomic."""

    def __init__(
        self, path: str, *, busy_seconds: float = BUSY_SECONDS, own_folder: bool = True
    ) -> None:
        self.path = resolve_path(path)
        self._lock = threading.RLock()
        self._busy_seconds, self._own_folder = busy_seconds, own_folder
        self._connect()
        self._queries = sqlite_migrations.load_queries("conversations")

    def _connect(self) -> None:
        self._connection, self._inode = sqlite_migrations.connect(
            self.path, self._busy_seconds, any_thread=True, own_folder=self._own_folder
        )
        self._connection.row_factory = _to_dict

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def transaction(self, *, writes: bool = True) -> Iterator[None]:
        """Commit everything in the block or nothing, also if the process is killed.

        Without `writes` it is a consistent read that blocks no writer.
        """
        with self._lock:
            self._execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            try:
                yield
                self._execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._execute("ROLLBACK")
                raise

    def all(self, name: str, **values: Any) -> list[dict[str, Any]]:
        """Return the rows of a query."""
        return self._execute(self._queries[name], values)[0]

    def one(self, name: str, **values: Any) -> dict[str, Any] | None:
        """Return the first row of a query; None if there is none."""
        return next(iter(self.all(name, **values)), None)

    def write(self, name: str, **values: Any) -> int:
        """Run a statement; returns how many rows it changed."""
        return self._execute(self._queries[name], values)[1]

    def get_or_create(self, session: str, feature: str) -> ConversationRow:
        row = self.one("conversation", session=session, feature=feature)
        if row is None:
            ident = os.urandom(8).hex()
            now = time.time()
            self.write("add_conversation", id=ident, session=session, feature=feature, now=now)
            row = self.one("conversation", session=session, feature=feature)
        if row is None:
            raise StoreUnavailable(f"{self.path} did not keep the conversation")
        return row  # type: ignore[return-value]

    def add_event(self, ident: str, kind: str, detail: dict[str, Any]) -> None:
        """Store an event of a conversation, without secrets; the oldest above the limit go."""
        text = json.dumps(redact_value(detail), default=str)
        with self.transaction():
            self.write("add_event", id=ident, kind=kind, detail=text, now=time.time())
            self.write("prune_events", id=ident, kept=MAX_STORED_EVENTS)

    def _execute(self, statement: str, values: Any = ()) -> tuple[list[dict[str, Any]], int]:
        with self._lock:
            is_idle = not self._connection.in_transaction
            if is_idle and sqlite_migrations.get_inode(self.path) != self._inode:
                # The file was damaged, and a new one has replaced it.
                self._connection.close()
                self._connect()
            try:
                storable = {name: _to_utf8(value) for name, value in dict(values).items()}
                cursor = self._connection.execute(statement, storable)
                return cursor.fetchall(), cursor.rowcount
            except sqlite_migrations.Error as problem:
                raise sqlite_migrations.to_store_error(problem, self.path, self._inode) from problem


def resolve_path(path: str) -> str:
    """Return the absolute path of a file.

    Raises for a database URL, without repeating it in the message: it may contain a password.
    """
    if path.startswith(("postgresql:", "postgres:")):
        raise BadSetting(
            "conversations are kept in a file of this machine, not in PostgreSQL",
            hint="give SessionManager(store) a path, or nothing for Holdfast's own file",
        )
    return os.path.abspath(path)


def _to_utf8(value: Any) -> Any:
    """Return the value without lone surrogates, which SQLite rejects."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


def _to_dict(cursor: Any, values: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}
