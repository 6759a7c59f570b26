"""Fixtures: two machines that share one team database in PostgreSQL."""

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

from .colleagues import COLLEAGUE_SESSION, OTHER_PROJECT_SESSION, push_as_colleague
from .machine import Machine


@pytest.fixture
def team(migrated_postgres_url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore.at(migrated_postgres_url)) as store:
        yield store


@pytest.fixture
def machines(team: PostgresStore, tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    machines = Machine(tmp_path / "one", team), Machine(tmp_path / "two", team)
    yield machines
    for machine in machines:
        machine.close()


@pytest.fixture
def machine(machines: tuple[Machine, Machine]) -> Machine:
    return machines[0]


@pytest.fixture
def colleague(tmp_path: Path, migrated_postgres_url: str) -> str:
    """Push a colleague's sessions, one of the shared project and one of another; return the URL."""
    with SearchIndex(str(tmp_path / "colleague" / "recall.db")) as index:
        for session, project, text in (
            (COLLEAGUE_SESSION, "shared", "the obelisk is in bin/obelisk.py"),
            (OTHER_PROJECT_SESSION, "other", "an obelisk of another project"),
        ):
            path = tmp_path / f"{session}.jsonl"
            append(path, message_line(text), message_line("use full jitter", "assistant"))
            ingest_transcript(index, Source(session, project, str(path)), time.time())
        push_as_colleague(migrated_postgres_url, index)
    return migrated_postgres_url


@pytest.fixture
def member(demo_terminal: Terminal, colleague: str, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal on a machine of the team, in the shared project."""
    monkeypatch.setattr("holdfast.services.recall.team_lookup.to_project_id", lambda *_: "shared")
    demo_terminal.set_env(HOLDFAST_DATABASE=colleague)
    return demo_terminal


@pytest.fixture
def project(demo_terminal: Terminal, self_test: SelfTest) -> str:
    return self_test.demo.project_dir
