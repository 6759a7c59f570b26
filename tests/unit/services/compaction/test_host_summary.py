"""The summary of a compaction, read from a boundary line or from the end of the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.services.compaction.host_summary import load_host_summary, read_last_summary
from tests.unit.rollout_lines import Line, compacted, meta, prompt, reply

STATE_WITH_SUMMARY: Any = {"compactions": [{"summary_line": 2}]}
RECORDED_SUMMARY = "recorded at the time"


def load_summary(folder: Path, line: str, host: str = "codex") -> dict[str, Any]:
    """Return the fields that `load_host_summary` fills for a log with this second line."""
    file = folder / "rollout.jsonl"
    file.write_text(f"{json.dumps(meta())}\n{line}\n", encoding="utf-8")
    row: Any = {"host": host, "transcript": str(file)}
    summary = load_host_summary(row, STATE_WITH_SUMMARY, 1, RECORDED_SUMMARY)
    fields = ("text", "kept", "is_sealed", "is_mixed", "everything")
    values = {name: getattr(summary, name) for name in fields}
    return {name: value for name, value in values.items() if value}


def test_the_summary_in_the_log_replaces_the_recorded_summary(tmp_path: Path) -> None:
    boundary = json.dumps(compacted("short", prompt("Go."), prompt("Go.")))
    assert load_summary(tmp_path, boundary) == {
        "text": "short", "kept": "Go.", "everything": "short\n\nGo.",
    }  # fmt: skip


def test_an_empty_summary_is_not_marked_as_sealed(tmp_path: Path) -> None:
    boundary = json.dumps(compacted("", prompt("Go.")))
    assert load_summary(tmp_path, boundary) == {"kept": "Go.", "everything": "Go."}


@pytest.mark.parametrize("line", ['{"type":"compacted","payload":', '{"payload":7}', "[]", ""])
def test_a_damaged_line_falls_back_to_the_recorded_summary(tmp_path: Path, line: str) -> None:
    expected = {"text": RECORDED_SUMMARY, "is_mixed": True, "everything": RECORDED_SUMMARY}
    assert load_summary(tmp_path, line) == expected


def test_only_codex_logs_kept_messages_with_the_summary(tmp_path: Path) -> None:
    boundary = json.dumps(compacted("short", prompt("Go.")))
    expected = {"text": RECORDED_SUMMARY, "everything": RECORDED_SUMMARY}
    assert load_summary(tmp_path, boundary, host="claude-code") == expected


def write_log(folder: Path, *lines: Line | str) -> str:
    file = folder / "rollout.jsonl"
    texts = [
        line if isinstance(line, str) else json.dumps(line, separators=(",", ":")) for line in lines
    ]
    file.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(file)


def test_the_summary_is_read_from_the_last_boundary_of_the_log(tmp_path: Path) -> None:
    path = write_log(
        tmp_path, meta(), compacted("first"), compacted("second", prompt("Go.")), reply("x")
    )
    assert read_last_summary(path) == "second\n\nGo."


def test_a_log_without_a_boundary_has_no_summary(tmp_path: Path) -> None:
    path = write_log(tmp_path, meta(), reply('say "type":"compacted" aloud'))
    assert read_last_summary(path) == ""
    assert read_last_summary(str(tmp_path / "nothing")) == ""
    assert read_last_summary("") == ""


def test_a_damaged_boundary_has_no_summary(tmp_path: Path) -> None:
    for line in ('{"type":"compacted","payload":', '{"type":"compacted","payload":7}'):
        assert read_last_summary(write_log(tmp_path, line)) == ""
