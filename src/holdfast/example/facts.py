"""What a good brief must say again, and the summary that keeps some of it and loses the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from holdfast.example.session import BRANCH

Kind = Literal[
    "goal",
    "request",
    "rule",
    "decision",
    "rejected",
    "plan",
    "error",
    "command",
    "git",
    "file",
    "question",
]
Fate = Literal["kept", "reworded", "lost"]


@dataclass(frozen=True, slots=True)
class Fact:
    """Words from the session that a good brief repeats exactly, and what the summary did to them.

    kept: the words are in the summary. reworded: only their sense is. lost: neither is, or the
    summary says something that is no longer true.
    """

    name: str
    kind: Kind
    text: str
    fate: Fate


PLANTED = (
    Fact("goal", "goal", "back off exponentially with jitter", "reworded"),
    Fact("latest request", "request", "add `courier dead --requeue ID` to the CLI", "kept"),
    Fact("no migrations", "rule", "Never touch anything under migrations/", "lost"),
    Fact("no dependencies", "rule", "Don't add dependencies", "reworded"),
    Fact("fast tests only", "rule", "Always run the tests with `make test-fast`", "lost"),
    Fact("keep the signature", "rule", "Keep the signature of `Worker.run_once`", "reworded"),
    Fact("never push", "rule", "Commit only, never push", "reworded"),
    Fact("five attempts", "rule", "make it 5 attempts, not 8", "lost"),
    Fact("setting name", "rule", "COURIER_RETRY_CAP_SECONDS", "kept"),
    Fact("no metrics today", "rule", "Leave the metrics for tomorrow", "reworded"),
    Fact("full jitter", "decision", "use full jitter, not equal jitter", "reworded"),
    Fact("delay column", "decision", "use the existing `run_after` column", "reworded"),
    Fact("dead letters", "decision", "Same table, state 'dead'", "reworded"),
    Fact("global lock", "rejected", "it deadlocks with the scheduler", "lost"),
    Fact("in progress", "plan", "Move exhausted jobs to the dead state", "kept"),
    Fact("next", "plan", "Add `courier dead --requeue` to the CLI", "kept"),
    Fact("last", "plan", "Document the retry settings in docs/operations.md", "kept"),
    Fact("failing test", "error", "test_exhausted_job_is_marked_dead_once", "kept"),
    Fact("error line", "error", "assert ['ready', 'dead', 'ready'] == ['ready', 'dead']", "lost"),
    Fact("test command", "command", "make test-fast", "lost"),
    Fact("branch", "git", BRANCH, "kept"),
    Fact("commit", "git", "3f2c1ab", "kept"),
    Fact("new module", "file", "backoff.py", "kept"),
    Fact("worker", "file", "src/courier/worker.py", "kept"),
    Fact("replay script", "file", "replay.py", "lost"),
    Fact("requeue count", "question", "again at attempt 0", "reworded"),
)

ANALYSIS = """\
The conversation moved from diagnosis to a backoff module, then the worker, a commit, a rename of \
one setting, and now the dead-letter work. I go through it in order. The user first described the \
outage and asked for a cause and a plan. They approved the plan and gave working rules. They chose \
the kind of jitter and a limit for attempts, then had the worker changed, then asked for a \
simulation and a check of callers. After the commit they renamed an environment variable and asked \
for the dead-letter side. One new test is failing at the moment."""

SUMMARY = f"""\
1. Primary Request and Intent:
   The user runs courier, a small job queue. After a provider outage, failed jobs were retried all \
at once and the API key was throttled. They asked for exponential backoff with random jitter and \
for jobs that keep failing to be set aside instead of retried without end. The current request is \
the dead-letter side: mark exhausted jobs dead, log one line, and "add `courier dead --requeue ID` \
to the CLI".

2. Key Technical Concepts:
   - Exponential backoff with full jitter and an upper bound
   - Delayed availability of jobs through their run_after value
   - SQLite store, pytest

3. Files and Code Sections:
   - src/courier/backoff.py (new): `delay(attempt, cap, uniform)`, the exponent is bounded
   - src/courier/settings.py: `max_attempts` and `retry_cap_seconds`, the latter read from \
COURIER_RETRY_CAP_SECONDS
   - src/courier/queue.py: `push(job, *, run_after=0.0)` and the new `bury(job)`
   - src/courier/worker.py: `_retry` computes the delay; `run_once` buries a job that has used up \
its attempts
   - tests/test_backoff.py (new) and tests/test_worker.py

4. Errors and fixes:
   - An OverflowError for very large attempt numbers was fixed by bounding the exponent.
   - The new test `test_exhausted_job_is_marked_dead_once` fails: the job seems to be saved once \
too often.

5. Problem Solving:
   The cause of the retry storm was that the worker put failed jobs straight back into the queue. \
A simulation showed that the load now spreads out. Dead jobs stay in the jobs table with their own \
state, as the user chose.

6. All user messages:
   - Described the outage, asked for the cause and a plan
   - Approved the plan, no new packages, run the tests
   - Full jitter; 8 attempts before a job is dead; both in the settings
   - Change the worker, its public interface stays stable
   - Simulate the storm and check the other callers
   - Commit; the user opens the pull request
   - The variable must be COURIER_RETRY_CAP_SECONDS
   - Dead-letter side now, metrics another day; the attempt count of requeued jobs is undecided

7. Pending Tasks:
   - Move exhausted jobs to the dead state (in progress)
   - Add `courier dead --requeue` to the CLI
   - Document the retry settings in docs/operations.md

8. Current Work:
   The backoff is committed as 3f2c1ab on {BRANCH}; the renamed setting and the dead state are \
not committed. I was looking for the reason why the new worker test fails.

9. Optional Next Step:
   Fix the failing test, run the test suite, then write the requeue command."""

RAW_SUMMARY = f"<analysis>\n{ANALYSIS}\n</analysis>\n\n<summary>\n{SUMMARY}\n</summary>"
