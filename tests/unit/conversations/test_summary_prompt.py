"""The prompt for a summarizing model, and the price of a model."""

from __future__ import annotations

import pytest

from holdfast.conversations.budget import TokenCounter
from holdfast.conversations.checkpoint import Checkpoint
from holdfast.conversations.message import Message, to_message
from holdfast.conversations.summarizers import Work
from holdfast.conversations.summarizers.prices import MOST_EXPENSIVE, find_price
from holdfast.conversations.summarizers.prompt import SummaryFailed, build_prompt


def test_an_unknown_model_has_the_highest_known_price() -> None:
    assert (
        find_price("unknown-model", 1).input,
        find_price("unknown-model", 1).output,
    ) == MOST_EXPENSIVE
    assert find_price("claude-haiku-4-5", 100).input == 1.0
    assert find_price("claude-haiku-4-5", 100, (2.0, 4.0)).micros(1000, 1000) == 6000


def make_messages(count: int, words: int) -> tuple[Message, ...]:
    messages = (to_message("user", f"say {n}: " + "word " * words) for n in range(count))
    return tuple(
        Message(role="user", blocks=message.blocks, ordinal=ordinal)
        for ordinal, message in enumerate(messages, 1)
    )


@pytest.mark.parametrize(("count", "words"), [(3, 5), (3, 5000), (400, 3), (400, 100)])
def test_a_prompt_fits_the_models_window_for_any_messages(count: int, words: int) -> None:
    counter = TokenCounter()
    work = Work(checkpoint=Checkpoint(pending=("a",)), messages=make_messages(count, words))
    text = build_prompt(work, 2000, counter)
    assert counter.text(text) <= 2000
    assert f"say {count - 1}:" in text, "the newest message is in the prompt"


def test_a_window_too_small_for_the_checkpoint_is_an_error() -> None:
    with pytest.raises(SummaryFailed, match="too small"):
        build_prompt(
            Work(checkpoint=Checkpoint(), messages=make_messages(3, 5)), 100, TokenCounter()
        )
