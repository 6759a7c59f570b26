"""PostgreSQL behind the store: how it is migrated, found again after a restart, and spoken of."""

from __future__ import annotations

import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg_pool.base import AttemptWithBackoff

from holdfast.errors import BadSetting, HoldfastError, NoConnection, StoreUnavailable
from holdfast.index import ids
from holdfast.index.search import ANYTHING, search
from holdfast.index.team import TeamIndex
from holdfast.index.words import match
from holdfast.ledger import messages
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.tables import MESSAGES
from holdfast.state.fold import new_state
from holdfast.store import dsn, postgres_schema, postgres_watch, schema, statements
from holdfast.store.postgres import Postgres, PostgresDatabase, PostgresStore
from holdfast.store.sqlite import SQLiteDatabase
from tests.postgres import Server, cut_off, within
from tests.unit.store.store_file import OLD_MESSAGE

MIGRATIONS = Path(postgres_schema.MIGRATIONS)
TODAY = postgres_schema.VERSION
NEXT = f"{TODAY + 1:04}_moods.sql"
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
    monkeypatch.setattr(postgres_schema, "MIGRATIONS", str(folder))
    monkeypatch.setattr(postgres_schema, "VERSION", TODAY + 1)
    return folder


def open_and_close(url: str) -> None:
    Postgres(url, most=1).close()


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
    assert numbers == list(range(1, postgres_schema.VERSION + 1))


# Conversations of home-made agents stay in a file of their machine.
STAY_HERE = {"conversations", "conversation_messages", "conversation_checkpoints", "spend"}
# What machines keep for lookups has a file and a schema of its own: see holdfast/index.
LOOKED_UP = "recall_"


def test_postgres_has_the_tables_and_columns_of_both_files(
    postgres_url: str, tmp_path: Path
) -> None:
    open_and_close(postgres_url)
    here = columns(tmp_path / "holdfast.db") | columns(tmp_path / "ledger.db", schema.LEDGER)
    there = {
        row[:2]
        for row in ask(postgres_url, COLUMNS)
        if row[0] != "holdfast_migrations" and not row[0].startswith(LOOKED_UP)
    }
    assert {table for table, _ in here} > STAY_HERE
    assert there == {(table, column) for table, column in here if table not in STAY_HERE}


def columns(path: Path, plan: tuple[str, int] | None = None) -> set[tuple[str, str]]:
    SQLiteDatabase(str(path), plan=plan).close()
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


@pytest.fixture
def make_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Make a database as an old version of Holdfast made it."""

    def make(url: str, old: int) -> None:
        folder = tmp_path / "old"
        folder.mkdir()
        for file in sorted(MIGRATIONS.glob("*.sql"))[:old]:
            shutil.copy(file, folder)
        with monkeypatch.context() as then:
            then.setattr(postgres_schema, "MIGRATIONS", str(folder))
            then.setattr(postgres_schema, "VERSION", old)
            open_and_close(url)

    return make


@pytest.mark.parametrize("old", range(1, TODAY))
def test_every_old_shape_becomes_what_a_new_database_is(
    postgres: Server, old: int, make_old: Callable[[str, int], None]
) -> None:
    with postgres.schema() as upgraded, postgres.schema() as fresh:
        make_old(upgraded, old)
        assert shape(upgraded) != []
        open_and_close(upgraded)
        open_and_close(fresh)
        assert shape(upgraded) == shape(fresh)


OLD_PIECE = """
INSERT INTO recall_pieces (id, project, kind, tool, at, text, words)
VALUES (%s, 1, 3, 'Bash', 7, %s, CAST(%s AS tsvector))"""
OLD_SESSION = """
INSERT INTO recall_sessions
    (number, session, project, compaction, pieces, sent, mark, notes, last_at)
