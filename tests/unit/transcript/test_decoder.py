"""Lines become events; a line of any shape never prevents the decoding of later ones."""

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

GOOD = raw(user("go on"))
WENT_ON = [{"kind": "prompt", "text": "go on"}]


def decoded(*lines: Line | bytes) -> list[dict[str, object]]:
    """The events without line and time."""
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
        assert decoded(line, GOOD) == [{"kind": "bad_line"}, *WENT_ON], line
        assert [event["line"] for event in events_of(line, GOOD)] == [1, 2], line


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
def test_byte_order_marks_space_and_escapes_do_not_matter(line: bytes) -> None:
    assert decoded(line) == WENT_ON


@pytest.mark.parametrize("line", [b"", b" ", b"\r", b"\t \r"])
def test_an_empty_line_gives_no_event(line: bytes) -> None:
    assert decoded(line, GOOD) == WENT_ON


def test_invalid_utf_8_and_escapes_are_replaced_not_refused() -> None:
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
    for inside, read in cases:
        assert decoded(GOOD.replace(b"go on", b"go " + inside + b" on")) == [
            {"kind": "prompt", "text": read}
        ], inside


@pytest.mark.parametrize(
    "kind", ["api-request", "api-request-blob", "api-request-shape", "file-history-snapshot"]
)
def test_copies_of_requests_are_skipped_without_parsing(kind: str) -> None:
    assert decoded(b'{"type":"%s","message":BROKEN' % kind.encode(), GOOD) == WENT_ON


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
def test_a_prompt_about_requests_is_not_skipped(line: Line, event: Line) -> None:
    assert decoded(line) == [event]


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
        assert decoded({**user("go on"), "type": kind}, GOOD) == WENT_ON, kind
        assert decoded({"type": kind}, {}, GOOD) == WENT_ON, kind


def places(*lines: Line | bytes) -> list[tuple[int, dict[str, str]]]:
    decoded = decode(numbered(lines))
    return [(event["line"], event["place"]) for event in decoded if event["kind"] == "place"]


HERE = {"cwd": "/srv/app", "branch": "main", "client": "2.1.325", "session": "5e55"}


def test_the_place_is_an_event_once_and_when_it_changes() -> None:
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


def test_the_place_comes_before_the_other_events_of_its_line() -> None:
    kinds = [event["kind"] for event in decode(numbered([user("a")]))]
    assert kinds == ["place", "prompt"]


def test_a_sub_agents_place_is_not_the_sessions() -> None:
    assert places(user("a", isSidechain=True, cwd="/tmp/worktree")) == []


def test_place_values_that_are_no_text_are_ignored() -> None:
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


def at(second: int, ident: str, words: str = "") -> Line:
    return user(words or ident, uuid=ident, timestamp=f"2026-01-05T10:00:{second:02}.000Z")


def texts(*lines: Line | bytes) -> list[str]:
    return [event["text"] for event in events_of(*lines) if event["kind"] == "prompt"]


def test_a_repeated_message_is_decoded_once() -> None:
    cases = [
        ([at(1, "a"), at(2, "b"), at(1, "a")], ["a", "b"]),
        ([at(1, "a"), at(1, "a")], ["a"]),
        ([at(1, "a"), at(1, "b"), at(1, "a"), at(1, "b")], ["a", "b"]),
        ([at(1, "a"), at(2, "b"), at(1, "a"), at(2, "b"), at(3, "c")], ["a", "b", "c"]),
        # Flushed late: older, and never seen before.
        ([at(5, "a"), at(1, "late"), at(6, "b")], ["a", "late", "b"]),
        ([at(5, "a"), at(1, "late"), at(1, "late")], ["a", "late"]),
        # A clock that ran ahead once hides no later message.
        ([at(59, "ahead"), at(1, "a"), at(2, "b"), at(1, "a")], ["ahead", "a", "b"]),
        # Without an id or a timestamp no repetition can be detected.
        ([user("a"), user("a")], ["a", "a"]),
        ([user("a", uuid="a", timestamp=None), user("a", uuid="a", timestamp=7)], ["a", "a"]),
        ([user("a", uuid=["a"]), user("a", uuid=["a"])], ["a", "a"]),
    ]
    for lines, expected in cases:
        assert texts(*lines) == expected, lines


def test_many_messages_with_one_timestamp_are_each_decoded_once() -> None:
    many = [at(1, f"m{number}") for number in range(MAX_REMEMBERED_IDS + 10)]
    assert len(texts(*many, *many)) == len(many)


def test_a_timestamp_in_the_far_future_hides_no_later_message() -> None:
    ahead = user("ahead", uuid="x", timestamp="3000-01-01T00:00:00.000Z")
    assert texts(ahead, at(1, "a"), ahead) == ["ahead", "a"]


def test_several_sessions_in_one_file_are_one_log_with_the_last_place() -> None:
    old = {"sessionId": "01d", "gitBranch": "old"}
    lines = [user("a", **old), reply("b", **old), user("c"), reply("d")]
    assert texts(*lines) == ["a", "c"]
    assert [place["session"] for _, place in places(*lines)] == ["01d", "5e55"]
    assert state_of(*lines)["place"]["session"] == "5e55"


def write(file: Path, lines: list[Any]) -> None:
    with file.open("ab") as stream:
        stream.writelines(raw(line) + b"\n" for line in lines)


def prompts_in_pieces(file: Path, pieces: list[list[Line]]) -> list[str]:
    """Each piece is read by another process, which has only the last one's cursor."""
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


