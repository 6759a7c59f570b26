"""Two machines, and one team's PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.search.index_db import SearchIndex
from holdfast.search.ingest import Source, ingest_transcript
from holdfast.services.doctor.self_test import SelfTest
from holdfast.store.postgres import PostgresStore
from tests.terminal import Terminal
from tests.unit.search.transcripts import append, message_line

from .colleagues import FOREIGN, THEIRS, send_as_colleague
from .machine import Machine


@pytest.fixture
def team(postgres_place: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore.at(postgres_place)) as opened:
        yield opened


@pytest.fixture
def machines(team: PostgresStore, tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    made = Machine(tmp_path / "one", team), Machine(tmp_path / "two", team)
    yield made
    for machine in made:
        machine.close()


@pytest.fixture
def machine(machines: tuple[Machine, Machine]) -> Machine:
    return machines[0]


@pytest.fixture
def colleague(tmp_path: Path, postgres_place: str) -> str:
    """Somebody else's machine, which has sent a session of the same project and one of another."""
    with SearchIndex(str(tmp_path / "theirs" / "recall.db")) as index:
        for session, project, text in (
            (THEIRS, "shared", "the obelisk stands at bin/obelisk.py"),
            (FOREIGN, "other", "an obelisk of another project"),
        ):
            path = tmp_path / f"{session}.jsonl"
            append(path, message_line(text), message_line("use full jitter", "assistant"))
            ingest_transcript(index, Source(session, project, str(path)), time.time())
        send_as_colleague(postgres_place, index)
    return postgres_place


@pytest.fixture
def member(seasoned: Terminal, colleague: str, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal on a machine of the same team, in the project that colleagues share."""
    monkeypatch.setattr("holdfast.services.recall.team_lookup.to_project_id", lambda *_: "shared")
    seasoned.set(HOLDFAST_DATABASE=colleague)
    return seasoned


@pytest.fixture
def project(seasoned: Terminal, rehearsal: SelfTest) -> str:
    return rehearsal.demo.project_dir
