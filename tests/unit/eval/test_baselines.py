"""The baselines that a brief is compared with."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.eval.baselines import BASELINES, CutContext
from holdfast.eval.budget import TokenBudget
from holdfast.eval.cuts import REAL, find_cuts
from holdfast.eval.references import find_references
from holdfast.eval.session import load_session
from holdfast.tokens.estimate import Estimator
from tests.unit.eval.transcript import (
    bash,
    call,
    compaction_summary,
    edited,
    prompt,
    read,
    reply,
    session_file,
)


@pytest.fixture
def context(tmp_path: Path) -> CutContext:
    before = [
        *prompt("Fix the retry loop in src/retry.py, but never touch vendor/."),
        *read("src/retry.py", text="def requeue_all(): pass\n" + "x = 1\n" * 400),
        *call("Grep", {"pattern": "requeue_all"}, text="src/worker.py:12: requeue_all()"),
        *reply("The loop in requeue_all never ends. I will bound it."),
        *edited("src/retry.py"),
        *bash("pytest tests/test_retry.py", stdout="1 passed"),
        *call("TodoWrite", {"todos": [{"content": "Bound the loop", "status": "in_progress"}]}),
    ]
    other_files = [line for number in range(12) for line in read(f"f{number}.py")]
    after = [*read("src/retry.py"), *read("src/worker.py"), *other_files]
    path = session_file(tmp_path, before, compaction_summary("We fixed src/retry.py"), after)
    session = load_session(path)
    cut = next(cut for cut in find_cuts(session) if cut.arm == REAL)
    return CutContext(session, cut, find_references(session, cut))


def test_every_baseline_stays_within_its_budget(context: CutContext) -> None:
    for name in BASELINES:
        for tokens in [20, 60, 500]:
            budget = TokenBudget(tokens)
            assert budget.fits(BASELINES[name](context, budget)), (name, tokens)


def test_every_baseline_is_not_empty_and_deterministic(context: CutContext) -> None:
    for name in BASELINES:
        text = BASELINES[name](context, TokenBudget(300))
        assert text, name
        assert BASELINES[name](context, TokenBudget(300)) == text, name


def test_tails_end_with_the_latest_lines_and_actions_have_no_results(context: CutContext) -> None:
    raw = BASELINES["raw tail"](context, TokenBudget(2000))
    assert raw.endswith("done")
    assert "x = 1" in raw
    actions = BASELINES["actions tail"](context, TokenBudget(2000))
    assert "Edit: /repo/src/retry.py" in actions
    assert "x = 1" not in actions


def test_a_name_dump_begins_with_the_targets_of_calls_and_has_names_from_results(
    context: CutContext,
) -> None:
    names = BASELINES["name dump"](context, TokenBudget(500)).splitlines()
    assert names[0] == "src/retry.py"
    assert "src/worker.py" in names


def test_a_baseline_is_counted_by_the_tokenizer_of_the_sessions_model() -> None:
    names = "src/a_b/c.py " * 30
    earlier, newest = TokenBudget(100, "claude-opus-4-6"), TokenBudget(100)
    assert earlier.count(names) == Estimator.for_model("claude-opus-4-6").estimate(names)
    assert earlier.count(names) < newest.count(names)
    assert earlier.count("plain words " * 30) == pytest.approx(120)
