"""PostgreSQL behind the store: how it is migrated, found again after a restart, and spoken of."""

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
from tests.postgres import Server, cut_off, within

MIGRATIONS = Path(postgres_migrations.MIGRATIONS)
TODAY = postgres_migrations.VERSION
NEXT = f"{TODAY + 1 - sqlite_migrations.VERSION_OFFSET:04}_moods.sql"
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
    """A Holdfast of tomorrow: the same migrations and one more."""
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder)
    (folder / NEXT).write_text(MOODS, encoding="utf-8")
    monkeypatch.setattr(postgres_migrations, "MIGRATIONS", str(folder))
    monkeypatch.setattr(postgres_migrations, "VERSION", TODAY + 1)
    return folder


def open_and_close(url: str) -> None:
    Postgres(url, max_connections=1).close()


def ask(url: str, question: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(question.encode()).fetchall()


def shape(url: str) -> list[list[tuple[Any, ...]]]:
    """Columns, indexes and constraints, without the name of the schema they are in."""
    (name,) = ask(url, "SELECT current_schema()")[0]
    return [
        [tuple(str(cell).replace(f"{name}.", "") for cell in row) for row in ask(url, question)]
        for question in (COLUMNS, INDEXES, CONSTRAINTS)
    ]


def save(store: PostgresStore, session: str = "s1") -> bool:
    return store.save_session(
        session=session, host="claude-code", project="/p", transcript="", cursor=None,
        state=new_state(), revision=0, now=1.0,
    )  # fmt: skip


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore.at(postgres_url)) as opened:
        yield opened


# Migrations


def test_the_version_is_that_of_the_newest_migration() -> None:
    numbers = [int(file.name[:4]) for file in sorted(MIGRATIONS.glob("*.sql"))]
    assert numbers == list(range(1, len(numbers) + 1))
    assert sqlite_migrations.VERSION_OFFSET + numbers[-1] == TODAY


# Conversations of home-made agents stay in a file of their machine.
STAY_HERE = {"conversations", "conversation_messages", "conversation_checkpoints", "spend"}
# What machines keep for lookups has a file and a schema of its own: see holdfast/index.
LOOKED_UP = "recall_"


def test_postgres_has_the_tables_and_columns_of_both_files(
    postgres_url: str, tmp_path: Path
) -> None:
    open_and_close(postgres_url)
    here = columns(tmp_path / "holdfast.db") | columns(
        tmp_path / "ledger.db", sqlite_migrations.LEDGER_MIGRATIONS
    )
    there = {
        row[:2]
        for row in ask(postgres_url, COLUMNS)
        if row[0] != "holdfast_migrations" and not row[0].startswith(LOOKED_UP)
    }
    assert {table for table, _ in here} > STAY_HERE
    assert there == {(table, column) for table, column in here if table not in STAY_HERE}


def columns(path: Path, plan: tuple[str, int] | None = None) -> set[tuple[str, str]]:
    SQLiteDatabase(str(path), migrations=plan).close()
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


def test_whoever_is_connected_while_a_table_gets_a_column_reads_on(postgres_url: str) -> None:
    """Statements are prepared after some times, with the columns that they had then."""
    with closing(Postgres(postgres_url)) as server:
        database = PostgresDatabase(server, keeps_connection=True)
        for _ in range(10):
            assert Ledger(database).find(MESSAGES) == []
        added = "ALTER TABLE messages ADD COLUMN of_the_future TEXT NOT NULL DEFAULT ''"
        with psycopg.connect(postgres_url, autocommit=True) as other:
            other.execute(added.encode())
        for _ in range(10):
            assert Ledger(database).find(MESSAGES) == []
        database.close()


def test_many_who_want_to_migrate_at_once_do_it_once(
    postgres_url: str, request: pytest.FixtureRequest
) -> None:
    with closing(PostgresStore.at(postgres_url)) as store:
        save(store)
    request.getfixturevalue("next_version")
    with ThreadPoolExecutor(6) as racers:
        list(racers.map(open_and_close, [postgres_url] * 6))
    versions = ask(postgres_url, "SELECT version FROM holdfast_migrations ORDER BY version")
    assert versions == [(TODAY,), (TODAY + 1,)]
    assert ask(postgres_url, "SELECT id FROM sessions") == [("s1",)]
    assert ask(postgres_url, "SELECT count(*) FROM moods") == [(0,)]