VALUES (1, 's1', 1, 0, 3, 0, '', '', 9)"""


def test_texts_that_were_sent_to_an_old_shape_are_found_by_the_same_words(
    postgres_url: str, make_old: Callable[[str, int], None]
) -> None:
    make_old(postgres_url, 5)
    pieces = [
        (
            "to be or to see",
            "'to':1,4 'be':2 'or':3 'see':5 'x':7 'py':8",
            "to be or to see _ x py",
        ),
        ("one", "'one':1", "one"),
        ("?", "", ""),
    ]
    with psycopg.connect(postgres_url) as connection:
        connection.execute("INSERT INTO recall_projects (number, project) VALUES (1, 'p')")
        connection.execute(OLD_SESSION)
        for line, (text, vector, _) in enumerate(pieces, 1):
            place = ids.piece(1, line, 0)
            connection.execute(OLD_PIECE, (place, zlib.compress(text.encode()), vector))
    with closing(PostgresStore.at(postgres_url)) as store:
        team = TeamIndex(store.database)
        kept = ask(postgres_url, "SELECT words, aside, call, ok FROM recall_pieces ORDER BY id")
        assert kept == [(words, None, None, None) for *_, words in pieces]
        scope = team.scope("p", None)
        for query, expected in (("to/see", [1]), ("see/to", []), ("see/x", []), ("x.py", [1])):
            found = team.lookup(scope, ANYTHING).places(match(query)) if scope else None
            assert found == [ids.piece(1, line, 0) for line in expected], query
        assert [piece.text for piece in search(team, "one", scope)] == ["one"]


def test_messages_of_an_old_shape_are_told_once(
    postgres_url: str, make_old: Callable[[str, int], None]
) -> None:
    make_old(postgres_url, 6)
    with psycopg.connect(postgres_url) as connection:
        for ident in ("read", "waiting"):
            connection.execute(statements.translated(OLD_MESSAGE).encode(), (ident,))
        connection.execute("INSERT INTO message_reads VALUES ('r', 'read', 'a', 2)")
    with closing(PostgresStore.at(postgres_url)) as store:
        found = messages.inbox(Ledger(store.database), "a", 3.0, 9)
        assert [row["id"] for row in found] == ["waiting"]
        assert ask(postgres_url, "SELECT taken FROM messages ORDER BY id") == [(1,), (0,)]


def test_whoever_is_connected_while_a_table_gets_a_column_reads_on(postgres_url: str) -> None:
    """Statements are prepared after some times, with the columns that they had then."""
    with closing(Postgres(postgres_url)) as server:
        database = PostgresDatabase(server, keeps=True)
        for _ in range(10):
            assert Ledger(database).rows(MESSAGES) == []
        added = "ALTER TABLE messages ADD COLUMN of_the_future TEXT NOT NULL DEFAULT ''"
        with psycopg.connect(postgres_url, autocommit=True) as other:
            other.execute(added.encode())
        for _ in range(10):
            assert Ledger(database).rows(MESSAGES) == []
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
    assert versions == [(number,) for number in range(1, TODAY + 2)]
    assert ask(postgres_url, "SELECT id FROM sessions") == [("s1",)]
    assert ask(postgres_url, "SELECT count(*) FROM moods") == [(0,)]


def test_whoever_waited_for_the_first_migration_finds_it_done(postgres_url: str) -> None:
    """Each has looked before, and knows that there is nothing; then all wait for one lock."""

    def connected() -> psycopg.Connection[dict[str, object]]:
        return psycopg.connect(postgres_url, autocommit=True, row_factory=dict_row)

    def migrated(_: int) -> None:
        with closing(connected()) as connection:
            postgres_schema.migrate(connection, "here")

    waiting = (
        "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    with ThreadPoolExecutor(4) as racers, closing(connected()) as first:
        with first.transaction():
            lock = statements.translated(postgres_schema.LOCK).encode()
            first.execute(lock, (" migrations",))
            racing = racers.map(migrated, range(4))
            for _ in range(200):
                found = first.execute(waiting).fetchone()
                if found == {"n": 4}:
                    break
                time.sleep(0.05)
        list(racing)
    versions = ask(postgres_url, "SELECT version FROM holdfast_migrations ORDER BY version")
    assert versions == [(number,) for number in range(1, TODAY + 1)]


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


def test_a_migration_that_a_writer_is_in_the_way_of_is_tried_again(
    postgres_url: str, request: pytest.FixtureRequest
) -> None:
    """Each has what the other wants: PostgreSQL ends one of them, and that is not the writer."""
    open_and_close(postgres_url)
    folder: Path = request.getfixturevalue("next_version")
    (folder / NEXT).write_text(f"LOCK TABLE subtasks; LOCK TABLE tasks;{MOODS}")
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'tasks'::regclass"
    with (
        ThreadPoolExecutor(1) as other,
        psycopg.connect(postgres_url) as writer,
        psycopg.connect(postgres_url, autocommit=True, row_factory=dict_row) as migrating,
    ):
        writer.execute("LOCK TABLE tasks IN ROW EXCLUSIVE MODE")
        done = other.submit(postgres_schema.migrate, migrating, "here")
        for _ in range(200):
            if ask(postgres_url, waiting) == [(1,)]:
                break
            time.sleep(0.02)
        writer.execute("LOCK TABLE subtasks IN ROW EXCLUSIVE MODE")
        writer.commit()
        done.result(20)
    assert ask(postgres_url, "SELECT count(*) FROM moods") == [(0,)]


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
                postgres_schema.migrate(connection, "here")
            assert "owner" in caught.value.hint
        finally:
            connection.execute("RESET ROLE")
            connection.execute("DROP OWNED BY writes")
            connection.execute("DROP ROLE writes")


def test_a_database_of_a_newer_holdfast_is_refused(postgres_url: str) -> None:
    open_and_close(postgres_url)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("INSERT INTO holdfast_migrations (version, name) VALUES (99, 'x')")
    with pytest.raises(StoreUnavailable, match=r"newer Holdfast \(version 99") as caught:
        Postgres(postgres_url)
    assert "upgrade" in caught.value.hint


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
            with pytest.raises(NoConnection, match="no connection could be had"):
                store.sessions(None)
        monkeypatch.setattr(pool, "_connect", really)
        assert [row["id"] for row in until_it_answers(store)] == ["before"]


def test_a_server_that_does_not_answer_at_all_holds_nobody_for_ever(
    postgres: Server, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_watch, "PATIENCE", 0.2)
    monkeypatch.setattr(postgres_watch, "LOOK_SECONDS", 0.1)
    save(store, "before")
    whole = [psutil.Process(postgres.pid), *psutil.Process(postgres.pid).children()]
    for process in whole:
        process.suspend()
    try:
        with pytest.raises(NoConnection, match="it does not answer"):
            store.sessions(None)
    finally:
        for process in whole:
            process.resume()
    assert [row["id"] for row in until_it_answers(store)] == ["before"]


def until_it_answers(store: PostgresStore) -> list[Any]:
    for _ in range(10):
        with suppress(NoConnection):
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
    parts = dsn.parts_of(f"postgresql://ada:{SECRET}@db.example.org:5433/team?sslmode=require")
    assert dsn.shown(parts) == "postgresql://ada@db.example.org:5433/team"
    for options in ("-csearch_path%3Da", "-c%20search_path%3Da%20-cjit%3Doff"):
        parts_of_a = dsn.parts_of(f"postgresql://db.example.org/team?options={options}")
        assert dsn.shown(parts_of_a) == "postgresql://db.example.org/team (schema a)"
    over_socket = dsn.parts_of("postgresql:///team?host=/run/postgresql")
    assert dsn.shown(over_socket) == "postgresql:///run/postgresql/team"
    assert dsn.without_secrets(f"no {SECRET}\nfor you", parts) == "no [redacted] for you"


@pytest.mark.parametrize("value", ["mysql://x", "team.db", SECRET])
def test_what_is_no_address_is_refused_without_being_repeated(value: str) -> None:
    with pytest.raises(BadSetting) as caught:
        dsn.team_url({"HOLDFAST_DATABASE": value})
    assert value not in str(caught.value)


def test_without_an_address_there_is_no_team() -> None:
    assert dsn.team_url({}) == dsn.team_url({"HOLDFAST_DATABASE": "  "}) == ""


# Statements


def test_statements_are_written_once_and_read_by_both() -> None:
    assert statements.translated("-- why: ?\nSELECT ':no' WHERE a = :a AND b = ?;") == (
        "SELECT ':no' WHERE a = %(a)s AND b = %s;"
    )
    assert statements.translated("SELECT a LIKE '5%' FROM t") == "SELECT a LIKE '5%%' FROM t"
    assert statements.numbered("-- why: ?\nSELECT ':no' WHERE a = :a AND b = :b OR c = :a;") == (
        "SELECT ':no' WHERE a = $1 AND b = $2 OR c = $1;", ("a", "b"),
    )  # fmt: skip
    assert statements.numbered("SELECT a::text LIKE '5%' WHERE b = ? AND c = ?") == (
        "SELECT a::text LIKE '5%' WHERE b = $1 AND c = $2", (),
    )  # fmt: skip


def test_a_schema_can_be_named_in_the_address(postgres: Server) -> None:
    with postgres.schema() as url:
        open_and_close(url)
        name = url.rpartition("%3D")[2]
        assert within(postgres.url, name) == url
        assert postgres.ask(f"SELECT count(*) FROM {name}.sessions") == [(0,)]
