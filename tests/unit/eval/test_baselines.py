"""What a brief is compared with."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.eval.baselines import BASELINES
from holdfast.eval.baselines.context import CutContext
from holdfast.eval.baselines.names import missing_names, rank_names, render_by_folder
from holdfast.eval.budget import ESTIMATORS, Budget
from holdfast.eval.cuts import REAL, find_cuts
from holdfast.eval.references import find_references
from holdfast.eval.session import load_session
from holdfast.tokens.estimate import Estimator
from tests.unit.eval.transcript import (
    bash,
    call,
    edited,
    read,
    replied,
    said,
    session_file,
    summarised,
)


@pytest.fixture
def material(tmp_path: Path) -> CutContext:
    before = [
        *said("Fix the retry loop in src/retry.py, but never touch vendor/."),
        *read("src/retry.py", text="def requeue_all(): pass\n" + "x = 1\n" * 400),
        *call("Grep", {"pattern": "requeue_all"}, text="src/worker.py:12: requeue_all()"),
        *replied("The loop in requeue_all never ends. I will bound it."),
        *edited("src/retry.py"),
        *bash("pytest tests/test_retry.py", stdout="1 passed"),
        *call("TodoWrite", {"todos": [{"content": "Bound the loop", "status": "in_progress"}]}),
    ]
    later = [name for number in range(12) for name in read(f"f{number}.py")]
    after = [*read("src/retry.py"), *read("src/worker.py"), *later]
    path = session_file(tmp_path, before, summarised("We fixed src/retry.py"), after)
    session = load_session(path)
    cut = next(cut for cut in find_cuts(session) if cut.arm == REAL)
    return CutContext(session, cut, find_references(session, cut))


def test_no_baseline_takes_more_than_it_may(material: CutContext) -> None:
    for estimator in ESTIMATORS:
        for name in BASELINES:
            for tokens in [20, 60, 500]:
                budget = Budget(tokens, estimator)
                assert budget.fits(BASELINES[name](material, budget)), (estimator, name, tokens)


def test_every_baseline_says_something_and_twice_the_same(material: CutContext) -> None:
    for name in BASELINES:
        text = BASELINES[name](material, Budget(300))
        assert text, name
        assert BASELINES[name](material, Budget(300)) == text, name


def test_a_tail_is_the_end_and_actions_are_told_without_results(material: CutContext) -> None:
    raw = BASELINES["raw tail"](material, Budget(2000))
    assert raw.endswith("done")
    assert "x = 1" in raw
    actions = BASELINES["actions tail"](material, Budget(2000))
    assert "Edit: /repo/src/retry.py" in actions
    assert "x = 1" not in actions
    assert BASELINES["head + tail"](material, Budget(200)).startswith("Fix the retry loop")
    assert "Edit:" not in BASELINES["text tail"](material, Budget(2000))


def test_an_anchor_index_has_no_names_from_results(material: CutContext) -> None:
    assert ("P", "src/worker.py") not in rank_names(material, results=False)
    assert ("P", "src/worker.py") in rank_names(material, results=True)


def test_what_the_summary_says_is_not_named_beside_it(material: CutContext) -> None:
    names = missing_names(material, Budget(500)).splitlines()
    assert "src/retry.py" not in names
    assert "src/worker.py" in names


def test_files_are_grouped_under_their_folder() -> None:
    names = [("P", "src/a.py"), ("I", "loadAll"), ("P", "src/b.py"), ("P", "README.md")]
    assert render_by_folder(names) == "src/: a.py, b.py\nloadAll\nREADME.md"


def test_the_oracle_knows_what_is_coming(material: CutContext) -> None:
    assert set(BASELINES["oracle"](material, Budget(500)).splitlines()) == {
        "src/retry.py",
        "src/worker.py",
    }


def test_the_template_says_when_it_was_cut(material: CutContext) -> None:
    whole = BASELINES["template"](material, Budget(500))
    assert "## Recent Changes\n- /repo/src/retry.py (Edit, L" in whole
    assert whole.endswith("Bound the loop")
    assert BASELINES["template"](material, Budget(60)).endswith("truncated due to token limit]*")


def test_flat_tokens_are_three_characters_and_ours_depend_on_what_is_said() -> None:
    assert Budget(1, "flat3").count("x" * 30) == 10
    assert Budget(1).count("src/a_b/c.py " * 10) > Budget(1).count("plain words ok " * 9)


def test_a_baseline_is_counted_by_the_tokenizer_of_the_session_s_model_as_a_brief_is() -> None:
    names = "src/a_b/c.py " * 30
    earlier, newest = Budget(100, model="claude-opus-4-6"), Budget(100)
    assert earlier.count(names) == Estimator.for_model("claude-opus-4-6").estimate(names)
    assert earlier.count(names) < newest.count(names)
    assert earlier.count("plain words " * 30) == pytest.approx(120)
    assert earlier.with_tokens(20).model == earlier.model
