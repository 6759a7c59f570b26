"""Questions with keys: the file of probes, the scorer, and the report."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import InvalidInput
from holdfast.eval.probe_report import (
    BriefTexts,
    CaseScores,
    build_probe_report,
    count_section_chars,
    describe_sections,
    probe_table,
    score_case,
)
from holdfast.eval.probes import (
    Case,
    Probe,
    find_missing_groups,
    fold_spaces,
    load_cases,
    matches_pattern,
    read_summary,
)
from tests.unit.eval.transcript import (
    bash,
    compaction_summary,
    line,
    prompt,
    session_file,
)


def make_probe(*groups: tuple[str, ...], number: int = 1, category: str = "fact") -> Probe:
    return Probe(
        number=number,
        category=category,
        question=f"question {number}?",
        answer=f"answer {number}",
        lines=(3, 7),
        keys=groups,
    )


def make_case(*probes: Probe, number: int = 1, transcript: str = "o__r__one.jsonl") -> Case:
    return Case(
        number=number,
        transcript=transcript,
        path=f"/sessions/{transcript}",
        lines=10,
        summary_line=12,
        probes=probes,
    )


def score(case: Case, summary: str, *briefs: tuple[int, str, str]) -> CaseScores:
    """Score a case whose briefs are (budget, text alone, text beside the summary)."""
    texts = [
        BriefTexts(budget=budget, alone=alone, beside_summary=beside)
        for budget, alone, beside in briefs
    ]
    return score_case(case, summary, lambda *_: texts)


def probe_fields(**changes: Any) -> dict[str, Any]:
    fields = {
        "category": "decision",
        "question": "Which port?",
        "answer": "8080",
        "lines": [2],
        "keys": [["8080", "port 80"]],
    }
    return {**fields, **changes}


def case_fields(**changes: Any) -> dict[str, Any]:
    fields = {
        "transcript": "owner__repo__one.jsonl",
        "lines": 3,
        "summary_line": 5,
        "probes": [probe_fields()],
    }
    return {**fields, **changes}


def probes_file(folder: Path, content: Any) -> str:
    path = folder / "probes.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "keys", "missing"),
    [
        ("Sharing is Read-Only.", [("read-only", "read only")], []),
        ("sharing is read\n   only", [("read-only", "read only")], []),
        ("the TTL is 24  h", [("ttl",), ("24 H",)], []),
        ("the TTL is a day", [("ttl",), ("24 h", "24h")], [("24 h", "24h")]),
        ("", [("a",), ("b", "c")], [("a",), ("b", "c")]),
        ("preread-onlyish", [("read-only",)], []),
    ],
)
def test_a_text_lacks_the_groups_of_which_it_has_no_alternative(
    text: str, keys: list[tuple[str, ...]], missing: list[tuple[str, ...]]
) -> None:
    assert list(find_missing_groups(fold_spaces(text), make_probe(*keys))) == missing


def test_every_question_is_scored_for_the_summary_the_brief_and_both_together() -> None:
    case = make_case(make_probe(("port",), ("8080",)), make_probe(("retry",), number=2))
    scored = score(case, "the port", (500, "8080", "8080, retry"), (900, "port 8080", "8080"))
    assert {(each.arm, each.probe.number) for each in scored.answers if each.is_answered} == {
        ("summary + brief@500", 1),
        ("summary + brief@500", 2),
        ("brief@900", 1),
        ("summary + brief@900", 1),
    }
    assert [each.arm for each in scored.answers[:5]] == [
        "summary",
        "brief@500",
        "summary + brief@500",
        "brief@900",
        "summary + brief@900",
    ]


def test_the_report_has_per_cent_overall_and_by_category_and_the_gain_over_the_summary() -> None:
    facts = make_case(make_probe(("a",)), make_probe(("b",), number=2))
    state = make_case(make_probe(("c",), category="state"), number=2, transcript="o__r__two.jsonl")
    scored = [score(facts, "a", (500, "b", "b")), score(state, "c", (500, "", ""))]
    report = build_probe_report(scored, (500,))
    columns, rows = probe_table(report)
    assert columns == ("% answered", "all", "gain", "fact", "state")
    assert rows == [
        ("summary", "66.7 [50, 100]", "", "50", "100"),
        ("brief@500", "33.3 [0, 50]", "", "50", "0"),
        ("summary + brief@500", "100.0 [100, 100]", "+33.3 [+0, +50]", "100", "100"),
    ]
    assert (report["cases"], report["sessions"], report["questions"]) == (2, 2, 3)


def test_two_compactions_of_one_session_are_resampled_together() -> None:
    cases = [make_case(make_probe(("a",)), number=1), make_case(make_probe(("b",)), number=2)]
    report = build_probe_report([score(case, "a", (500, "", "")) for case in cases], (500,))
    assert (report["sessions"], report["arms"][0]["all"]["low"]) == (1, None)
    assert probe_table(report)[1][0] == ("summary", "50.0", "", "50")


def test_misses_are_those_of_the_largest_brief_beside_the_summary() -> None:
    case = make_case(make_probe(("a",), ("b", "c")), make_probe(("z",), number=2))
    report = build_probe_report([score(case, "a", (900, "", "z"), (500, "", "b"))], (900, 500))
    assert report["misses"] == [
        {
            "case": 1,
            "transcript": "o__r__one.jsonl",
            "n": 1,
            "category": "fact",
            "question": "question 1?",
            "answer": "answer 1",
            "lines": [3, 7],
            "missing": [["b", "c"]],
        }
    ]


def test_section_shares_are_those_of_the_largest_brief_beside_the_summary() -> None:
    brief = "# Title\nopen\n## Asked\n- 12345678\n## Plan\n- x"
    assert count_section_chars(brief) == {"opening": 11, "Asked": 18, "Plan": 10}
    case = make_case(make_probe(("a",)))
    report = build_probe_report([score(case, "", (900, "", brief), (500, "", "## B"))], (900, 500))
    assert describe_sections(report) == "Asked 46 %, opening 28 %, Plan 26 %"
    assert describe_sections(build_probe_report([score(case, "", (5, "", ""))], (5,))) == ""


def test_a_file_of_probes_is_read_with_its_questions_numbered(tmp_path: Path) -> None:
    session_file(tmp_path, prompt("go"))
    questions = [probe_fields(), probe_fields(n=9, importance=3)]
    (case,) = load_cases(probes_file(tmp_path, [case_fields(probes=questions)]), str(tmp_path))
    assert [probe.number for probe in case.probes] == [1, 9]
    assert case.probes[0].keys == (("8080", "port 80"),)
    assert (case.lines, case.summary_line) == (3, 5)
    assert case.key == ("owner__repo", "one")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ({}, "must be a list of at least one case"),
        ([], "must be a list of at least one case"),
        (["x"], "case 1: must be an object"),
        ([case_fields(), case_fields(transcript="gone.jsonl")], "case 2: transcript: there is no"),
        ([case_fields(transcript=7)], "case 1: transcript: must be a text; it is 7"),
        ([case_fields(lines=0)], "case 1: lines: must be a number from 1; it is 0"),
        ([case_fields(lines=True)], "case 1: lines: must be a number from 1; it is true"),
        ([case_fields(summary_line=None)], "case 1: summary_line: must be a number from 1"),
        ([case_fields(probes=[])], "case 1: probes: must be a list of questions, not empty"),
        ([case_fields(probes=[3])], "case 1, question 1: must be an object"),
        (
            [case_fields(probes=[probe_fields(), {"question": "Why?"}])],
            "case 1, question 2: category: must be a text; it is missing",
        ),
        ([case_fields(probes=[probe_fields(answer=" ")])], "question 1: answer: must be a text"),
        ([case_fields(probes=[probe_fields(lines=["L3"])])], "question 1: lines: must be a list"),
        ([case_fields(probes=[probe_fields(keys=[])])], "question 1: keys: must be a list"),
        ([case_fields(probes=[probe_fields(keys=["8080"])])], "keys: group 1 must be a list"),
        ([case_fields(probes=[probe_fields(keys=[["a"], []])])], "keys: group 2 must be a list"),
        ([case_fields(probes=[probe_fields(keys=[["a", ""]])])], "keys: group 1 must be a list"),
        ([case_fields(probes=[probe_fields(n="1")])], "question 1: n: must be a number from 1"),
    ],
)
def test_an_invalid_file_is_an_error_that_names_case_and_field(
    tmp_path: Path, content: Any, error: str
) -> None:
    session_file(tmp_path, prompt("go"))
    with pytest.raises(InvalidInput) as caught:
        load_cases(probes_file(tmp_path, content), str(tmp_path))
    assert error in str(caught.value)
    assert caught.value.hint


def test_a_file_that_is_not_json_or_not_there_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "probes.json"
    with pytest.raises(InvalidInput, match=r"cannot read .*No such file"):
        load_cases(str(path), str(tmp_path))
    path.write_bytes(b"[{")
    with pytest.raises(InvalidInput, match="is not JSON"):
        load_cases(str(path), str(tmp_path))
    path.write_bytes(b"\xff\xfe[")
    with pytest.raises(InvalidInput, match="is not JSON"):
        load_cases(str(path), str(tmp_path))


def case_at(path: str, summary_line: int) -> Case:
    return Case(number=4, transcript="t", path=path, lines=1, summary_line=summary_line, probes=())


def test_the_summary_is_read_from_its_line_in_plain_and_compressed_files(tmp_path: Path) -> None:
    path = session_file(tmp_path, prompt("go"), compaction_summary("the gist"))
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(Path(path).read_bytes()))
    blocks = session_file(
        tmp_path, [line("user", [{"type": "text", "text": "in a block"}])], name="blocks.jsonl"
    )
    codex = tmp_path / "codex.jsonl"
    codex.write_text(json.dumps({"type": "compacted", "payload": {"message": "a rollout's"}}))
    assert read_summary(case_at(path, 3)).endswith("the gist")
    assert read_summary(case_at(str(packed), 3)).endswith("the gist")
    assert read_summary(case_at(blocks, 1)) == "in a block"
    assert read_summary(case_at(str(codex), 1)) == "a rollout's"


def test_a_line_without_a_summary_is_an_error_that_names_the_case(tmp_path: Path) -> None:
    path = session_file(tmp_path, bash("ls"))
    with pytest.raises(InvalidInput, match="case 4: summary_line: line 1 of t holds no text"):
        read_summary(case_at(path, 1))
    with pytest.raises(InvalidInput, match="case 4: summary_line: t has 2 lines, not 7"):
        read_summary(case_at(path, 7))
    with pytest.raises(InvalidInput, match=r"case 4: transcript: .*No such file"):
        read_summary(case_at(str(tmp_path / "gone.jsonl"), 1))


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [(None, True), ("owner__*", True), ("other__*", False), ("!owner__*", False), ("!o?", True)],
)
def test_a_pattern_selects_names_and_an_exclamation_mark_inverts_it(
    pattern: str | None, matches: bool
) -> None:
    assert matches_pattern("owner__repo__one.jsonl", pattern) is matches
