"""Log lines get the values that `json` gives them, even if a tool result is decoded later."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import lenient_json
from holdfast.lenient_json import LazyObject, as_object, parse_line

HEAD = {
    "parentUuid": "u1", "isSidechain": False, "type": "user", "message": {"content": "x"},
    "uuid": "u2", "timestamp": "2026-01-05T10:00:00.000Z",
}  # fmt: skip
SESSION_FIELDS = {"cwd": "/srv/app", "sessionId": "5e55", "version": "2.1.325", "gitBranch": "main"}
FIELDS_AFTER_DETAIL = {"sourceToolAssistantUUID": "u1"}
DETAIL = {"stdout": 'print(",\\"toolUseResult\\":{}")', "file": {"content": 'ü 😀 \\ " }'}}

tricky_strings = st.sampled_from(
    ["toolUseResult", ',"toolUseResult":', "sourceToolAssistantUUID", "}", '"', "\\", "é😀", "a"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | tricky_strings | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(tricky_strings, inner, max_size=3),
    max_leaves=8,
)


def to_bytes(line: dict[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode(errors="replace")


def decode_detail(line: Any) -> Any:
    """Return the line with its tool result decoded."""
    detail = line.get("toolUseResult")
    return {**line, "toolUseResult": detail.value()} if isinstance(detail, LazyObject) else line


@given(
    values,
    values,
    st.sampled_from([{}, FIELDS_AFTER_DETAIL, {**FIELDS_AFTER_DETAIL, **SESSION_FIELDS}]),
    st.booleans(),
)
def test_a_line_has_the_value_that_json_gives_it(
    content: Any, detail: Any, fields_after: dict[str, Any], sidechain: bool
) -> None:
    before = {**HEAD, "message": content, "isSidechain": sidechain, **SESSION_FIELDS}
    raw = to_bytes({**before, "toolUseResult": detail, **fields_after})
    assert decode_detail(parse_line(raw)) == json.loads(raw)


@pytest.mark.parametrize(
    "line",
    [
        {**HEAD, **SESSION_FIELDS, "toolUseResult": DETAIL},
        {**HEAD, **SESSION_FIELDS, "toolUseResult": DETAIL, **FIELDS_AFTER_DETAIL},
        {**HEAD, "toolUseResult": DETAIL, **FIELDS_AFTER_DETAIL, **SESSION_FIELDS},
        {**HEAD, **SESSION_FIELDS, "isSidechain": True, "agentId": "a91b", "toolUseResult": DETAIL},
    ],
)
def test_the_detail_of_a_result_is_decoded_lazily(line: dict[str, Any]) -> None:
    parsed = parse_line(to_bytes(line))
    assert isinstance(parsed["toolUseResult"], LazyObject)
    assert decode_detail(parsed) == line


@pytest.mark.parametrize(
    "line",
    [
        {"toolUseResult": DETAIL, **HEAD, **SESSION_FIELDS},
        {**HEAD, "toolUseResult": DETAIL, **SESSION_FIELDS},
        {**HEAD, **SESSION_FIELDS, "isSidechain": True, "toolUseResult": DETAIL, "agentId": "a91b"},
        {**HEAD, **SESSION_FIELDS, "data": {"message": {"type": "user", "toolUseResult": DETAIL}}},
        {**HEAD, **SESSION_FIELDS, "note": 'a,"toolUseResult":{}'},
    ],
)
def test_a_line_with_required_keys_after_its_detail_is_decoded_whole(
    line: dict[str, Any],
) -> None:
    parsed = parse_line(to_bytes(line))
    assert not isinstance(parsed.get("toolUseResult"), LazyObject)
    assert parsed == line


def test_looking_up_a_missing_key_does_not_decode_the_detail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    detail = parse_line(
        to_bytes({**HEAD, **SESSION_FIELDS, "toolUseResult": {"stdout": "x", "agentId": "a"}})
    )["toolUseResult"]
    parse_json, decoded = lenient_json.parse_json, list[bytes]()
    monkeypatch.setattr(
        lenient_json, "parse_json", lambda raw: decoded.append(raw) or parse_json(raw)
    )
    assert (detail.get("backgroundTaskId"), detail.get("nothing", 7), len(decoded)) == (None, 7, 0)
    assert (detail.get("agentId"), detail.get("stdout"), len(decoded)) == ("a", "x", 1)


@pytest.mark.parametrize("value", [None, "text", 7, ["a"], {}])
def test_a_detail_that_is_not_an_object_is_empty(value: Any) -> None:
    line = parse_line(to_bytes({**HEAD, **SESSION_FIELDS, "toolUseResult": value}))
    assert as_object(line["toolUseResult"]).get("a") is None
    assert as_object(value).get("a") is None


def test_a_line_with_a_broken_detail_still_has_its_message() -> None:
    raw = to_bytes({**HEAD, **SESSION_FIELDS, "toolUseResult": {"stdout": "x"}}).replace(
        b'"stdout":"x"', b'"stdout":"x""'
    )
    line = parse_line(raw)
    assert line["message"] == HEAD["message"]
    assert as_object(line["toolUseResult"]).get("stdout") is None


def test_a_line_that_is_cut_within_its_detail_is_invalid() -> None:
    assert (
        parse_line(to_bytes({**HEAD, **SESSION_FIELDS, "toolUseResult": {"stdout": "x"}})[:-3])
        is None
    )
