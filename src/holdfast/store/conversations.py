"""Where conversations of home-made agents stay: in the same SQLite file, in tables of their own.

One connection for all threads of a process, behind a lock; other processes have their own.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypedDict

from holdfast.errors import BadSetting, StoreUnavailable
from holdfast.store import schema

BUSY_SECONDS = 30.0


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


class MessageRow(TypedDict):
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


class Conversations:
    """Named statements, run one at a time; `transaction` makes several one step."""

    def __init__(
        self, path: str, *, busy_seconds: float = BUSY_SECONDS, own_folder: bool = True
    ) -> None:
        self.path = local_path(path)
        self._lock = threading.RLock()
        self._connection, self._inode = schema.connect(
            self.path, busy_seconds, any_thread=True, own_folder=own_folder
        )
        self._connection.row_factory = _row
        self._queries = schema.queries("conversations")

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def transaction(self, *, writes: bool = True) -> Iterator[None]:
        """All of it or nothing, also when the process is killed in the middle.

        One that only reads sees a single moment and holds nobody up.
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
        return self._execute(self._queries[name], values)[0]

    def one(self, name: str, **values: Any) -> dict[str, Any] | None:
        return next(iter(self.all(name, **values)), None)

    def write(self, name: str, **values: Any) -> int:
        """How many rows were changed."""
        return self._execute(self._queries[name], values)[1]

    def get_or_create(self, session: str, feature: str) -> ConversationRow:
        found = self.one("conversation", session=session, feature=feature)
        if found is None:
            ident = os.urandom(8).hex()
            now = time.time()
            self.write("add_conversation", id=ident, session=session, feature=feature, now=now)
            found = self.one("conversation", session=session, feature=feature)
        if found is None:
            raise StoreUnavailable(f"{self.path} did not keep the conversation")
        return found  # type: ignore[return-value]

    def _execute(self, statement: str, values: Any = ()) -> tuple[list[dict[str, Any]], int]:
        with self._lock:
            try:
                clean = {name: _storable(value) for name, value in dict(values).items()}
                cursor = self._connection.execute(statement, clean)
                return cursor.fetchall(), cursor.rowcount
            except schema.Error as problem:
                raise schema.explain(problem, self.path, self._inode) from problem


def local_path(path: str) -> str:
    """The file at that path; an address is refused, and not repeated: it may hold a password."""
    if path.startswith(("postgresql:", "postgres:")):
        raise BadSetting(
            "conversations are kept in a file of this machine, not in PostgreSQL",
            hint="give SessionManager(store) a path, or nothing for Holdfast's own file",
        )
    return os.path.abspath(path)


def _storable(value: Any) -> Any:
    """SQLite takes no lone surrogates."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


def _row(cursor: Any, values: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}
