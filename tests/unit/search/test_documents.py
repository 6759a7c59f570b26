"""The text of every event is searchable: once, without secrets, capped."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.search.documents import (
    FROM_QUEUE,
    MAX_TEXT_CHARS,
    Document,
    OpenCalls,
    cut_middle,
    extract_documents,
)
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


def texts(*lines: Any, calls: OpenCalls | None = None) -> list[tuple[str, str]]:
    """Return kind and text of the documents of these lines."""
    return [(document.kind, document.text) for document in extract(*lines, calls=calls)]


def extract(*lines: Any, calls: OpenCalls | None = None) -> list[Document]:
    numbered = [
        (number, line if isinstance(line, bytes) else json.dumps(line).encode())
        for number, line in enumerate(lines, 1)
    ]
    documents = extract_documents(numbered, {} if calls is None else calls)
    return [document for document in documents if isinstance(document, Document)]


def test_prompts_replies_calls_and_results_are_searchable() -> None:
    assert texts(user("do it"), reply("on it"), *bash("make test", "2 failed")) == [
        ("prompt", "do it"),
        ("reply", "on it"),
        ("tool_call", "Bash\ncommand: make test"),
        ("tool_result", "2 failed"),
    ]


def test_a_call_keeps_the_line_breaks_of_its_arguments() -> None:
    given = {"file_path": "/a/b.py", "new_string": 'x = "1"\n\ty = 2', "replace_all": True}
    assert texts(call("Edit", given)) == [
        ("tool_call", 'Edit\nfile_path: /a/b.py\nnew_string:\nx = "1"\n\ty = 2\nreplace_all: true')
    ]


def test_a_result_belongs_to_its_call_even_when_it_comes_later() -> None:
    calls: OpenCalls = {}
    extract(call("Read", {"file_path": "/a/b.py"}, ident="t1"), calls=calls)
    (document,) = extract(result("content", ident="t1"), calls=calls)
    assert (document.tool, document.file) == ("Read", "/a/b.py")
    assert calls == {}


def test_calls_without_a_result_do_not_accumulate() -> None:
    calls: OpenCalls = {}
    extract(*[call("Read", {}, ident=f"t{number}") for number in range(500)], calls=calls)
    assert len(calls) == 100


def test_a_summary_is_a_document_and_a_compaction_an_event() -> None:
    lines = [json.dumps(line).encode() for line in (boundary(trigger="auto"), summary())]
    documents = [*extract_documents([*enumerate(lines, 1)], {})]
    assert [
        document.kind if isinstance(document, Document) else document["kind"]
        for document in documents
    ] == [
        "compaction",
        "summary",
    ]


def test_a_line_that_is_not_json_can_still_be_found() -> None:
    assert texts(b'{"type": "user", "oops: jitter') == [("line", '{"type": "user", "oops: jitter')]


def test_our_own_briefs_are_not_found_again() -> None:
    brief = "# Where this session stands (holdfast:0badcafe)\nnever push"
    own_brief = attachment("hook_additional_context", content=[brief], hookEvent="SessionStart")
    other = attachment("hook_additional_context", content=["be brief"], hookEvent="SessionStart")
    assert texts(own_brief, other) == [("injected", "be brief")]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Bash", {"command": "holdfast recall jitter"}),
        ("Bash", {"command": "/venv/bin/python -m holdfast recall jitter"}),
        ("mcp__holdfast__recall", {"query": "jitter"}),
    ],
)
def test_an_earlier_lookup_has_its_own_kind(name: str, given: dict[str, Any]) -> None:
    lines = call(name, given), result("L3 prompt\nuse jitter")
    assert [kind for kind, _ in texts(*lines)] == ["lookup", "lookup"]


def test_a_prompt_typed_while_the_agent_worked_is_searchable() -> None:
    queued = line("queue-operation", operation="enqueue", content=f"and the docs {TOKEN}")
    assert texts(queued, line("queue-operation", operation="remove")) == [
        ("prompt", "and the docs [redacted:github-token]")
    ]
    (document,) = extract(queued)
    assert document.aside == FROM_QUEUE


def test_a_result_knows_its_call_and_how_it_ended() -> None:
    documents = extract(
        user("go"), *bash("make", "no rule", ok=False), *bash("ls", "a"), result("x")
    )
    assert [
        (document.call, document.ok) for document in documents if document.kind == "tool_result"
    ] == [
        (2, False),
        (4, True),
        (0, True),
    ]


def test_secrets_are_removed() -> None:
    lines = (
        user(f"the key is {TOKEN}"),
        reply(f"I use {TOKEN}"),
        *bash(f"curl -H 'Authorization: Bearer {TOKEN}'", f"token={TOKEN}"),
        call("Configure", {"password": "hunter2-hunter2", "deep": {"api_key": "s3cr3t-k3y-0001"}}),
        f'{{"broken": "{TOKEN}'.encode(),
        user(f"{'x' * (MAX_TEXT_CHARS - TAIL_OF_HALF)}{TOKEN}{'y' * 40_000}"),
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
    short = cut_middle(text)
    assert short.startswith("begin")
    assert short.endswith("end")
    assert len(short) < MAX_TEXT_CHARS + 60
    assert f"[{len(text) - MAX_TEXT_CHARS} characters left out]" in short
    assert cut_middle("short") == "short"
