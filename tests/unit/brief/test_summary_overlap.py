"""Which items a summary covers."""

from __future__ import annotations

import pytest

from holdfast.brief.items import Item
from holdfast.brief.summary_overlap import SearchableSummary

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
def summary() -> SearchableSummary:
    return SearchableSummary(SUMMARY)


def test_a_rule_quoted_word_for_word_is_covered(summary: SearchableSummary) -> None:
    assert summary.covers(item("requirement", "Keep the signature of `Worker.run_once` as it is."))


def test_a_rule_that_is_only_in_the_analysis_is_not_covered(summary: SearchableSummary) -> None:
    """The host strips the analysis before the model sees the summary."""
    assert not summary.covers(item("prohibition", "never touch migrations"))


def test_a_paraphrase_does_not_cover_the_users_words(summary: SearchableSummary) -> None:
    rule = "the worker wants exponential back-off with jitter in the user, only"
    assert not summary.covers(item("requirement", rule))


def test_a_paraphrase_covers_a_plan_item(summary: SearchableSummary) -> None:
    assert summary.covers(item("plan", "Document the retry settings in docs/operations.md"))


def test_a_file_is_covered_only_by_its_path(summary: SearchableSummary) -> None:
    assert summary.covers(item("file", names=("src/courier/backoff.py",)))
    assert not summary.covers(item("file", names=("src/courier/worker.py",)))


def test_an_error_is_covered_only_with_its_command(summary: SearchableSummary) -> None:
    quote = "exponential back-off with jitter"
    assert summary.covers(item("error", quote, ("src/courier/backoff.py",)))
    assert not summary.covers(item("error", quote, ("make test-fast",)))


def test_an_empty_summary_covers_nothing() -> None:
    assert not SearchableSummary("").covers(item("plan", "anything"))


def test_a_summary_without_tags_is_taken_whole() -> None:
    assert SearchableSummary("never touch migrations").covers(
        item("prohibition", "Never touch migrations.")
    )
