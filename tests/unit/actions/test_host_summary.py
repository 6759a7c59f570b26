"""What stands at a boundary is parted into the summary and the words beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.actions.host_summary import HostSummary, host_summary
from tests.unit.rollout_lines import compacted, meta, prompt

STATE: Any = {"compactions": [{"summary_line": 2}]}
NOTED = "noted at the time"


def found(folder: Path, line: str, host: str = "codex") -> HostSummary:
    file = folder / "rollout.jsonl"
    file.write_text(f"{json.dumps(meta())}\n{line}\n", encoding="utf-8")
    row: Any = {"host": host, "transcript": str(file)}
    return host_summary(row, STATE, 1, NOTED)


def test_the_log_is_asked_and_not_what_was_noted(tmp_path: Path) -> None:
    told = found(tmp_path, json.dumps(compacted("short", prompt("Go."), prompt("Go."))))
    assert told == HostSummary("short", "Go.")
    assert told.everything == "short\n\nGo."


def test_a_summary_that_is_merely_empty_is_not_called_sealed(tmp_path: Path) -> None:
    assert found(tmp_path, json.dumps(compacted("", prompt("Go.")))) == HostSummary("", "Go.")


@pytest.mark.parametrize("line", ['{"type":"compacted","payload":', '{"payload":7}', "[]", ""])
def test_where_the_line_is_damaged_what_was_noted_counts(tmp_path: Path, line: str) -> None:
    assert found(tmp_path, line) == HostSummary(NOTED, is_mixed=True)


def test_other_hosts_keep_no_words_beside_their_summary(tmp_path: Path) -> None:
    boundary = json.dumps(compacted("short", prompt("Go.")))
    assert found(tmp_path, boundary, host="claude-code") == HostSummary(NOTED)
