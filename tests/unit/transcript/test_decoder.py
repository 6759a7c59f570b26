"""Lines are decoded into events, and a malformed line does not affect later lines."""

from __future__ import annotations

import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.hosts.hook_event import HookEvent
from holdfast.services.compaction.ingest import ingest_transcript
from holdfast.state.types import State
from holdfast.store.sqlite import SQLiteStore
from holdfast.transcript.decoder import MAX_REMEMBERED_IDS, Decoder, decode
from holdfast.transcript.reader import TranscriptReader
from tests.unit.transcript_lines import (
    Line,
    assistant,
    attachment,
    bash,
    boundary,
    call,
    events_of,
    numbered,
    raw,
    reply,
    state_of,
    summary,
    text,
    user,
)

VALID_LINE = raw(user("go on"))
VALID_EVENTS = [{"kind": "prompt", "text": "go on"}]


def decode_events(*lines: Line | bytes) -> list[dict[str, object]]:
    """Return the events without line and time."""
    return [
        {name: value for name, value in event.items() if name not in ("line", "at")}
        for event in events_of(*lines)
    ]


def test_a_line_that_is_no_object_is_a_bad_line_and_the_next_is_read() -> None:
    cases = [
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
    ]
    for line in cases:
        assert decode_events(line, VALID_LINE) == [{"kind": "bad_line"}, *VALID_EVENTS], line
        assert [event["line"] for event in events_of(line, VALID_LINE)] == [1, 2], line


@pytest.mark.parametrize(
    "line",
    [
        VALID_LINE + b"\r",
        b"\xef\xbb\xbf" + VALID_LINE,
        b" \t" + VALID_LINE + b"  ",
        json.dumps(user("go on"), indent=1).replace("\n", " ").encode(),
        VALID_LINE.replace(b"go on", rb"go\u0020on"),
    ],
)
def test_byte_order_marks_white_space_and_escapes_are_accepted(line: bytes) -> None:
    assert decode_events(line) == VALID_EVENTS


@pytest.mark.parametrize("line", [b"", b" ", b"\r", b"\t \r"])
def test_an_empty_line_gives_no_event(line: bytes) -> None:
    assert decode_events(line, VALID_LINE) == VALID_EVENTS


def test_invalid_utf_8_and_invalid_escapes_are_replaced() -> None:
    cases = [
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
    ]
    for inside, expected in cases:
        assert decode_events(VALID_LINE.replace(b"go on", b"go " + inside + b" on")) == [
            {"kind": "prompt", "text": expected}
        ], inside


@pytest.mark.parametrize(
    "kind", ["api-request", "api-request-blob", "api-request-shape", "file-history-snapshot"]
)
def test_copies_of_api_requests_are_skipped_without_parsing(kind: str) -> None:
    assert (
        decode_events(b'{"type":"%s","message":BROKEN' % kind.encode(), VALID_LINE) == VALID_EVENTS
    )


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
def test_a_line_that_mentions_an_api_request_is_not_skipped(line: Line, event: Line) -> None:
    assert decode_events(line) == [event]


def test_a_line_of_another_type_gives_no_event() -> None:
    cases = [
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
    ]
    for kind in cases:
        assert decode_events({**user("go on"), "type": kind}, VALID_LINE) == VALID_EVENTS, kind
        assert decode_events({"type": kind}, {}, VALID_LINE) == VALID_EVENTS, kind


def places(*lines: Line | bytes) -> list[tuple[int, dict[str, str]]]:
    events = decode(numbered(lines))
    return [(event["line"], event["place"]) for event in events if event["kind"] == "place"]


PLACE = {"cwd": "/srv/app", "branch": "main", "client": "2.1.325", "session": "5e55"}


def test_a_place_event_is_emitted_first_and_when_the_place_changes() -> None:
    lines = [
        user("a"),
        reply("b"),
        attachment("file"),
        user("c", gitBranch="fix"),
        reply("d", gitBranch="fix"),
        user("e", cwd="/srv/app/web"),
    ]
    assert places(*lines) == [
        (1, PLACE),
        (4, {**PLACE, "branch": "fix"}),
        (6, {**PLACE, "cwd": "/srv/app/web"}),
    ]


def test_the_place_event_precedes_the_other_events_of_its_line() -> None:
    kinds = [event["kind"] for event in decode(numbered([user("a")]))]
    assert kinds == ["place", "prompt"]


def test_the_place_of_a_sub_agent_gives_no_event() -> None:
    assert places(user("a", isSidechain=True, cwd="/tmp/worktree")) == []


def test_place_values_of_the_wrong_type_are_ignored() -> None:
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


# Repeated messages


def message_at(second: int, ident: str) -> Line:
    return user(ident, uuid=ident, timestamp=f"2026-01-05T10:00:{second:02}.000Z")


