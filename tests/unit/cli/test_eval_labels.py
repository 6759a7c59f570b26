"""`holdfast eval --probes` and `holdfast eval --sentences`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli import main
from tests.unit.eval.test_probes import case_fields, probe_fields, probes_file
from tests.unit.eval.test_sentences import sentences_file
from tests.unit.eval.transcript import bash, compaction_summary, edited, prompt, session_file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sessions with a rule that the summary drops; their summary is in line 7."""
    for name in ("owner__repo__one.jsonl", "other__repo__two.jsonl"):
        session_file(
            tmp_path,
            prompt("Never push to main. The proxy listens on port 8080."),
            edited("src/proxy.py"),
            bash("make test", stdout="12 passed"),
            compaction_summary("We fixed src/proxy.py."),
            name=name,
        )
    return tmp_path


@pytest.fixture
def probes(folder: Path) -> str:
    questions = [
        probe_fields(question="May I push?", category="instruction", keys=[["never push"]]),
        probe_fields(question="Which file?", category="artifact", keys=[["proxy.py"]]),
        probe_fields(question="Why?", answer="[bold] a leak", keys=[["leak"], ["pool", "queue"]]),
    ]
    cases = [
        case_fields(transcript=name, lines=5, summary_line=7, probes=questions)
        for name in ("owner__repo__one.jsonl", "other__repo__two.jsonl")
    ]
    return probes_file(folder, cases)


def evaluate(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(["eval", *arguments]) == code
    out, err = capsys.readouterr()
    return out, err


def test_the_table_shows_what_the_summary_the_brief_and_both_answer(
    folder: Path, probes: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = evaluate(capsys, "--probes", probes, str(folder), "--budgets", "400,800")
    table = dict(re.split(r"\s{2,}", row, maxsplit=1) for row in out.splitlines() if "  " in row)
    assert table["summary"].startswith("33.3 ")
    assert table["brief@400"].startswith("66.7 ")
    assert table["summary + brief@800"].startswith("66.7 ")
    assert " +33.3 " in table["summary + brief@800"]
    assert "sections of summary + brief@800 by characters: " in out
    assert "Why?" not in out
    assert "6 questions about 2 compactions of 2 sessions" in err
    assert "summary + brief@800 leaves 2 unanswered" in err


def test_misses_are_listed_with_answer_lines_and_missing_keys(
    folder: Path, probes: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = evaluate(capsys, "--probes", probes, str(folder), "--misses")
    assert (
        "case 1 (owner__repo__one.jsonl), question 3, decision: Why?\n"
        "  answer: [bold] a leak (L2)\n  missing: leak\n  missing: pool | queue\n"
    ) in out


def test_json_has_every_answer_and_the_default_budgets(
    folder: Path, probes: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = evaluate(capsys, "--probes", probes, str(folder), "--json")
    report = json.loads(out)
    assert report["budgets"] == [1000, 2000, 3000]
    assert len(report["answers"]) == 2 * 3 * 7
    assert report["answers"][0] == {
        "case": 1, "n": 1, "category": "instruction", "arm": "summary", "ok": False
    }  # fmt: skip


def test_a_brief_is_built_from_the_given_number_of_lines(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    question = probe_fields(keys=[["make test"]])
    for lines, share in ((3, 0.0), (5, 1.0)):
        case = case_fields(lines=lines, summary_line=7, probes=[question])
        path = probes_file(folder, [case])
        out, _ = evaluate(capsys, "--probes", path, str(folder), "--budgets", "900", "--json")
        arms = {arm["arm"]: arm["all"]["mean"] for arm in json.loads(out)["arms"]}
        assert arms == {"summary": 0.0, "brief@900": share, "summary + brief@900": share}


def test_only_selects_cases_by_the_name_of_their_transcript(
    folder: Path, probes: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for pattern, name in (("owner__*", "owner__repo__one"), ("!owner__*", "other__repo__two")):
        out, _ = evaluate(capsys, "--probes", probes, str(folder), "--only", pattern, "--json")
        report = json.loads(out)
        assert {miss["transcript"] for miss in report["misses"]} == {f"{name}.jsonl"}


def test_sentences_are_compared_with_rules_and_decisions(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        "owner__repo/one\t1\tstanding\tstanding\tNever push to main.",
        "owner__repo/one\t1\tstanding\tstanding\tThe proxy listens on port 8080.",
        "other__repo/two\t1\tstanding\tstanding\tNever push to main.",
    ]
    path = sentences_file(folder, *rows)
    out, err = evaluate(capsys, "--sentences", path, str(folder), "--misses")
    assert out.splitlines()[1].split()[:2] == ["rules", "100.0"]
    assert "rules, not taken: The proxy listens on port 8080. (owner__repo/one L1)" in out
    assert "3 sentences of 2 sessions" in err
    out, _ = evaluate(capsys, "--sentences", path, str(folder), "--json", "--only", "other*")
    found: dict[str, Any] = json.loads(out)["kinds"][0]["found"]
    assert (found["mean"], found["values"]) == (1.0, 1)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--probes", "gone.json", "{folder}"], "cannot read gone.json"),
        (["--probes", "{probes}", "nowhere"], "nowhere is not a folder"),
        (["--probes", "{probes}", "{folder}", "{folder}"], "take one folder, not 2"),
        (["--probes", "{probes}", "{folder}", "--only", "x*"], "none of 2 transcripts matches"),
        (["--probes", "{probes}", "{folder}", "--quick"], "--quick goes without --probes"),
        (["--probes", "{probes}", "{folder}", "--budgets", "0"], "not '0'"),
        (["--sentences", "{sentences}", "{folder}"], "no transcripts of 'a__b/c'"),
        (["--sentences", "{sentences}", "{folder}", "--only", "x*"], "none of 1 sessions"),
        (["--sentences", "{sentences}", "{folder}", "--budgets", "9"], "--budgets goes without"),
        (["{folder}", "--misses"], "--misses needs --probes"),
    ],
)
def test_invalid_arguments_are_errors_with_a_hint(
    folder: Path,
    probes: str,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    error: str,
) -> None:
    sentences = sentences_file(folder, "a__b/c\t1\tother\tother\tHi")
    given = [
        argument.format(folder=folder, probes=probes, sentences=sentences) for argument in arguments
    ]
    _, err = evaluate(capsys, *given, code=1)
    assert error in err
    assert "hint: " in err


def test_an_unreadable_transcript_is_an_error_that_names_the_case(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "owner__repo__one.jsonl").write_text("no json\n" * 9)
    path = probes_file(folder, [case_fields()])
    _, err = evaluate(capsys, "--probes", path, str(folder), code=1)
    assert "case 1: summary_line: line 5" in err
