"""A model that failed repeatedly is not called for a while."""

from __future__ import annotations

from holdfast.conversations.circuit_breaker import MAX_FAILURES, OPEN_SECONDS, CircuitBreaker
from holdfast.conversations.manager import SessionManager

from .conftest import Make
from .scripted_summarizer import LIMIT_TOKENS, ScriptedSummarizer, fill


def test_the_breaker_opens_after_consecutive_failures_and_closes_again() -> None:
    now = [0.0]
    breaker = CircuitBreaker(clock=lambda: now[0])
    for _ in range(MAX_FAILURES - 1):
        breaker.record_failure()
    breaker.record_success()
    for _ in range(MAX_FAILURES - 1):
        breaker.record_failure()
    assert not breaker.is_open
    breaker.record_failure()
    assert breaker.is_open
    now[0] = OPEN_SECONDS + 1
    assert not breaker.is_open
    breaker.record_failure()
    assert breaker.is_open, "one failure after the pause opens it again"


def compact_repeatedly(manager: SessionManager, count: int) -> list[str]:
    """Return which summarizer made each of the compactions."""
    conversation = manager.get_or_create("s1")
    made_by = []
    for _ in range(count):
        fill(conversation, LIMIT_TOKENS)
        made_by.append(conversation.force_compact().made_by)
    return made_by


def test_rules_summarize_while_the_breaker_is_open(manager: Make) -> None:
    summarizer = ScriptedSummarizer(replies=[RuntimeError("no network")] * 99)
    opened = manager(limit=LIMIT_TOKENS, summarizer=summarizer, tries=2)
    assert compact_repeatedly(opened, MAX_FAILURES + 2) == ["rules"] * (MAX_FAILURES + 2)
    assert len(summarizer.requests) == 2 * MAX_FAILURES
