"""A machine of a team: its own store, ledger and search index, and the team's store."""

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
        """The project folder of its sessions."""
        self.now = 100.0

    def sync(self) -> SyncResult:
        """Push sessions and rows, and pull the messages of other machines."""
        self.now += 1
        team = Ledger(self.team.database)
        return sync(self.store, self.ledger, self.team, team, TEAM, self.now)

    def count_unsent(self) -> tuple[int, int]:
        """Return the number of sessions and rows that were not pushed."""
        backlog = measure_backlog(self.store, self.ledger, TEAM)
        return backlog.sessions, backlog.rows

    def add_session(self, name: str, *requests: str) -> str:
        """Save a session with these requests and return the id of its snapshot."""
        state = new_state()
        state["requests"] = [
            {"text": text, "line": n, "at": ""} for n, text in enumerate(requests, 1)
        ]
        return self._save(name, state)

    def add_planned_session(
        self, name: str, request: str, plan: dict[str, str], agent: str = ""
    ) -> str:
        """Save a session with a plan and an optional sub-agent; return the id of its snapshot."""
        state = new_state()
        state["requests"] = [{"text": request, "line": 1, "at": ""}]
        state["plan"] = [
            {"id": str(n), "text": text, "status": status, "line": n, "source_line": n,
             "blocked_by": [], "wave": 0}
            for n, (text, status) in enumerate(plan.items(), 2)
        ]  # fmt: skip
        if agent:
            state["agents"] = [
                {"id": "a1", "call": "c1", "type": "Explore", "task": agent, "status": "completed",
                 "result": "found", "line": 9}  # type: ignore[typeddict-item]
            ]  # fmt: skip
        return self._save(name, state)

    def _save(self, name: str, state: State) -> str:
        state["lines"] = 9
        existing = self.store.session(name)
        self.now += 1
        assert self.store.save_session(
            session=name, host="claude-code", project=self.clone, transcript="", cursor=None,
            state=state, revision=existing["revision"] if existing else 0, now=self.now,
        )  # fmt: skip
        return self.store.add_snapshot(name, "auto", state, self.now)

    def add_lines(self, session: str, *texts: str, project: str = "") -> None:
        """Append lines to a transcript and index them."""
        path = self.folder / f"{session}.jsonl"
        append(path, *[message_line(text) for text in texts])
        ingest_transcript(self.index, Source(session, project or self.project, str(path)), NOW)

    def push_texts(self, should_stop: Callable[[], bool] = lambda: False) -> int:
        return push_texts.push_texts(
            self.index, self.ledger, self.team.database, TEAM, NOW, stop=should_stop
        )

    def count_unsent_texts(self) -> int:
        """Return the number of sessions with texts that were not pushed."""
        return push_texts.count_unsent_sessions(self.index, self.ledger, TEAM)

    def close(self) -> None:
        self.store.close()
        self.index.close()
        self.ledger.database.close()
