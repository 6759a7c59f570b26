"""The scorer's own reading of Codex's rollouts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.eval.artifacts import trail
from holdfast.eval.cuts import REAL, cuts
from holdfast.eval.failures import runs
from holdfast.eval.plan import Plan
from holdfast.eval.run import score
from holdfast.eval.session import Session, load
from holdfast.eval.todos import todos
from tests.unit import rollout_lines as codex


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rollout.jsonl"


def session(file: Path, *lines: codex.Line) -> Session:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return load(str(file))


def test_people_are_told_from_the_client(file: Path) -> None:
    told = session(
        file,
        codex.meta(),
        codex.prompt("# AGENTS.md instructions for /srv/app"),
        codex.message("developer", "Be brief."),
        codex.prompt("Make it faster."),
        codex.reply("Done."),
    )
    assert [(piece.kind, piece.text) for piece in told.pieces] == [
        ("prompt", "Make it faster."),
        ("reply", "Done."),
    ]
    assert told.branch_at(5) == "main"


def test_patches_and_commands_make_a_trail(file: Path) -> None:
    session(
        file,
        codex.meta(),
        *codex.patched("*** Add File: new.py", "+x", "*** Update File: old.py", "@@", "+y"),
        *codex.patched("*** Update File: a.py", "*** Move to: b.py", "@@", "+y", ident="2"),
        *codex.patched("*** Delete File: /srv/app/gone.py", ident="3"),
        *codex.patched("*** Add File: failed.py", "+x", ok=False, ident="4"),
        *codex.ran("echo x > lib.txt", workdir="/srv/app/lib", ident="5"),
    )
    found = trail(str(file))
    assert found.created == {"new.py", "b.py", "lib/lib.txt"}
    assert found.modified == {"old.py"}
    assert found.deleted == {"gone.py", "a.py"}


def test_a_script_is_read_by_what_the_client_tells_of_it(file: Path) -> None:
    changes = {"/srv/app/a.py": {"type": "update"}, "/srv/app/b.py": {"type": "add"}}
    end = {"type": "patch_apply_end", "call_id": "exec-1", "success": True, "changes": changes}
    script = codex.custom("exec", 'await tools.exec_command({cmd:"pytest -q",workdir:"/srv/app"})')
    done = codex.output("Script completed\nWall time 0.1 seconds\nOutput:\n1 failed")
    told = session(file, codex.meta(), codex.line("event_msg", end), script, done)
    found = trail(str(file))
    assert (found.created, found.modified) == ({"b.py"}, {"a.py"})
    assert [(run.command, run.ok) for run in runs(told.pieces)] == [("pytest -q", False)]


def test_the_outcome_of_a_long_command_comes_with_a_later_call(file: Path) -> None:
    running = "Wall time: 10 seconds\nProcess running with session ID 7\nOutput:\n.."
    told = session(
        file,
        codex.meta(),
        codex.call("exec_command", {"cmd": "pytest -q"}),
        codex.output(running),
        codex.call("write_stdin", {"session_id": 7}, "call_2"),
        codex.output(codex.told(0, "3 passed"), "call_2"),
    )
    assert [(run.line, run.ok) for run in runs(told.pieces)] == [(5, True)]


def test_the_plan_is_the_last_that_was_told(file: Path) -> None:
    told = session(file, codex.meta(), codex.plan(Look="completed", Build="pending"))
    assert (todos(told.pieces).done, todos(told.pieces).open) == (("Look",), ("Build",))


@pytest.mark.parametrize("summary", ["what happened", ""])
def test_a_compaction_is_a_cut_whether_its_summary_can_be_read_or_not(
    file: Path, summary: str
) -> None:
    work = [
        line
        for n in range(12)
        for line in codex.ran(f"cat src/file_{n}.py", f"class A{n}:", ident=str(n))
    ]
    told = session(file, codex.meta(), *work, codex.compacted(summary), *work)
    (cut,) = [cut for cut in cuts(told) if cut.arm == REAL]
    assert (cut.line, cut.first, cut.summary) == (26, 27, summary)
    assert {row.arm for row in score(str(file), Plan(quick=True)).rows} == {"real"}
