"""The files of the example project as they are before the session: a small job queue."""

from __future__ import annotations

WORKER = '''\
"""Runs jobs, one at a time."""

import logging
from collections.abc import Callable

from courier.queue import Queue
from courier.settings import Settings
from courier.store import Job

log = logging.getLogger(__name__)


class Worker:
    def __init__(
        self,
        queue: Queue,
        handler: Callable[[Job], None],
        clock: Callable[[], float],
        settings: Settings = Settings(),
    ) -> None:
        self._queue = queue
        self._handler = handler
        self._clock = clock
        self._settings = settings

    def run_once(self) -> bool:
        """Run one job if there is one; True when a job ran."""
        job = self._queue.claim(self._clock())
        if job is None:
            return False
        job.attempts += 1
        try:
            self._handler(job)
        except Exception:
            log.exception("job %s failed", job.id)
            self._queue.push(job, "ready")
        else:
            self._queue.done(job)
        return True
'''

QUEUE = '''\
"""The queue: jobs go in ready and come out claimed."""

from courier.store import Job, Store


class Queue:
    def __init__(self, store: Store) -> None:
        self._store = store

    def push(self, job: Job, state: str = "ready") -> None:
        """Make the job available to the next worker that asks."""
        self._store.save(job, state)

    def claim(self, now: float) -> Job | None:
        return self._store.claim(now)

    def done(self, job: Job) -> None:
        self._store.save(job, "done")
'''

STORE = '''\
"""Jobs in SQLite. The schema lives in migrations/, not here."""

import sqlite3
from dataclasses import dataclass


@dataclass
class Job:
    id: str
    kind: str
    body: str = ""
    attempts: int = 0
    run_after: float = 0.0


class Store:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def save(self, job: Job, state: str) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO jobs (id, kind, body, state, attempts, run_after)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (job.id, job.kind, job.body, state, job.attempts, job.run_after),
        )

    def claim(self, now: float) -> Job | None:
        row = self._db.execute(
            "UPDATE jobs SET state = 'claimed' WHERE id ="
            " (SELECT id FROM jobs WHERE state = 'ready' AND run_after <= ?"
            "  ORDER BY run_after, id LIMIT 1)"
            " RETURNING id, kind, body, attempts, run_after",
            (now,),
        ).fetchone()
        return Job(*row) if row else None
'''

SETTINGS = '''\
"""Settings, read once from the environment."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    database: str = "courier.db"
    poll_seconds: float = 0.5

    @classmethod
    def from_env(cls) -> "Settings":
        return cls(
            database=os.environ.get("COURIER_DATABASE", cls.database),
            poll_seconds=float(os.environ.get("COURIER_POLL_SECONDS", cls.poll_seconds)),
        )
'''

REPLAY = '''\
"""Put the jobs of a JSON dump back into the queue."""

import json
import sqlite3
import sys

from courier.queue import Queue
from courier.settings import Settings
from courier.store import Job, Store


def main(path: str) -> None:
    queue = Queue(Store(sqlite3.connect(Settings.from_env().database)))
    with open(path, encoding="utf-8") as dump:
        for row in json.load(dump):
            queue.push(Job(**row), "ready")


if __name__ == "__main__":
    main(sys.argv[1])
'''

TEST_WORKER = """\
import pytest

from courier.queue import Queue
from courier.store import Job
from courier.worker import Worker


def always_fail(job: Job) -> None:
    raise ConnectionError("mail provider is down")


def succeed(job: Job) -> None:
    return None


@pytest.fixture
def queue(store):
    return Queue(store)


def test_an_empty_queue_is_no_work(queue, clock):
    assert Worker(queue, succeed, clock).run_once() is False


def test_a_job_that_succeeds_is_done(queue, store, clock):
    queue.push(Job("a", "mail"))
    assert Worker(queue, succeed, clock).run_once() is True
    assert store.saved("a") == ["ready", "done"]


def test_a_failed_job_goes_back_to_the_queue(queue, store, clock):
    queue.push(Job("a", "mail"))
    Worker(queue, always_fail, clock).run_once()
    assert store.saved("a") == ["ready", "ready"]
"""

CLAUDE_MD = """\
# courier

Python 3.12, src layout, SQLite. `src/courier/` is the service, `scripts/` are operator tools.
Type hints everywhere; ruff formats. Tests say what they check in their names.
"""

FILES = {
    "CLAUDE.md": CLAUDE_MD,
    "src/courier/worker.py": WORKER,
    "src/courier/queue.py": QUEUE,
    "src/courier/store.py": STORE,
    "src/courier/settings.py": SETTINGS,
    "scripts/replay.py": REPLAY,
    "tests/test_worker.py": TEST_WORKER,
}
