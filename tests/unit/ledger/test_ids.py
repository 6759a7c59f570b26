"""Ids made from time and from content."""

from __future__ import annotations

import uuid

from holdfast.ledger.schema import make_random_id, make_version_id


def test_random_ids_are_unique_and_sort_by_time() -> None:
    ids = [make_random_id(1_760_000_000 + number / 1000) for number in range(100)]
    assert ids == sorted(ids)
    assert len({make_random_id(1.0) for _ in range(1000)}) == 1000


def test_a_random_id_is_a_uuid_of_version_7_with_its_time() -> None:
    ident = uuid.UUID(make_random_id(1_760_000_000.123))
    assert (ident.version, ident.variant) == (7, uuid.RFC_4122)
    assert ident.int >> 80 == 1_760_000_000_123


def test_a_version_id_begins_with_its_time_and_depends_on_every_value() -> None:
    row = {"id": "a", "text": "1", "number": 1, "updated_at": 1_760_000_000.5}
    ident = make_version_id("actions 0", row)
    assert ident == make_version_id("actions 0", dict(row))
    assert int(ident[:12], 16) == 1_760_000_000_500
    other_rows = [{**row, "text": 1}, {**row, "text": "é"}, {**row, "id": "a', '1"}]
    other_ids = {make_version_id("actions 0", other) for other in other_rows}
    assert len({ident, make_version_id("actions 1", row), *other_ids}) == 5
