"""The plan, from whole lists or single items: the last status wins."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.state.rules.plan import MAX_ITEM_CHARS, MAX_ITEMS, MAX_PLAN_FILE_CHARS
from tests.unit.transcript_lines import Line, attachment, line, state_of, tool_use, user


def todos(*items: tuple[str, str], ok: bool = True) -> list[Line]:
    entries = [{"content": text, "status": status, "activeForm": text} for text, status in items]
    detail = {"oldTodos": [], "newTodos": entries}
    return tool_use("TodoWrite", {"todos": entries}, ok=ok, detail=detail)


def create(number: str, subject: str, ok: bool = True) -> list[Line]:
    tool_input = {"subject": subject, "description": "…"}
    detail = {"task": {"id": number, "subject": subject}}
    return tool_use("TaskCreate", tool_input, ok=ok, detail=detail)


def update(number: Any, **changes: Any) -> list[Line]:
    return tool_use("TaskUpdate", {"taskId": number, **changes}, detail={"success": True})


def plan(*steps: list[Line]) -> list[tuple[str, str]]:
    state = state_of(*(line for step in steps for line in step))
    return [(item["text"], item["status"]) for item in state["plan"]]


def test_the_plan_has_the_last_statuses() -> None:
    cases = [
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
        ([tool_use("TaskCreate", {"subject": "a"}, detail="created")], [("a", "pending")]),
        ([create("1", ""), update("", subject="b")], []),
        (
            [todos(("a", "completed")), create("1", "b"), update("1", status="in_progress")],
            [("a", "completed"), ("b", "in_progress")],
        ),
        (
            [
                tool_use("TodoWrite", {"todos": "a"}),
                tool_use("TodoWrite", {"todos": [1, {"x": 2}]}),
            ],
            [],
        ),
        ([tool_use("TodoWrite", {"todos": [{"content": "a"}]})], [("a", "pending")]),
        ([tool_use("TodoWrite", {}, detail={"newTodos": [{"content": "a"}]})], [("a", "pending")]),
        ([tool_use("TaskCreate", {}, detail={"task": {"subject": "a"}})], [("a", "pending")]),
        (
            [tool_use("TaskCreate", {"subject": "a"}), tool_use("TaskCreate", {"subject": "b"})],
            [("a", "pending"), ("b", "pending")],
        ),
        ([update("9", subject="b")], [("b", "pending")]),
    ]
    for steps, expected in cases:
        assert plan(*steps) == expected, steps


def test_a_finished_list_that_is_cleared_stays_completed() -> None:
    """The client clears a list when its last item is completed."""
    tool_input = {"todos": [{"content": "a", "status": "completed"}]}
    cleared = tool_use("TodoWrite", tool_input, detail={"oldTodos": [], "newTodos": []})
    assert plan(todos(("a", "in_progress")), cleared) == [("a", "completed")]


def test_an_item_has_the_line_of_its_last_change() -> None:
    lines = [
        *todos(("a", "pending"), ("b", "pending")),
        *todos(("a", "completed"), ("b", "pending")),
        *create("1", "c"),
        *update("1", status="in_progress"),
    ]
    items = {item["text"]: item["line"] for item in state_of(*lines)["plan"]}
    assert items == {"a": 4, "b": 2, "c": 8}


def test_a_long_item_is_cut_and_still_recognised() -> None:
    long = "x" * 2 * MAX_ITEM_CHARS
    ((text, status),) = plan(todos((long, "pending")), todos((long, "completed")))
    assert (len(text), text[-1], status) == (MAX_ITEM_CHARS, "…", "completed")


def test_the_newest_items_are_kept() -> None:
    steps = [create(str(n), f"step {n}") for n in range(MAX_ITEMS + 5)]
    items = plan(*steps)
    assert len(items) == MAX_ITEMS
    assert items[0] == ("step 5", "pending")


def task_list(*tasks: dict[str, Any]) -> list[Line]:
    return tool_use("TaskList", {}, detail={"tasks": list(tasks)})


def test_a_task_list_sets_the_status_of_each_task() -> None:
    tasks = task_list({"id": "1", "subject": "a", "status": "completed", "blockedBy": []})
    assert plan(create("1", "a"), create("2", "b"), tasks) == [
        ("a", "completed"),
        ("b", "pending"),
    ]


def test_a_task_list_adds_unknown_tasks() -> None:
    assert plan(task_list({"id": "7", "subject": "late", "status": "in_progress"})) == [
        ("late", "in_progress")
    ]


def test_the_tasks_that_block_a_task_are_kept_once() -> None:
    steps = [create("1", "a"), create("2", "b"), update("2", addBlockedBy=["1"])]
    steps.append(
        task_list({"id": "2", "subject": "b", "status": "pending", "blockedBy": ["1", "9"]})
    )
    state = state_of(*(line for step in steps for line in step))
    assert [item["blocked_by"] for item in state["plan"]] == [[], ["1", "9"]]


@pytest.mark.parametrize("kind", ["task_reminder", "todo_reminder"])
def test_a_reminder_of_the_host_sets_the_plan(kind: str) -> None:
    content = [{"id": "1", "subject": "a", "status": "completed"}]
    reminder = line("attachment", attachment={"type": kind, "content": content})
    assert plan(create("1", "a"), [reminder]) == [("a", "completed")]


def test_an_empty_reminder_changes_nothing() -> None:
    reminder = line("attachment", attachment={"type": "task_reminder", "content": []})
    assert plan(create("1", "a"), [reminder]) == [("a", "pending")]


def test_the_todos_on_a_prompt_are_the_plan() -> None:
    prompt_todos = [{"content": "a", "status": "completed", "activeForm": "a"}]
    assert plan([user("go on", todos=prompt_todos)]) == [("a", "completed")]
    assert plan(todos(("a", "pending")), [user("go on", todos=[])]) == [("a", "pending")]


def items_with_ids(*steps: list[Line]) -> list[tuple[str, str, str]]:
    state = state_of(*(line for step in steps for line in step))
    ids = [item["id"] for item in state["plan"]]
    assert len(set(ids)) == len(ids), "ids are unique"
    return [(item["id"].partition("@")[0], item["text"], item["status"]) for item in state["plan"]]


def test_a_new_list_with_the_same_ids_keeps_the_old_items() -> None:
    first = [create("1", "a"), create("2", "b"), update("1", status="completed")]
    second = [create("1", "c"), create("2", "d"), update("2", status="completed")]
    assert items_with_ids(*first, *second) == [
        ("1", "a", "completed"),
        ("2", "b", "pending"),
        ("1", "c", "pending"),
        ("2", "d", "completed"),
    ]


def test_the_ids_of_a_third_list_do_not_collide_with_the_first_two() -> None:
    lists = [[create("1", text), update("1", status="completed")] for text in ("a", "b", "c")]
    assert items_with_ids(*(step for steps in lists for step in steps)) == [
        ("1", "a", "completed"),
        ("1", "b", "completed"),
        ("1", "c", "completed"),
    ]


def test_the_same_todo_listed_twice_is_two_items_with_two_ids() -> None:
    items = items_with_ids(
        todos(("test it", "completed"), ("fix", "pending"), ("test it", "pending"))
    )
    assert [(text, status) for _, text, status in items] == [
        ("test it", "completed"),
        ("fix", "pending"),
        ("test it", "pending"),
    ]


def test_a_completed_todo_that_is_added_again_is_pending() -> None:
    assert plan(todos(("a", "completed")), todos(("b", "pending")), todos(("a", "pending"))) == [
        ("a", "pending")
    ]


def test_an_item_has_its_wave() -> None:
    cases = [
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
    ]
    for tool_input, wave in cases:
        (item,) = state_of(*tool_use("TaskCreate", tool_input))["plan"]
        assert item["wave"] == wave, tool_input


def test_todos_have_waves_too() -> None:
    state = state_of(*todos(("Wave 1: a", "completed"), ("Wave 2: b", "pending")))
    assert [item["wave"] for item in state["plan"]] == [1, 2]


PLAN_FILE = "/home/dev/.claude/plans/calm-otter.md"
PLAN = "# Retry\n\n1. Wait\n2. Try again"


def write_file(path: str, content: str, ok: bool = True) -> list[Line]:
    return tool_use("Write", {"file_path": path, "content": content}, ok=ok)


def plan_reference(**fields: str) -> Line:
    return attachment("plan_file_reference", planFilePath=PLAN_FILE, **fields)


def test_a_plan_in_a_file_is_kept_as_last_written() -> None:
    cases = [
        (write_file(PLAN_FILE, PLAN), PLAN_FILE, PLAN),
        (write_file(".claude/plans/p.md", "p"), ".claude/plans/p.md", "p"),
        ([plan_reference(planContent=PLAN)], PLAN_FILE, PLAN),
        ([user("Implement it", planContent=PLAN)], "", PLAN),
        (
            tool_use("ExitPlanMode", {}, detail={"plan": PLAN, "filePath": PLAN_FILE}),
            PLAN_FILE,
            PLAN,
        ),
        (
            [
                *write_file(PLAN_FILE, "old"),
                *write_file(PLAN_FILE, PLAN),
            ],
            PLAN_FILE,
            PLAN,
        ),
        (
            [
                *write_file(PLAN_FILE, PLAN),
                plan_reference(),
            ],
            PLAN_FILE,
            PLAN,
        ),
        (
            [
                *write_file(PLAN_FILE, "old"),
                user("Implement it", planContent=PLAN),
            ],
            PLAN_FILE,
            PLAN,
        ),
    ]
    for lines, path, text in cases:
        state = state_of(*lines)
        assert state["plan_file"] == {"path": path, "text": text, "line": len(lines)}, (lines, path)


@pytest.mark.parametrize(
    "lines",
    [
        write_file("/srv/app/plan.md", PLAN),
        write_file(PLAN_FILE, PLAN, ok=False),
        tool_use("Read", {"file_path": PLAN_FILE}, PLAN),
        [user("x", planContent="")],
        [user("x", planContent=[PLAN])],
        [{**line, "isSidechain": True} for line in write_file(PLAN_FILE, PLAN)],
    ],
)
def test_other_files_and_calls_are_no_plan(lines: list[Line]) -> None:
    assert state_of(*lines)["plan_file"] is None


def test_a_second_plan_file_does_not_inherit_the_text_of_the_first() -> None:
    first = write_file(PLAN_FILE, PLAN)
    other = attachment("plan_file_reference", planFilePath="/home/dev/.claude/plans/b.md")
    plan_file = state_of(*first, other)["plan_file"]
    assert plan_file is not None
    assert plan_file["text"] == ""


def test_a_long_plan_is_cut_and_its_secrets_are_redacted() -> None:
    secret = "ghp_" + "a1B2" * 9
    plan_file = state_of(user("go", planContent=f"{secret} " + "x" * 2 * MAX_PLAN_FILE_CHARS))[
        "plan_file"
    ]
    assert plan_file is not None
    assert plan_file["text"].startswith("[redacted:github-token]")
    assert len(plan_file["text"]) == MAX_PLAN_FILE_CHARS
