"""Group commit: one thread commits all waiting writes together, in one transaction.

Each commit waits for the disk, so one commit for many writes is faster than one for each. `write`
returns after the commit that contains its rows. A write that fails is rolled back to a savepoint,
so that the other writes of its transaction are not affected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from holdfast.errors import ServerBusy

if TYPE_CHECKING:
    from holdfast.server.databases import Connections

Result = TypeVar("Result")
# The most writes in one transaction. The first of them has to wait until the last is written.
MAX_BATCH_WRITES = 200


class _Write(Generic[Result]):
    """A function that writes, and the future on which its caller waits for the result."""

    def __init__(self, work: Callable[[Connections], Result]) -> None:
        self.work = work
        self.context = copy_context()
        self.result: Future[Result] = Future()

    def run(self, db: Connections) -> Result:
        """Call the function in the context of its request, which has a budget for redaction."""
        return self.context.run(self.work, db)


class WriteQueue:
    """A queue of writes and the thread that commits them, which the first write starts.

    Any thread may call `write`.
    """

    def __init__(self, connect: Callable[[], AbstractContextManager[Connections]]) -> None:
        self._connect = connect
        self._waiting: SimpleQueue[_Write[Any] | None] = SimpleQueue()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._is_closed = False

    def write(self, work: Callable[[Connections], Result]) -> Result:
        """Call `work` in the next transaction and return its result after the commit.

        Raises what `work` raised, or the error of the transaction. Raises `ServerBusy` if the queue
        is closed.
        """
        waiting = _Write(work)
        with self._lock:
            if self._is_closed:
                raise ServerBusy("it is stopping")
            if self._thread is None:
                self._thread = Thread(target=self._run, name="write queue", daemon=True)
                self._thread.start()
            self._waiting.put(waiting)
        return waiting.result.result()

    def close(self) -> None:
        """Commit the waiting writes and end the thread."""
        with self._lock:
            self._is_closed = True
            self._waiting.put(None)
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open:
            batch = [self._waiting.get()]
            with suppress(Empty):
                while len(batch) < MAX_BATCH_WRITES:
                    batch.append(self._waiting.get_nowait())
            # `close` puts None into the queue, and nothing is put after it.
            is_open = batch[-1] is not None
            if writes := [write for write in batch if write is not None]:
                self._commit(writes)

    def _commit(self, writes: Sequence[_Write[Any]]) -> None:
        try:
            with self._connect() as db, db.ledger.transaction():
                if len(writes) == 1:
                    # It needs no savepoint: if it fails, the whole transaction is rolled back.
                    results = [writes[0].run(db)]
                else:
                    results = [_run_in_savepoint(db, write) for write in writes]
        except Exception as problem:
            # Nothing of this batch was committed.
            results = [problem] * len(writes)
        for write, result in zip(writes, results, strict=True):
            if isinstance(result, Exception):
                write.result.set_exception(result)
            else:
                write.result.set_result(result)


def _run_in_savepoint(db: Connections, write: _Write[Any]) -> Any:
    """Return the result of a write, or the exception that it raised. In that case only its own
    changes are rolled back.
    """
    run = db.ledger.database.run
    run("SAVEPOINT one_write")
    try:
        result = write.run(db)
    except Exception as problem:
        run("ROLLBACK TO SAVEPOINT one_write")
        result = problem
    run("RELEASE SAVEPOINT one_write")
    return result
