"""The plan, told as a whole list or item by item: the last status wins."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state.rules.plan import LONGEST, LONGEST_FILE, MOST
from tests.unit.transcript_lines import Line, attachment, line, state_of, used, user


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


def numbered_steps(*steps: list[Line]) -> list[tuple[str, str, str]]:
    state = state_of(*(line for step in steps for line in step))
    ids = [item["id"] for item in state["plan"]]
    assert len(set(ids)) == len(ids), "an id names one item"
    return [(item["id"].partition("@")[0], item["text"], item["status"]) for item in state["plan"]]


def test_a_new_list_that_counts_from_one_again_keeps_what_was_done() -> None:
    first = [create("1", "a"), create("2", "b"), update("1", status="completed")]
    second = [create("1", "c"), create("2", "d"), update("2", status="completed")]
    assert numbered_steps(*first, *second) == [
        ("1", "a", "completed"),
        ("2", "b", "pending"),
        ("1", "c", "pending"),
        ("2", "d", "completed"),
    ]


def test_a_third_list_is_told_apart_from_the_first_and_the_second() -> None:
    lists = [[create("1", text), update("1", status="completed")] for text in ("a", "b", "c")]
    assert numbered_steps(*(step for steps in lists for step in steps)) == [
        ("1", "a", "completed"),
        ("1", "b", "completed"),
        ("1", "c", "completed"),
    ]


def test_the_same_todo_listed_twice_is_two_items_with_two_ids() -> None:
    told = numbered_steps(
        todos(("test it", "completed"), ("fix", "pending"), ("test it", "pending"))
    )
    assert [(text, status) for _, text, status in told] == [
        ("test it", "completed"),
        ("fix", "pending"),
        ("test it", "pending"),
    ]


def test_a_done_todo_that_is_wanted_again_is_pending_and_not_both() -> None:
    assert plan(todos(("a", "completed")), todos(("b", "pending")), todos(("a", "pending"))) == [
        ("a", "pending")
    ]


@pytest.mark.parametrize(
    ("given", "wave"),
    [
        ({"subject": "Wave 2: the docs"}, 2),
        ({"subject": "wave 12 — the docs"}, 12),
        ({"subject": "the docs", "metadata": {"wave": 3}}, 3),
        ({"subject": "the docs", "metadata": {"wave_number": "4"}}, 4),
        ({"subject": "Wave 2: the docs", "metadata": {"wave": 3}}, 3),
        ({"subject": "the docs"}, 0),
        ({"subject": "a wave of docs"}, 0),
        ({"subject": "microwave 7: the docs"}, 0),
        ({"subject": "wave 123456"}, 0),
        ({"subject": "the docs", "metadata": "wave 2"}, 0),
        ({"subject": "the docs", "metadata": {"wave": "two"}}, 0),
        ({"subject": "the docs", "metadata": {"wave": "9" * 5000}}, 0),
    ],
)
def test_an_item_says_which_wave_it_belongs_to(given: Line, wave: int) -> None:
    (item,) = state_of(*used("TaskCreate", given))["plan"]
    assert item["wave"] == wave


def test_todos_belong_to_waves_too() -> None:
    state = state_of(*todos(("Wave 1: a", "completed"), ("Wave 2: b", "pending")))
    assert [item["wave"] for item in state["plan"]] == [1, 2]


PLAN_FILE = "/home/dev/.claude/plans/calm-otter.md"
PLAN = "# Retry\n\n1. Wait\n2. Try again"


def wrote(path: str, content: str, **more: Any) -> list[Line]:
    return used("Write", {"file_path": path, "content": content}, **more)


def referred(**told: str) -> Line:
    return attachment("plan_file_reference", planFilePath=PLAN_FILE, **told)


@pytest.mark.parametrize(
    ("lines", "path", "text"),
    [
        (wrote(PLAN_FILE, PLAN), PLAN_FILE, PLAN),
        (wrote(".claude/plans/p.md", "p"), ".claude/plans/p.md", "p"),
        ([referred(planContent=PLAN)], PLAN_FILE, PLAN),
        ([user("Implement it", planContent=PLAN)], "", PLAN),
        (used("ExitPlanMode", {}, detail={"plan": PLAN, "filePath": PLAN_FILE}), PLAN_FILE, PLAN),
        (
            [
                *wrote(PLAN_FILE, "old"),
                *wrote(PLAN_FILE, PLAN),
            ],
            PLAN_FILE,
            PLAN,
        ),
        (
            [
                *wrote(PLAN_FILE, PLAN),
                referred(),
            ],
            PLAN_FILE,
            PLAN,
        ),
        (
            [
                *wrote(PLAN_FILE, "old"),
                user("Implement it", planContent=PLAN),
            ],
            PLAN_FILE,
            PLAN,
        ),
    ],
)
def test_a_plan_in_a_file_is_kept_as_last_written(lines: list[Line], path: str, text: str) -> None:
    state = state_of(*lines)
    assert state["plan_file"] == {"path": path, "text": text, "line": len(lines)}


@pytest.mark.parametrize(
    "lines",
    [
        wrote("/srv/app/plan.md", PLAN),
        wrote(PLAN_FILE, PLAN, ok=False),
        used("Read", {"file_path": PLAN_FILE}, PLAN),
        [user("x", planContent="")],
        [user("x", planContent=[PLAN])],
        [{**one, "isSidechain": True} for one in wrote(PLAN_FILE, PLAN)],
    ],
)
def test_other_files_are_no_plan(lines: list[Line]) -> None:
    assert state_of(*lines)["plan_file"] is None


def test_another_plan_file_does_not_inherit_the_first_ones_text() -> None:
    first = wrote(PLAN_FILE, PLAN)
    other = attachment("plan_file_reference", planFilePath="/home/dev/.claude/plans/b.md")
    told = state_of(*first, other)["plan_file"]
    assert told is not None
    assert told["text"] == ""


def test_a_long_plan_is_cut_and_without_secrets() -> None:
    secret = "ghp_" + "a1B2" * 9
    told = state_of(user("go", planContent=f"{secret} " + "x" * 2 * LONGEST_FILE))["plan_file"]
    assert told is not None
    assert told["text"].startswith("[redacted:github-token]")
    assert len(told["text"]) == LONGEST_FILE
