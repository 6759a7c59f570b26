"""PostgreSQL: migrations, reconnection after a restart, and addresses without secrets."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg_pool.base import AttemptWithBackoff

from holdfast.errors import BadSetting, DatabaseUnreachable, HoldfastError, StoreUnavailable
from holdfast.ledger.repository import Ledger
from holdfast.ledger.schema import MESSAGES
from holdfast.state.fold import new_state
from holdfast.store import dsn, postgres_migrations, sqlite_migrations
from holdfast.store.postgres import Postgres, PostgresDatabase, PostgresStore, to_psycopg
from holdfast.store.sqlite import SQLiteDatabase
from tests.postgres import PostgresServer, add_search_path, terminate_connections

MIGRATIONS = Path(postgres_migrations.MIGRATIONS)
CURRENT_VERSION = postgres_migrations.VERSION
NEXT_MIGRATION = f"{CURRENT_VERSION + 1 - sqlite_migrations.VERSION_OFFSET:04}_moods.sql"
MOODS = "-- One more table; and a comment with a semicolon.\nCREATE TABLE moods (mood TEXT);\n"
SECRET = "hunter2-very-secret"
COLUMNS = """
SELECT table_name, column_name, data_type, is_nullable, column_default
FROM information_schema.columns WHERE table_schema = current_schema()
ORDER BY table_name, ordinal_position"""
INDEXES = (
    "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 2"
)
CONSTRAINTS = """
SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace ORDER BY 1, 2"""


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A newer Holdfast: the same migrations and one more."""
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder)
    (folder / NEXT_MIGRATION).write_text(MOODS, encoding="utf-8")
    monkeypatch.setattr(postgres_migrations, "MIGRATIONS", str(folder))
    monkeypatch.setattr(postgres_migrations, "VERSION", CURRENT_VERSION + 1)
    return folder


def open_and_close(url: str) -> None:
    Postgres(url, max_connections=1).close()


def query(url: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(statement.encode()).fetchall()


def read_schema(url: str) -> list[list[tuple[Any, ...]]]:
    """Columns, indexes and constraints, without the name of the schema they are in."""
    (name,) = query(url, "SELECT current_schema()")[0]
    return [
        [tuple(str(cell).replace(f"{name}.", "") for cell in row) for row in query(url, statement)]
        for statement in (COLUMNS, INDEXES, CONSTRAINTS)
    ]


def save_session(store: PostgresStore, session: str = "s1") -> bool:
    return store.save_session(
        session=session, host="claude-code", project="/p", transcript="", cursor=None,
        state=new_state(), revision=0, now=1.0,
    )  # fmt: skip


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore.at(postgres_url)) as store:
        yield store


# Migrations


def test_the_version_is_the_number_of_the_newest_migration() -> None:
    numbers = [int(file.name[:4]) for file in sorted(MIGRATIONS.glob("*.sql"))]
    assert numbers == list(range(1, len(numbers) + 1))
    assert sqlite_migrations.VERSION_OFFSET + numbers[-1] == CURRENT_VERSION


# Conversations of SessionManager are stored only on the machine.
LOCAL_TABLES = {
    "conversations", "conversation_messages", "conversation_checkpoints", "conversation_budgets",
    "conversation_events", "spend",
}  # fmt: skip
# The search index is in a separate SQLite file with a different schema.
SEARCH_PREFIX = "recall_"


def test_postgres_has_the_tables_and_columns_of_both_sqlite_files(
    postgres_url: str, tmp_path: Path
) -> None:
    open_and_close(postgres_url)
    sqlite_columns = read_sqlite_columns(tmp_path / "holdfast.db") | read_sqlite_columns(
        tmp_path / "ledger.db", sqlite_migrations.LEDGER_MIGRATIONS
    )
    postgres_columns = {
        row[:2]
        for row in query(postgres_url, COLUMNS)
        if row[0] != "holdfast_migrations" and not row[0].startswith(SEARCH_PREFIX)
    }
    assert {table for table, _ in sqlite_columns} > LOCAL_TABLES
    assert postgres_columns == {
        (table, column) for table, column in sqlite_columns if table not in LOCAL_TABLES
    }


