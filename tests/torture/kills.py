"""Processes that are killed with SIGKILL at random moments."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from tests.postgres import PostgresServer
from tests.process.hook_session import HookSession
from tests.process.serving import Server, retry_while_unavailable
from tests.process.test_kill import check_integrity, kill_after, read_snapshots
from tests.torture.report import Run

HOOK_EVENTS = (
    "Stop", "PreCompact", "UserPromptSubmit", "SubagentStop", "SessionStart", "PostCompact",
    "SessionEnd",
)  # fmt: skip
# A process is killed before this many times its usual duration has passed.
LATEST_KILL = 1.15
KILLS_PER_SESSION = 40
WRITERS = 4
COMMANDS = {
    "recover": ["recover", "{folder}/transcripts"],
    "index": ["index", "rebuild", "--all"],
    "gc": ["gc", "--yes", "--days", "30"],
    "sync": ["sync"],
}
# What must be the same after a command that was killed and run again.
RESULTS = (
    ("holdfast.db", "SELECT id, state FROM sessions"),
    ("holdfast.db", "SELECT session, reason, line, richness FROM snapshots"),
    ("holdfast.db", "SELECT session, ordinal, summary, brief FROM compactions"),
    ("recall.db", "SELECT kind, tool, file, text FROM documents"),
)
TEAM_TABLES = ("projects", "requests", "tasks", "actions")
MAX_SERVER_SECONDS = 1.5


def run(run: Run, folder: Path) -> None:
    hooks, server, commands = run.split(3)
    kill_hooks(hooks, folder / "hooks")
    kill_servers(server, folder / "serve")
    kill_commands(commands, folder / "commands")


def kill_hooks(run: Run, folder: Path) -> None:
    """Kill hooks; whatever an earlier hook saved is still there, and the next one completes it."""
    row = run.row("hooks killed", "kills")
    number = 0
    while run.has_time():
        number += 1
        session = HookSession(root=folder / str(number))
        lines = session.demo.before
        session.write(lines[: len(lines) // 2])
        usual = _measure(lambda session=session: session.run_hook("PreCompact"))  # type: ignore[misc]
        saved = read_snapshots(session)
        for kill in range(KILLS_PER_SESSION):
            if not run.has_time():
                break
            at = len(lines) // 2 + kill
            session.write(lines[at : at + 1])
            event = run.random.choice(HOOK_EVENTS)
            fields = {"source": "compact"} if event == "SessionStart" else {}
            delay = usual * LATEST_KILL * run.random.random()
            kill_after(session.start_hook(event, **fields), delay)
            after = read_snapshots(session)
            kept = {ident: after.get(ident) for ident in saved} == saved
            row.check(
                kept and check_integrity(session.database) == ["ok"],
                f"{event} killed after {delay:.3f} s of {usual:.3f}",
            )
            saved = after
        session.write(lines[-1:])
        session.run_hook("Stop")
        is_whole = session.read_row()["state"] == session.fold_transcript()
        run.row("sessions after killed hooks", "sessions").check(is_whole, str(session.root))


def kill_servers(run: Run, folder: Path) -> None:
    """Kill a server under load; every write that it acknowledged is there after a restart."""
    row = run.row("acknowledged writes of killed servers", "writes")
    home = folder / "home"
    while run.has_time():
        server = Server(home)
        posted = _post_until_killed(run, server)
        Server(home).stop_with(signal.SIGKILL)
        known = _list_action_ids(home)
        run.row("servers killed", "kills").check(
            check_integrity(home / "ledger.db") == ["ok"], "the ledger is damaged"
        )
        for ident in posted:
            row.check(ident in known, f"action {ident}")


def _post_until_killed(run: Run, server: Server) -> list[str]:
    """Post from several threads, kill the server, and return the ids that it acknowledged."""
    acknowledged: list[str] = []

    def post() -> None:
        with suppress(urllib.error.URLError, http.client.HTTPException, OSError, ValueError):
            while True:
                acknowledged.append(retry_while_unavailable(server.post_action))

    threads = [threading.Thread(target=post) for _ in range(WRITERS)]
    for thread in threads:
        thread.start()
    time.sleep(MAX_SERVER_SECONDS * run.random.random())
    server.stop_with(signal.SIGKILL)
    for thread in threads:
        thread.join()
    return acknowledged


def _list_action_ids(home: Path) -> set[str]:
    with closing(sqlite3.connect(home / "ledger.db")) as ledger:
        return {row[0] for row in ledger.execute("SELECT id FROM actions")}


def kill_commands(run: Run, folder: Path) -> None:
    """Kill commands that rewrite much; run again to their end they give the same as unkilled."""
    work = folder / "work"
    _fill(work)
    shutil.copytree(work, folder / "saved")
    with ExitStack() as stack:
        postgres = PostgresServer()
        stack.callback(postgres.stop)
        number = 0
        while run.has_time():
            name, words = list(COMMANDS.items())[number % len(COMMANDS)]
            number += 1
            urls = [stack.enter_context(postgres.create_schema()) for _ in "12"]
            command = _Command(work, words, urls[0] if name == "sync" else "")
            usual = _measure(command.run)
            wanted = command.read_result()
            command.reset(folder / "saved", urls[1] if name == "sync" else "")
            delay = usual * LATEST_KILL * run.random.random()
            kill_after(command.start(), delay)
            is_intact = all(check_integrity(file) == ["ok"] for file in work.glob("home/*.db"))
            command.run()
            run.row(f"`{name}` killed", "kills").check(
                is_intact and command.read_result() == wanted,
                f"killed after {delay:.2f} s of {usual:.2f}",
            )
            command.reset(folder / "saved", "")


class _Command:
    """A command of the command line on a store of its own."""

    def __init__(self, folder: Path, words: list[str], database: str) -> None:
        self._folder = folder
        self._words = [word.format(folder=folder) for word in words]
        self._database = database

    @property
    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "HOLDFAST_HOME": str(self._folder / "home"),
            "HOME": str(self._folder),
            "HOLDFAST_DATABASE": self._database,
        }

    def reset(self, saved: Path, database: str) -> None:
        """Restore the folder, and use another database."""
        shutil.rmtree(self._folder)
        shutil.copytree(saved, self._folder)
        self._database = database

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "holdfast", *self._words], env=self._environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def run(self) -> None:
        process = subprocess.run(
            [sys.executable, "-m", "holdfast", *self._words], env=self._environment, check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        assert process.returncode == 0, process.stderr

    def read_result(self) -> list[str]:
        """Return what the databases say, without ids and times."""
        rows = []
        for name, query in RESULTS:
            path = self._folder / "home" / name
            if path.exists():
                with closing(sqlite3.connect(path)) as database:
                    rows += [str(row) for row in database.execute(query)]
        if self._database:
            from psycopg import connect

            with connect(self._database) as team:
                for table in TEAM_TABLES:
                    row = team.execute(f"SELECT count(*) FROM {table}").fetchone()
                    rows.append(f"{table}: {row}")
        return sorted(rows)


def _fill(folder: Path) -> None:
    """Make a store with sessions, snapshots, a ledger and an index, and transcripts to recover."""
    for number in (1, 2):
        session = HookSession(root=folder, session_id=f"s{number}")
        session.run_until_compacted()
        for _ in range(5):
            session.run_hook("PreCompact")
    with closing(sqlite3.connect(folder / "home" / "holdfast.db")) as store, store:
        # Old enough for `gc`.
        store.execute("UPDATE snapshots SET created_at = created_at - ?", (90 * 86400,))
    transcripts = folder / "transcripts"
    transcripts.mkdir()
    for number in range(3):
        other = HookSession(root=folder, session_id=f"old{number}")
        other.write(other.demo.before)
        other.transcript.rename(transcripts / other.transcript.name)


def _measure(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started
