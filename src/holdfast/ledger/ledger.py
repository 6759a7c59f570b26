"""Rows of the ledger over any database: written together with the change that tells of them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast import quick_json
from holdfast.errors import NoSuchRecord
from holdfast.ledger import ids, tombstones
from holdfast.redact import redact_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from holdfast.ledger.tables import Table
    from holdfast.store.base import Database

Row = dict[str, Any]
MOST = 100
# The condition that all rows meet.
EVERYTHING = "1 = 1"
_FORGOTTEN = "changes that were taken away"
_NAME = "this machine"
TOLD = (
    "INSERT INTO changes (id, kind, record, project, session, gone, at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
)
_PUT_AND_TELL = (
    "WITH put AS ({put} RETURNING id) "
    "INSERT INTO changes (id, kind, record, project, session, gone, at) "
    "SELECT :change_id, :change_kind, :change_record, :change_project, :change_session, "
    "CAST(:change_gone AS BIGINT), CAST(:change_at AS DOUBLE PRECISION) FROM put "
    "ON CONFLICT (id) DO NOTHING"
)
_READ = (
    "INSERT INTO readings (id, value) VALUES (:id, :value) "
    "ON CONFLICT (id) DO UPDATE SET value = excluded.value"
)
_NAMED = "INSERT INTO readings (id, value) VALUES (:id, :value) ON CONFLICT (id) DO NOTHING"
_SENT = (
    "INSERT INTO sent (target, seq, at) VALUES (:target, :seq, :at) "
    "ON CONFLICT (target) DO UPDATE SET seq = excluded.seq, at = excluded.at"
)
_CHANGES = "SELECT * FROM changes WHERE seq > :seq{kinds} ORDER BY seq LIMIT :most"
# What a transaction that is still open will write may come before what is there already.
_CHANGES_POSTGRES = (
    "SELECT seq, CAST(CAST(tx AS TEXT) AS BIGINT) AS tx, id, kind, record, project, session, gone, "
    "at FROM changes WHERE tx < pg_snapshot_xmin(pg_current_snapshot()) "
    "AND (tx, seq) > (CAST(CAST(:tx AS TEXT) AS xid8), :seq){kinds} "
    "ORDER BY tx, seq LIMIT :most"
)
_TRANSACTIONS = "SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT) AS tx"
_HELD_BACK = (
    "SELECT EXISTS (SELECT 1 FROM changes "
    "WHERE tx >= pg_snapshot_xmin(pg_current_snapshot())) AS held"
)


class Ledger:
    """The few operations that all verbs are made of."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.held: Row = {}
        """The values that `shown` names."""

    def shown(self, table: Table) -> str:
        """The condition for the rows of a table that there are for whoever holds this ledger."""
        return EVERYTHING

    @property
    def everywhere(self) -> Ledger:
        """The same ledger without anything hidden, for what follows from what somebody may do."""
        return self

    @contextmanager
    def together(self, lock: str = "") -> Iterator[None]:
        """All or nothing; `lock` keeps out others that name the same."""
        if self.database.in_transaction:
            yield
            return
        self.database.begin(lock)
        try:
            yield
        except BaseException:
            self.database.rollback()
            raise
        self.database.commit()
        self.database.told()

    def get(self, table: Table, ident: str) -> Row | None:
        return self.first(table, id=ident)

    def need(self, table: Table, ident: str) -> Row:
        found = self.get(table, ident)
        if found is None:
            raise NoSuchRecord(f"{ident} in {table.name}")
        return found

    def first(self, table: Table, **equal: Any) -> Row | None:
        return next(iter(self.rows(table, most=1, **equal)), None)

    def rows(
        self,
        table: Table,
        *,
        most: int | None = None,
        before: tuple[float, str] | None = None,
        newest_first: bool = True,
        first: str = "",
        also: str = "",
        values: Row | None = None,
        **equal: Any,
    ) -> list[Row]:
        """Rows whose columns equal these; `before` is where the last page ended, `first` what is
        more important than time.
        """
        conditions = [f"{column} = :{column}" for column in equal]
        given: Row = {**equal, **(values or {})}
        if also:
            conditions.append(also)
        if before is not None:
            sign = "<" if newest_first else ">"
            conditions.append(f"({table.order}, id) {sign} (:before_at, :before_id)")
            given |= {"before_at": before[0], "before_id": before[1]}
        if most is not None:
            given["most"] = most
        statement = table.select(
            conditions, newest_first=newest_first, most=most is not None, first=first
        )
        return [table.decoded(row) for row in self.database.run(statement, given)[0]]

    def among(self, table: Table, column: str, values: Collection[Any]) -> list[Row]:
        """Rows whose column has one of these values."""
        if not values:
            return []
        given = {f"v{number}": value for number, value in enumerate(values)}
        listed = ", ".join(f":{name}" for name in given)
        return self.rows(table, also=f"{column} IN ({listed})", values=given)

    def count(
        self, table: Table, *, also: str = "", values: Row | None = None, **equal: Any
    ) -> int:
        conditions = [*(f"{column} = :{column}" for column in equal), *filter(None, [also])]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        statement = f"SELECT count(*) AS n FROM {table.name}{where}"
        number: int = self.database.run(statement, {**equal, **(values or {})})[0][0]["n"]
        return number

    def write(self, table: Table, row: Row) -> Row:
        """Keep this row, unless a newer one is there, and tell of it."""
        stored = table.encoded(row)
        if self.database.dialect == "postgres":
            # One statement is one transaction and one way over the network.
            change = change_of(table, stored, gone=0)
            told = {f"change_{name}": value for name, value in change.items()}
            self.database.run(_PUT_AND_TELL.format(put=table.put), {**stored, **told})
            if not self.database.in_transaction:
                self.database.told()
            return table.decoded(stored)
        with self.together():
            if self.database.run(table.put, stored)[1]:
                self._tell(table, stored, gone=0)
        return table.decoded(stored)

    def take_over(self, table: Table, row: Row) -> None:
        """Keep what comes from a team that knows it already: it is not told again."""
        self.database.run(table.put, table.encoded(row))

    def change(self, table: Table, row: Row, now: float, **fields: Any) -> Row:
        """The row with these fields; nothing is written if it has them already."""
        if all(row[name] == value for name, value in fields.items()):
            return row
        # Two changes within one tick of the clock come one after the other nevertheless.
        later = max(now, row["updated_at"])
        return self.write(table, {**row, **fields, "updated_at": later})

    def remove(self, table: Table, row: Row, now: float) -> None:
        with self.together():
            if self.database.run(f"DELETE FROM {table.name} WHERE id = :id", {"id": row["id"]})[1]:
                stored = table.encoded({**row, "updated_at": now})
                if table.name in tombstones.KEPT:
                    tombstones.keep(self.database, table, stored)
                self._tell(table, stored, gone=1)

    def _tell(self, table: Table, stored: Row, *, gone: int) -> None:
        self.database.run(TOLD, tuple(change_of(table, stored, gone=gone).values()))

    def last_change(self) -> tuple[int, int]:
        """The place of the newest change that can be told."""
        limit = "WHERE tx < pg_snapshot_xmin(pg_current_snapshot()) "
        postgres = self.database.dialect == "postgres"
        found = self.database.run(
            "SELECT seq, CAST(CAST(tx AS TEXT) AS BIGINT) AS tx FROM changes "
            f"{limit if postgres else ''}ORDER BY tx DESC, seq DESC LIMIT 1"
        )[0]
        return (found[0]["tx"], found[0]["seq"]) if found else (0, 0)

    def forgotten(self) -> tuple[int, int]:
        """The place of the last change that was taken away: from there on all are told."""
        found = self.reading(_FORGOTTEN)
        place = found.get("tx", 0), found.get("seq", 0)
        if place[0] and self.database.dialect == "postgres":
            # Moved into another cluster, a database counts its transactions anew.
            (now,) = self.database.run(_TRANSACTIONS)[0]
            return place if place[0] <= now["tx"] else (0, 0)
        return place

    def forget(self, until: tuple[int, int]) -> None:
        """Remember that changes up to there are being taken away."""
        tx, seq = max(until, self.forgotten())
        self.keep_reading(_FORGOTTEN, {"tx": tx, "seq": seq})

    def name(self) -> str:
        """What tells this ledger from any other; it is made up when somebody first asks."""
        if not (known := self.reading(_NAME)):
            self.database.run(_NAMED, {
                "id": _NAME, "value": quick_json.dumps({"name": os.urandom(8).hex()}),
            })  # fmt: skip
            # Another may have been quicker.
            known = self.reading(_NAME)
        return str(known["name"])

    def reading(self, session: str) -> Row:
        """How far a session was read into the ledger."""
        found = self.database.run("SELECT value FROM readings WHERE id = :id", {"id": session})[0]
        value = quick_json.loads(found[0]["value"]) if found else {}
        return value if isinstance(value, dict) else {}

    def keep_reading(self, session: str, value: Row) -> None:
        text = quick_json.dumps(redact_value(value))
        self.database.run(_READ, {"id": session, "value": text})

    def sent(self, target: str) -> tuple[int, float | None]:
        """The number of the last change that this team was told, and when."""
        given = {"target": target}
        found = self.database.run("SELECT seq, at FROM sent WHERE target = :target", given)[0]
        return (found[0]["seq"], found[0]["at"]) if found else (0, None)

    def keep_sent(self, target: str, seq: int, now: float) -> None:
        self.database.run(_SENT, {"target": target, "seq": seq, "at": now})

    def forget_sent(self, target: str) -> None:
        self.database.run("DELETE FROM sent WHERE target = :target", {"target": target})

    def count_changes(self, after: int) -> int:
        """How many rows have changed since."""
        given = {"seq": after}
        statement = "SELECT DISTINCT kind, record FROM changes WHERE seq > :seq"
        return len(self.database.run(statement, given)[0])

    def changes(
        self, after: tuple[int, int] = (0, 0), most: int = MOST, tables: Collection[Table] = ()
    ) -> list[Row]:
        """What happened since, oldest first, to these tables, or to all; `after` is the transaction
        and the number of the last.
        """
        values: Row = {"tx": after[0], "seq": after[1], "most": most}
        names = ", ".join(f"'{table.name}'" for table in tables)
        kinds = f" AND kind IN ({names})" if names else ""
        if self.database.dialect == "postgres":
            return self.database.run(_CHANGES_POSTGRES.format(kinds=kinds), values)[0]
        del values["tx"]
        return self.database.run(_CHANGES.format(kinds=kinds), values)[0]

    def holds_back(self) -> bool:
        """Whether there are changes that wait for a transaction which began before them."""
        if self.database.dialect != "postgres":
            return False
        return bool(self.database.run(_HELD_BACK)[0][0]["held"])


def change_of(table: Table, stored: Row, *, gone: int) -> Row:
    """What tells of a row that was written or deleted."""
    return {
        "id": ids.of_content(f"{table.name} {gone}", stored),
        "kind": table.name,
        "record": stored["id"],
        "project": stored.get("project", ""),
        "session": stored.get("session", ""),
        "gone": gone,
        "at": stored["updated_at"],
    }
