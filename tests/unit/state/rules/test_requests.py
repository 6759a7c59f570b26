"""What the user asked for is kept word for word: the first, the latest, and what fits between."""

from __future__ import annotations

import pytest

from holdfast.state.rules.requests import LONGEST, MOST
from tests.unit.transcript_lines import (
    AT,
    Line,
    attachment,
    bash,
    reply,
    result,
    state_of,
    summary,
    user,
)


def texts(*lines: Line) -> list[str]:
    return [request["text"] for request in state_of(*lines)["requests"]]


def test_a_request_is_kept_word_for_word_with_its_line_and_time() -> None:
    words = "  Fix `run()`:\n\n- it *loops*\n\tfor ever — “why?”  "
    assert state_of(reply("Hello."), user(words))["requests"] == [
        {"text": words.strip(), "line": 2, "at": AT}
    ]


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        (user("and the docs"), True),
        (attachment("queued_command", prompt="and the docs"), True),
        (user("and the docs", isMeta=True), False),
        (user("and the docs", isSidechain=True), False),
        (user("[Request interrupted by user]"), False),
        (summary(), False),
        (result("and the docs"), False),
        (reply("and the docs"), False),
        (user("/compact"), False),
    ],
)
def test_only_a_persons_words_are_a_request(line: Line, counts: bool) -> None:
    assert texts(user("Fix it"), line) == ["Fix it", "and the docs"][: 1 + counts]


def test_of_a_long_talk_the_first_and_the_latest_stay() -> None:
    state = state_of(*(user(f"request {n}") for n in range(MOST + 30)))
    kept = [request["text"] for request in state["requests"]]
    assert kept == ["request 0", *(f"request {n}" for n in range(31, MOST + 30))]
    assert state["requests_dropped"] == 30


def test_a_very_long_request_is_cut_at_its_end() -> None:
    (kept,) = texts(user("Read this. " + "x" * 2 * LONGEST))
    assert kept.startswith("Read this. xxx")
    assert kept.endswith("x…")
    assert len(kept) == LONGEST


def test_a_secret_in_a_request_is_not_kept() -> None:
    token = "ghp_" + "a1B2" * 9
    (kept,) = texts(user(f"push with {token} please"))
    assert token not in kept
    assert kept.startswith("push with [redacted:")
    assert kept.endswith("] please")


def test_the_same_words_said_twice_are_two_requests() -> None:
    lines = [user("go on", timestamp="2026-01-05T10:00:00Z"), *bash("ls")]
    assert texts(*lines, user("go on", timestamp="2026-01-05T10:09:00Z")) == ["go on", "go on"]


def test_a_request_that_the_client_writes_down_again_is_still_the_one_it_was() -> None:
    """A second compaction in one process appends old messages with their old time."""
    first = user("Fix it", timestamp="2026-01-05T10:00:00Z")
    second = user("Now the docs", timestamp="2026-01-05T10:09:00Z")
    assert texts(first, second, summary(), first) == ["Fix it", "Now the docs"]
