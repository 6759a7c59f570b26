"""The text of every event becomes one search document, redacted and limited in length."""

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
# Shortening the text to `MAX_TEXT_CHARS` would cut through the middle of a token at this position.
TOKEN_TO_LIMIT_CHARS = 16_000 + 20


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
    tool_input = {"file_path": "/a/b.py", "new_string": 'x = "1"\n\ty = 2', "replace_all": True}
    assert texts(call("Edit", tool_input)) == [
        ("tool_call", 'Edit\nfile_path: /a/b.py\nnew_string:\nx = "1"\n\ty = 2\nreplace_all: true')
    ]


def test_a_result_in_a_later_batch_belongs_to_its_call() -> None:
    calls: OpenCalls = {}
    extract(call("Read", {"file_path": "/a/b.py"}, call_id="t1"), calls=calls)
    (document,) = extract(result("content", call_id="t1"), calls=calls)
    assert (document.tool, document.file) == ("Read", "/a/b.py")
    assert calls == {}


def test_calls_without_a_result_do_not_accumulate() -> None:
    calls: OpenCalls = {}
    extract(*[call("Read", {}, call_id=f"t{number}") for number in range(500)], calls=calls)
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


def test_a_line_that_is_not_json_is_searchable() -> None:
    assert texts(b'{"type": "user", "oops: jitter') == [("line", '{"type": "user", "oops: jitter')]


def test_briefs_of_holdfast_are_not_indexed() -> None:
    brief = "# Where this session stands (holdfast:0badcafe)\nnever push"
    own_brief = attachment("hook_additional_context", content=[brief], hookEvent="SessionStart")
    other = attachment("hook_additional_context", content=["be brief"], hookEvent="SessionStart")
    assert texts(own_brief, other) == [("injected", "be brief")]


@pytest.mark.parametrize(
    ("name", "tool_input"),
    [
        ("Bash", {"command": "holdfast recall jitter"}),
        ("Bash", {"command": "/venv/bin/python -m holdfast recall jitter"}),
        ("mcp__holdfast__recall", {"query": "jitter"}),
    ],
)
def test_a_lookup_with_holdfast_has_the_kind_lookup(name: str, tool_input: dict[str, Any]) -> None:
    lines = call(name, tool_input), result("L3 prompt\nuse jitter")
    assert [kind for kind, _ in texts(*lines)] == ["lookup", "lookup"]


def test_a_queued_prompt_is_searchable() -> None:
    queued = line("queue-operation", operation="enqueue", content=f"and the docs {TOKEN}")
    assert texts(queued, line("queue-operation", operation="remove")) == [
        ("prompt", "and the docs [redacted:github-token]")
    ]
    (document,) = extract(queued)
    assert document.aside == FROM_QUEUE


def test_a_result_has_the_line_and_the_outcome_of_its_call() -> None:
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


def test_secrets_are_redacted() -> None:
    lines = (
        user(f"the key is {TOKEN}"),
        reply(f"I use {TOKEN}"),
        *bash(f"curl -H 'Authorization: Bearer {TOKEN}'", f"token={TOKEN}"),
        call("Configure", {"password": "hunter2-hunter2", "deep": {"api_key": "s3cr3t-k3y-0001"}}),
        f'{{"broken": "{TOKEN}'.encode(),
        user(f"{'x' * (MAX_TEXT_CHARS - TOKEN_TO_LIMIT_CHARS)}{TOKEN}{'y' * 40_000}"),
    )
    all_text = "\n".join(text for _, text in texts(*lines))
    assert "hunter2" not in all_text
    assert "s3cr3t" not in all_text
    for start in range(len(TOKEN) - 9):
        assert TOKEN[start : start + 10] not in all_text


def test_a_long_text_keeps_its_beginning_and_end() -> None:
    text = "begin" + "x" * 200_000 + "end"
    short = cut_middle(text)
    assert short.startswith("begin")
    assert short.endswith("end")
    assert len(short) < MAX_TEXT_CHARS + 60
    assert f"[{len(text) - MAX_TEXT_CHARS} characters left out]" in short
    assert cut_middle("short") == "short"