def texts(*lines: Line | bytes) -> list[str]:
    return [event["text"] for event in events_of(*lines) if event["kind"] == "prompt"]


def test_a_repeated_message_is_decoded_once() -> None:
    cases = [
        ([message_at(1, "a"), message_at(2, "b"), message_at(1, "a")], ["a", "b"]),
        ([message_at(1, "a"), message_at(1, "a")], ["a"]),
        (
            [message_at(1, "a"), message_at(1, "b"), message_at(1, "a"), message_at(1, "b")],
            ["a", "b"],
        ),
        (
            [
                message_at(1, "a"),
                message_at(2, "b"),
                message_at(1, "a"),
                message_at(2, "b"),
                message_at(3, "c"),
            ],
            ["a", "b", "c"],
        ),
        # An older message that is written late is new.
        ([message_at(5, "a"), message_at(1, "late"), message_at(6, "b")], ["a", "late", "b"]),
        ([message_at(5, "a"), message_at(1, "late"), message_at(1, "late")], ["a", "late"]),
        # One timestamp in the future does not hide later messages.
        (
            [message_at(59, "ahead"), message_at(1, "a"), message_at(2, "b"), message_at(1, "a")],
            ["ahead", "a", "b"],
        ),
        # Without an id or a timestamp no repetition can be detected.
        ([user("a"), user("a")], ["a", "a"]),
        ([user("a", uuid="a", timestamp=None), user("a", uuid="a", timestamp=7)], ["a", "a"]),
        ([user("a", uuid=["a"]), user("a", uuid=["a"])], ["a", "a"]),
    ]
    for lines, expected in cases:
        assert texts(*lines) == expected, lines


def test_many_messages_with_one_timestamp_are_each_decoded_once() -> None:
    messages = [message_at(1, f"m{number}") for number in range(MAX_REMEMBERED_IDS + 10)]
    assert len(texts(*messages, *messages)) == len(messages)


def test_a_timestamp_in_the_far_future_hides_no_later_message() -> None:
    ahead = user("ahead", uuid="x", timestamp="3000-01-01T00:00:00.000Z")
    assert texts(ahead, message_at(1, "a"), ahead) == ["ahead", "a"]


def test_a_file_with_several_sessions_is_one_log_with_the_last_place() -> None:
    old = {"sessionId": "01d", "gitBranch": "old"}
    lines = [user("a", **old), reply("b", **old), user("c"), reply("d")]
    assert texts(*lines) == ["a", "c"]
    assert [place["session"] for _, place in places(*lines)] == ["01d", "5e55"]
    assert state_of(*lines)["place"]["session"] == "5e55"


def write(file: Path, lines: list[Any]) -> None:
    with file.open("ab") as stream:
        stream.writelines(raw(line) + b"\n" for line in lines)


def prompts_in_pieces(file: Path, pieces: list[list[Line]]) -> list[str]:
    """Read each piece with a new reader that resumes from the stored cursor."""
    cursor: Any = None
    prompts: list[str] = []
    for piece in pieces:
        write(file, piece)
        reader = TranscriptReader(str(file), cursor)
        decoder = Decoder(cursor, reader.earlier_ids_loader())
        events = list(decoder.events(reader.lines()))
        prompts += [event["text"] for event in events if event["kind"] == "prompt"]
        cursor = json.loads(json.dumps({**reader.cursor(), **decoder.cursor()}))
    return prompts


REPEATED = [
    message_at(1, "a"),
    message_at(2, "b"),
    message_at(2, "c"),
    message_at(1, "a"),
    message_at(2, "c"),
    message_at(3, "d"),
    message_at(2, "b"),
]
REPEATED += [message_at(1, "late"), message_at(3, "d"), message_at(1, "late"), message_at(4, "e")]


@pytest.mark.parametrize("cut", range(len(REPEATED) + 1))
def test_a_message_is_decoded_once_wherever_reading_is_split(tmp_path: Path, cut: int) -> None:
    pieces = [REPEATED[:cut], REPEATED[cut:]]
    assert prompts_in_pieces(tmp_path / "s.jsonl", pieces) == ["a", "b", "c", "d", "late", "e"]


def test_a_message_is_decoded_once_if_each_line_is_read_separately(tmp_path: Path) -> None:
    pieces = [[line] for line in REPEATED]
    assert prompts_in_pieces(tmp_path / "s.jsonl", pieces) == ["a", "b", "c", "d", "late", "e"]


def test_many_messages_with_one_timestamp_are_decoded_once_across_a_split(tmp_path: Path) -> None:
    messages = [message_at(1, f"m{number}") for number in range(MAX_REMEMBERED_IDS + 10)]
    assert len(prompts_in_pieces(tmp_path / "s.jsonl", [messages, messages])) == len(messages)


