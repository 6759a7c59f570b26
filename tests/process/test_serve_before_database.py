"""Servers that start before the team's PostgreSQL, and database errors that end a start at once."""

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
from tests.postgres import PostgresServer
from tests.process.serving import (
    Server,
    Start,
    read_record_id,
    retry_while_unavailable,
    wait_until_subscribed,
)
from tests.process.waiting import TIMEOUT_SECONDS, wait_until

PASSWORD = "hunter2-very-secret"
COUNT_LISTENERS = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'"


def get_error(server: Server, path: str) -> tuple[int, str, dict[str, Any]]:
    """Status, Retry-After header and body of an error response."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        server.get(path)
    with caught.value as error:
        return error.code, error.headers["Retry-After"], json.load(error)


def wait_until_healthy(server: Server) -> None:
    retry_while_unavailable(lambda: server.get("/health"))


def with_password(url: str) -> str:
    """Add a password that the database does not check, to see whether the server prints it."""
    return url.replace("postgres:@", f"postgres:{PASSWORD}@")


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_server_started_before_its_database_connects_when_the_database_starts(
    postgres: PostgresServer, postgres_url: str, tmp_path: Path, start: Start, workers: str
) -> None:
    with postgres.pause():
        server = start(
            tmp_path / "home", "--workers", workers, database=with_password(postgres_url)
        )
        responses = [get_error(server, path) for path in ("/health", "/api/actions", "/api/events")]
        assert server.process.poll() is None
    for status, retry_after, problem in responses:
        assert (status, retry_after) == (503, "2")
        assert "database cannot be reached" in problem["detail"]
        assert problem["hint"]
    wait_until_healthy(server)
    # Each request may reach a worker that is not connected yet, so each one is retried.
    with retry_while_unavailable(server.open_events) as stream:
        wait_until_subscribed(stream)
        action_id = retry_while_unavailable(server.post_action)
        assert read_record_id(stream) == action_id
    # The process that prints this tries to connect once a second.
    server.wait_for_stderr("is reachable now")
    exit_code, stderr = server.stop()
    assert exit_code == 0
    assert "cannot be reached" in server.startup_stderr
    assert "connection is retried until it succeeds" in server.startup_stderr
    assert stderr.count("is reachable now") == 1
    assert "Traceback" not in stderr
    assert PASSWORD not in server.startup_stderr + stderr + json.dumps(responses)


def test_servers_started_before_their_database_send_each_others_events(
    postgres: PostgresServer, postgres_url: str, tmp_path: Path, start: Start
) -> None:
    with postgres.pause():
        one, other = (start(tmp_path / name, database=postgres_url) for name in ("one", "other"))
    for server in (one, other):
        wait_until_healthy(server)
    wait_until(
        lambda: postgres.execute(COUNT_LISTENERS) == [(2,)],
        "not both servers listen for notifications",
    )
    with other.open_events() as stream:
        wait_until_subscribed(stream)
        action_id = one.post_action()
        assert read_record_id(stream) == action_id


def test_messages_sent_locally_while_the_database_was_away_reach_the_team(
    postgres: PostgresServer, postgres_url: str, tmp_path: Path, start: Start
) -> None:
    home = tmp_path / "home"
    with postgres.pause():
        server = start(home, "--proxy", database=postgres_url)
        with closing(open_local_ledger(str(home / "ledger.db")).database) as database:
            messages.send(Ledger(database), time.time(), ident="m1", from_agent_id="ada")
    # While the database is away, the server cannot know whether there are tokens.
    assert "There is no token yet" not in server.startup_stderr
    wait_until(lambda: "m1" in list_message_ids(postgres_url), "the message was not sent")


def list_message_ids(url: str) -> set[str]:
    """The messages in the team's database; none before its tables are created."""
    with psycopg.connect(url) as connection, suppress(psycopg.errors.UndefinedTable):
        return {row[0] for row in connection.execute("SELECT id FROM messages")}
    return set()


@contextmanager
def require_password(postgres: PostgresServer) -> Iterator[str]:
    """Yield a URL with a wrong password for a role that needs one."""
    rules = postgres.folder / "pg_hba.conf"
    before = rules.read_text()
    postgres.execute("CREATE ROLE ada LOGIN PASSWORD 'right'")
    rules.write_text(f"local all ada scram-sha-256\n{before}")
    postgres.execute("SELECT pg_reload_conf()")
    try:
        yield postgres.url.replace("postgres:@", f"ada:{PASSWORD}@")
    finally:
        rules.write_text(before)
        postgres.execute("SELECT pg_reload_conf()")
        postgres.execute("DROP ROLE ada")


def fail_to_start(home: Path, database: str) -> str:
    """Start a server that ends with an error, and return its stderr."""
    result = subprocess.run(
        [sys.executable, "-m", "holdfast", "serve", "--port", "0"],
        capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS,
        env={**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_DATABASE": database},
    )  # fmt: skip
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("error: ")
    assert "\nhint: " in result.stderr
    assert " serves " not in result.stderr
    assert PASSWORD not in result.stderr
    return result.stderr


def test_a_wrong_password_ends_the_start_with_an_error(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    with require_password(postgres) as url:
        wait_until(lambda: not accepts_login(url), "PostgreSQL did not reload pg_hba.conf")
        assert 'authentication failed for user "ada"' in fail_to_start(tmp_path, url)


def accepts_login(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.parametrize(("replacement", "message"), [
    (("/postgres?", "/nowhere?"), 'database "nowhere" does not exist'),
    (("postgres:@", f"nobody:{PASSWORD}@"), 'role "nobody" does not exist'),
    (("/postgres?", "/postgres?sslmode=bogus&"), "invalid sslmode"),
    (("postgres:@", f"postgres:{PASSWORD}/%@"), "cannot be read as an address"),
])  # fmt: skip
def test_a_wrong_database_url_ends_the_start_with_an_error(
    postgres: PostgresServer, tmp_path: Path, replacement: tuple[str, str], message: str
) -> None:
    assert message in fail_to_start(tmp_path, postgres.url.replace(*replacement))


def test_a_database_of_a_newer_holdfast_ends_the_start_with_an_error(
    postgres_url: str, tmp_path: Path, start: Start
) -> None:
    start(tmp_path / "home", database=postgres_url).stop()
    with psycopg.connect(postgres_url) as connection:
        connection.execute("INSERT INTO holdfast_migrations (version, name) VALUES (999, 'x')")
    stderr = fail_to_start(tmp_path / "home", postgres_url)
    assert "newer Holdfast" in stderr
    assert "hint: upgrade" in stderr
