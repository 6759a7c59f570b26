"""`holdfast eval --probes` and `--sentences` on real sessions, with the labels that belong to them.

The answers must be those of the reference scorer, a separate program that runs `holdfast brief`.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli import main
from tests.golden.corpus import CORPUS, PROBES

PROBES_FILE, SENTENCES_FILE = PROBES / "probes.json", PROBES / "sentences.tsv"
REFERENCE_SCORER = PROBES / "score.py"
BRIEF_COMMAND = (
    f"{sys.executable} -m holdfast brief --transcript {{transcript}} --until-line {{lines}} "
    "--max-tokens {budget} {summary}"
)
# `make test` scores every fourth case: the reference scorer starts six processes for each.
FAST_INTERVAL = 4

pytestmark = pytest.mark.skipif(
    not (CORPUS.is_dir() and REFERENCE_SCORER.is_file()),
    reason="the corpus of real sessions and its probes are not here",
)


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["eval", *arguments, str(CORPUS), "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def run_reference(probes: Path, rows: Path, budgets: str) -> list[str]:
    """Run the reference scorer; it writes its rows as JSON. Return the lines that it prints."""
    command = [
        sys.executable, str(REFERENCE_SCORER), str(probes), str(CORPUS),
        "--cli", BRIEF_COMMAND, "--budgets", budgets, "--json", str(rows),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "interval", [FAST_INTERVAL, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_every_answer_is_that_of_the_reference_scorer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], interval: int
) -> None:
    cases = json.loads(PROBES_FILE.read_text(encoding="utf-8"))[::interval]
    probes, rows = tmp_path / "probes.json", tmp_path / "rows.json"
    probes.write_text(json.dumps(cases), encoding="utf-8")
    printed = run_reference(probes, rows, "1000,2000,3000")
    report = run_json(capsys, "--probes", str(probes), "--budgets", "1000,2000,3000")

    assert report["answers"] == json.loads(rows.read_text(encoding="utf-8"))
    assert len(report["answers"]) == 7 * sum(len(case["probes"]) for case in cases)
    overall = {line[:22].strip(): line[22:28].strip() for line in printed[1:8]}
    assert {arm["arm"]: f"{100 * arm['all']['mean']:.1f}" for arm in report["arms"]} == overall
    shares = ", ".join(
        f"{name} {100 * share:.0f} %" for name, share in list(report["sections"].items())[:12]
    )
    assert printed[-1] == f"sections by characters: {shares}"


def test_a_brief_beside_the_summary_answers_more_than_the_summary_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = run_json(capsys, "--probes", str(PROBES_FILE), "--budgets", "1000")
    (gain,) = [arm["gain"] for arm in report["arms"] if arm["gain"]]
    assert gain["low"] > 0


def test_labelled_sentences_are_found_among_rules_and_decisions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with SENTENCES_FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    report = run_json(capsys, "--sentences", str(SENTENCES_FILE))
    for kind, label in (("rules", "standing"), ("decisions", "decision")):
        agreed = [row for row in rows if row["reader_1"] == row["reader_2"] == label]
        (figures,) = [each for each in report["kinds"] if each["kind"] == kind]
        assert figures["found"]["values"] == len(agreed)
        assert 0 < figures["found"]["mean"] <= 1
        # A change of the fold's sentence splitting must not make the comparison empty.
        assert figures["unlabelled"] < figures["taken"] / 2
