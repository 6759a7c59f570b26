"""What a model is asked, and what that costs at the most."""

from __future__ import annotations

import pytest

from holdfast.session.budget import Counter
from holdfast.session.checkpoint import Checkpoint
from holdfast.session.message import Message, normalise
from holdfast.session.summarizers import Work
from holdfast.session.summarizers.prices import DEAREST, price_of
from holdfast.session.summarizers.prompt import SummaryFailed, prompt


def test_an_unknown_model_counts_as_the_dearest() -> None:
    assert (price_of("nobody-knows", 1).input, price_of("nobody-knows", 1).output) == DEAREST
    assert price_of("claude-haiku-4-5", 100).input == 1.0
    assert price_of("claude-haiku-4-5", 100, (2.0, 4.0)).micros(1000, 1000) == 6000


def many(count: int, words: int) -> tuple[Message, ...]:
    made = (normalise("user", f"say {n}: " + "word " * words) for n in range(count))
    return tuple(Message(role="user", blocks=m.blocks, ordinal=n) for n, m in enumerate(made, 1))


@pytest.mark.parametrize(("count", "words"), [(3, 5), (3, 5000), (400, 3), (400, 100)])
def test_a_prompt_fits_the_models_window_whatever_there_is_to_summarise(
    count: int, words: int
) -> None:
    counter = Counter()
    work = Work(checkpoint=Checkpoint(pending=("a",)), messages=many(count, words))
    text = prompt(work, 2000, counter)
    assert counter.text(text) <= 2000
    assert f"say {count - 1}:" in text, "the newest is there"


def test_a_window_that_cannot_even_hold_the_checkpoint_is_told() -> None:
    with pytest.raises(SummaryFailed, match="too small"):
        prompt(Work(checkpoint=Checkpoint(), messages=many(3, 5)), 100, Counter())
