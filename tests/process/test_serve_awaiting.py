"""A server that is started before the team's PostgreSQL, and one that would wait for nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from holdfast.ledger import messages
from holdfast.ledger.connect import open_local_ledger
from holdfast.ledger.repository import Ledger
from tests.postgres import Server as PostgreSQL
from tests.process.serving import PATIENCE, Server, Start, read_event, wait_until_heard

SECRET = "hunter2-very-secret"
LISTENING = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'"


def refused(server: Server, path: str) -> tuple[int, str, dict[str, Any]]:
    with pytest.raises(urllib.error.HTTPError) as caught:
        server.get(path)
    with caught.value as answer:
        return answer.code, answer.headers["Retry-After"], json.load(answer)


def until_it_is_there(server: Server) -> None:
    by = time.monotonic() + PATIENCE
    while time.monotonic() < by:
        try:
            server.get("/health")
            return
        except urllib.error.HTTPError as problem:
            with problem:
                time.sleep(0.1)
    raise AssertionError("the server did not find its database")


def with_password(url: str) -> str:
    """Nobody asks for it there; it may be told to nobody all the same."""
    return url.replace("postgres:@", f"postgres:{SECRET}@")


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_server_that_is_there_before_its_database_waits_for_it(
    postgres: PostgreSQL, postgres_url: str, tmp_path: Path, start: Start, workers: str
) -> None:
    with postgres.away():
        server = start(
            tmp_path / "home", "--workers", workers, database=with_password(postgres_url)
        )
        told = [refused(server, path) for path in ("/health", "/api/actions", "/api/events")]
        assert server.process.poll() is None
    for code, again, problem in told:
        assert (code, again) == (503, "2")
        assert "database cannot be reached" in problem["detail"]
        assert problem["hint"]
    until_it_is_there(server)
    with server.events() as stream:
        wait_until_heard(stream)
        made = server.post("/api/actions", tool_name="Read")["id"]
        assert json.loads(read_event(stream)["data"])["record_id"] == made
    # Another worker may have found it first; the one that tells of it looks every second.
    server.until_said("is reachable now")
    code, said = server.stop()
    first = "".join(server.said)
    assert code == 0
    assert "cannot be reached" in first
    assert "connection is retried until it succeeds" in first
    assert said.count("is reachable now") == 1
    assert "Traceback" not in said
    assert SECRET not in first + said + json.dumps(told)


def test_servers_that_waited_tell_each_other_what_happens(
    postgres: PostgreSQL, postgres_url: str, tmp_path: Path, start: Start
) -> None:
    with postgres.away():
        one, other = (start(tmp_path / name, database=postgres_url) for name in ("one", "other"))
    for server in (one, other):
        until_it_is_there(server)
    by = time.monotonic() + PATIENCE
    while postgres.ask(LISTENING) != [(2,)]:
        assert time.monotonic() < by, "nobody listens for what others write"
        time.sleep(0.1)
    with other.events() as stream:
        wait_until_heard(stream)
        made = one.post("/api/actions", tool_name="Read")["id"]
        assert json.loads(read_event(stream)["data"])["record_id"] == made


def test_what_was_said_here_while_the_database_was_away_reaches_the_team(
    postgres: PostgreSQL, postgres_url: str, tmp_path: Path, start: Start
) -> None:
    home = tmp_path / "home"
    with postgres.away():
        # Who needs a token is not known as long as nobody can look.
        server = start(home, "--proxy", database=postgres_url)
        with closing(open_local_ledger(str(home / "ledger.db")).database) as database:
            messages.send(Ledger(database), time.time(), ident="m1", from_agent_id="ada")
    assert "There is no token yet" not in "".join(server.said)
    by = time.monotonic() + PATIENCE
    while "m1" not in sent(postgres_url):
        assert time.monotonic() < by, "nothing was sent"
        time.sleep(0.1)


def sent(url: str) -> set[str]:
    """The messages that the team has, once it has tables."""
    with psycopg.connect(url) as connection, suppress(psycopg.errors.UndefinedTable):
        return {row[0] for row in connection.execute("SELECT id FROM messages")}
    return set()


@contextmanager
def asking_for_a_password(postgres: PostgreSQL) -> Iterator[str]:
    """The address of a role whose password is another one."""
    rules = postgres.folder / "pg_hba.conf"
    before = rules.read_text()
    postgres.ask("CREATE ROLE ada LOGIN PASSWORD 'right'")
    rules.write_text(f"local all ada scram-sha-256\n{before}")
    postgres.ask("SELECT pg_reload_conf()")
    try:
        yield postgres.url.replace("postgres:@", f"ada:{SECRET}@")
    finally:
        rules.write_text(before)
        postgres.ask("SELECT pg_reload_conf()")
        postgres.ask("DROP ROLE ada")


def ends_at_once(home: Path, database: str) -> str:
    """What a server says that cannot be started."""
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "serve", "--port", "0"],
        capture_output=True, text=True, check=False, timeout=PATIENCE,
        env={**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_DATABASE": database},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert "\nhint: " in done.stderr
    assert " serves " not in done.stderr
    assert SECRET not in done.stderr
    return done.stderr


def test_a_password_that_is_wrong_is_told_and_not_waited_for(
    postgres: PostgreSQL, tmp_path: Path
) -> None:
    with asking_for_a_password(postgres) as url:
        by = time.monotonic() + PATIENCE
        while lets_in(url):
            assert time.monotonic() < by, "the new rule is not in force"
            time.sleep(0.05)
        assert 'authentication failed for user "ada"' in ends_at_once(tmp_path, url)


def lets_in(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.parametrize(("change", "told"), [
    (("/postgres?", "/nowhere?"), 'database "nowhere" does not exist'),
    (("postgres:@", f"nobody:{SECRET}@"), 'role "nobody" does not exist'),
    (("/postgres?", "/postgres?sslmode=bogus&"), "invalid sslmode"),
    (("postgres:@", f"postgres:{SECRET}/%@"), "cannot be read as an address"),
])  # fmt: skip
def test_an_address_that_stays_wrong_is_told_and_not_waited_for(
    postgres: PostgreSQL, tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    assert told in ends_at_once(tmp_path, postgres.url.replace(*change))


def test_a_database_of_a_newer_holdfast_is_not_waited_for(
    postgres_url: str, tmp_path: Path, start: Start
) -> None:
    start(tmp_path / "home", database=postgres_url).stop()
    with psycopg.connect(postgres_url) as connection:
        connection.execute("INSERT INTO holdfast_migrations (version, name) VALUES (999, 'x')")
    said = ends_at_once(tmp_path / "home", postgres_url)
    assert "newer Holdfast" in said
    assert "hint: upgrade" in said