def test_whoever_waited_for_the_first_migration_finds_it_done(postgres_url: str) -> None:
    """Each has looked before, and knows that there is nothing; then all wait for one lock."""

    def connected() -> psycopg.Connection[dict[str, object]]:
        return psycopg.connect(postgres_url, autocommit=True, row_factory=dict_row)

    def migrated(_: int) -> None:
        with closing(connected()) as connection:
            postgres_migrations.migrate(connection, "here")

    waiting = (
        "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    with ThreadPoolExecutor(4) as racers, closing(connected()) as first:
        with first.transaction():
            lock = to_psycopg(postgres_migrations.LOCK).encode()
            first.execute(lock, (" migrations",))
            racing = racers.map(migrated, range(4))
            for _ in range(200):
                found = first.execute(waiting).fetchone()
                if found == {"n": 4}:
                    break
                time.sleep(0.05)
        list(racing)
    versions = ask(postgres_url, "SELECT version FROM holdfast_migrations ORDER BY version")
    assert versions == [(TODAY,)]


def test_a_migration_that_fails_half_way_changes_nothing(
    postgres_url: str, request: pytest.FixtureRequest
) -> None:
    open_and_close(postgres_url)
    before = shape(postgres_url)
    folder: Path = request.getfixturevalue("next_version")
    (folder / NEXT).write_text(MOODS + "CREATE TABLE moods (again TEXT);\n")
    with pytest.raises(StoreUnavailable, match="already exists"):
        Postgres(postgres_url)
    assert shape(postgres_url) == before
    (folder / NEXT).write_text(MOODS)
    open_and_close(postgres_url)
    assert shape(postgres_url) != before


def test_who_does_not_own_the_tables_is_told_who_can_upgrade_them(
    postgres_url: str, request: pytest.FixtureRequest
) -> None:
    open_and_close(postgres_url)
    folder: Path = request.getfixturevalue("next_version")
    (folder / NEXT).write_text("ALTER TABLE tasks ADD COLUMN mood TEXT;")
    (name,) = ask(postgres_url, "SELECT current_schema()")[0]
    with psycopg.connect(postgres_url, autocommit=True, row_factory=dict_row) as connection:
        for given in (
            "CREATE ROLE writes", f"GRANT ALL ON SCHEMA {name} TO writes",
            f"GRANT ALL ON ALL TABLES IN SCHEMA {name} TO writes", "SET ROLE writes",
        ):  # fmt: skip
            connection.execute(given.encode())
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


def test_a_database_of_the_first_edition_is_refused_and_left_alone(postgres: Server) -> None:
    with postgres.schema() as url:
        with closing(PostgresStore.at(url)) as store:
            save(store)
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE holdfast_migrations SET version = 13")
        before = shape(url)
        with pytest.raises(StoreUnavailable, match="first edition") as caught:
            Postgres(url)
        for remedy in ("another database or schema", "drop these tables", "holdfast sync"):
            assert remedy in caught.value.hint
        assert shape(url) == before
        assert ask(url, "SELECT id FROM sessions") == [("s1",)]
        assert ask(url, "SELECT version FROM holdfast_migrations") == [(13,)]


def test_a_role_that_may_not_create_tables_is_told_so(postgres: Server) -> None:
    with (
        postgres.schema() as url,
        psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection,
    ):
        (name,) = ask(url, "SELECT current_schema()")[0]
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


def test_two_schemas_of_one_database_are_two_stores_that_do_not_wait(postgres: Server) -> None:
    with (
        postgres.schema() as one,
        postgres.schema() as two,
        closing(PostgresStore.at(one, busy_seconds=0.05)) as mine,
        closing(PostgresStore.at(two, busy_seconds=0.05)) as theirs,
    ):
        mine.begin()
        save(mine)
        assert save(theirs), "nobody holds the lock there"
        mine.commit()
        assert [row["id"] for row in mine.sessions(None)] == ["s1"]


# Connections


def test_a_restarted_server_is_found_again(postgres: Server, store: PostgresStore) -> None:
    save(store, "before")
    postgres.restart()
    assert save(store, "after"), "a dead connection is replaced, not handed out"
    assert {row["id"] for row in store.sessions(None)} == {"before", "after"}


def test_after_a_long_outage_the_next_who_asks_need_not_wait_for_the_pool_s_patience(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its second attempt would come after ten minutes.
    monkeypatch.setattr(AttemptWithBackoff, "INITIAL_DELAY", 0.06)
    monkeypatch.setattr(AttemptWithBackoff, "DELAY_BACKOFF", 10_000.0)
    monkeypatch.setattr(dsn, "CONNECT_SECONDS", 1)
    with closing(PostgresStore.at(postgres_url)) as store:
        save(store, "before")
        pool = store.database.postgres.pool
        really = pool._connect

        def refused(*_: object) -> None:
            raise psycopg.OperationalError("connection refused")

        monkeypatch.setattr(pool, "_connect", refused)
        cut_off(postgres_url)
        for _ in range(2):
            with pytest.raises(DatabaseUnreachable, match="no connection could be had"):
                store.sessions(None)
        monkeypatch.setattr(pool, "_connect", really)
        assert [row["id"] for row in until_it_answers(store)] == ["before"]


def until_it_answers(store: PostgresStore) -> list[Any]:
    for _ in range(10):
        with suppress(DatabaseUnreachable):
            return store.sessions(None)
    raise AssertionError("it did not come back")


def test_what_was_open_when_the_server_died_is_told_and_left_no_trace(
    postgres: Server, store: PostgresStore
) -> None:
    store.begin()
    save(store, "half")
    postgres.restart()
    with pytest.raises(StoreUnavailable):
        store.commit()
    assert store.session("half") is None
    assert save(store, "half"), "the store goes on"


def test_no_statement_and_no_lock_can_wait_for_ever(store: PostgresStore) -> None:
    rows, _ = store.database.run(
        "SELECT current_setting('statement_timeout') AS statement, "
        "current_setting('lock_timeout') AS lock, "
        "current_setting('idle_in_transaction_session_timeout') AS idle, "
        "current_setting('jit') AS compiled"
    )
    assert rows == [{"statement": "30s", "lock": "5s", "idle": "1min", "compiled": "off"}]


def test_a_statement_that_fails_leaves_the_next_one_unharmed(store: PostgresStore) -> None:
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
def test_no_error_tells_the_password(url: str) -> None:
    with pytest.raises(HoldfastError) as caught:
        Postgres(url)
    told = f"{caught.value} {caught.value.hint} {caught.value!r}"
    assert SECRET not in told
    assert SECRET not in str(caught.value.__cause__)
    assert caught.value.__suppress_context__, "a traceback would tell it"


def test_an_address_is_shown_without_its_secrets() -> None:
    parts = dsn.parse_dsn(f"postgresql://ada:{SECRET}@db.example.org:5433/team?sslmode=require")
    assert dsn.render_dsn(parts) == "postgresql://ada@db.example.org:5433/team"
    for options in ("-csearch_path%3Da", "-c%20search_path%3Da%20-cjit%3Doff"):
        parts_of_a = dsn.parse_dsn(f"postgresql://db.example.org/team?options={options}")
        assert dsn.render_dsn(parts_of_a) == "postgresql://db.example.org/team (schema a)"
    over_socket = dsn.parse_dsn("postgresql:///team?host=/run/postgresql")
    assert dsn.render_dsn(over_socket) == "postgresql:///run/postgresql/team"
    assert dsn.remove_secrets(f"no {SECRET}\nfor you", parts) == "no [redacted] for you"


@pytest.mark.parametrize("value", ["mysql://x", "team.db", SECRET])
def test_what_is_no_address_is_refused_without_being_repeated(value: str) -> None:
    with pytest.raises(BadSetting) as caught:
        dsn.find_team_url({"HOLDFAST_DATABASE": value})
    assert value not in str(caught.value)


def test_without_an_address_there_is_no_team() -> None:
    assert dsn.find_team_url({}) == dsn.find_team_url({"HOLDFAST_DATABASE": "  "}) == ""


# Statements


def test_statements_are_written_once_and_read_by_both() -> None:
    assert to_psycopg("-- why: ?\nSELECT ':no' WHERE a = :a AND b = ?;") == (
        "SELECT ':no' WHERE a = %(a)s AND b = %s;"
    )
    assert to_psycopg("SELECT a LIKE '5%' FROM t") == "SELECT a LIKE '5%%' FROM t"


def test_a_schema_can_be_named_in_the_address(postgres: Server) -> None:
    with postgres.schema() as url:
        open_and_close(url)
        name = url.rpartition("%3D")[2]
        assert within(postgres.url, name) == url
        assert postgres.ask(f"SELECT count(*) FROM {name}.sessions") == [(0,)]
