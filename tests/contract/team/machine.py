"""A machine of a team: its own store, ledger, index and clone, and the way to the team's store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from holdfast.ledger.connect import open_local_ledger
from holdfast.ledger.repository import Ledger
from holdfast.search.index_db import SearchIndex
from holdfast.search.ingest import Source, ingest_transcript
from holdfast.services.team import push_texts
from holdfast.services.team.sync import SyncResult, measure_backlog, sync
from holdfast.state.fold import new_state
from holdfast.state.types import State
from holdfast.store.postgres import PostgresStore
from holdfast.store.sqlite import SQLiteStore
from tests.unit.search.transcripts import NOW, append, message_line

TEAM = "postgresql://team"


class Machine:
    def __init__(self, folder: Path, team: PostgresStore) -> None:
        self.folder = folder
        self.project = f"{folder}/app"
        self.store = SQLiteStore(str(folder / "holdfast.db"))
        self.ledger = open_local_ledger(str(folder / "ledger.db"))
        self.index = SearchIndex(str(folder / "recall.db"))
        self.team = team
        self.clone = "/srv/app"
        """Where its sessions work."""
        self.now = 100.0

    def sync(self) -> SyncResult:
        """Send sessions and rows, and take in what others sent."""
        self.now += 1
        team = Ledger(self.team.database)
        return sync(self.store, self.ledger, self.team, team, TEAM, self.now)

    def waits(self) -> tuple[int, int]:
        """How many sessions and rows have not been sent."""
        found = measure_backlog(self.store, self.ledger, TEAM)
        return found.sessions, found.rows

    def session(self, name: str, *requests: str) -> str:
        """A session of these requests, and a snapshot of it."""
        state = new_state()
        state["requests"] = [
            {"text": text, "line": n, "at": ""} for n, text in enumerate(requests, 1)
        ]
        return self._saved(name, state)

    def planned(self, name: str, request: str, plan: dict[str, str], agent: str = "") -> str:
        """A session with a plan, and perhaps a sub-agent."""
        state = new_state()
        state["requests"] = [{"text": request, "line": 1, "at": ""}]
        state["plan"] = [
            {"id": str(n), "text": text, "status": status, "line": n, "told": n, "blocked_by": [],
             "wave": 0}
            for n, (text, status) in enumerate(plan.items(), 2)
        ]  # fmt: skip
        if agent:
            state["agents"] = [
                {"id": "a1", "call": "c1", "type": "Explore", "task": agent, "status": "completed",
                 "result": "found", "line": 9}  # type: ignore[typeddict-item]
            ]  # fmt: skip
        return self._saved(name, state)

    def _saved(self, name: str, state: State) -> str:
        state["lines"] = 9
        known = self.store.session(name)
        self.now += 1
        assert self.store.save_session(
            session=name, host="claude-code", project=self.clone, transcript="", cursor=None,
            state=state, revision=known["revision"] if known else 0, now=self.now,
        )  # fmt: skip
        return self.store.add_snapshot(name, "auto", state, self.now)

    def says(self, session: str, *texts: str, project: str = "") -> None:
        """More lines of a transcript, indexed."""
        path = self.folder / f"{session}.jsonl"
        append(path, *[message_line(text) for text in texts])
        ingest_transcript(self.index, Source(session, project or self.project, str(path)), NOW)

    def send_texts(self, enough: Callable[[], bool] = lambda: False) -> int:
        return push_texts.push_texts(
            self.index, self.ledger, self.team.database, TEAM, NOW, stop=enough
        )

    def texts_wait(self) -> int:
        """Of how many sessions texts have not been sent."""
        return push_texts.count_unsent_sessions(self.index, self.ledger, TEAM)

    def close(self) -> None:
        self.store.close()
        self.index.close()
        self.ledger.database.close()
