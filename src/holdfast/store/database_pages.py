"""Read rows from the pages of a damaged SQLite file, without SQLite.

SQLite refuses a whole table if one page that leads to it is damaged. Here each page is read on its
own, so only the rows on damaged pages are lost. See https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAGIC = b"SQLite format 3\0"
FILE_HEADER_BYTES = 100
DEFAULT_PAGE_BYTES, MAX_PAGE_BYTES = 4096, 65536
WAL_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24
WAL_MAGIC_LITTLE_ENDIAN, WAL_MAGIC_BIG_ENDIAN = 0x377F0682, 0x377F0683
# The types of pages: tables (by rowid) and indexes, inner pages and leaves.
TABLE_INNER, TABLE_LEAF, INDEX_INNER, INDEX_LEAF = 0x05, 0x0D, 0x02, 0x0A
INNER_TYPES = (TABLE_INNER, INDEX_INNER)
# The values of these serial types are not stored: NULL, and the numbers 0 and 1.
NULL_TYPE, ZERO_TYPE, ONE_TYPE, FLOAT_TYPE = 0, 8, 9, 7
INTEGER_BYTES = (0, 1, 2, 3, 4, 6, 8)
FIRST_BLOB_TYPE = 12


class DamagedPage(Exception):
    """A page, or a record on it, does not have the form that SQLite writes."""


class Record:
    """One row of a table or one entry of an index; rowid is 0 in an index."""

    __slots__ = ("rowid", "values")

    def __init__(self, rowid: int, values: list[Any]) -> None:
        self.rowid = rowid
        self.values = values


class DatabasePages:
    """The pages of a database: those in its write-ahead log that were committed, else its own."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115
        header = self._file.read(FILE_HEADER_BYTES)
        is_whole = header[:16] == MAGIC
        self.version = struct.unpack(">I", header[60:64])[0] if is_whole else 0
        size = struct.unpack(">H", header[16:18])[0] if is_whole else DEFAULT_PAGE_BYTES
        self.page_bytes = MAX_PAGE_BYTES if size == 1 else size or DEFAULT_PAGE_BYTES
        self.usable_bytes = self.page_bytes - (header[20] if is_whole else 0)
        self._from_log = _read_log(f"{path}-wal", self.page_bytes)
        self.count = max([os.path.getsize(path) // self.page_bytes, *self._from_log])

    def close(self) -> None:
        self._file.close()

    def read(self, number: int) -> bytes:
        """Return a page; raises DamagedPage if there is no such page."""
        if not 1 <= number <= self.count:
            raise DamagedPage(f"no page {number}")
        page = self._from_log.get(number)
        if page is None:
            self._file.seek((number - 1) * self.page_bytes)
            page = self._file.read(self.page_bytes)
        if len(page) != self.page_bytes:
            raise DamagedPage(f"page {number} is cut")
        return page

    def get_type(self, number: int) -> int:
        return self.read(number)[FILE_HEADER_BYTES if number == 1 else 0]

    def walk(self, root: int, damaged: set[int]) -> Iterator[int]:
        """Yield all pages of the tree at `root`, in order of their keys.

        Pages that do not belong into this tree, or lead into a circle, are added to `damaged`.
        """
        kinds: tuple[int, ...] = ()
        waiting, seen = [root], set()
        while waiting:
            number = waiting.pop()
            try:
                kind = self.get_type(number)
                kinds = kinds or _tree_types(kind)
                if kind not in kinds or number in seen:
                    raise DamagedPage(f"page {number} is of another tree")
                children = self._list_children(number) if kind in INNER_TYPES else []
            except DamagedPage:
                damaged.add(number)
                continue
            seen.add(number)
            waiting += reversed(children)
            yield number

    def _list_children(self, number: int) -> list[int]:
        page, start = self.read(number), FILE_HEADER_BYTES if number == 1 else 0
        cells = [at for at in self._list_cells(number) if at]
        children = [struct.unpack_from(">I", page, at)[0] for at in cells]
        return [*children, struct.unpack_from(">I", page, start + 8)[0]]

    def _list_cells(self, number: int) -> list[int]:
        """Return the offsets of the cells of a page, 0 for a damaged one; raises DamagedPage."""
        page, start = self.read(number), FILE_HEADER_BYTES if number == 1 else 0
        count = struct.unpack_from(">H", page, start + 3)[0]
        first = start + (12 if page[start] in INNER_TYPES else 8)
        if first + 2 * count > self.usable_bytes:
            raise DamagedPage(f"page {number} has no room for its cells")
        cells = struct.unpack_from(f">{count}H", page, first)
        return [at if first + 2 * count <= at < self.usable_bytes - 4 else 0 for at in cells]

    def read_records(self, number: int) -> Iterator[Record | None]:
        """Yield the records on a page, and None for each that is damaged; raises DamagedPage."""
        kind = self.get_type(number)
        if kind == TABLE_INNER:
            return
        for at in self._list_cells(number):
            try:
                yield self._read_cell(self.read(number), at, kind) if at else None
            except (DamagedPage, IndexError, struct.error, OverflowError):
                yield None

    def _read_cell(self, page: bytes, at: int, kind: int) -> Record:
        if kind == INDEX_INNER:
            at += 4
        length, at = _read_varint(page, at)
        rowid = 0
        if kind == TABLE_LEAF:
            rowid, at = _read_varint(page, at)
        return Record(rowid, _read_values(self._read_payload(page, at, length, kind)))

    def _read_payload(self, page: bytes, at: int, length: int, kind: int) -> bytes:
        """Return the bytes of a record; the end of a long one is in a chain of other pages."""
        usable = self.usable_bytes
        if length > self.count * usable:
            raise DamagedPage("a record is longer than the file")
        most = usable - 35 if kind == TABLE_LEAF else (usable - 12) * 64 // 255 - 23
        if length <= most:
            if at + length > usable:
                raise DamagedPage("a record does not end on its page")
            return page[at : at + length]
        least = (usable - 12) * 32 // 255 - 23
        local = least + (length - least) % (usable - 4)
        local = local if local <= most else least
        parts, left = [page[at : at + local]], length - local
        following = struct.unpack_from(">I", page, at + local)[0]
        while left > 0:
            chained = self.read(following)
            parts.append(chained[4 : 4 + min(left, usable - 4)])
            left -= usable - 4
            following = struct.unpack_from(">I", chained)[0]
        if following:
            raise DamagedPage("the chain of a record does not end")
        return b"".join(parts)

    def list_free(self) -> set[int]:
        """Return the pages that are not in use: they have old content."""
        free: set[int] = set()
        trunk = struct.unpack_from(">I", self.read(1), 32)[0]
        while trunk and trunk not in free and trunk <= self.count:
            free.add(trunk)
            page = self.read(trunk)
            trunk, count = struct.unpack_from(">II", page)
            free.update(struct.unpack_from(f">{min(count, self.usable_bytes // 4 - 2)}I", page, 8))
        return free


def _tree_types(kind: int) -> tuple[int, ...]:
    if kind in (TABLE_INNER, TABLE_LEAF):
        return TABLE_INNER, TABLE_LEAF
    if kind in (INDEX_INNER, INDEX_LEAF):
        return INDEX_INNER, INDEX_LEAF
    raise DamagedPage(f"no page has the type {kind}")


def _read_log(path: str, page_bytes: int) -> dict[int, bytes]:
    """Return the newest committed version of each page in a write-ahead log.

    Each frame is checked against the one before it, so that one damaged frame does not hide the
    later ones.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return {}
    if len(data) < WAL_HEADER_BYTES:
        return {}
    magic, _, size, _, *rest = struct.unpack_from(">8I", data)
    salts, sums = tuple(rest[:2]), tuple(rest[2:])
    if magic not in (WAL_MAGIC_LITTLE_ENDIAN, WAL_MAGIC_BIG_ENDIAN) or size != page_bytes:
        return {}
    order = ">" if magic == WAL_MAGIC_BIG_ENDIAN else "<"
    committed: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    step = FRAME_HEADER_BYTES + page_bytes
    for at in range(WAL_HEADER_BYTES, len(data) - step + 1, step):
        number, size_after_commit, *fields = struct.unpack_from(">6I", data, at)
        if tuple(fields[:2]) != salts:
            break  # what follows is from before the last reset of the log
        page = data[at + FRAME_HEADER_BYTES : at + step]
        expected = _add_checksum(order, data[at : at + 8] + page, sums)
        sums = tuple(fields[2:])
        if expected == sums:
            waiting[number] = page
        if size_after_commit:
            committed |= waiting
            waiting = {}
    return committed


def _add_checksum(order: str, data: bytes, sums: tuple[int, ...]) -> tuple[int, ...]:
    first, second = sums
    for one, two in struct.iter_unpack(f"{order}II", data):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return first, second


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and the offset after it."""
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64 if value >= 1 << 63 else 0), at + 9


def _read_values(payload: bytes) -> list[Any]:
    """Return the values of a record; raises DamagedPage if they do not fill it."""
    header_bytes, at = _read_varint(payload, 0)
    types: list[int] = []
    while at < header_bytes:
        kind, at = _read_varint(payload, at)
        types.append(kind)
    values: list[Any] = []
    for kind in types:
        value, at = _read_value(payload, at, kind)
        values.append(value)
    if at != len(payload):
        raise DamagedPage("the values of a record do not fill it")
    return values


def _read_value(payload: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind == NULL_TYPE:
        return None, at
    if kind < FLOAT_TYPE:
        end = at + INTEGER_BYTES[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if kind == FLOAT_TYPE:
        return struct.unpack_from(">d", payload, at)[0], at + 8
    if kind in (ZERO_TYPE, ONE_TYPE):
        return kind - ZERO_TYPE, at
    if kind < FIRST_BLOB_TYPE:
        raise DamagedPage(f"no value has the type {kind}")
    end = at + (kind - FIRST_BLOB_TYPE) // 2
    data = payload[at:end]
    return (data.decode("utf-8", "replace") if kind % 2 else data), end
