"""Other lines of Claude Code: compactions, tools, usage and hooks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.transcript.decoder import decode
from tests.unit.transcript.decoding import IMAGE, drop_fields, kinds, single_event
from tests.unit.transcript_lines import (
    AT,
    ROOT,
    SUMMARY,
    Line,
    assistant,
    attachment,
    boundary,
    call,
    events_of,
    line,
    numbered,
    reply,
    result,
    summary,
    text,
    tool_use,
    usage_line,
    user,
)


@pytest.mark.parametrize(
    ("version", "lines", "expected"),
    [
        ("0.2", [user(SUMMARY, version="0.2.122")], ["summary"]),
        ("1.0.35", [user(SUMMARY, isCompactSummary=True, version="1.0.35")], ["summary"]),
        ("1.0.81", [user([text(SUMMARY)], version="1.0.81")], ["summary"]),
        ("1.0.81 flagged", [user([text(SUMMARY)], isCompactSummary=True)], ["summary"]),
        ("2.0.60", [boundary(trigger="auto", preTokens=9), summary()], ["compaction", "summary"]),
        ("reworded", [user("A summary in other words", isCompactSummary=True)], ["summary"]),
        ("as a reminder", [user(SUMMARY, isMeta=True)], ["summary"]),
    ],
)
def test_a_compaction_is_recognised_in_every_client_version(
    version: str, lines: list[Line], expected: list[str]
) -> None:
    assert kinds(*lines) == expected
    assert events_of(*lines)[-1]["text"]


def test_a_boundary_has_token_counts_and_a_trigger() -> None:
    boundary_line = boundary(
        trigger="manual", preTokens=167_117, postTokens=8_215, durationMs=48_310
    )
    assert drop_fields(single_event(boundary_line), "id") == {
        "kind": "compaction",
        "trigger": "manual",
        "before": 167_117,
        "after": 8_215,
        "duration": 48_310,
    }


@pytest.mark.parametrize("metadata", [None, "auto", [], {}, {"trigger": None, "preTokens": "9"}])
def test_a_boundary_without_token_counts_is_still_a_compaction(metadata: object) -> None:
    boundary_line = line("system", subtype="compact_boundary", compactMetadata=metadata)
    assert drop_fields(single_event(boundary_line), "id") == {"kind": "compaction", "trigger": ""}


@pytest.mark.parametrize(
    "entry",
    [
        line("system", subtype="microcompact_boundary", microcompactMetadata={"trigger": "auto"}),
        line("system", subtype="stop_hook_summary"),
        line("system", subtype=None),
        {"type": "summary", "summary": "Retry storm fixed", "leafUuid": "9f"},
        line("ai-title", aiTitle=SUMMARY),
    ],
)
def test_lines_that_only_resemble_a_compaction_give_no_event(entry: Line) -> None:
    assert events_of(entry) == []


def test_replies_and_tool_calls_keep_their_order_and_thinking_is_dropped() -> None:
    blocks = [
        {"type": "thinking", "thinking": "never push"},
        text("I'll look."),
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}},
        {"type": "server_tool_use", "id": "t2", "name": "web_search"},
        text(""),
        "loose text",
    ]
    first, second = events_of(assistant(*blocks))
    assert drop_fields(first) == {"kind": "reply", "text": "I'll look."}
    assert drop_fields(second) == {
        "kind": "tool_call",
        "id": "t1",
        "name": "Read",
        "input": {"file_path": "a.py"},
    }


@pytest.mark.parametrize("tool_input", [None, [], "ls", 7])
def test_a_call_whose_input_is_no_object_has_empty_input(tool_input: object) -> None:
    assert single_event(call("Bash", tool_input))["input"] == {}


def test_an_api_error_is_not_a_reply() -> None:
    assert events_of(reply("API Error: 529 overloaded", isApiErrorMessage=True)) == []


def test_every_form_of_a_tool_result_becomes_text() -> None:
    cases = [
        ("two\nlines", "two\nlines"),
        ([text("two"), text("lines")], "two\nlines"),
        ([text("one"), IMAGE, {"type": "tool_reference", "tool_name": "Read"}], "one"),
        (["bare", text("block")], "bare\nblock"),
        ([], ""),
        (None, ""),
        ({"type": "text", "text": "one"}, ""),
        ([[text("deep")], 7, None, {"text": 7}], ""),
    ]
    for content, expected in cases:
        assert single_event(result(content))["text"] == expected, content


@pytest.mark.parametrize("detail", [{"stdout": "x"}, "Error: x", [text("x")], None])
def test_a_tool_result_keeps_the_clients_detail(detail: object) -> None:
    event = single_event(result("x", ok=False, detail=detail, call_id="t9"))
    assert drop_fields(event) == {
        "kind": "tool_result",
        "id": "t9",
        "ok": False,
        "text": "x",
        "detail": detail,
    }


def test_a_result_without_an_error_flag_succeeded() -> None:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    assert single_event(user([block]))["ok"]


def test_text_next_to_a_result_is_a_prompt_unless_it_is_an_interruption() -> None:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    interrupted = text("[Request interrupted by user for tool use]")
    assert kinds(user([block, interrupted, text("use tabs")])) == [
        "tool_result", "interrupted", "prompt",
    ]  # fmt: skip


def test_usage_is_the_sum_of_all_input_tokens() -> None:
    usage = {
        "input_tokens": 4,
        "cache_creation_input_tokens": 300,
        "cache_read_input_tokens": 20_000,
        "output_tokens": 55,
    }
    event = events_of(assistant(text("Done."), usage=usage))[-1]
    assert drop_fields(event) == {
        "kind": "usage",
        "id": "msg_1",
        "model": "claude-sonnet-4-5",
        "context": 20_304,
        "output": 55,
    }


@pytest.mark.parametrize(
    ("usage", "context"),
    [
        ({"input_tokens": 9}, 9),
        ({"input_tokens": "9", "cache_read_input_tokens": None, "output_tokens": []}, 0),
        ({"input_tokens": 9.5, "cache_read_input_tokens": 3}, 3),
    ],
)
def test_usage_ignores_values_that_are_no_numbers(usage: Line, context: int) -> None:
    event = single_event(assistant(usage=usage))
    assert (event["context"], event["output"]) == (context, 0)


@pytest.mark.parametrize(
    "entry",
    [
        reply("Done."),
        assistant(text("Done."), usage=[1, 2]),
        usage_line(0, model="<synthetic>"),
    ],
)
def test_a_message_without_real_usage_gives_no_usage_event(entry: Line) -> None:
    assert "usage" not in kinds(entry)


def test_every_part_of_a_hooks_context_is_a_separate_event() -> None:
    hook_line = attachment("hook_additional_context", hookEvent="SessionStart", content=["a", "b"])
    assert [drop_fields(event) for event in events_of(hook_line)] == [
        {"kind": "injected", "hook": "SessionStart", "text": "a"},
        {"kind": "injected", "hook": "SessionStart", "text": "b"},
    ]


@pytest.mark.parametrize("content", ["a", ["a"], [text("a")]])
def test_a_hooks_context_may_be_text_or_blocks(content: object) -> None:
    hook_line = attachment("hook_additional_context", hookEvent="UserPromptSubmit", content=content)
    assert drop_fields(single_event(hook_line)) == {
        "kind": "injected",
        "hook": "UserPromptSubmit",
        "text": "a",
    }


def test_plain_hook_output_is_injected_context() -> None:
    hook_line = attachment("hook_success", hookEvent="SessionStart", content="a", stdout="a\n")
    assert drop_fields(single_event(hook_line)) == {
        "kind": "injected",
        "hook": "SessionStart",
        "text": "a",
    }


@pytest.mark.parametrize("content", ["", None, [], [""], 7, {}])
def test_the_json_output_of_a_hook_is_not_injected_context(content: object) -> None:
    output = json.dumps({"hookSpecificOutput": {"additionalContext": "a"}})
    hook_line = attachment("hook_success", hookEvent="SessionStart", content=content, stdout=output)
    assert [event["text"] for event in events_of(hook_line) if event["text"]] == []


def test_an_attached_file_is_an_event_with_its_path_and_text() -> None:
    content = {"type": "text", "file": {"filePath": f"{ROOT}/a.py", "content": "x = 1"}}
    lines = [
        attachment("file", filename=f"{ROOT}/a.py", content=content),
        attachment("compact_file_reference", filename=f"{ROOT}/b.py", displayPath="b.py"),
        attachment("file", filename=["odd"], content="odd"),
    ]
    assert [(event["kind"], event["name"], event["text"]) for event in events_of(*lines)] == [
        ("attached_file", f"{ROOT}/a.py", "x = 1"),
        ("attached_file", f"{ROOT}/b.py", ""),
        ("attached_file", "", ""),
    ]


@pytest.mark.parametrize("kind", ["hook_system_message", "nested_memory", None, ["x"]])
def test_other_attachments_give_no_events(kind: Any) -> None:
    assert events_of(attachment(kind, content="never push", hookEvent="Stop")) == []


def test_a_pull_request_event_has_its_url() -> None:
    link = {"type": "pr-link", "prNumber": 7, "prUrl": "https://example.com/pull/7"}
    assert single_event(link) == {
        "kind": "pull_request",
        "line": 1,
        "text": "https://example.com/pull/7",
    }


def test_every_event_has_its_line_and_timestamp() -> None:
    events = events_of(*tool_use("Bash", {"command": "ls"}), user("go on", timestamp=None))
    assert [(event["line"], event.get("at")) for event in events] == [(1, AT), (2, AT), (3, None)]


@pytest.mark.parametrize(
    ("fields", "agent"),
    [
        ({"isSidechain": True, "agentId": "a91b"}, "a91b"),
        ({"isSidechain": True}, "sidechain"),
        ({"isSidechain": True, "agentId": ""}, "sidechain"),
        ({"isSidechain": False, "agentId": "a91b"}, None),
    ],
)
def test_the_events_of_a_sub_agent_have_its_id(fields: Line, agent: str | None) -> None:
    lines = [user("go on"), reply("Done."), call("Bash", {}), result("x"), summary(), usage_line(9)]
    lines += [boundary(trigger="auto"), attachment("queued_command", prompt="go on")]
    events = events_of(*({**entry, **fields} for entry in lines))
    assert len(events) == len(lines)
    assert {event.get("agent") for event in events} == {agent}


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "text", SUMMARY, "<command-name>/x", "prompt", "create"])
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def objects(**valid: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects with the real keys, whose values are valid or of any type."""
    return json_values | st.fixed_dictionaries(
        {}, optional={name: value | json_values for name, value in valid.items()}
    )