def test_older_messages_after_a_boundary_do_not_load_earlier_ids() -> None:
    """A boundary has the time at which the compaction ended, so it is newer than the messages
    after it. Loading the ids of a long log would be slow."""
    late_boundary = boundary(trigger="auto")
    late_boundary |= {"uuid": "b", "timestamp": "2026-01-05T10:00:30.000Z"}

    def fail() -> set[str]:
        raise AssertionError("the whole log was read")

    decoder = Decoder({"newest_at": "2026-01-05T10:00:01.000Z", "newest_ids": ["a"]}, fail)
    lines = [late_boundary, message_at(2, "c"), message_at(3, "d"), late_boundary]
    events = list(decoder.events(numbered(lines)))
    assert [event["kind"] for event in events] == ["compaction", "place", "prompt", "prompt"]


steps: st.SearchStrategy[list[Line]] = st.one_of(
    st.sampled_from(["Never push.", "go on", "Use SQLite, not files."]).map(
        lambda text: [user(text)]
    ),
    st.sampled_from(["Shall I?", "I'm blocked by a key.", "Done."]).map(lambda text: [reply(text)]),
    st.sampled_from(["touch a.py", "pytest", "git status"]).map(
        lambda command: bash(command, "M  a.py")
    ),
    st.just([boundary(trigger="auto"), summary()]),
    st.just([attachment("queued_command", prompt="and the docs")]),
)


@st.composite
def logs(draw: st.DrawFn) -> list[Line]:
    """A log in which the host repeats some of its old messages."""
    log: list[Line] = []
    for number, step in enumerate(draw(st.lists(steps, min_size=1, max_size=12))):
        second = draw(st.integers(max(0, number - 1), number))
        for line in step:
            timestamp = f"2026-01-05T10:00:{second:02}.000Z"
            log.append({**line, "uuid": f"u{len(log)}", "timestamp": timestamp})
        if draw(st.booleans()):
            start = draw(st.integers(0, len(log) - 1))
            log += log[start : start + draw(st.integers(1, 4))]
    return log


def ingest_in_pieces(folder: Path, pieces: list[list[Line]]) -> State:
    """Return the state after a hook has read each piece."""
    file = folder / "s.jsonl"
    event = HookEvent(
        host="claude-code", name="Stop", session_id="s", transcript_path=str(file), cwd="/srv"
    )
    store = SQLiteStore(str(folder / "holdfast.db"))
    for piece in pieces:
        write(file, piece)
        state = ingest_transcript(store, event, 0.0).state
        store.commit()
    store.close()
    return state


@settings(deadline=None, max_examples=25)
@given(log=logs(), cuts=st.lists(st.integers(0, 40), max_size=3))
def test_repeated_messages_give_the_same_state_wherever_hooks_stop_reading(
    log: list[Line], cuts: list[int]
) -> None:
    edges = sorted({0, len(log), *(min(cut, len(log)) for cut in cuts)})
    pieces = [log[start:end] for start, end in pairwise(edges)]
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        whole = ingest_in_pieces(Path(first), [log])
        split = ingest_in_pieces(Path(second), pieces)
    assert json.dumps(split) == json.dumps(whole)


@settings(deadline=None)
@given(logs())
def test_a_log_with_repeated_messages_gives_the_state_of_a_log_without_them(
    log: list[Line],
) -> None:
    seen: set[str] = set()
    unique: list[Line | bytes] = []
    for line in log:
        unique.append(b"" if line["uuid"] in seen else line)
        seen.add(line["uuid"])
    last = user("the end", timestamp="2026-01-05T11:00:00Z")
    assert json.dumps(state_of(*log, last)) == json.dumps(state_of(*unique, last))


USAGE = {"input_tokens": 900, "output_tokens": 7}
TEXT_PART = assistant(text("one"), usage=USAGE)
THINKING_PART = assistant({"type": "thinking", "thinking": "…"}, usage=USAGE)
PART_WITHOUT_ID = {**TEXT_PART, "message": {**TEXT_PART["message"], "id": ""}}
OTHER_MESSAGE = {**TEXT_PART, "message": {**TEXT_PART["message"], "id": "msg_2"}}


def test_the_usage_of_a_message_in_several_lines_is_one_event() -> None:
    """A line without other events, such as thinking, keeps its usage event, so that it counts."""
    cases = [
        ([TEXT_PART, TEXT_PART, TEXT_PART], 1),
        ([TEXT_PART, THINKING_PART], 2),
        ([THINKING_PART, TEXT_PART], 1),
        ([TEXT_PART, OTHER_MESSAGE], 2),
        ([PART_WITHOUT_ID, PART_WITHOUT_ID], 2),
        ([TEXT_PART, user("go on"), TEXT_PART], 2),
        ([TEXT_PART, boundary(), TEXT_PART], 2),
        ([TEXT_PART, {**TEXT_PART, "isSidechain": True}], 2),
    ]
    for lines, count in cases:
        assert sum(event["kind"] == "usage" for event in events_of(*lines)) == count, lines
