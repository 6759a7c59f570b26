"""Messages of either API, and of their SDKs' own types, come out as both APIs want them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadUsage
from holdfast.session.message import Message, normalise
from holdfast.session.pairs import NEVER_ANSWERED, cut, spans
from holdfast.session.request import Parts, body

from .api_rules import assert_anthropic_accepts, assert_openai_accepts, told


def call(*idents: str, text: str = "") -> Message:
    blocks = [{"type": "tool_use", "id": one, "name": "look", "input": {"at": 1}} for one in idents]
    said = [{"type": "text", "text": text}] if text else []
    return normalise("assistant", [*said, *blocks])


def answer(*idents: str) -> Message:
    return normalise(
        "user",
        [{"type": "tool_result", "tool_use_id": one, "content": f"seen {one}"} for one in idents],
    )


def sent(*messages: Message, checkpoint: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    parts = Parts(
        agent_description="You are careful.", project_context="", checkpoint=checkpoint,
        messages=messages,
    )  # fmt: skip
    made = body(parts, "anthropic"), body(parts, "openai")
    assert_anthropic_accepts(made[0])
    assert_openai_accepts(made[1])
    return made


def test_a_call_of_one_api_is_understood_by_the_other() -> None:
    made, other = sent(
        normalise("user", "How many?"),
        normalise({
            "role": "assistant", "content": None,
            "tool_calls": [{"id": "c1", "type": "function",
                            "function": {"name": "count", "arguments": '{"of": "files"}'}}],
        }),
        normalise({"role": "tool", "tool_call_id": "c1", "content": "12"}),
    )  # fmt: skip
    assert made["messages"][1]["content"] == [
        {"type": "tool_use", "id": "c1", "name": "count", "input": {"of": "files"}}
    ]
    assert made["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "12"}
    ]
    assert other["messages"][2]["tool_calls"][0]["function"]["name"] == "count"
    assert other["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "12"}


def test_arguments_that_are_no_json_come_back_as_they_were() -> None:
    broken = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}
    message = normalise({"role": "assistant", "tool_calls": [broken]})
    _, other = sent(normalise("user", "go"), message, normalise("tool", "no", tool_call_id="c1"))
    assert other["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"a": '


class FromSdk:
    """As the SDKs' own types behave."""

    def model_dump(self, **options: Any) -> dict[str, Any]:
        return {"role": "assistant", "content": [{"type": "text", "text": "from an SDK"}]}


def test_an_object_of_an_sdk_is_a_message() -> None:
    assert normalise(FromSdk()).text == "from an SDK"


def test_images_change_their_form_and_keep_their_content() -> None:
    data = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}
    url = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    made, other = sent(normalise("user", [data, url]))
    assert made["messages"][0]["content"][0] == data
    assert made["messages"][0]["content"][1]["source"] == {
        "type": "url", "url": "https://example.org/a.png",
    }  # fmt: skip
    shown = [part["image_url"]["url"] for part in other["messages"][1]["content"]]
    assert shown == ["data:image/png;base64,AA", "https://example.org/a.png"]


@pytest.mark.parametrize("role", ["system", "developer", "", "User"])
def test_a_role_that_a_conversation_does_not_have_is_refused_with_a_hint(role: str) -> None:
    with pytest.raises(BadUsage) as caught:
        normalise(role, "be nice")
    assert "set_agent_description" in caught.value.hint


def test_a_secret_is_replaced_before_it_is_kept() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    message = normalise("user", f"use {token}")
    assert "[redacted:" in message.text
    assert token not in message.text


def test_signed_thoughts_stay_as_they_are() -> None:
    thought = {"type": "thinking", "thinking": "password=hunter22x", "signature": "AbC=="}
    made, _ = sent(normalise("user", "go"), normalise("assistant", [thought, "fine"]))
    assert made["messages"][1]["content"][0] == thought


def test_a_call_that_was_never_answered_gets_a_word_for_it() -> None:
    made, _ = sent(normalise("user", "go"), call("a", "b"), answer("b"), normalise("user", "and?"))
    first, second, *_ = made["messages"][2]["content"]
    assert (first["tool_use_id"], first["content"], first["is_error"]) == (
        "a",
        NEVER_ANSWERED,
        True,
    )
    assert second["content"] == "seen b"


def test_a_result_without_its_call_becomes_plain_text() -> None:
    made, _ = sent(answer("gone"), normalise("user", "go on"))
    assert "seen gone" in told(made)


def test_words_that_came_between_call_and_result_come_after_them() -> None:
    made, _ = sent(normalise("user", "go"), call("a"), normalise("user", "wait"), answer("a"))
    assert [block["type"] for block in made["messages"][2]["content"]] == ["tool_result", "text"]


def test_a_server_that_numbers_its_calls_anew_is_understood() -> None:
    made, _ = sent(
        normalise("user", "go"), call("call_0"), answer("call_0"), call("call_0"), answer("call_0")
    )
    assert NEVER_ANSWERED not in told(made)


def test_a_conversation_that_begins_with_a_reply_gets_an_opening() -> None:
    made, _ = sent(normalise("assistant", "as I said"))
    assert made["messages"][0]["role"] == "user"


IDENTS = st.sampled_from(["a", "b", "c"])
MESSAGES = st.lists(
    st.one_of(
        st.builds(lambda text: normalise("user", text), st.sampled_from(["go", " ", ""])),
        st.builds(lambda text: normalise("assistant", text), st.sampled_from(["done", ""])),
        st.builds(lambda one: call(*one), st.lists(IDENTS, min_size=1, unique=True)),
        st.builds(lambda one: answer(*one), st.lists(IDENTS, min_size=1, unique=True)),
        st.builds(lambda one: normalise("tool", "seen", tool_call_id=one), IDENTS),
    ),
    max_size=14,
)


@given(MESSAGES)
def test_whatever_was_added_both_apis_accept_it(messages: list[Message]) -> None:
    made, other = sent(*messages, checkpoint="What happened before.")
    assert "What happened before." in told(made)
    assert "What happened before." in told(other)


@given(MESSAGES, st.integers(min_value=0, max_value=14))
def test_a_cut_never_parts_a_call_from_its_result(messages: list[Message], wanted: int) -> None:
    place = cut(messages, wanted)
    assert place <= max(0, wanted)
    assert all(end < place or start >= place for start, end in spans(messages))


def test_a_call_that_still_waits_is_not_cut_off() -> None:
    messages = [normalise("user", "go"), normalise("assistant", "ok"), call("a")]
    assert cut(messages, 3) == 2
    assert cut([*messages, answer("a")], 3) == 2
    assert cut([*messages, answer("a")], 4) == 4


def test_a_call_abandoned_long_ago_holds_nothing_up() -> None:
    messages = [
        normalise("user", "go"),
        call("a"),
        normalise("user", "no"),
        normalise("assistant", "ok"),
    ]
    assert cut(messages, 4) == 4
