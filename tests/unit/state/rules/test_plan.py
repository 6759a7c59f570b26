"""The plan, told as a whole list or item by item: the last status wins."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state.rules.plan import LONGEST, MOST
from tests.unit.transcript_lines import Line, state_of, used


def todos(*items: tuple[str, str], **more: Any) -> list[Line]:
    listed = [{"content": text, "status": status, "activeForm": text} for text, status in items]
    return used("TodoWrite", {"todos": listed}, detail={"oldTodos": [], "newTodos": listed}, **more)


def create(number: str, subject: str, **more: Any) -> list[Line]:
    detail = {"task": {"id": number, "subject": subject}}
    return used("TaskCreate", {"subject": subject, "description": "…"}, detail=detail, **more)


def update(number: Any, **given: Any) -> list[Line]:
    return used("TaskUpdate", {"taskId": number, **given}, detail={"success": True})


def plan(*steps: list[Line]) -> list[tuple[str, str]]:
    state = state_of(*(line for step in steps for line in step))
    return [(item["text"], item["status"]) for item in state["plan"]]


@pytest.mark.parametrize(
    ("steps", "left"),
    [
        ([todos(("a", "pending"), ("b", "pending"))], [("a", "pending"), ("b", "pending")]),
        (
            [
                todos(("a", "pending"), ("b", "pending")),
                todos(("a", "completed"), ("b", "in_progress")),
            ],
            [("a", "completed"), ("b", "in_progress")],
        ),
        ([todos(("a", "pending")), todos(("b", "pending"))], [("b", "pending")]),
        (
            [todos(("a", "completed")), todos(("b", "pending"))],
            [("a", "completed"), ("b", "pending")],
        ),
        ([todos(("a", "completed"), ("b", "pending")), todos()], [("a", "completed")]),
        (
            [todos(("a", "in_progress")), todos(("a", "completed"), ok=False)],
            [("a", "in_progress")],
        ),
        ([create("1", "a"), create("2", "b")], [("a", "pending"), ("b", "pending")]),
        (
            [create("1", "a"), create("2", "b"), update("1", status="in_progress")],
            [("a", "in_progress"), ("b", "pending")],
        ),
        (
            [create("1", "a"), update("1", status="in_progress"), update("1", status="completed")],
            [("a", "completed")],
        ),
        ([create("1", "a"), update(1, status="completed")], [("a", "completed")]),
        ([create("1", "a"), update("1", subject="b")], [("b", "pending")]),
        ([create("1", "a"), create("2", "b"), update("1", status="deleted")], [("b", "pending")]),
        ([create("1", "a"), update("9", status="completed")], [("a", "pending")]),
        ([update("9", subject="b", status="in_progress")], [("b", "in_progress")]),
        ([create("1", "a", ok=False)], []),
        ([used("TaskCreate", {"subject": "a"}, detail="created")], [("a", "pending")]),
        ([create("1", ""), update("", subject="b")], []),
        (
            [todos(("a", "completed")), create("1", "b"), update("1", status="in_progress")],
            [("a", "completed"), ("b", "in_progress")],
        ),
        ([used("TodoWrite", {"todos": "a"}), used("TodoWrite", {"todos": [1, {"x": 2}]})], []),
        ([used("TodoWrite", {"todos": [{"content": "a"}]})], [("a", "pending")]),
        ([used("TodoWrite", {}, detail={"newTodos": [{"content": "a"}]})], [("a", "pending")]),
        ([used("TaskCreate", {}, detail={"task": {"subject": "a"}})], [("a", "pending")]),
        (
            [used("TaskCreate", {"subject": "a"}), used("TaskCreate", {"subject": "b"})],
            [("a", "pending"), ("b", "pending")],
        ),
        ([update("9", subject="b")], [("b", "pending")]),
    ],
)
def test_the_plan_stands_as_it_was_last_told(
    steps: list[list[Line]], left: list[tuple[str, str]]
) -> None:
    assert plan(*steps) == left


def test_a_finished_list_is_told_as_empty_but_was_done() -> None:
    """The client forgets a list when its last item is completed."""
    given = {"todos": [{"content": "a", "status": "completed"}]}
    cleared = used("TodoWrite", given, detail={"oldTodos": [], "newTodos": []})
    assert plan(todos(("a", "in_progress")), cleared) == [("a", "completed")]


def test_an_item_carries_the_line_of_its_last_change() -> None:
    lines = [
        *todos(("a", "pending"), ("b", "pending")),
        *todos(("a", "completed"), ("b", "pending")),
        *create("1", "c"),
        *update("1", status="in_progress"),
    ]
    told = {item["text"]: item["line"] for item in state_of(*lines)["plan"]}
    assert told == {"a": 4, "b": 2, "c": 8}


def test_a_long_item_is_cut_and_still_recognised() -> None:
    long = "x" * 2 * LONGEST
    ((text, status),) = plan(todos((long, "pending")), todos((long, "completed")))
    assert (len(text), text[-1], status) == (LONGEST, "…", "completed")


def test_the_newest_items_are_kept() -> None:
    steps = [create(str(n), f"step {n}") for n in range(MOST + 5)]
    told = plan(*steps)
    assert len(told) == MOST
    assert told[0] == ("step 5", "pending")
