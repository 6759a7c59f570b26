"""The example session: two hours of work on a job queue, as a person and an assistant said it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.example.changes import (
    BACKOFF,
    BURY,
    CALLERS,
    COMMITTED,
    CURVE,
    DEAD_TEST,
    FAILED,
    FAILED_FOR_GOOD,
    GIT_LOG,
    OVERFLOW,
    PUSH,
    PUSH_LATER,
    READ_CAP,
    READ_LIMITS,
    RETRY,
    SIMULATION,
    STILL_FAILING,
    TEST_BACKOFF,
    TEST_FULL_JITTER,
    WAITING_TEST,
    green,
)
from holdfast.example.courier import FILES
from holdfast.example.session import BRANCH, Session
from holdfast.example.steps import Prompt, Reply, Step, Typed
from holdfast.example.workbench import Workbench
from holdfast.example.writer import usage

GOAL = (
    "Last night the mail provider was down for ten minutes, and when it came back courier hit it"
    " with about 40k retries at once, so they throttled our API key until morning. I want failed"
    " jobs to back off exponentially with jitter, and jobs that keep failing should end up in a"
    " dead-letter list instead of looping forever. First find out why `Worker.run_once` puts a"
    " failed job back with no delay at all, then show me a plan before you change anything."
    " Never touch anything under migrations/, the DBA owns the schema and applies those by hand."
)
HOUSE_RULES = (
    "The plan is fine, go ahead with the backoff module. Two things first. Don't add dependencies,"
    " the image is built offline and every new package needs a security review. Always run the"
    " tests with `make test-fast`, the full suite takes 20 minutes."
)
JITTER = (
    "Good. But use full jitter, not equal jitter: with 40k jobs equal jitter still leaves a spike"
    " at half the delay, I measured that last year. And give a job 8 attempts before it counts as"
    " dead. Put that limit and the longest delay in the settings."
)
NO_LOCK = (
    "Now the worker. Don't serialise the retries behind one lock: we tried a global lock in March"
    " and it deadlocks with the scheduler, because `Scheduler.tick` holds its own lock while it"
    " calls `Queue.push`. Keep the signature of `Worker.run_once` as it is, two other services"
    " import it."
)
FIVE_ATTEMPTS = (
    "Correction: make it 5 attempts, not 8. Support wants to see a dead letter within the hour."
    " Then show me with a small simulation that the spike is gone, and check who else calls"
    " `Queue.push` now that its signature changed."
)
COMMIT = (
    "That curve is what I wanted. Delete the simulation script, it has done its job, and commit."
    " Commit only, never push: I open the pull request myself."
)
SETTING_NAME = (
    "One more thing on the settings: the variable must be `COURIER_RETRY_CAP_SECONDS`, not"
    " `MAX_BACKOFF`. Everything else we read from the environment has the prefix."
)
LATEST = (
    "Now the dead-letter side: after the last attempt set the state to dead and log one line with"
    " the job id and the last error, then add `courier dead --requeue ID` to the CLI. Leave the"
    " metrics for tomorrow. Whether a requeued job starts again at attempt 0 I have to ask"
    " support, so leave that open for now."
)

# The prompts above; the host compacts during the last one.
TURNS = 8

PLAN = (
    ("Find out why failed jobs come back at once", "Read the worker, the queue and the store."),
    ("Add a backoff module with jitter and a cap", "src/courier/backoff.py and its tests."),
    ("Delay retries in the worker through run_after", "No lock, no schema change."),
    ("Check the other callers of Queue.push", "Scripts and the scheduler call it too."),
    ("Move exhausted jobs to the dead state", "After the last attempt, with one log line."),
    ("Add `courier dead --requeue` to the CLI", "Puts one dead job back by id."),
    ("Document the retry settings in docs/operations.md", "Defaults, limits, how to requeue."),
)

TEST = ("make test-fast", "Run the fast tests")

BACKOFF_PY, TEST_BACKOFF_PY = "src/courier/backoff.py", "tests/test_backoff.py"
QUEUE_PY, SETTINGS_PY = "src/courier/queue.py", "src/courier/settings.py"
WORKER_PY, TEST_WORKER_PY = "src/courier/worker.py", "tests/test_worker.py"
REPLAY_PY, SIMULATE_PY = "scripts/replay.py", "scripts/simulate_storm.py"


def finding_the_cause(bench: Workbench) -> Iterator[Step]:
    yield Prompt(GOAL)
    names = ["__init__", "cli", "queue", "scheduler", "settings", "store", "worker"]
    hits = [
        'src/courier/worker.py:36:            self._queue.push(job, "ready")',
        "src/courier/scheduler.py:38:            self._queue.push(job)",
        "src/courier/cli.py:27:    queue.push(Job(new_id(), kind, body))",
    ]
    search = (
        bench.glob("src/**/*.py", [f"src/courier/{name}.py" for name in names]),
        bench.grep(r"\.push\(", hits),
    )
    text = "I'll look at the worker and everything it calls before I suggest anything."
    yield Reply(text, search, thinks=True)
    yield Reply("", (bench.read(WORKER_PY), bench.read(QUEUE_PY)))
    yield Reply("", (bench.read("src/courier/store.py"), bench.read(TEST_WORKER_PY)))
    check = "git log --oneline -3 && git status --short --branch"
    yield Reply("", (bench.bash(check, "Show recent commits and the working tree", GIT_LOG),))
    yield Reply("", (bench.load_tools("TaskCreate", "TaskUpdate"),))
    tasks = [bench.add_task(subject, text, f"Working on: {subject}") for subject, text in PLAN]
    yield Reply("The cause is clear, so here is the plan as tasks.", tuple(tasks))
    yield Reply("", (bench.move_task("1", "completed"),))
    yield Reply(
        'The cause: `Worker.run_once` catches every exception and calls `Queue.push(job, "ready")`'
        " straight away, so a failed job is claimed again on the next poll, however often it has"
        " failed.\n\nI decided to use the existing `run_after` column for the delay, because"
        " `Store.claim` already honours it and nobody sets it yet, so no schema change is needed."
        " Seven steps, the first one done. Shall I go on with the backoff module?"
    )


def adding_the_backoff(bench: Workbench) -> Iterator[Step]:
    yield Prompt(HOUSE_RULES, minute=11)
    yield Reply("", (bench.move_task("2", "in_progress"),))
    written = (bench.write(BACKOFF_PY, BACKOFF), bench.write(TEST_BACKOFF_PY, TEST_BACKOFF))
    yield Reply("The module is pure, so the tests can hand in their own dice.", written)
    yield Reply("", (bench.bash(*TEST, OVERFLOW, code=2, seconds=7.4),), thinks=True)
    bounded = bench.edit(BACKOFF_PY, "2.0**attempt)", "2.0 ** min(attempt, 32))")
    yield Reply("Python raises on the power before `min` can cap it. I'll bound it.", (bounded,))
    yield Reply("", (bench.bash(*TEST, green(30), seconds=7.1),))
    yield Reply(
        "`backoff.delay` is in and tested; the one failure was an overflow for absurd attempt"
        " numbers, now bounded. It uses equal jitter: half of the delay fixed, half random."
    )


def choosing_full_jitter(bench: Workbench) -> Iterator[Step]:
    yield Prompt(JITTER, minute=24)
    equal, full = "ceiling / 2 + uniform(0, ceiling / 2)", "uniform(0, ceiling)"
    last = "    assert delay(5000, 900.0, longest) == 900.0\n"
    edits = (
        bench.edit(BACKOFF_PY, equal, full),
        bench.extend(TEST_BACKOFF_PY, last, TEST_FULL_JITTER),
    )
    yield Reply("", edits)
    yield Reply("", (bench.read(SETTINGS_PY),))
    limits = "    max_attempts: int = 8\n    max_backoff: float = 900.0\n"
    edits = (
        bench.extend(SETTINGS_PY, "    poll_seconds: float = 0.5\n", limits),
        bench.extend(SETTINGS_PY, '"COURIER_POLL_SECONDS", cls.poll_seconds)),', READ_LIMITS),
    )
    yield Reply("", edits)
    yield Reply("", (bench.bash(*TEST, green(31), seconds=7.0),))
    yield Reply("", (bench.move_task("2", "completed"),))
    yield Reply("Full jitter is in: a retry falls anywhere between now and the ceiling. 31 pass.")


def delaying_in_the_worker(bench: Workbench) -> Iterator[Step]:
    yield Prompt(NO_LOCK, minute=36)
    yield Reply("", (bench.move_task("3", "in_progress"),))
    question = bench.ask(
        "Where should jobs live that have used up their attempts?",
        "Dead letters",
        {
            "Same table, state 'dead'": "No schema change, and `courier ls --state dead` works.",
            "Separate table": "Cleaner to prune, but needs a migration from the DBA.",
        },
        "Same table, state 'dead'",
    )
    yield Reply("One choice shapes the worker, so I'd rather ask now.", (question,), thinks=True)
    imports = "from collections.abc import Callable\n\n"
    end = "            self._queue.done(job)\n        return True\n"
    edits = (
        bench.edit(QUEUE_PY, PUSH, PUSH_LATER),
        bench.extend(WORKER_PY, imports, "from courier.backoff import delay\n"),
        bench.edit(WORKER_PY, 'self._queue.push(job, "ready")', "self._retry(job)"),
        bench.extend(WORKER_PY, end, RETRY),
    )
    yield Reply(
        "Going with `run_after` on the job rather than a sleep in the worker, because a sleeping"
        " worker keeps its claim and blocks the jobs behind it. No lock is involved.",
        edits,
    )
    last = '    assert store.saved("a") == ["ready", "ready"]\n'
    yield Reply("", (bench.extend(TEST_WORKER_PY, last, WAITING_TEST),))
    yield Reply("", (bench.bash(*TEST, green(32), seconds=7.3),))
    yield Reply("", (bench.move_task("3", "completed"),))
    yield Reply(
        "Failed jobs now wait: `_retry` pushes them with a `run_after` in the future, and"
        " `run_once` keeps its signature. `Queue.push` takes `run_after` by keyword only."
    )


def showing_the_curve(bench: Workbench, agent_id: str) -> Iterator[Step]:
    yield Prompt(FIVE_ATTEMPTS, minute=58)
    five = bench.edit(SETTINGS_PY, "max_attempts: int = 8", "max_attempts: int = 5")
    yield Reply("", (five, bench.write(SIMULATE_PY, SIMULATION)))
    command = f"PYTHONPATH=src python {SIMULATE_PY}"
    run = bench.bash(command, "Simulate the storm", CURVE, seconds=1.9)
    yield Reply("", (bench.move_task("4", "in_progress"), run))
    asked = (
        "Find every caller of Queue.push in this repository outside tests/. For each give"
        " file:line, the arguments it passes, and whether it still works with"
        " push(job, *, run_after=0.0). Change nothing."
    )
    counts = usage(6, 16_900, 1_200, 236)
    callers = bench.delegate("Find callers of Queue.push", asked, CALLERS, agent_id, counts)
    yield Reply("The simulation is flat. Now the callers, in a sub-agent.", (callers,))
    yield Reply("", (bench.read(REPLAY_PY),))
    fixed = bench.edit(REPLAY_PY, 'queue.push(Job(**row), "ready")', "queue.push(Job(**row))")
    yield Reply("", (fixed,))
    yield Reply("", (bench.bash(*TEST, green(32), seconds=7.2),))
    yield Reply("", (bench.move_task("4", "completed"),))
    yield Reply(
        "Five attempts now. After the first failure the busiest second holds half of the 40k jobs,"
        " after the fourth about a sixteenth. One caller was broken: `scripts/replay.py` passed"
        " the state as a positional argument; I fixed it. All fast tests pass."
    )


def committing(bench: Workbench) -> Iterator[Step]:
    yield Prompt(COMMIT, minute=77)
    yield Reply("", (bench.remove(SIMULATE_PY),))
    command = (
        'git add -A src tests scripts && git commit -m "Back off failed jobs with full jitter"'
    )
    yield Reply("", (bench.commit(command, "Commit the backoff", COMMITTED, "3f2c1ab", BRANCH),))
    yield Typed(SETTING_NAME)
    yield Reply("Deleted the script and committed as 3f2c1ab. Nothing is pushed.")


def renaming_the_setting(bench: Workbench) -> Iterator[Step]:
    yield Prompt(SETTING_NAME, queued=True)
    old = 'max_backoff=float(os.environ.get("MAX_BACKOFF", cls.max_backoff)),'
    edits = (
        bench.edit(SETTINGS_PY, "max_backoff: float = 900.0", "retry_cap_seconds: float = 900.0"),
        bench.edit(SETTINGS_PY, old, READ_CAP),
        bench.edit(WORKER_PY, "_settings.max_backoff", "_settings.retry_cap_seconds"),
    )
    yield Reply("", edits)
    yield Reply("", (bench.bash(*TEST, green(32), seconds=7.1),))
    yield Reply(
        "Renamed, in the settings and in the worker; 32 pass, not committed yet. One question"
        " before the dead letters: should a requeued job start again at attempt 0, or keep its"
        " count? With the old count it would be dead again on its first failure."
    )


def burying_the_dead(bench: Workbench) -> Iterator[Step]:
    yield Prompt(LATEST, minute=108)
    yield Reply("", (bench.move_task("5", "in_progress"),))
    imports = "from courier.queue import Queue\n"
    last = "    assert queue.claim(clock.now) is None\n"
    edits = (
        bench.extend(QUEUE_PY, '        self._store.save(job, "done")\n', BURY),
        bench.edit(WORKER_PY, FAILED, FAILED_FOR_GOOD),
        bench.extend(TEST_WORKER_PY, imports, "from courier.settings import Settings\n"),
        bench.extend(TEST_WORKER_PY, last, DEAD_TEST),
    )
    yield Reply("Dead state first, with a test that a dead job is saved exactly once.", edits)
    output = STILL_FAILING.replace("ROOT", bench.root)
    yield Reply("", (bench.bash(*TEST, output, code=2, seconds=7.6),))
    yield Reply("The job is ready again after it was buried.", (bench.read(QUEUE_PY),), thinks=True)


def going_on(bench: Workbench) -> Iterator[Step]:
    """What the assistant does after the compaction."""
    old = "            self._retry(job)\n        else:\n"
    new = "            else:\n                self._retry(job)\n        else:\n"
    fixed = bench.edit(WORKER_PY, old, new)
    yield Reply("`bury` is followed by `_retry` in every case; the retry needs an else.", (fixed,))
    yield Reply("A dead job is no longer pushed again. The fast tests are next, then the CLI.")


@dataclass(frozen=True, slots=True)
class Story:
    """The steps up to the compaction, those after it, and the files as the first ones left them."""

    before: tuple[Step, ...]
    after: tuple[Step, ...]
    files: dict[str, str]


def tell(session: Session) -> Story:
    """The whole story, with the paths and ids of the given session."""
    bench = Workbench(session.project_dir, FILES)
    agent_id = "a" + session.uuid("agent").replace("-", "")[:16]
    before = (
        *finding_the_cause(bench),
        *adding_the_backoff(bench),
        *choosing_full_jitter(bench),
        *delaying_in_the_worker(bench),
        *showing_the_curve(bench, agent_id),
        *committing(bench),
        *renaming_the_setting(bench),
        *burying_the_dead(bench),
    )
    files = dict(bench.files)
    return Story(before, tuple(going_on(bench)), files)
