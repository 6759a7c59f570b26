"""How the page of work arranges rows: waves as columns, blockers as links, read states."""

from __future__ import annotations

from typing import Any

from holdfast.ledger.board import BoardTask
from holdfast.ledger.schema import NO_WAVE
from holdfast.server import pagination
from holdfast.server.web import agents, work
from holdfast.server.web.work import Blocker


def make_task_view(wave: int, name: str = "t", **counts: int) -> work.TaskView:
    row = {"wave_number": wave, "session": "s", "name": name}
    return work.make_task(BoardTask(row=row, subtasks=[], counts=counts), {})


def make_subtask(**fields: Any) -> dict[str, Any]:
    return {"id": "x", "task": "t", "created_at": 5.0, "status": "blocked", "blocked_by": [],
            **fields}  # fmt: skip


def test_waves_are_columns_in_order_and_tasks_without_a_wave_come_last() -> None:
    tasks = [make_task_view(number) for number in (2, NO_WAVE, 0, 2)]
    columns = work.to_columns(tasks, {("s", 2): {"status": "running"}})
    assert [(one.title, len(one.tasks)) for one in columns] == [
        ("Wave 0", 1), ("Wave 2", 2), ("No wave", 1),
    ]  # fmt: skip
    assert [one.wave for one in columns] == [None, {"status": "running"}, None]


def test_without_any_wave_there_is_one_column_of_tasks() -> None:
    (column,) = work.to_columns([make_task_view(NO_WAVE)], {})
    assert column.title == "Tasks"


def test_a_task_counts_all_its_subtasks() -> None:
    view = make_task_view(0, completed=3, running=1, cancelled=1)
    assert (view.done, view.total) == (3, 5)


def test_only_a_blocked_subtask_waits_and_a_long_list_is_cut() -> None:
    blockers = {
        str(number): Blocker(text=f"b{number}", status="running", path="#") for number in range(8)
    }
    row = make_subtask(blocked_by=[*blockers, "settled"])
    view = work.make_subtask(row, blockers)
    assert [one.text for one in view.blockers] == [f"b{n}" for n in range(work.MAX_BLOCKERS)]
    assert view.hidden_blockers == 8 - work.MAX_BLOCKERS
    running = work.make_subtask({**row, "status": "running"}, blockers)
    assert (running.blockers, running.hidden_blockers) == ([], 0)


def test_the_link_to_a_subtask_on_another_page_begins_with_that_subtask() -> None:
    path = work.make_subtask_path(make_subtask(id="abc"))
    page, _, anchor = path.removeprefix("/work/tasks/t?page=").partition("#")
    at, ident = pagination.parse_cursor(page) or (0.0, "")
    assert (5.0, "abc") < (at, ident) < (5.0, "abd")
    assert anchor == "subtask-abc"


def test_titles_are_short_and_on_one_line() -> None:
    assert work.shorten("a\n b") == "a b"
    assert len(work.shorten("word " * 100_000)) == work.TITLE_CHARS + 1


def test_an_agent_says_when_its_window_is_full() -> None:
    def predict(minutes: float | None, percent: float = 10.0) -> agents.AgentView:
        figures = {"predicted_exhaustion_minutes": minutes, "usage_percent": percent}
        return agents.AgentView(row={}, capacity=figures, waits_for=[])

    assert [predict(one).prediction for one in (None, 500.0, 0.4, 1.2, 7.6)] == [
        "", "", "full within a minute", "full in about 1 minute", "full in about 8 minutes",
    ]  # fmt: skip
    assert (predict(None, 130.0).share, predict(None, 42.5).share) == (100.0, 42.5)


def test_a_message_to_all_says_how_many_have_read_it() -> None:
    def read_state(to: str, *readers: str) -> str:
        row = {"to_agent_id": to}
        return agents.MessageView(row=row, text="", readers=[*readers]).read_state

    assert read_state("qa") == "unread"
    assert read_state("qa", "qa") == "read"
    assert read_state("", "qa", "docs") == "read by 2"
