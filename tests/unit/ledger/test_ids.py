"""Names made of content and of time."""

from __future__ import annotations

import uuid

from holdfast.ledger.schema import new_id, version_id


def test_ids_that_are_made_later_sort_later_and_no_two_are_alike() -> None:
    made = [new_id(1_760_000_000 + number / 1000) for number in range(100)]
    assert made == sorted(made)
    assert len({new_id(1.0) for _ in range(1000)}) == 1000


def test_an_id_of_time_is_a_uuid_that_tells_its_time() -> None:
    found = uuid.UUID(new_id(1_760_000_000.123))
    assert (found.version, found.variant) == (7, uuid.RFC_4122)
    assert found.int >> 80 == 1_760_000_000_123


def test_the_name_of_a_change_begins_with_its_time_and_depends_on_everything() -> None:
    row = {"id": "a", "text": "1", "number": 1, "updated_at": 1_760_000_000.5}
    name = version_id("actions 0", row)
    assert name == version_id("actions 0", dict(row))
    assert int(name[:12], 16) == 1_760_000_000_500
    others = [{**row, "text": 1}, {**row, "text": "é"}, {**row, "id": "a', '1"}]
    names = {version_id("actions 0", other) for other in others}
    assert len({name, version_id("actions 1", row), *names}) == 5