def read_sqlite_columns(
    path: Path, migrations: tuple[str, int] | None = None
) -> set[tuple[str, str]]:
    SQLiteDatabase(str(path), migrations=migrations).close()
    with closing(sqlite3.connect(path)) as connection:
        tables = [
            row[0]
            for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {
            (table, row[1])
            for table in tables
            for row in connection.execute(f"PRAGMA table_info({table})")
        }


def test_an_open_connection_still_works_after_a_column_is_added(postgres_url: str) -> None:
    """psycopg prepares a statement after some runs, with the columns of that time."""
    with closing(Postgres(postgres_url)) as server:
        database = PostgresDatabase(server, keeps_connection=True)
        for _ in range(10):
            assert Ledger(database).find(MESSAGES) == []
        alter = "ALTER TABLE messages ADD COLUMN new_column TEXT NOT NULL DEFAULT ''"
        with psycopg.connect(postgres_url, autocommit=True) as other:
            other.execute(alter.encode())
        for _ in range(10):
            assert Ledger(database).find(MESSAGES) == []
        database.close()


def test_concurrent_migrations_run_once(postgres_url: str, request: pytest.FixtureRequest) -> None:
    with closing(PostgresStore.at(postgres_url)) as store:
        save_session(store)
    request.getfixturevalue("next_version")
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(open_and_close, [postgres_url] * 6))
    versions = query(postgres_url, "SELECT version FROM holdfast_migrations ORDER BY version")
    assert versions == [(CURRENT_VERSION,), (CURRENT_VERSION + 1,)]
    assert query(postgres_url, "SELECT id FROM sessions") == [("s1",)]
    assert query(postgres_url, "SELECT count(*) FROM moods") == [(0,)]