REPEATED = [at(1, "a"), at(2, "b"), at(2, "c"), at(1, "a"), at(2, "c"), at(3, "d"), at(2, "b")]
REPEATED += [at(1, "late"), at(3, "d"), at(1, "late"), at(4, "e")]


@pytest.mark.parametrize("cut", range(len(REPEATED) + 1))
def test_a_message_is_decoded_once_wherever_reading_is_split(tmp_path: Path, cut: int) -> None:
    pieces = [REPEATED[:cut], REPEATED[cut:]]
    assert prompts_in_pieces(tmp_path / "s.jsonl", pieces) == ["a", "b", "c", "d", "late", "e"]


def test_a_message_is_decoded_once_if_each_line_is_read_separately(tmp_path: Path) -> None:
    pieces = [[line] for line in REPEATED]
    assert prompts_in_pieces(tmp_path / "s.jsonl", pieces) == ["a", "b", "c", "d", "late", "e"]


def test_many_messages_with_one_timestamp_are_decoded_once_across_a_split(tmp_path: Path) -> None:
    many = [at(1, f"m{number}") for number in range(MAX_REMEMBERED_IDS + 10)]
    assert len(prompts_in_pieces(tmp_path / "s.jsonl", [many, many])) == len(many)


def test_older_messages_after_a_boundary_cause_no_lookup() -> None:
    """The client stamps a boundary when the compaction ends; reading a whole long log is slow."""
    later = boundary(trigger="auto")
    later |= {"uuid": "b", "timestamp": "2026-01-05T10:00:30.000Z"}

    def never() -> set[str]:
        raise AssertionError("the whole log was read")

    decoder = Decoder({"newest_at": "2026-01-05T10:00:01.000Z", "newest_ids": ["a"]}, never)
    events = list(decoder.events(numbered([later, at(2, "c"), at(3, "d"), later])))
    assert [event["kind"] for event in events] == ["compaction", "place", "prompt", "prompt"]


steps: st.SearchStrategy[list[Line]] = st.one_of(
    st.sampled_from(["Never push.", "go on", "Use SQLite, not files."]).map(lambda it: [user(it)]),
    st.sampled_from(["Shall I?", "I'm blocked by a key.", "Done."]).map(lambda it: [reply(it)]),
    st.sampled_from(["touch a.py", "pytest", "git status"]).map(lambda it: bash(it, "M  a.py")),
    st.just([boundary(trigger="auto"), summary()]),
    st.just([attachment("queued_command", prompt="and the docs")]),
)


@st.composite
def logs(draw: st.DrawFn) -> list[Line]:
    """A log in which the host repeats some of its old messages."""
    log: list[Line] = []
    for number, step in enumerate(draw(st.lists(steps, min_size=1, max_size=12))):
        moment = draw(st.integers(max(0, number - 1), number))
        for line in step:
            stamp = f"2026-01-05T10:00:{moment:02}.000Z"
            log.append({**line, "uuid": f"u{len(log)}", "timestamp": stamp})
        if draw(st.booleans()):
            start = draw(st.integers(0, len(log) - 1))
            log += log[start : start + draw(st.integers(1, 4))]
    return log


def caught_up(folder: Path, pieces: list[list[Line]]) -> State:
    file = folder / "s.jsonl"
    call = HookEvent(
        host="claude-code", name="Stop", session_id="s", transcript_path=str(file), cwd="/srv"
    )
    store = SQLiteStore(str(folder / "holdfast.db"))
    for piece in pieces:
        write(file, piece)
        state = ingest_transcript(store, call, 0.0).state
        store.commit()
    store.close()
    return state


@settings(deadline=None, max_examples=25)
@given(log=logs(), cuts=st.lists(st.integers(0, 40), max_size=3))
def test_repeated_old_messages_change_nothing_wherever_hooks_read(
    log: list[Line], cuts: list[int]
) -> None:
    edges = sorted({0, len(log), *(min(cut, len(log)) for cut in cuts)})
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        at_once = caught_up(Path(one), [log])
        split = caught_up(Path(other), [log[start:end] for start, end in pairwise(edges)])
    assert json.dumps(split) == json.dumps(at_once)


@settings(deadline=None)
@given(logs())
def test_a_log_with_repeated_messages_gives_the_events_of_one_without(log: list[Line]) -> None:
    known: set[str] = set()
    once: list[Line | bytes] = []
    for line in log:
        once.append(b"" if line["uuid"] in known else line)
        known.add(line["uuid"])
    last = user("the end", timestamp="2026-01-05T11:00:00Z")
    assert json.dumps(state_of(*log, last)) == json.dumps(state_of(*once, last))


SPENT = {"input_tokens": 900, "output_tokens": 7}
PART = assistant(text("one"), usage=SPENT)
THOUGHT = assistant({"type": "thinking", "thinking": "…"}, usage=SPENT)
NAMELESS = {**PART, "message": {**PART["message"], "id": ""}}
OTHER = {**PART, "message": {**PART["message"], "id": "msg_2"}}


def test_the_usage_of_a_message_is_one_event() -> None:
    """A part without other events, such as thinking, keeps its usage: it moves `lines` on."""
    cases = [
        ([PART, PART, PART], 1),
        ([PART, THOUGHT], 2),
        ([THOUGHT, PART], 1),
        ([PART, OTHER], 2),
        ([NAMELESS, NAMELESS], 2),
        ([PART, user("go on"), PART], 2),
        ([PART, boundary(), PART], 2),
        ([PART, {**PART, "isSidechain": True}], 2),
    ]
    for lines, times in cases:
        assert sum(event["kind"] == "usage" for event in events_of(*lines)) == times, lines
