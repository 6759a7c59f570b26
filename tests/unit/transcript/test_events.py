"""Lines become events, and no line of any shape stops the ones after it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.transcript.events import decode
from tests.unit.transcript_lines import (
    Line,
    attachment,
    call,
    events_of,
    numbered,
    raw,
    reply,
    user,
)

GOOD = raw(user("go on"))
WENT_ON = [{"kind": "prompt", "text": "go on"}]


def told(*lines: Line | bytes) -> list[dict[str, object]]:
    """The events without where and when they happened."""
    return [
        {name: value for name, value in event.items() if name not in ("line", "at")}
        for event in events_of(*lines)
    ]


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b'{"type":"user"',
        b'{"type":"user"}{"type":"user"}',
        b"not JSON",
        b"\x00\x00\x00\x00",
        b'\x00{"type":"user"}',
        b"\xff\xfe{\x00}\x00",
        b'{"n":' + b"9" * 5000 + b"}",
        b"[" * 10_000,
        b"[" * 10_000 + b"]" * 10_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b"[]",
        b'["type","user"]',
        b'"user"',
        b"1",
        b"null",
        b"true",
        b"NaN",
    ],
    ids=lambda line: line[:16].decode("latin-1"),
)
def test_a_line_that_is_no_object_is_told_as_bad_and_the_next_is_read(line: bytes) -> None:
    assert told(line, GOOD) == [{"kind": "bad_line"}, *WENT_ON]
    assert [event["line"] for event in events_of(line, GOOD)] == [1, 2]


@pytest.mark.parametrize(
    "line",
    [
        GOOD + b"\r",
        b"\xef\xbb\xbf" + GOOD,
        b" \t" + GOOD + b"  ",
        json.dumps(user("go on"), indent=1).replace("\n", " ").encode(),
        GOOD.replace(b"go on", rb"go\u0020on"),
    ],
)
def test_what_surrounds_a_line_does_not_matter(line: bytes) -> None:
    assert told(line) == WENT_ON


@pytest.mark.parametrize("line", [b"", b" ", b"\r", b"\t \r"])
def test_an_empty_line_says_nothing(line: bytes) -> None:
    assert told(line, GOOD) == WENT_ON


@pytest.mark.parametrize(
    ("inside", "read"),
    [
        (b"\xff", "go \ufffd on"),
        (b"\xc3(", "go \ufffd( on"),
        (b"\xed\xa0\x80", "go \ufffd\ufffd\ufffd on"),
        (rb"\ud83d", "go \ud83d on"),
        (rb"\u0000", "go \0 on"),
        (b"\x00", "go \0 on"),
        (b"\t", "go \t on"),
        (rb"\x41", r"go \x41 on"),
        (rb"\\n\q", r"go \n\q on"),
        (rb"\u12", r"go \u12 on"),
    ],
)
def test_broken_text_inside_a_line_is_read_as_far_as_it_goes(inside: bytes, read: str) -> None:
    assert told(GOOD.replace(b"go on", b"go " + inside + b" on")) == [
        {"kind": "prompt", "text": read}
    ]


@pytest.mark.parametrize("kind", ["api-request", "api-request-blob", "api-request-shape"])
def test_copies_of_requests_are_passed_over_without_being_parsed(kind: str) -> None:
    assert told(b'{"type":"%s","message":BROKEN' % kind.encode(), GOOD) == WENT_ON


@pytest.mark.parametrize(
    ("line", "event"),
    [
        (user('"type":"api-request"'), {"kind": "prompt", "text": '"type":"api-request"'}),
        (
            call("mcp__hub__send", {"body": {"type": "api-request"}}),
            {
                "kind": "tool_call",
                "id": "toolu_1",
                "name": "mcp__hub__send",
                "input": {"body": {"type": "api-request"}},
            },
        ),
    ],
)
def test_somebody_who_speaks_of_requests_is_heard(line: Line, event: Line) -> None:
    assert told(line) == [event]


@pytest.mark.parametrize(
    "kind",
    [
        "progress",
        "summary",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "ai-title",
        "tomorrow's type",
        "",
        None,
        7,
        ["user"],
        {"user": 1},
    ],
)
def test_a_line_of_another_type_says_nothing(kind: object) -> None:
    assert told({**user("go on"), "type": kind}, GOOD) == WENT_ON
    assert told({"type": kind}, {}, GOOD) == WENT_ON


def places(*lines: Line | bytes) -> list[tuple[int, dict[str, str]]]:
    decoded = decode(numbered(lines))
    return [(event["line"], event["place"]) for event in decoded if event["kind"] == "place"]


HERE = {"cwd": "/srv/app", "branch": "main", "client": "2.1.325", "session": "5e55"}


def test_where_the_session_stands_is_told_once_and_when_it_changes() -> None:
    lines = [
        user("a"),
        reply("b"),
        attachment("file"),
        user("c", gitBranch="fix"),
        reply("d", gitBranch="fix"),
        user("e", cwd="/srv/app/web"),
    ]
    assert places(*lines) == [
        (1, HERE),
        (4, {**HERE, "branch": "fix"}),
        (6, {**HERE, "cwd": "/srv/app/web"}),
    ]


def test_a_place_is_told_before_what_happened_there() -> None:
    kinds = [event["kind"] for event in decode(numbered([user("a")]))]
    assert kinds == ["place", "prompt"]


def test_a_sub_agents_place_is_not_the_sessions() -> None:
    assert places(user("a", isSidechain=True, cwd="/tmp/worktree")) == []


def test_only_text_can_say_where_the_session_stands() -> None:
    assert places(user("a", cwd=7, gitBranch=None, version=["2"])) == [(1, {"session": "5e55"})]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=60) | json_values.map(lambda value: json.dumps(value).encode())))
def test_any_bytes_can_be_decoded(lines: list[bytes]) -> None:
    numbers = [event["line"] for event in decode(enumerate(lines, 1))]
    assert numbers == sorted(numbers)
    assert set(numbers) <= set(range(1, len(lines) + 1))
