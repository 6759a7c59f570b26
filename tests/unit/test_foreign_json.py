"""Lines of others are read as `json` reads them, whether or not their detail is left unread."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import foreign_json
from holdfast.foreign_json import Unread, line_of, told

HEAD = {
    "parentUuid": "u1", "isSidechain": False, "type": "user", "message": {"content": "x"},
    "uuid": "u2", "timestamp": "2026-01-05T10:00:00.000Z",
}  # fmt: skip
PLACE = {"cwd": "/srv/app", "sessionId": "5e55", "version": "2.1.325", "gitBranch": "main"}
BEHIND = {"sourceToolAssistantUUID": "u1"}
DETAIL = {"stdout": 'print(",\\"toolUseResult\\":{}")', "file": {"content": 'ü 😀 \\ " }'}}

words = st.sampled_from(
    ["toolUseResult", ',"toolUseResult":', "sourceToolAssistantUUID", "}", '"', "\\", "é😀", "a"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | words | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


def written(line: dict[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")


def settled(line: Any) -> Any:
    detail = line.get("toolUseResult")
    return {**line, "toolUseResult": detail.value()} if isinstance(detail, Unread) else line


@given(values, values, st.sampled_from([{}, BEHIND, {**BEHIND, **PLACE}]), st.booleans())
def test_a_line_is_what_json_makes_of_it(
    content: Any, detail: Any, behind: dict[str, Any], sidechain: bool
) -> None:
    before = {**HEAD, "message": content, "isSidechain": sidechain, **PLACE}
    raw = written({**before, "toolUseResult": detail, **behind})
    assert settled(line_of(raw)) == json.loads(raw)


@pytest.mark.parametrize(
    "line",
    [
        {**HEAD, **PLACE, "toolUseResult": DETAIL},
        {**HEAD, **PLACE, "toolUseResult": DETAIL, **BEHIND},
        {**HEAD, "toolUseResult": DETAIL, **BEHIND, **PLACE},
        {**HEAD, **PLACE, "isSidechain": True, "agentId": "a91b", "toolUseResult": DETAIL},
    ],
)
def test_the_detail_of_a_result_is_left_unread(line: dict[str, Any]) -> None:
    found = line_of(written(line))
    assert isinstance(found["toolUseResult"], Unread)
    assert settled(found) == line


@pytest.mark.parametrize(
    "line",
    [
        {"toolUseResult": DETAIL, **HEAD, **PLACE},
        {**HEAD, "toolUseResult": DETAIL, **PLACE},
        {**HEAD, **PLACE, "isSidechain": True, "toolUseResult": DETAIL, "agentId": "a91b"},
        {**HEAD, **PLACE, "data": {"message": {"type": "user", "toolUseResult": DETAIL}}},
        {**HEAD, **PLACE, "note": 'a,"toolUseResult":{}'},
    ],
)
def test_a_line_is_read_whole_where_more_than_its_detail_would_be_missed(
    line: dict[str, Any],
) -> None:
    found = line_of(written(line))
    assert not isinstance(found.get("toolUseResult"), Unread)
    assert found == line


def test_what_is_not_there_is_told_without_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    detail = line_of(written({**HEAD, **PLACE, "toolUseResult": {"stdout": "x", "agentId": "a"}}))[
        "toolUseResult"
    ]
    real, decoded = foreign_json.parsed, list[bytes]()
    monkeypatch.setattr(foreign_json, "parsed", lambda raw: decoded.append(raw) or real(raw))
    assert (detail.get("backgroundTaskId"), detail.get("nothing", 7), len(decoded)) == (None, 7, 0)
    assert (detail.get("agentId"), detail.get("stdout"), len(decoded)) == ("a", "x", 1)


@pytest.mark.parametrize("value", [None, "text", 7, ["a"], {}])
def test_a_detail_that_is_no_object_says_nothing(value: Any) -> None:
    line = line_of(written({**HEAD, **PLACE, "toolUseResult": value}))
    assert told(line["toolUseResult"]).get("a") is None
    assert told(value).get("a") is None


def test_a_message_counts_though_its_detail_is_broken() -> None:
    raw = written({**HEAD, **PLACE, "toolUseResult": {"stdout": "x"}}).replace(
        b'"stdout":"x"', b'"stdout":"x""'
    )
    line = line_of(raw)
    assert line["message"] == HEAD["message"]
    assert told(line["toolUseResult"]).get("stdout") is None


def test_a_line_that_ends_in_the_middle_of_its_detail_is_none() -> None:
    assert line_of(written({**HEAD, **PLACE, "toolUseResult": {"stdout": "x"}})[:-3]) is None
