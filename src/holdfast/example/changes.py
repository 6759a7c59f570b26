"""What the assistant writes in the example project, and what the commands it runs print."""

from __future__ import annotations

from holdfast.example.session import BRANCH

BACKOFF = '''\
"""How long a failed job waits before it is tried again."""

import random
from collections.abc import Callable


def delay(
    attempt: int, cap: float, uniform: Callable[[float, float], float] = random.uniform
) -> float:
    """Seconds to wait after the given attempt (1, 2, ...), never more than the cap."""
    ceiling = min(cap, 2.0**attempt)
    return ceiling / 2 + uniform(0, ceiling / 2)
'''

TEST_BACKOFF = """\
import pytest

from courier.backoff import delay


def longest(low: float, high: float) -> float:
    return high


@pytest.mark.parametrize(("attempt", "ceiling"), [(1, 2.0), (2, 4.0), (5, 32.0)])
def test_the_ceiling_doubles_with_every_attempt(attempt, ceiling):
    assert delay(attempt, 900.0, longest) == ceiling


def test_the_cap_holds():
    assert delay(20, 900.0, longest) == 900.0


def test_a_huge_attempt_number_does_not_overflow():
    assert delay(5000, 900.0, longest) == 900.0
"""

TEST_FULL_JITTER = """

def test_a_retry_may_come_at_once():
    assert delay(5, 900.0, lambda low, high: low) == 0.0
"""

SIMULATION = '''\
"""Forty thousand jobs fail in the same second: how many come back per second?"""

import random
from collections import Counter

from courier.backoff import delay
from courier.settings import Settings

JOBS = 40_000
settings = Settings()
rng = random.Random(7)

for attempt in range(1, settings.max_attempts):
    seconds = Counter(
        int(delay(attempt, settings.max_backoff, rng.uniform)) for _ in range(JOBS)
    )
    print(f"after attempt {attempt}: busiest second {max(seconds.values()):>6}")
'''

WAITING_TEST = """

def test_a_failed_job_waits_before_it_is_ready_again(queue, clock):
    queue.push(Job("a", "mail"))
    worker = Worker(queue, always_fail, clock)
    assert worker.run_once() is True
    assert queue.claim(clock.now) is None
"""

DEAD_TEST = """

def test_exhausted_job_is_marked_dead_once(queue, store, clock):
    queue.push(Job("a", "mail"))
    worker = Worker(queue, always_fail, clock, Settings(max_attempts=1))
    worker.run_once()
    assert store.saved("a") == ["ready", "dead"]
"""

READ_LIMITS = """
            max_attempts=int(os.environ.get("COURIER_MAX_ATTEMPTS", cls.max_attempts)),
            max_backoff=float(os.environ.get("MAX_BACKOFF", cls.max_backoff)),"""

READ_CAP = """\
retry_cap_seconds=float(
                os.environ.get("COURIER_RETRY_CAP_SECONDS", cls.retry_cap_seconds)
            ),"""

PUSH = '''\
    def push(self, job: Job, state: str = "ready") -> None:
        """Make the job available to the next worker that asks."""
        self._store.save(job, state)
'''

PUSH_LATER = '''\
    def push(self, job: Job, *, run_after: float = 0.0) -> None:
        """Make the job available to a worker that asks at run_after or later."""
        job.run_after = run_after
        self._store.save(job, "ready")
'''

RETRY = """
    def _retry(self, job: Job) -> None:
        wait = delay(job.attempts, self._settings.max_backoff)
        self._queue.push(job, run_after=self._clock() + wait)
"""

BURY = '''
    def bury(self, job: Job) -> None:
        """Out of attempts: keep the job, but never hand it out again."""
        self._store.save(job, "dead")
'''

FAILED = """\
        except Exception:
            log.exception("job %s failed", job.id)
"""

FAILED_FOR_GOOD = """\
        except Exception as error:
            log.exception("job %s failed", job.id)
            if job.attempts >= self._settings.max_attempts:
                log.error("job %s is dead: %s", job.id, error)
                self._queue.bury(job)
"""

MAKE = 'python -m pytest -q -m "not slow"'

