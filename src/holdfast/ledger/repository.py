"""Rows of the ledger in any database. Each write is recorded in the change feed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.errors import NotFound
from holdfast.ledger import tombstones
from holdfast.ledger.change_feed import ChangeFeed
from holdfast.ledger.schema import make_version_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from holdfast.ledger.schema import Table
    from holdfast.store.protocols import Database

Row = dict[str, Any]
# An SQL condition that is true for every row.
MATCH_ALL = "1 = 1"
INSERT_CHANGE = (
    "INSERT INTO changes (id, kind, record, project, session, gone, at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
)
UPSERT_AND_INSERT_CHANGE = (
    "WITH put AS ({upsert} RETURNING id) "
    "INSERT INTO changes (id, kind, record, project, session, gone, at) "
    "SELECT :change_id, :change_kind, :change_record, :change_project, :change_session, "
    "CAST(:change_gone AS BIGINT), CAST(:change_at AS DOUBLE PRECISION) FROM put "
    "ON CONFLICT (id) DO NOTHING"
)


class Ledger(ChangeFeed):
    """The basic operations on rows that all other functions of the ledger use."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.scope_values: Row = {}
        """The values for the placeholders in `build_scope_condition`."""

    def build_scope_condition(self, table: Table) -> str:
        """Return the SQL condition for the rows of a table that this ledger may read."""
        return MATCH_ALL

    @property
    def unscoped(self) -> Ledger:
        """The same ledger without a scope, for updates that follow from a permitted one."""
        return self

    @contextmanager
    def transaction(self, lock: str = "") -> Iterator[None]:
        """Commit all statements in the block together, or none. Within a transaction this does
        nothing. Transactions with the same `lock` run one after the other.
        """
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
        self.database.notify_listeners()

    def get(self, table: Table, ident: str) -> Row | None:
        """Return the row with this id, or None."""
        return self.find_one(table, id=ident)

    def require(self, table: Table, ident: str) -> Row:
        """Return the row with this id. Raises NotFound if there is none."""
        row = self.get(table, ident)
        if row is None:
            raise NotFound(f"No row {ident} in {table.name}")
        return row

    def find_one(self, table: Table, **equal: Any) -> Row | None:
        """Return the newest row whose columns have these values, or None."""
        return next(iter(self.find(table, limit=1, **equal)), None)

    def find(
        self,
        table: Table,
        *,
        limit: int | None = None,
        before: tuple[float, str] | None = None,
        newest_first: bool = True,
        order_by: str = "",
        where: str = "",
        values: Row | None = None,
        **equal: Any,
    ) -> list[Row]:
        """Return the rows whose columns have these values, sorted by time.

        `before` is the time and id at which the previous page ended, `order_by` comes before the
        time in ORDER BY, `where` is one more condition, and `values` are for its placeholders.
        """
        conditions = [f"{column} = :{column}" for column in equal]
        parameters: Row = {**equal, **(values or {})}
        if where:
            conditions.append(where)
        if before is not None:
            sign = "<" if newest_first else ">"
            conditions.append(f"({table.order_column}, id) {sign} (:before_at, :before_id)")
            parameters |= {"before_at": before[0], "before_id": before[1]}
        if limit is not None:
            parameters["limit"] = limit
        statement = table.select(
            conditions, newest_first=newest_first, has_limit=limit is not None, order_by=order_by
        )
        return [table.decode(row) for row in self.database.run(statement, parameters)[0]]

    def find_in(self, table: Table, column: str, values: Collection[Any]) -> list[Row]:
        """Return the rows whose column has one of these values."""
        if not values:
            return []
        parameters = {f"v{number}": value for number, value in enumerate(values)}
        placeholders = ", ".join(f":{name}" for name in parameters)
        return self.find(table, where=f"{column} IN ({placeholders})", values=parameters)

    def count(
        self, table: Table, *, where: str = "", values: Row | None = None, **equal: Any
    ) -> int:
        conditions = [*(f"{column} = :{column}" for column in equal), *filter(None, [where])]
        clause = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        statement = f"SELECT count(*) AS n FROM {table.name}{clause}"
        number: int = self.database.run(statement, {**equal, **(values or {})})[0][0]["n"]
        return number

    def write(self, table: Table, row: Row) -> Row:
        """Insert or replace a row and record the change; a newer row in the database stays.

        Returns the given row as it is stored, without secrets.
        """
        stored = table.encode(row)
        if self.database.dialect == "postgres":
            # One statement is one transaction and one network round trip.
            change = build_change(table, stored, gone=0)
            parameters = {f"change_{name}": value for name, value in change.items()}
            statement = UPSERT_AND_INSERT_CHANGE.format(upsert=table.upsert)
            self.database.run(statement, {**stored, **parameters})
            if not self.database.in_transaction:
                self.database.notify_listeners()
            return table.decode(stored)
        with self.transaction():
            if self.database.run(table.upsert, stored)[1]:
                self._record_change(table, stored, gone=0)
        return table.decode(stored)

    def write_unpublished(self, table: Table, row: Row) -> None:
        """Insert or replace a row without recording a change, for example one that came from the
        team's database and must not be sent back.
        """
        self.database.run(table.upsert, table.encode(row))

    def update(self, table: Table, row: Row, now: float, **fields: Any) -> Row:
        """Return the row with these fields; nothing is written if it has them already."""
        if all(row[name] == value for name, value in fields.items()):
            return row
        # The upsert ignores a row that is older than the stored one. Two changes may fall into one
        # tick of the clock, and the clock may have been set back.
        updated_at = max(now, row["updated_at"])
        return self.write(table, {**row, **fields, "updated_at": updated_at})

    def delete(self, table: Table, row: Row, now: float) -> None:
        """Delete a row, record the change and, for work and projects, leave a tombstone."""
        with self.transaction():
            if self.database.run(f"DELETE FROM {table.name} WHERE id = :id", {"id": row["id"]})[1]:
                stored = table.encode({**row, "updated_at": now})
                if table.name in tombstones.TOMBSTONE_TABLES:
                    tombstones.add_tombstone(self.database, table, stored)
                self._record_change(table, stored, gone=1)

    def _record_change(self, table: Table, stored: Row, *, gone: int) -> None:
        self.database.run(INSERT_CHANGE, tuple(build_change(table, stored, gone=gone).values()))


def build_change(table: Table, stored: Row, *, gone: int) -> Row:
    """Return the change that describes a written (`gone` is 0) or deleted (1) row."""
    return {
        "id": make_version_id(f"{table.name} {gone}", stored),
        "kind": table.name,
        "record": stored["id"],
        "project": stored.get("project", ""),
        "session": stored.get("session", ""),
        "gone": gone,
        "at": stored["updated_at"],
    }
