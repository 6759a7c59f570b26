"""Labelled sentences: the file, and the comparison with what the fold took."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import InvalidInput
from holdfast.eval.product import find_statements
from holdfast.eval.sentences import (
    LabelledSession,
    Statement,
    build_sentence_report,
    find_transcript,
    judge_session,
    load_sentences,
    sentence_table,
)
from tests.unit.eval.transcript import prompt, session_file

HEADER = "session\tline\treader_1\treader_2\ttext"
KEY = ("owner__repo", "one")


def sentences_file(folder: Path, *rows: str, header: str = HEADER) -> str:
    path = folder / "sentences.tsv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def session(tmp_path: Path) -> LabelledSession:
    path = sentences_file(
        tmp_path,
        "owner__repo/one\t1\tstanding\tstanding\tNever push to main.",
        "owner__repo/one\t1\tother\tother\tyes",
        'owner__repo/one\t2\tdecision\tdecision\tWe take "redis".',
        "owner__repo/one\t3\toneoff\toneoff\tFix this now.",
        "owner__repo/one\t4\tstanding\toneoff\tKeep it short.",
        "owner__repo/one\t5\tstanding\tstanding\tWrite British English.",
        "owner__repo/one\t6\tdecision\tdecision\tNo cache then.",
    )
    (labelled,) = load_sentences(path)
    return labelled


def test_right_and_found_shares_count_only_what_both_readers_agree_on(
    session: LabelledSession,
) -> None:
    rules = [
        Statement(text="never push to main", line=1),
        Statement(text="Fix this now.", line=3),
        Statement(text="Keep it short.", line=4),
        Statement(text="not in the file", line=9),
    ]
    decisions = [Statement(text="We take “redis”", line=2)]
    report = build_sentence_report([judge_session(session, KEY, rules, decisions)])
    columns, rows = sentence_table(report)
    assert columns == ("taken as", "standing or decided", "of taken", "taken", "of labelled")
    assert rows == [
        ("rules", "50.0", "2", "50.0", "2 standing"),
        ("decisions", "100.0", "1", "50.0", "2 decision"),
        ("rules or decisions", "66.7", "3", "50.0", "4 standing or decision"),
    ]
    assert [kind["unlabelled"] for kind in report["kinds"]] == [1, 0, 1]


def test_wrong_and_missed_sentences_are_listed_once(session: LabelledSession) -> None:
    rules = [Statement(text="Fix this now.", line=3), Statement(text="No cache then.", line=6)]
    report = build_sentence_report([judge_session(session, KEY, rules, [])])
    assert [item["text"] for item in report["wrong"]] == ["Fix this now."]
    assert [(item["kind"], item["line"]) for item in report["missed"]] == [
        ("rules", 1),
        ("rules", 5),
        ("decisions", 2),
        ("decisions", 6),
    ]
    assert report["wrong"][0]["session"] == "owner__repo/one"


def test_a_statement_of_several_sentences_matches_each_of_them_in_its_own_line(
    session: LabelledSession,
) -> None:
    spanning = [Statement(text="yes. Never push to main. Or else.", line=1)]
    report = build_sentence_report([judge_session(session, KEY, spanning, [])])
    assert report["kinds"][0]["right"]["mean"] == 1.0
    assert report["kinds"][0]["found"]["mean"] == 0.5
    elsewhere = [Statement(text="yes. Never push to main. Or else.", line=8)]
    report = build_sentence_report([judge_session(session, KEY, elsewhere, [])])
    assert report["kinds"][0]["unlabelled"] == 1


def test_a_sentence_that_the_user_repeats_is_found_in_every_line(tmp_path: Path) -> None:
    rows = [f"owner__repo/one\t{number}\tstanding\tstanding\tNever push." for number in (1, 9)]
    (labelled,) = load_sentences(sentences_file(tmp_path, *rows))
    rules = [Statement(text="Never push.", line=1)]
    report = build_sentence_report([judge_session(labelled, KEY, rules, [])])
    assert report["kinds"][0]["found"]["mean"] == 1.0


def test_a_share_of_nothing_is_a_dash(session: LabelledSession) -> None:
    report = build_sentence_report([judge_session(session, KEY, [], [])])
    assert sentence_table(report)[1][0] == ("rules", "–", "0", "0.0", "2 standing")


def test_statements_are_the_rules_and_decisions_that_the_user_typed(tmp_path: Path) -> None:
    path = session_file(
        tmp_path,
        prompt("Never push to main. Let's use redis instead of memcached."),
    )
    rules, decisions = find_statements(path)
    assert rules == [Statement(text="Never push to main.", line=1)]
    assert "redis" in decisions[0].text


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([], "holds no sentence"),
        (["o/s\t1\tstanding\tstanding"], "line 2 has 4 columns, not 5"),
        (["o/s\t1\tother\tother\tHi", "o/s\t1\tother\trule\tHi"], "line 3: reader_2: must be one"),
        (["o/s\tL1\tother\tother\tHi"], "line 2: line: must be a number from 1; it is 'L1'"),
        (["o/s\t0\tother\tother\tHi"], "line 2: line: must be a number from 1; it is '0'"),
    ],
)
def test_an_invalid_file_is_an_error_that_names_line_and_column(
    tmp_path: Path, rows: list[str], error: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_sentences(sentences_file(tmp_path, *rows))
    assert error in str(caught.value)
    assert caught.value.hint


def test_a_file_without_the_columns_or_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="must name the columns session, line"):
        load_sentences(sentences_file(tmp_path, header="session\ttext"))
    with pytest.raises(InvalidInput, match=r"cannot read .*No such file"):
        load_sentences(str(tmp_path / "gone.tsv"))
    binary = tmp_path / "binary.tsv"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="is not a table of text"):
        load_sentences(str(binary))


def test_a_session_is_found_by_its_repository_and_the_start_of_its_id(
    session: LabelledSession,
) -> None:
    one, other = "/t/owner__repo__one-1.jsonl", "/t/else__repo__one-1.jsonl"
    assert find_transcript(session, [other, one]) == one
    with pytest.raises(InvalidInput, match="line 2: session: no transcripts of 'owner__repo/one'"):
        find_transcript(session, [other])
    with pytest.raises(InvalidInput, match="2 transcripts"):
        find_transcript(session, [one, "/t/owner__repo__one-2.jsonl"])
