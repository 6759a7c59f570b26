"""Messages of either API and their SDKs are converted to requests for both APIs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.conversations.message import Message, to_message
from holdfast.conversations.request import RequestParts, build_body
from holdfast.conversations.tool_pairs import MISSING_RESULT_TEXT, find_call_spans, find_safe_cut
from holdfast.errors import InvalidInput

from .api_rules import assert_anthropic_accepts, assert_openai_accepts, get_text


def call(*idents: str) -> Message:
    """A message of the assistant with one tool call per id."""
    return to_message(
        "assistant",
        [{"type": "tool_use", "id": ident, "name": "look", "input": {"at": 1}} for ident in idents],
    )


def results(*idents: str) -> Message:
    """A message with one tool result per call id."""
    return to_message(
        "user",
        [
            {"type": "tool_result", "tool_use_id": ident, "content": f"result of {ident}"}
            for ident in idents
        ],
    )


def build_bodies(*messages: Message, checkpoint: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the request bodies for Anthropic and OpenAI, after checking that both are valid."""
    parts = RequestParts(
        agent_description="You are careful.", project_context="", checkpoint=checkpoint,
        messages=messages,
    )  # fmt: skip
    anthropic, openai = build_body(parts, "anthropic"), build_body(parts, "openai")
    assert_anthropic_accepts(anthropic)
    assert_openai_accepts(openai)
    return anthropic, openai


def test_a_tool_call_of_one_api_is_converted_for_the_other() -> None:
    anthropic, openai = build_bodies(
        to_message("user", "How many?"),
        to_message({
            "role": "assistant", "content": None,
            "tool_calls": [{"id": "c1", "type": "function",
                            "function": {"name": "count", "arguments": '{"of": "files"}'}}],
        }),
        to_message({"role": "tool", "tool_call_id": "c1", "content": "12"}),
    )  # fmt: skip
    assert anthropic["messages"][1]["content"] == [
        {"type": "tool_use", "id": "c1", "name": "count", "input": {"of": "files"}}
    ]
    assert anthropic["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "12"}
    ]
    assert openai["messages"][2]["tool_calls"][0]["function"]["name"] == "count"
    assert openai["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "12"}


def test_arguments_that_are_not_json_are_kept_unchanged() -> None:
    broken = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}
    message = to_message({"role": "assistant", "tool_calls": [broken]})
    _, openai = build_bodies(
        to_message("user", "go"), message, to_message("tool", "no", tool_call_id="c1")
    )
    assert openai["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"a": '


class SdkMessage:
    """Has the same method as message objects of the SDKs."""

    def model_dump(self, **options: Any) -> dict[str, Any]:
        return {"role": "assistant", "content": [{"type": "text", "text": "from an SDK"}]}


def test_an_sdk_object_is_accepted_as_a_message() -> None:
    assert to_message(SdkMessage()).text == "from an SDK"


def test_images_are_converted_for_each_api() -> None:
    data = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
    url = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    anthropic, openai = build_bodies(to_message("user", [data, url]))
    assert anthropic["messages"][0]["content"][0] == data
    assert anthropic["messages"][0]["content"][1]["source"] == {
        "type": "url", "url": "https://example.org/a.png",
    }  # fmt: skip
    urls = [part["image_url"]["url"] for part in openai["messages"][1]["content"]]
    assert urls == ["data:image/png;base64,AA", "https://example.org/a.png"]


@pytest.mark.parametrize("role", ["system", "developer", "", "User"])
def test_an_unknown_role_is_refused_with_a_hint(role: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        to_message(role, "be nice")
    assert "set_agent_description" in caught.value.hint


def test_a_secret_is_redacted_in_a_message() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    message = to_message("user", f"use {token}")
    assert "[redacted:" in message.text
    assert token not in message.text


def test_signed_thinking_is_kept_unchanged() -> None:
    thought = {"type": "thinking", "thinking": "password=hunter22x", "signature": "AbC=="}
    anthropic, _ = build_bodies(
        to_message("user", "go"), to_message("assistant", [thought, "fine"])
    )
    assert anthropic["messages"][1]["content"][0] == thought


def test_a_call_without_a_result_gets_a_placeholder_result() -> None:
    anthropic, _ = build_bodies(
        to_message("user", "go"), call("a", "b"), results("b"), to_message("user", "and?")
    )
    first, second, *_ = anthropic["messages"][2]["content"]
    assert (first["tool_use_id"], first["content"], first["is_error"]) == (
        "a",
        MISSING_RESULT_TEXT,
        True,
    )
    assert second["content"] == "result of b"


def test_a_result_without_its_call_becomes_plain_text() -> None:
    anthropic, _ = build_bodies(results("gone"), to_message("user", "go on"))
    assert "result of gone" in get_text(anthropic)


def test_text_between_call_and_result_is_moved_after_them() -> None:
    anthropic, _ = build_bodies(
        to_message("user", "go"), call("a"), to_message("user", "wait"), results("a")
    )
    assert [block["type"] for block in anthropic["messages"][2]["content"]] == [
        "tool_result",
        "text",
    ]


def test_results_of_a_repeated_call_id_belong_to_the_latest_call() -> None:
    anthropic, _ = build_bodies(
        to_message("user", "go"),
        call("call_0"),
        results("call_0"),
        call("call_0"),
        results("call_0"),
    )
    assert MISSING_RESULT_TEXT not in get_text(anthropic)


def test_a_conversation_that_begins_with_a_reply_gets_a_user_message_first() -> None:
    anthropic, _ = build_bodies(to_message("assistant", "as I said"))
    assert anthropic["messages"][0]["role"] == "user"


IDENTS = st.sampled_from(["a", "b", "c"])
MESSAGES = st.lists(
    st.one_of(
        st.builds(lambda text: to_message("user", text), st.sampled_from(["go", " ", ""])),
        st.builds(lambda text: to_message("assistant", text), st.sampled_from(["done", ""])),
        st.builds(lambda idents: call(*idents), st.lists(IDENTS, min_size=1, unique=True)),
        st.builds(lambda idents: results(*idents), st.lists(IDENTS, min_size=1, unique=True)),
        st.builds(lambda ident: to_message("tool", "result", tool_call_id=ident), IDENTS),
    ),
    max_size=14,
)


@given(MESSAGES)
def test_both_apis_accept_requests_from_any_messages(messages: list[Message]) -> None:
    anthropic, openai = build_bodies(*messages, checkpoint="What happened before.")
    assert "What happened before." in get_text(anthropic)
    assert "What happened before." in get_text(openai)


@given(MESSAGES, st.integers(min_value=0, max_value=14))
def test_a_cut_never_separates_a_call_from_its_result(messages: list[Message], wanted: int) -> None:
    cut = find_safe_cut(messages, wanted)
    assert cut <= max(0, wanted)
    assert all(end < cut or start >= cut for start, end in find_call_spans(messages))


def test_a_cut_never_removes_the_last_call_while_its_result_is_missing() -> None:
    messages = [to_message("user", "go"), to_message("assistant", "ok"), call("a")]
    assert find_safe_cut(messages, 3) == 2
    assert find_safe_cut([*messages, results("a")], 3) == 2
    assert find_safe_cut([*messages, results("a")], 4) == 4


def test_an_abandoned_call_does_not_prevent_a_cut() -> None:
    messages = [
        to_message("user", "go"),
        call("a"),
        to_message("user", "no"),
        to_message("assistant", "ok"),
    ]
    assert find_safe_cut(messages, 4) == 4
