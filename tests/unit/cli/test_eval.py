"""`holdfast eval`."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from holdfast.cli import main
from tests.unit.eval.test_run import repeated_work
from tests.unit.eval.transcript import compaction_summary, prompt, session_file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two read-only transcripts; with two or more, each is scored in a process of its own."""
    folder = tmp_path_factory.mktemp("sessions")
    for name in ("owner__repo__one.jsonl", "owner__repo__other.jsonl"):
        steps = (prompt("go"), repeated_work(40), compaction_summary("gist"), repeated_work(15))
        session_file(folder, *steps, name=name)
    return folder


@pytest.fixture(scope="module")
def transcript(folder: Path) -> str:
    return str(folder / "owner__repo__one.jsonl")


def test_all_transcripts_of_a_folder_are_scored(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", str(folder), "--budgets", "300,600"]) == 0
    out, err = capsys.readouterr()
    assert "name dump" in out
    assert "budget overshoots 0" in out
    assert "2 sessions of 1 repositories" in err


def test_results_are_written_as_json_and_as_an_html_chart(
    transcript: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "recall.html"
    assert main(["eval", transcript, "--quick", "--json", "--chart", str(page)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["sessions"] == 1
    assert report["budgets"] == [500, 1000, 2000]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_chart_with_the_suffix_svg_is_an_svg_image(transcript: str, tmp_path: Path) -> None:
    image = tmp_path / "recall.svg"
    assert main(["eval", transcript, "--quick", "--json", "--chart", str(image)]) == 0
    assert image.read_text(encoding="utf-8").startswith("<svg")
    ElementTree.parse(image)


def test_a_chart_without_matplotlib_is_refused_before_scoring_starts(
    transcript: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("holdfast.eval.chart.find_spec", lambda name: None)
    monkeypatch.setattr("holdfast.cli.eval.score_all", None)
    assert main(["eval", transcript, "--quick", "--chart", str(tmp_path / "recall.svg")]) == 1
    assert "pip install 'holdfast[eval]'" in capsys.readouterr().err


def test_recoverability_is_printed_as_a_table_and_as_json(
    folder: Path, transcript: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", str(folder), "--recoverability"]) == 0
    out, err = capsys.readouterr()
    assert "by its exact ref" in out
    assert "2 compactions of 2 sessions" in err
    assert main(["eval", transcript, "--recoverability", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    last = report["shares"][-1]
    assert (last["what"], last["all"], last["aim"]) == ("by its exact ref", 1.0, 1.0)


def test_explain_shows_the_missing_facts_of_one_session(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", str(folder), "--explain", "one", "--budgets", "110"]) == 0
    out = capsys.readouterr().out
    assert "pseudo cut at L" in out
    assert "last seen before it" in out
    assert main(["eval", str(folder), "--explain", "one", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["arm"] == "pseudo"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["nowhere"], "nowhere (no such file or folder)"),
        (["."], "no .jsonl or .jsonl.gz file found"),
        (["--budgets", "many", "."], "not 'many'"),
        (["--explain", "x", "{folder}"], "No session 'x' among 2 transcripts"),
        (["--explain", "o", "{folder}"], "2 sessions begin with 'o'"),
        (["{transcript}", "--quick", "--chart", "/nowhere/x.html"], "cannot write /nowhere/x.html"),
    ],
)
def test_invalid_arguments_are_errors_with_a_hint(
    folder: Path,
    transcript: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    error: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        main(
            [
                "eval",
                *(argument.format(folder=folder, transcript=transcript) for argument in arguments),
            ]
        )
        == 1
    )
    err = capsys.readouterr().err
    assert error in err
    assert "hint: " in err


def test_a_transcript_without_tool_calls_is_skipped_and_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = session_file(tmp_path, prompt("hello"))
    assert main(["eval", path]) == 1
    assert "skipped 1: no tool calls" in capsys.readouterr().err
