"""Two machines, and one team's PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.store.postgres import PostgresStore

from .machine import Machine


@pytest.fixture
def team(postgres_url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore.at(postgres_url)) as opened:
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
