"""The plan, told as a whole list or item by item: the last status wins."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state.rules.plan import LONGEST, MOST
from tests.unit.transcript_lines import Line, line, state_of, used, user


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


def listed(*tasks: dict[str, Any]) -> list[Line]:
    return used("TaskList", {}, detail={"tasks": list(tasks)})


def test_a_list_of_tasks_tells_the_last_status_of_each() -> None:
    told = listed({"id": "1", "subject": "a", "status": "completed", "blockedBy": []})
    assert plan(create("1", "a"), create("2", "b"), told) == [("a", "completed"), ("b", "pending")]


def test_a_list_of_tasks_tells_of_tasks_whose_making_was_not_seen() -> None:
    assert plan(listed({"id": "7", "subject": "late", "status": "in_progress"})) == [
        ("late", "in_progress")
    ]


def test_what_a_task_waits_for_is_kept_once() -> None:
    steps = [create("1", "a"), create("2", "b"), update("2", addBlockedBy=["1"])]
    steps.append(listed({"id": "2", "subject": "b", "status": "pending", "blockedBy": ["1", "9"]}))
    state = state_of(*(line for step in steps for line in step))
    assert [item["blocked_by"] for item in state["plan"]] == [[], ["1", "9"]]


@pytest.mark.parametrize("kind", ["task_reminder", "todo_reminder"])
def test_a_reminder_of_the_host_tells_the_plan_too(kind: str) -> None:
    content = [{"id": "1", "subject": "a", "status": "completed"}]
    told = line("attachment", attachment={"type": kind, "content": content})
    assert plan(create("1", "a"), [told]) == [("a", "completed")]


def test_an_empty_reminder_changes_nothing() -> None:
    told = line("attachment", attachment={"type": "task_reminder", "content": []})
    assert plan(create("1", "a"), [told]) == [("a", "pending")]


def test_the_todos_on_a_prompt_are_the_plan() -> None:
    listed_todos = [{"content": "a", "status": "completed", "activeForm": "a"}]
    assert plan([user("go on", todos=listed_todos)]) == [("a", "completed")]
    assert plan(todos(("a", "pending")), [user("go on", todos=[])]) == [("a", "pending")]
