"""`holdfast eval`."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from holdfast.cli import main
from tests.unit.eval.test_run import work
from tests.unit.eval.transcript import said, session_file, summarised


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions, which are only read. Two are measured in processes of their own."""
    made = tmp_path_factory.mktemp("sessions")
    for name in ("owner__repo__one.jsonl", "owner__repo__other.jsonl"):
        session_file(made, said("go"), work(40), summarised("gist"), work(15), name=name)
    return made


@pytest.fixture(scope="module")
def one(folder: Path) -> str:
    return str(folder / "owner__repo__one.jsonl")


def test_a_folder_is_measured_and_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", str(folder), "--budgets", "300,600"]) == 0
    out, err = capsys.readouterr()
    assert "name dump by folder" in out
    assert "budget overshoots 0" in out
    assert "2 sessions of 1 repositories" in err


def test_programs_get_json_and_a_page(
    one: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "recall.html"
    assert main(["eval", one, "--quick", "--json", "--chart", str(page)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sessions"] == 1
    assert found["estimator"] == "ours"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_drawing_alone_can_be_had(one: str, tmp_path: Path) -> None:
    drawing = tmp_path / "recall.svg"
    assert main(["eval", one, "--quick", "--json", "--chart", str(drawing)]) == 0
    assert drawing.read_text(encoding="utf-8").startswith("<svg")
    ElementTree.parse(drawing)


def test_a_chart_without_matplotlib_is_refused_before_anything_is_measured(
    one: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("holdfast.eval.chart.find_spec", lambda name: None)
    monkeypatch.setattr("holdfast.cli.eval.score_all", None)
    assert main(["eval", one, "--quick", "--chart", str(tmp_path / "recall.svg")]) == 1
    assert "pip install 'holdfast[eval]'" in capsys.readouterr().err


def test_recoverability_is_measured_and_shown(
    folder: Path, one: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", str(folder), "--recoverability"]) == 0
    out, err = capsys.readouterr()
    assert "by its exact ref" in out
    assert "2 compactions of 2 sessions" in err
    assert main(["eval", one, "--recoverability", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    last = found["shares"][-1]
    assert (last["what"], last["all"], last["aim"]) == ("by its exact ref", 1.0, 1.0)


def test_one_session_is_explained(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", str(folder), "--explain", "one", "--budgets", "110"]) == 0
    out = capsys.readouterr().out
    assert "pseudo cut at L" in out
    assert "last seen before it" in out
    assert main(["eval", str(folder), "--explain", "one", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["arm"] == "pseudo"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere"], "nowhere (no such file or folder)"),
        (["."], "no .jsonl or .jsonl.gz file found"),
        (["--budgets", "many", "."], "not 'many'"),
        (["--explain", "x", "{folder}"], "No session 'x' among 2 transcripts"),
        (["--explain", "o", "{folder}"], "2 sessions begin with 'o'"),
        (["{one}", "--quick", "--chart", "/nowhere/x.html"], "cannot write /nowhere/x.html"),
    ],
)
def test_what_goes_wrong_is_explained(
    folder: Path,
    one: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["eval", *(each.format(folder=folder, one=one) for each in arguments)]) == 1
    err = capsys.readouterr().err
    assert told in err
    assert "hint: " in err


def test_a_transcript_without_work_ends_in_failure_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = session_file(tmp_path, said("hello"))
    assert main(["eval", path]) == 1
    assert "skipped 1: no tool calls" in capsys.readouterr().err
