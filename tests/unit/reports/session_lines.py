"""Small logs with compactions, for the reports on them."""

from __future__ import annotations

from typing import Any

from holdfast.reports.actions import Activity, collect_activity
from holdfast.reports.forgetting import ForgettingCost, forgetting_cost
from holdfast.transcript.decoder import decode
from tests.unit.transcript_lines import (
    ROOT,
    Line,
    bash,
    boundary,
    numbered,
    summary,
    tool_use,
)

FILE_TEXT = "1→def f():\n2→    return 1\n"


def read(name: str, content: str = FILE_TEXT, **part: int) -> list[Line]:
    return tool_use("Read", {"file_path": f"{ROOT}/{name}", **part}, content)


def edit(name: str) -> list[Line]:
    arguments = {"file_path": f"{ROOT}/{name}", "old_string": "1", "new_string": "2"}
    return tool_use("Edit", arguments, "updated")


def ask(question: str) -> list[Line]:
    arguments = {"questions": [{"question": question, "options": []}]}
    return tool_use("AskUserQuestion", arguments, "answered")


def compaction() -> list[Line]:
    return [boundary(trigger="auto"), summary()]


def work(count: int, first: int = 0) -> list[Line]:
    """So many commands, no two of them alike."""
    return [line for number in range(count) for line in bash(f"echo {first + number}", "x")]


def activity_of(*lines: Line | bytes) -> Activity:
    return collect_activity(decode(numbered(lines)), len)


def cost_of(*lines: Line | bytes, number: int = 1, **options: Any) -> ForgettingCost:
    """What a compaction of a log with these lines cost."""
    boundaries = [
        at
        for at, line in enumerate(lines, 1)
        if isinstance(line, dict) and line.get("subtype") == "compact_boundary"
    ]
    return forgetting_cost(activity_of(*lines), boundaries, number, **options)
