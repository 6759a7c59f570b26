"""Every event's text is searchable: once, without secrets, within a cap."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.index.texts import LONGEST, WAITED, Calls, Piece, capped, pieces
from tests.unit.transcript_lines import (
    attachment,
    bash,
    boundary,
    call,
    line,
    reply,
    result,
    summary,
    user,
)

TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5"


def texts(*lines: Any, calls: Calls | None = None) -> list[tuple[str, str]]:
    """Kind and text of what these lines hold."""
    return [(piece.kind, piece.text) for piece in told(*lines, calls=calls)]


def told(*lines: Any, calls: Calls | None = None) -> list[Piece]:
    numbered = [
        (number, line if isinstance(line, bytes) else json.dumps(line).encode())
        for number, line in enumerate(lines, 1)
    ]
    made = pieces(numbered, {} if calls is None else calls)
    return [piece for piece in made if isinstance(piece, Piece)]


def test_what_was_said_asked_and_answered_is_there() -> None:
    assert texts(user("do it"), reply("on it"), *bash("make test", "2 failed")) == [
        ("prompt", "do it"),
        ("reply", "on it"),
        ("tool_call", "Bash\ncommand: make test"),
        ("tool_result", "2 failed"),
    ]


def test_a_call_keeps_its_lines_as_they_were_given() -> None:
    given = {"file_path": "/a/b.py", "new_string": 'x = "1"\n\ty = 2', "replace_all": True}
    assert texts(call("Edit", given)) == [
        ("tool_call", 'Edit\nfile_path: /a/b.py\nnew_string:\nx = "1"\n\ty = 2\nreplace_all: true')
    ]


def test_a_result_belongs_to_its_call_even_when_it_comes_later() -> None:
    calls: Calls = {}
    told(call("Read", {"file_path": "/a/b.py"}, ident="t1"), calls=calls)
    (piece,) = told(result("content", ident="t1"), calls=calls)
    assert (piece.tool, piece.file) == ("Read", "/a/b.py")
    assert calls == {}


def test_calls_without_a_result_do_not_pile_up() -> None:
    calls: Calls = {}
    told(*[call("Read", {}, ident=f"t{number}") for number in range(500)], calls=calls)
    assert len(calls) == 100


def test_a_summary_is_there_and_a_compaction_is_told() -> None:
    lines = [json.dumps(line).encode() for line in (boundary(trigger="auto"), summary())]
    made = [*pieces([*enumerate(lines, 1)], {})]
    assert [piece.kind if isinstance(piece, Piece) else piece["kind"] for piece in made] == [
        "compaction",
        "summary",
    ]


def test_a_line_that_is_not_json_can_still_be_found() -> None:
    assert texts(b'{"type": "user", "oops: jitter') == [("line", '{"type": "user", "oops: jitter')]


def test_our_own_briefs_are_not_found_again() -> None:
    brief = "# Where this session stands (holdfast:0badcafe)\nnever push"
    told_by_hook = attachment("hook_additional_context", content=[brief], hookEvent="SessionStart")
    other = attachment("hook_additional_context", content=["be brief"], hookEvent="SessionStart")
    assert texts(told_by_hook, other) == [("injected", "be brief")]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Bash", {"command": "holdfast recall jitter"}),
        ("Bash", {"command": "/venv/bin/python -m holdfast recall jitter"}),
        ("mcp__holdfast__recall", {"query": "jitter"}),
    ],
)
def test_an_earlier_lookup_is_known_as_one(name: str, given: dict[str, Any]) -> None:
    lines = call(name, given), result("L3 prompt\nuse jitter")
    assert [kind for kind, _ in texts(*lines)] == ["lookup", "lookup"]


def test_what_was_typed_while_the_agent_worked_is_there() -> None:
    queued = line("queue-operation", operation="enqueue", content=f"and the docs {TOKEN}")
    assert texts(queued, line("queue-operation", operation="remove")) == [
        ("prompt", "and the docs [redacted:github-token]")
    ]
    (piece,) = told(queued)
    assert piece.aside == WAITED


def test_a_result_knows_its_call_and_how_it_ended() -> None:
    made = told(user("go"), *bash("make", "no rule", ok=False), *bash("ls", "a"), result("x"))
    assert [(one.call, one.ok) for one in made if one.kind == "tool_result"] == [
        (2, False),
        (4, True),
        (0, True),
    ]


def test_secrets_are_taken_out() -> None:
    lines = (
        user(f"the key is {TOKEN}"),
        reply(f"I use {TOKEN}"),
        *bash(f"curl -H 'Authorization: Bearer {TOKEN}'", f"token={TOKEN}"),
        call("Configure", {"password": "hunter2-hunter2", "deep": {"api_key": "s3cr3t-k3y-0001"}}),
        f'{{"broken": "{TOKEN}'.encode(),
        user(f"{'x' * (LONGEST - TAIL_OF_HALF)}{TOKEN}{'y' * 40_000}"),
    )
    whole = "\n".join(text for _, text in texts(*lines))
    assert "hunter2" not in whole
    assert "s3cr3t" not in whole
    for start in range(len(TOKEN) - 9):
        assert TOKEN[start : start + 10] not in whole


# The cap would cut here, through the middle of the key.
TAIL_OF_HALF = 16_000 + 20


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    text = "begin" + "x" * 200_000 + "end"
    short = capped(text)
    assert short.startswith("begin")
    assert short.endswith("end")
    assert len(short) < LONGEST + 60
    assert f"[{len(text) - LONGEST} characters left out]" in short
    assert capped("short") == "short"
