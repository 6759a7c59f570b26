"""What a summary already says."""

from __future__ import annotations

import pytest

from holdfast.brief.gap import Summary
from holdfast.brief.item import Item

SUMMARY = """<analysis>
The user said never touch migrations.
</analysis>

<summary>
1. Primary Request: the user wants exponential back-off with jitter in the worker.
   "Keep the signature of `Worker.run_once` as it is."
2. Files:
   - src/courier/backoff.py: new
3. Pending: document the retry settings in docs/operations.md
</summary>"""


def item(kind: str, quote: str = "", names: tuple[str, ...] = ()) -> Item:
    return Item("rules", kind, 1.0, 1, (quote,), quote=quote, names=names)


@pytest.fixture
def summary() -> Summary:
    return Summary(SUMMARY)


def test_a_rule_quoted_word_for_word_is_said(summary: Summary) -> None:
    assert summary.says(item("requirement", "Keep the signature of `Worker.run_once` as it is."))


def test_a_rule_that_is_only_in_the_analysis_is_not_said(summary: Summary) -> None:
    """The host strips the analysis before the model sees the summary."""
    assert not summary.says(item("prohibition", "never touch migrations"))


def test_a_paraphrase_does_not_stand_for_the_users_words(summary: Summary) -> None:
    rule = "the worker wants exponential back-off with jitter in the user, only"
    assert not summary.says(item("requirement", rule))


def test_a_paraphrase_is_enough_for_a_plan_item(summary: Summary) -> None:
    assert summary.says(item("plan", "Document the retry settings in docs/operations.md"))


def test_a_file_is_said_by_its_path_only(summary: Summary) -> None:
    assert summary.says(item("file", names=("src/courier/backoff.py",)))
    assert not summary.says(item("file", names=("src/courier/worker.py",)))


def test_an_error_is_said_only_with_its_command(summary: Summary) -> None:
    quote = "exponential back-off with jitter"
    assert summary.says(item("error", quote, ("src/courier/backoff.py",)))
    assert not summary.says(item("error", quote, ("make test-fast",)))


def test_an_empty_summary_says_nothing() -> None:
    assert not Summary("").says(item("plan", "anything"))


def test_a_summary_without_tags_is_taken_whole() -> None:
    assert Summary("never touch migrations").says(item("prohibition", "Never touch migrations."))
