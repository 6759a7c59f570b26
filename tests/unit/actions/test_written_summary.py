"""What a compaction left, read from the end of the log."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.actions.written_summary import written_summary
from tests.unit.rollout_lines import Line, compacted, meta, prompt, reply


def log(path: Path, *lines: Line | str) -> str:
    file = path / "rollout.jsonl"
    told = [
        one if isinstance(one, str) else json.dumps(one, separators=(",", ":")) for one in lines
    ]
    file.write_text("".join(f"{line}\n" for line in told), encoding="utf-8")
    return str(file)


def test_the_last_boundary_counts(tmp_path: Path) -> None:
    path = log(tmp_path, meta(), compacted("first"), compacted("second", prompt("Go.")), reply("x"))
    assert written_summary(path) == "second\n\nGo."


def test_a_log_without_a_boundary_has_none(tmp_path: Path) -> None:
    assert written_summary(log(tmp_path, meta(), reply('say "type":"compacted" aloud'))) == ""
    assert written_summary(str(tmp_path / "nothing")) == ""
    assert written_summary("") == ""


def test_a_damaged_boundary_says_nothing(tmp_path: Path) -> None:
    for line in ('{"type":"compacted","payload":', '{"type":"compacted","payload":7}'):
        assert written_summary(log(tmp_path, line)) == ""
