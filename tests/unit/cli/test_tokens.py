"""`holdfast tokens`: estimates the tokens of a text, and calibrates models from logs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from holdfast.tokens.estimate import Estimator
from holdfast.tokens.scales import FILE_NAME, load_scale
from tests.terminal import Terminal
from tests.unit.tokens.logs import MODEL, make_log
from tests.unit.transcript_lines import Line


def write_log(folder: Path, name: str, lines: list[Line]) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def logs(terminal: Terminal) -> Path:
    folder = terminal.root / "logs"
    for name in ("a", "b", "c"):
        write_log(folder, name, make_log(60, 1.25, name=name))
    return folder


def test_a_text_is_estimated_by_kind_of_content(terminal: Terminal) -> None:
    output = terminal.run("tokens", "keep src/retry.py as it is", "--json").json["text"]
    assert output["tokens"] == Estimator.for_model("").estimate("keep src/retry.py as it is")
    assert output["tokenizer"] == "newest"
    assert output["characters_by_part"] == {
        "names": len("src/retry.py "),
        "prose": len("keep as it is "),
    }


def test_a_path_is_estimated_by_the_content_of_its_file(terminal: Terminal) -> None:
    file = terminal.project / "notes.txt"
    file.write_text("one two three", encoding="utf-8")
    out = terminal.run("tokens", str(file), "--model", MODEL).out
    assert f"{Estimator.for_model(MODEL).estimate('one two three')} tokens" in out


@pytest.mark.parametrize("name", ["docs/missing.md", "missing.txt"])
def test_a_missing_file_is_an_error(terminal: Terminal, name: str) -> None:
    result = terminal.run("tokens", name)
    assert result.code == 1
    assert "File not found: " in result.err


def test_without_a_calibration_the_message_names_the_option(terminal: Terminal) -> None:
    result = terminal.run("tokens")
    assert (result.code, result.out) == (0, "")
    assert "--calibrate" in result.err


def test_a_calibration_is_shown_and_used(terminal: Terminal, logs: Path) -> None:
    result = terminal.run("tokens", "--calibrate", str(logs))
    assert result.code == 0
    assert MODEL in result.out
    assert "estimates are that much longer" in result.err
    (figures,) = terminal.run("tokens", "--json").json["models"]
    assert figures["scale"] == pytest.approx(1.25, rel=0.05)
    assert load_scale(str(terminal.store), MODEL) == figures["scale"]
    text = "src/retry.py " * 50
    estimate = terminal.run("tokens", text, "--model", MODEL, "--json").json["text"]
    assert estimate["tokens"] > 1.2 * Estimator.for_model(MODEL).estimate(text)


def test_an_unchanged_log_is_not_read_twice(
    terminal: Terminal, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = terminal.run("tokens", "--calibrate", str(logs), "--json").json
    monkeypatch.setattr("holdfast.services.calibrate._read_json", pytest.fail)
    assert terminal.run("tokens", "--calibrate", str(logs), "--json").json == first


def test_a_log_that_grew_is_read_again(terminal: Terminal, logs: Path) -> None:
    terminal.run("tokens", "--calibrate", str(logs))
    write_log(logs, "a", make_log(90, 1.25, name="a"))
    assert terminal.run("tokens", "--calibrate", str(logs), "--json").json["models"][0][
        "steps"
    ] == (90 + 60 + 60)


def test_a_copy_of_a_log_is_not_counted(terminal: Terminal, logs: Path) -> None:
    write_log(logs, "copy", make_log(60, 1.25, name="a"))
    output = terminal.run("tokens", "--calibrate", str(logs), "--json").json
    assert output["models"][0]["steps"] == 180


def test_no_text_of_a_log_is_stored(terminal: Terminal, logs: Path) -> None:
    terminal.run("tokens", "--calibrate", str(logs))
    stored = [path for path in terminal.store.iterdir() if path.name.startswith("tokens")]
    assert len(stored) == 2
    for path in stored:
        assert "requeue" not in path.read_text(encoding="utf-8")
        assert path.stat().st_mode & 0o077 == 0


def test_a_folder_without_transcripts_is_an_error(terminal: Terminal) -> None:
    result = terminal.run("tokens", "--calibrate", str(terminal.project))
    assert result.code == 1
    assert "hint:" in result.err


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"version": 9, "models": {"m": {"scale": 1.2}}}', '{"version": 1}',
     '{"version": 1, "models": {"m": {"scale": "x"}}}', '{"version": 1, "models": {"m": 7}}',
     '{"version": 1, "models": {"m": {"scale": 90}}}'],
)  # fmt: skip
def test_an_invalid_calibration_file_is_ignored(tmp_path: Path, content: str) -> None:
    Path(os.path.join(tmp_path, FILE_NAME)).write_text(content, encoding="utf-8")
    assert load_scale(str(tmp_path), "m") == 1.0


def test_a_calibrated_model_gets_a_shorter_brief(terminal: Terminal, logs: Path) -> None:
    file = terminal.root / "session.jsonl"
    file.write_text(
        "".join(json.dumps(line) + "\n" for line in make_log(40, 1.0)), encoding="utf-8"
    )
    command = ("brief", "--transcript", str(file), "--max-tokens", "90", "--json")
    before = terminal.run(*command).json
    terminal.run("tokens", "--calibrate", str(logs))
    after = terminal.run(*command).json
    assert after["tokens"] <= 90
    assert Estimator.for_model(MODEL).estimate(after["text"]) < before["tokens"]