def test_processes_that_waited_for_the_first_migration_do_not_repeat_it(postgres_url: str) -> None:
    """All find an empty schema, and then wait for the same lock."""

    def connect() -> psycopg.Connection[dict[str, object]]:
        return psycopg.connect(postgres_url, autocommit=True, row_factory=dict_row)

    def migrate(_: int) -> None:
        with closing(connect()) as connection:
            postgres_migrations.migrate(connection, "here")

    count_waiting = (
        "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    with ThreadPoolExecutor(4) as pool, closing(connect()) as first:
        with first.transaction():
            lock = to_psycopg(postgres_migrations.LOCK).encode()
            first.execute(lock, (" migrations",))
            migrations = pool.map(migrate, range(4))
            for _ in range(200):
                if first.execute(count_waiting).fetchone() == {"n": 4}:
                    break
                time.sleep(0.05)
        list(migrations)
    versions = query(postgres_url, "SELECT version FROM holdfast_migrations ORDER BY version")
    assert versions == [(CURRENT_VERSION,)]


def test_a_failed_migration_changes_nothing(
    postgres_url: str, request: pytest.FixtureRequest
) -> None:
    open_and_close(postgres_url)
    before = read_schema(postgres_url)
    folder: Path = request.getfixturevalue("next_version")
    (folder / NEXT_MIGRATION).write_text(MOODS + "CREATE TABLE moods (again TEXT);\n")
    with pytest.raises(StoreUnavailable, match="already exists"):
        Postgres(postgres_url)
    assert read_schema(postgres_url) == before
    (folder / NEXT_MIGRATION).write_text(MOODS)
    open_and_close(postgres_url)
    assert read_schema(postgres_url) != before


def test_the_error_for_a_role_that_does_not_own_the_tables_names_the_owner(
    postgres_url: str, request: pytest.FixtureRequest
) -> None:
    open_and_close(postgres_url)
    folder: Path = request.getfixturevalue("next_version")
    (folder / NEXT_MIGRATION).write_text("ALTER TABLE tasks ADD COLUMN mood TEXT;")
    (name,) = query(postgres_url, "SELECT current_schema()")[0]
    with psycopg.connect(postgres_url, autocommit=True, row_factory=dict_row) as connection:
        for statement in (
            "CREATE ROLE writes", f"GRANT ALL ON SCHEMA {name} TO writes",
            f"GRANT ALL ON ALL TABLES IN SCHEMA {name} TO writes", "SET ROLE writes",
        ):  # fmt: skip
            connection.execute(statement.encode())
        try:
            with pytest.raises(StoreUnavailable, match="must be owner") as caught:
                postgres_migrations.migrate(connection, "here")
            assert "owner" in caught.value.hint
        finally:
            connection.execute("RESET ROLE")
            connection.execute("DROP OWNED BY writes")
            connection.execute("DROP ROLE writes")


def test_a_database_of_a_newer_holdfast_is_refused(postgres_url: str) -> None:
    open_and_close(postgres_url)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("INSERT INTO holdfast_migrations (version, name) VALUES (999, 'x')")
    with pytest.raises(StoreUnavailable, match=r"newer Holdfast \(version 999") as caught:
        Postgres(postgres_url)
    assert "upgrade" in caught.value.hint


def test_a_database_of_the_first_edition_is_refused_and_not_changed(
    postgres: PostgresServer,
) -> None:
    with postgres.create_schema() as url:
        with closing(PostgresStore.at(url)) as store:
            save_session(store)
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE holdfast_migrations SET version = 13")
        before = read_schema(url)
        with pytest.raises(StoreUnavailable, match="first edition") as caught:
            Postgres(url)
        for remedy in ("another database or schema", "drop these tables", "holdfast sync"):
            assert remedy in caught.value.hint
        assert read_schema(url) == before
        assert query(url, "SELECT id FROM sessions") == [("s1",)]
        assert query(url, "SELECT version FROM holdfast_migrations") == [(13,)]


def test_the_error_for_a_role_that_may_not_create_tables_names_the_owner(
    postgres: PostgresServer,
) -> None:
    with (
        postgres.create_schema() as url,
        psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection,
    ):
        (name,) = query(url, "SELECT current_schema()")[0]
        connection.execute("CREATE ROLE reads")
        connection.execute(f"GRANT USAGE ON SCHEMA {name} TO reads".encode())
        connection.execute("SET ROLE reads")
        try:
            with pytest.raises(StoreUnavailable, match="permission denied") as caught:
                postgres_migrations.migrate(connection, "here")
            assert "owner" in caught.value.hint
        finally:
            connection.execute("RESET ROLE")
            connection.execute("DROP OWNED BY reads")
            connection.execute("DROP ROLE reads")


def test_stores_in_two_schemas_of_one_database_do_not_block_each_other(
    postgres: PostgresServer,
) -> None:
    with (
        postgres.create_schema() as first_url,
        postgres.create_schema() as second_url,
        closing(PostgresStore.at(first_url, busy_seconds=0.05)) as first,
        closing(PostgresStore.at(second_url, busy_seconds=0.05)) as second,
    ):
        first.begin()
        save_session(first)
        assert save_session(second), "the lock of the other schema must not block it"
        first.commit()
        assert [row["id"] for row in first.sessions(None)] == ["s1"]


# Connections


def test_a_store_reconnects_after_a_restart_of_the_server(
    postgres: PostgresServer, store: PostgresStore
) -> None:
    save_session(store, "before")
    postgres.restart()
    assert save_session(store, "after"), "a dead connection must be replaced"
    assert {row["id"] for row in store.sessions(None)} == {"before", "after"}


def test_after_an_outage_the_next_request_does_not_wait_for_the_pools_backoff(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With these values the second attempt of the pool would come after ten minutes.
    monkeypatch.setattr(AttemptWithBackoff, "INITIAL_DELAY", 0.06)
    monkeypatch.setattr(AttemptWithBackoff, "DELAY_BACKOFF", 10_000.0)
    monkeypatch.setattr(dsn, "CONNECT_SECONDS", 1)
    with closing(PostgresStore.at(postgres_url)) as store:
        save_session(store, "before")
        pool = store.database.postgres.pool
        original_connect = pool._connect

        def refuse(*_: object) -> None:
            raise psycopg.OperationalError("connection refused")

        monkeypatch.setattr(pool, "_connect", refuse)
        terminate_connections(postgres_url)
        for _ in range(2):
            with pytest.raises(DatabaseUnreachable, match="no connection available"):
                store.sessions(None)
        monkeypatch.setattr(pool, "_connect", original_connect)
        assert [row["id"] for row in retry_until_connected(store)] == ["before"]


def retry_until_connected(store: PostgresStore) -> list[Any]:
    for _ in range(10):
        with suppress(DatabaseUnreachable):
            return store.sessions(None)
    raise AssertionError("the store did not reconnect")


def test_an_open_transaction_fails_and_is_rolled_back_when_the_server_restarts(
    postgres: PostgresServer, store: PostgresStore
) -> None:
    store.begin()
    save_session(store, "half")
    postgres.restart()
    with pytest.raises(StoreUnavailable):
        store.commit()
    assert store.session("half") is None
    assert save_session(store, "half"), "the store must still work"


def test_statements_and_locks_have_timeouts(store: PostgresStore) -> None:
    rows, _ = store.database.run(
        "SELECT current_setting('statement_timeout') AS statement, "
        "current_setting('lock_timeout') AS lock, "
        "current_setting('idle_in_transaction_session_timeout') AS idle, "
        "current_setting('jit') AS compiled"
    )
    assert rows == [{"statement": "30s", "lock": "5s", "idle": "1min", "compiled": "off"}]


def test_a_failed_statement_does_not_affect_the_next_one(store: PostgresStore) -> None:
    with pytest.raises(StoreUnavailable, match="does not exist"):
        store.database.run("SELECT * FROM nowhere")
    assert store.sessions(None) == []


# Secrets


@pytest.mark.parametrize("url", [
    f"postgresql://ada:{SECRET}@127.0.0.1:1/team",
    f"postgresql://127.0.0.1:1/team?user=ada&password={SECRET}",
    f"postgresql://ada:{SECRET}@127.0.0.1:1/team?nonsense={SECRET}",
    f"postgresql://ada:{SECRET}%zz@127.0.0.1:1/team",
    f"postgresql://ada:{SECRET}@[broken/team",
    f"postgresql://ada:1/{SECRET}@127.0.0.1:1/team",
    f"postgresql://ada:1@{SECRET}@127.0.0.1:1/team",
    f"postgresql://ada:{SECRET}/x@127.0.0.1:1/team",
    f"postgresql://ada:{SECRET}?x@127.0.0.1:1/team",
    f"postgresql://ada:{SECRET}:x@127.0.0.1:1/team",
])  # fmt: skip
def test_no_error_contains_the_password(url: str) -> None:
    with pytest.raises(HoldfastError) as caught:
        Postgres(url)
    error_text = f"{caught.value} {caught.value.hint} {caught.value!r}"
    assert SECRET not in error_text
    assert SECRET not in str(caught.value.__cause__)
    assert caught.value.__suppress_context__, "a traceback would show the password"


def test_an_address_is_shown_without_its_secrets() -> None:
    parts = dsn.parse_dsn(f"postgresql://ada:{SECRET}@db.example.org:5433/team?sslmode=require")
    assert dsn.render_dsn(parts) == "postgresql://ada@db.example.org:5433/team"
    for options in ("-csearch_path%3Da", "-c%20search_path%3Da%20-cjit%3Doff"):
        parts_with_schema = dsn.parse_dsn(f"postgresql://db.example.org/team?options={options}")
        assert dsn.render_dsn(parts_with_schema) == "postgresql://db.example.org/team (schema a)"
    over_socket = dsn.parse_dsn("postgresql:///team?host=/run/postgresql")
    assert dsn.render_dsn(over_socket) == "postgresql:///run/postgresql/team"
    assert dsn.remove_secrets(f"no {SECRET}\nfor you", parts) == "no [redacted] for you"


@pytest.mark.parametrize("value", ["mysql://x", "team.db", SECRET])
def test_the_error_for_an_invalid_address_does_not_repeat_it(value: str) -> None:
    with pytest.raises(BadSetting) as caught:
        dsn.find_team_url({"HOLDFAST_DATABASE": value})
    assert value not in str(caught.value)


def test_without_an_address_there_is_no_team_database() -> None:
    assert dsn.find_team_url({}) == dsn.find_team_url({"HOLDFAST_DATABASE": "  "}) == ""


# Statements


def test_a_statement_is_converted_to_the_syntax_of_psycopg() -> None:
    assert to_psycopg("-- why: ?\nSELECT ':no' WHERE a = :a AND b = ?;") == (
        "SELECT ':no' WHERE a = %(a)s AND b = %s;"
    )
    assert to_psycopg("SELECT a LIKE '5%' FROM t") == "SELECT a LIKE '5%%' FROM t"


def test_an_address_can_name_a_schema(postgres: PostgresServer) -> None:
    with postgres.create_schema() as url:
        open_and_close(url)
        name = url.rpartition("%3D")[2]
        assert add_search_path(postgres.url, name) == url
        assert postgres.execute(f"SELECT count(*) FROM {name}.sessions") == [(0,)]
