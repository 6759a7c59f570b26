"""Lines of others are read as `json` reads them, whether or not their detail is left unread."""

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
    return {**line, "toolUseResult": detail.value()} if isinstance(detail, LazyObject) else line


@given(values, values, st.sampled_from([{}, BEHIND, {**BEHIND, **PLACE}]), st.booleans())
def test_a_line_has_the_value_that_json_gives_it(
    content: Any, detail: Any, behind: dict[str, Any], sidechain: bool
) -> None:
    before = {**HEAD, "message": content, "isSidechain": sidechain, **PLACE}
    raw = written({**before, "toolUseResult": detail, **behind})
    assert settled(parse_line(raw)) == json.loads(raw)


@pytest.mark.parametrize(
    "line",
    [
        {**HEAD, **PLACE, "toolUseResult": DETAIL},
        {**HEAD, **PLACE, "toolUseResult": DETAIL, **BEHIND},
        {**HEAD, "toolUseResult": DETAIL, **BEHIND, **PLACE},
        {**HEAD, **PLACE, "isSidechain": True, "agentId": "a91b", "toolUseResult": DETAIL},
    ],
)
def test_the_detail_of_a_result_is_not_decoded(line: dict[str, Any]) -> None:
    found = parse_line(written(line))
    assert isinstance(found["toolUseResult"], LazyObject)
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
def test_a_line_with_required_keys_after_its_detail_is_decoded_whole(
    line: dict[str, Any],
) -> None:
    found = parse_line(written(line))
    assert not isinstance(found.get("toolUseResult"), LazyObject)
    assert found == line


def test_a_missing_key_of_the_detail_needs_no_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    detail = parse_line(
        written({**HEAD, **PLACE, "toolUseResult": {"stdout": "x", "agentId": "a"}})
    )["toolUseResult"]
    real, decoded = lenient_json.parse_json, list[bytes]()
    monkeypatch.setattr(lenient_json, "parse_json", lambda raw: decoded.append(raw) or real(raw))
    assert (detail.get("backgroundTaskId"), detail.get("nothing", 7), len(decoded)) == (None, 7, 0)
    assert (detail.get("agentId"), detail.get("stdout"), len(decoded)) == ("a", "x", 1)


@pytest.mark.parametrize("value", [None, "text", 7, ["a"], {}])
def test_a_detail_that_is_not_an_object_is_empty(value: Any) -> None:
    line = parse_line(written({**HEAD, **PLACE, "toolUseResult": value}))
    assert as_object(line["toolUseResult"]).get("a") is None
    assert as_object(value).get("a") is None


def test_a_line_with_a_broken_detail_still_has_its_message() -> None:
    raw = written({**HEAD, **PLACE, "toolUseResult": {"stdout": "x"}}).replace(
        b'"stdout":"x"', b'"stdout":"x""'
    )
    line = parse_line(raw)
    assert line["message"] == HEAD["message"]
    assert as_object(line["toolUseResult"]).get("stdout") is None


def test_a_line_cut_within_its_detail_is_not_a_line() -> None:
    assert parse_line(written({**HEAD, **PLACE, "toolUseResult": {"stdout": "x"}})[:-3]) is None
