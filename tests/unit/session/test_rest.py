"""Nobody waits for a model that has failed again and again."""

from __future__ import annotations

from holdfast.session.manager import SessionManager
from holdfast.session.rest import FAILURES, SECONDS, Rest

from .conftest import Make
from .scripted import LIMIT, Scripted, fill


def test_after_some_failures_in_a_row_a_model_rests_and_is_then_tried_again() -> None:
    now = [0.0]
    rest = Rest(clock=lambda: now[0])
    for _ in range(FAILURES - 1):
        rest.failed()
    rest.succeeded()
    for _ in range(FAILURES - 1):
        rest.failed()
    assert not rest.is_due
    rest.failed()
    assert rest.is_due
    now[0] = SECONDS + 1
    assert not rest.is_due
    rest.failed()
    assert rest.is_due, "it has not recovered"


def compactions(manager: SessionManager, count: int) -> list[str]:
    conversation = manager.get_or_create("s1")
    made_by = []
    for _ in range(count):
        fill(conversation, LIMIT)
        made_by.append(conversation.force_compact().made_by)
    return made_by


def test_rules_go_on_without_asking_a_model_that_rests(manager: Make) -> None:
    summarizer = Scripted(replies=[RuntimeError("no network")] * 99)
    made = manager(limit=LIMIT, summarizer=summarizer, tries=2)
    assert compactions(made, FAILURES + 2) == ["rules"] * (FAILURES + 2)
    assert len(summarizer.works) == 2 * FAILURES