blocks = objects(
    type=st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image"]),
    text=st.text(max_size=12),
    id=st.just("toolu_1"),
    tool_use_id=st.just("toolu_1"),
    name=st.sampled_from(["Bash", "Edit", "TodoWrite"]),
    input=json_values,
    content=json_values,
    is_error=st.booleans(),
)
any_lines = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["user", "assistant", "system", "attachment", "pr-link"])
        | json_values
    },
    optional={
        "message": objects(
            id=st.text(max_size=4),
            model=st.sampled_from(["<synthetic>", "claude"]),
            content=st.lists(blocks, max_size=4),
            usage=objects(
                input_tokens=st.integers(),
                cache_creation_input_tokens=st.integers(),
                cache_read_input_tokens=st.integers(),
                output_tokens=st.integers(),
            ),
        ),
        "attachment": objects(
            type=st.sampled_from(["hook_success", "hook_additional_context", "queued_command"]),
            content=json_values,
            prompt=json_values,
            hookEvent=json_values,
            commandMode=json_values,
        ),
        "compactMetadata": objects(
            trigger=json_values, preTokens=json_values, postTokens=json_values
        ),
        "subtype": st.just("compact_boundary") | json_values,
        "isSidechain": st.booleans() | json_values,
        "isMeta": st.booleans() | json_values,
        "isCompactSummary": st.booleans() | json_values,
        "isApiErrorMessage": st.booleans() | json_values,
        "agentId": json_values,
        "timestamp": json_values,
        "toolUseResult": json_values,
        "cwd": json_values,
        "gitBranch": json_values,
        "version": json_values,
        "sessionId": json_values,
        "prUrl": json_values,
    },
)
EVENT_FIELD_TYPES: dict[str, type | tuple[type, ...]] = {
    "kind": str,
    "line": int,
    "at": str,
    "agent": str,
    "text": str,
    "id": str,
    "name": str,
    "input": dict,
    "ok": bool,
    "model": str,
    "context": int,
    "output": int,
    "trigger": str,
    "before": int,
    "after": int,
    "duration": int,
    "hook": str,
    "place": dict,
}


@settings(deadline=None, max_examples=25)
@given(st.lists(any_lines, max_size=5))
def test_values_of_the_wrong_type_never_raise_and_never_reach_an_event(lines: list[Line]) -> None:
    for event in decode(numbered(lines)):
        for name, value in event.items():
            assert name == "detail" or isinstance(value, EVENT_FIELD_TYPES[name])