OVERFLOW = f"""\
{MAKE}
....F.........................                                           [100%]
=================================== FAILURES ===================================
_________________ test_a_huge_attempt_number_does_not_overflow _________________

    def test_a_huge_attempt_number_does_not_overflow():
>       assert delay(5000, 900.0, longest) == 900.0
               ^^^^^^^^^^^^^^^^^^^^^^^^^^^

tests/test_backoff.py:20:\x20
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _\x20

attempt = 5000, cap = 900.0, uniform = <function longest at 0x7f0ae8bc8720>

    def delay(
        attempt: int, cap: float, uniform: Callable[[float, float], float] = random.uniform
    ) -> float:
        \"""Seconds to wait after the given attempt (1, 2, ...), never more than the cap.\"""
>       ceiling = min(cap, 2.0**attempt)
                           ^^^^^^^^^^^^
E       OverflowError: (34, 'Numerical result out of range')

src/courier/backoff.py:11: OverflowError
=========================== short test summary info ============================
FAILED tests/test_backoff.py::test_a_huge_attempt_number_does_not_overflow - ...
1 failed, 29 passed in 6.61s
make: *** [Makefile:7: test-fast] Error 1"""

STILL_FAILING = """\
python -m pytest -q -m "not slow"
................................F                                        [100%]
=================================== FAILURES ===================================
____________________ test_exhausted_job_is_marked_dead_once ____________________

queue = <courier.queue.Queue object at 0x7f39120acbd0>
store = <conftest.RecordingStore object at 0x7f39120ac450>
clock = <conftest.Clock object at 0x7f39120acf50>

    def test_exhausted_job_is_marked_dead_once(queue, store, clock):
        queue.push(Job("a", "mail"))
        worker = Worker(queue, always_fail, clock, Settings(max_attempts=1))
        worker.run_once()
>       assert store.saved("a") == ["ready", "dead"]
E       AssertionError: assert ['ready', 'dead', 'ready'] == ['ready', 'dead']
E        \x20
E         Left contains one more item: 'ready'
E         Use -v to get more diff

tests/test_worker.py:49: AssertionError
------------------------------ Captured log call -------------------------------
ERROR    courier.worker:worker.py:36 job a failed
Traceback (most recent call last):
  File "ROOT/src/courier/worker.py", line 34, in run_once
    self._handler(job)
  File "ROOT/tests/test_worker.py", line 10, in always_fail
    raise ConnectionError("mail provider is down")
ConnectionError: mail provider is down
ERROR    courier.worker:worker.py:38 job a is dead: mail provider is down
=========================== short test summary info ============================
FAILED tests/test_worker.py::test_exhausted_job_is_marked_dead_once - Asserti...
1 failed, 32 passed in 6.94s
make: *** [Makefile:7: test-fast] Error 1"""

GIT_LOG = f"""\
8c41d0e Give the scheduler its own lock
b7729af Add run_after to the jobs table
e05b3c2 Replay a dump from the command line
## {BRANCH}"""

CURVE = """\
after attempt 1: busiest second  20012
after attempt 2: busiest second  10064
after attempt 3: busiest second   5082
after attempt 4: busiest second   2575"""

COMMITTED = f"""\
[{BRANCH} 3f2c1ab] Back off failed jobs with full jitter
 7 files changed, 58 insertions(+), 5 deletions(-)
 create mode 100644 src/courier/backoff.py
 create mode 100644 tests/test_backoff.py"""

CALLERS = """\
Callers of Queue.push outside the tests:
- src/courier/worker.py:44, inside Worker._retry, passes run_after by keyword: fine.
- src/courier/scheduler.py:38, inside Scheduler.tick, passes only the job: fine.
- src/courier/cli.py:27, the add command, passes only the job: fine.
- scripts/replay.py:16 passes the state as a second positional argument. push() now takes \
keywords only after the job, so this raises TypeError on the first row. No test covers it."""


def green(count: int) -> str:
    """A fast test run in which that many tests pass."""
    return f"{MAKE}\n{'.' * count:<73}[100%]\n{count} passed in 6.52s"
