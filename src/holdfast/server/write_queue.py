"""Group commit: one thread per database commits all writes that wait, in one transaction.

A commit waits for the disk, and one wait serves as many rows as are there. A caller is answered
after the commit that holds its row, and a write that fails takes no other with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from holdfast.errors import ServerBusy

if TYPE_CHECKING:
    from holdfast.server.databases import Connections

Result = TypeVar("Result")
# The first of a batch is answered when the last is written.
MAX_BATCH = 200


class _Write(Generic[Result]):
    """A function that writes, and where its caller waits for the result."""

    def __init__(self, work: Callable[[Connections], Result]) -> None:
        self.work = work
        self.result: Future[Result] = Future()


class WriteQueue:
    """Any thread may call `write`; the writer thread is started by the first one."""

    def __init__(self, connect: Callable[[], AbstractContextManager[Connections]]) -> None:
        self._connect = connect
        self._waiting: SimpleQueue[_Write[Any] | None] = SimpleQueue()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._is_closed = False

    def write(self, work: Callable[[Connections], Result]) -> Result:
        """Call `work` in the writer's next transaction; return its result after the commit.

        Raises what `work` raised, or why the transaction failed.
        """
        waiting = _Write(work)
        with self._lock:
            if self._is_closed:
                raise ServerBusy("it is about to stop")
            if self._thread is None:
                self._thread = Thread(target=self._run, name="write queue", daemon=True)
                self._thread.start()
            self._waiting.put(waiting)
        return waiting.result.result()

    def close(self) -> None:
        """Commit what waits and end the thread."""
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
                while len(batch) < MAX_BATCH:
                    batch.append(self._waiting.get_nowait())
            # `None` is the last thing that is ever put into the queue.
            is_open = batch[-1] is not None
            if writes := [one for one in batch if one is not None]:
                self._commit(writes)

    def _commit(self, writes: Sequence[_Write[Any]]) -> None:
        try:
            with self._connect() as db, db.ledger.transaction():
                if len(writes) == 1:
                    # The transaction is its savepoint.
                    results = [writes[0].work(db)]
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
    """What the write returns or raises. If it raises, what it wrote is undone, nothing else."""
    run = db.ledger.database.run
    run("SAVEPOINT one_write")
    try:
        result = write.work(db)
    except Exception as problem:
        run("ROLLBACK TO SAVEPOINT one_write")
        result = problem
    run("RELEASE SAVEPOINT one_write")
    return result
