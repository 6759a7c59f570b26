"""`holdfast tokens`: a text is counted, and what logs teach is shown and used."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from holdfast.actions.learned_tokens import FILE, scale_of
from holdfast.brief.tokens import Estimator
from tests.terminal import Terminal
from tests.unit.calibration.logs import MODEL, log
from tests.unit.transcript_lines import Line


def written(folder: Path, name: str, lines: list[Line]) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def logs(terminal: Terminal) -> Path:
    folder = terminal.root / "logs"
    for name in ("a", "b", "c"):
        written(folder, name, log(60, 1.25, name=name))
    return folder


def test_a_text_is_counted_by_what_it_consists_of(terminal: Terminal) -> None:
    told = terminal.run("tokens", "keep src/retry.py as it is", "--json").json["text"]
    assert told["tokens"] == Estimator.for_model("").estimate("keep src/retry.py as it is")
    assert told["tokenizer"] == "newest"
    assert told["characters_by_part"] == {
        "names": len("src/retry.py "),
        "prose": len("keep as it is "),
    }


def test_a_file_is_counted_by_what_is_in_it(terminal: Terminal) -> None:
    file = terminal.project / "notes.txt"
    file.write_text("one two three", encoding="utf-8")
    out = terminal.run("tokens", str(file), "--model", MODEL).out
    assert f"{Estimator.for_model(MODEL).estimate('one two three')} tokens" in out


@pytest.mark.parametrize("name", ["docs/missing.md", "missing.txt"])
def test_a_path_that_is_not_there_is_no_text(terminal: Terminal, name: str) -> None:
    ran = terminal.run("tokens", name)
    assert ran.code == 1
    assert "no such file" in ran.err


def test_nothing_is_known_before_something_was_learned(terminal: Terminal) -> None:
    ran = terminal.run("tokens")
    assert (ran.code, ran.out) == (0, "")
    assert "--calibrate" in ran.err


def test_what_logs_teach_is_shown_and_counts(terminal: Terminal, logs: Path) -> None:
    ran = terminal.run("tokens", "--calibrate", str(logs))
    assert ran.code == 0
    assert MODEL in ran.out
    assert "estimates are that much longer" in ran.err
    (figures,) = terminal.run("tokens", "--json").json["models"]
    assert figures["scale"] == pytest.approx(1.25, rel=0.05)
    assert scale_of(str(terminal.store), MODEL) == figures["scale"]
    text = "src/retry.py " * 50
    counted = terminal.run("tokens", text, "--model", MODEL, "--json").json["text"]
    assert counted["tokens"] > 1.2 * Estimator.for_model(MODEL).estimate(text)


def test_a_log_that_was_read_is_not_read_again(
    terminal: Terminal, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = terminal.run("tokens", "--calibrate", str(logs), "--json").json
    monkeypatch.setattr("holdfast.actions.calibrate._lines", pytest.fail)
    assert terminal.run("tokens", "--calibrate", str(logs), "--json").json == first


def test_a_log_that_grew_is_read_anew(terminal: Terminal, logs: Path) -> None:
    terminal.run("tokens", "--calibrate", str(logs))
    written(logs, "a", log(90, 1.25, name="a"))
    assert terminal.run("tokens", "--calibrate", str(logs), "--json").json["models"][0][
        "steps"
    ] == (90 + 60 + 60)


def test_a_copy_of_a_log_teaches_nothing_new(terminal: Terminal, logs: Path) -> None:
    written(logs, "copy", log(60, 1.25, name="a"))
    told = terminal.run("tokens", "--calibrate", str(logs), "--json").json
    assert told["models"][0]["steps"] == 180


def test_only_numbers_are_kept_of_a_log(terminal: Terminal, logs: Path) -> None:
    terminal.run("tokens", "--calibrate", str(logs))
    kept = [path for path in terminal.store.iterdir() if path.name.startswith("tokens")]
    assert len(kept) == 2
    for path in kept:
        assert "requeue" not in path.read_text(encoding="utf-8")
        assert path.stat().st_mode & 0o077 == 0


def test_a_folder_without_transcripts_is_an_error(terminal: Terminal) -> None:
    ran = terminal.run("tokens", "--calibrate", str(terminal.project))
    assert ran.code == 1
    assert "hint:" in ran.err


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"version": 9, "models": {"m": {"scale": 1.2}}}', '{"version": 1}',
     '{"version": 1, "models": {"m": {"scale": "x"}}}', '{"version": 1, "models": {"m": 7}}',
     '{"version": 1, "models": {"m": {"scale": 90}}}'],
)  # fmt: skip
def test_a_file_that_is_not_ours_changes_nothing(tmp_path: Path, content: str) -> None:
    Path(os.path.join(tmp_path, FILE)).write_text(content, encoding="utf-8")
    assert scale_of(str(tmp_path), "m") == 1.0


def test_a_brief_is_shorter_for_a_model_that_counts_more(terminal: Terminal, logs: Path) -> None:
    file = terminal.root / "session.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in log(40, 1.0)), encoding="utf-8")
    command = ("brief", "--transcript", str(file), "--max-tokens", "200", "--json")
    before = terminal.run(*command).json
    terminal.run("tokens", "--calibrate", str(logs))
    after = terminal.run(*command).json
    assert after["tokens"] <= 200
    assert Estimator.for_model(MODEL).estimate(after["text"]) < before["tokens"]
