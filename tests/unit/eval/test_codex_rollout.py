"""The scorer reads Codex rollouts with its own parser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.eval.config import EvalConfig
from holdfast.eval.cuts import REAL, find_cuts
from holdfast.eval.failures import find_check_runs
from holdfast.eval.run import score
from holdfast.eval.session import Session, load_session
from holdfast.eval.todos import read_todos
from tests.unit import rollout_lines as codex


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rollout.jsonl"


def load(path: Path, *lines: codex.Line) -> Session:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return load_session(str(path))


def test_prompts_of_the_user_are_distinguished_from_text_of_the_client(path: Path) -> None:
    session = load(
        path,
        codex.meta(),
        codex.prompt("# AGENTS.md instructions for /srv/app"),
        codex.message("developer", "Be brief."),
        codex.prompt("Make it faster."),
        codex.reply("Done."),
    )
    assert [(piece.kind, piece.text) for piece in session.pieces] == [
        ("prompt", "Make it faster."),
        ("reply", "Done."),
    ]
    assert session.branch_at(5) == "main"


def test_commands_in_a_script_call_are_found(path: Path) -> None:
    changes = {"/srv/app/a.py": {"type": "update"}, "/srv/app/b.py": {"type": "add"}}
    patch_event = {
        "type": "patch_apply_end",
        "call_id": "exec-1",
        "success": True,
        "changes": changes,
    }
    script = codex.custom("exec", 'await tools.exec_command({cmd:"pytest -q",workdir:"/srv/app"})')
    output = codex.output("Script completed\nWall time 0.1 seconds\nOutput:\n1 failed")
    session = load(path, codex.meta(), codex.line("event_msg", patch_event), script, output)
    assert [(run.command, run.ok) for run in find_check_runs(session.pieces)] == [
        ("pytest -q", False)
    ]


def test_the_outcome_of_a_long_command_is_read_from_a_later_call(path: Path) -> None:
    running = "Wall time: 10 seconds\nProcess running with session ID 7\nOutput:\n.."
    session = load(
        path,
        codex.meta(),
        codex.call("exec_command", {"cmd": "pytest -q"}),
        codex.output(running),
        codex.call("write_stdin", {"session_id": 7}, "call_2"),
        codex.output(codex.command_output(0, "3 passed"), "call_2"),
    )
    assert [(run.line, run.ok) for run in find_check_runs(session.pieces)] == [(5, True)]


def test_the_plan_is_split_into_open_and_done_items(path: Path) -> None:
    session = load(path, codex.meta(), codex.plan(Look="completed", Build="pending"))
    assert (read_todos(session.pieces).done, read_todos(session.pieces).open) == (
        ("Look",),
        ("Build",),
    )


@pytest.mark.parametrize("summary", ["what happened", ""])
def test_a_compaction_is_a_cut_even_without_a_readable_summary(path: Path, summary: str) -> None:
    work = [
        line
        for n in range(12)
        for line in codex.exec_command(f"cat src/file_{n}.py", f"class A{n}:", call_id=str(n))
    ]
    session = load(path, codex.meta(), *work, codex.compacted(summary), *work)
    (cut,) = [cut for cut in find_cuts(session) if cut.arm == REAL]
    assert (cut.line, cut.first, cut.summary) == (26, 27, summary)
    assert {row.arm for row in score(str(path), EvalConfig(quick=True)).rows} == {"real"}
