"""The line in the host's status bar."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.state.fold import new_state
from holdfast.store.sqlite import SQLiteStore
from holdfast.surfaces import statusline


def payload(percent: float | None = 42, tokens: int = 84_000) -> dict[str, object]:
    window = {"used_percentage": percent, "total_input_tokens": tokens}
    return {"session_id": "s1", "context_window": window}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    return tmp_path


def test_the_gauge_shows_share_and_tokens(home: Path) -> None:
    assert statusline.line(payload(), colour=False) == "████░░░░░░ 42 % · 84k"


def test_before_the_first_answer_nothing_is_known(home: Path) -> None:
    assert statusline.line(payload(None), colour=False) == "░░░░░░░░░░ –"


@pytest.mark.parametrize(
    ("percent", "code"), [(10, "32"), (50, "33"), (70, "38;5;208"), (85, "31"), (96, "1;31")]
)
def test_each_zone_has_its_colour(home: Path, percent: int, code: str) -> None:
    assert f"\x1b[{code}m" in statusline.line(payload(percent), colour=True)


@pytest.mark.parametrize("percent", [-5, 0, 100, 250])
def test_the_bar_is_never_longer_or_shorter(home: Path, percent: int) -> None:
    told = statusline.line(payload(percent), colour=False)
    assert len(told.split(" ")[0]) == statusline.WIDTH


def store_with(home: Path, receipt: str) -> None:
    store = SQLiteStore(str(home / "holdfast.db"))
    store.begin()
    store.save_session(
        session="s1", host="claude-code", project="/p", transcript="", cursor=None,
        state=new_state(), revision=0, now=1.0,
    )  # fmt: skip
    snapshot = store.add_snapshot("s1", "auto", new_state(), 1.0)
    store.open_compaction("s1", 1, trigger="auto", snapshot=snapshot, now=1.0)
    store.note_brief(
        "s1", 1, brief_id="0" * 8, brief="b", line=1, delivered_by="SessionStart", now=1.0
    )
    store.note_receipt("s1", 1, receipt, None)
    store.commit()
    store.close()


def test_it_says_when_the_session_was_last_saved(home: Path) -> None:
    store_with(home, "whole")
    told = statusline.line(payload(), colour=False)
    assert " d ago" in told
    assert "!" not in told


def test_it_raises_the_alarm_when_a_brief_did_not_arrive(home: Path) -> None:
    store_with(home, "never")
    assert "! the last brief did not arrive" in statusline.line(payload(), colour=False)


def test_looking_makes_no_store(home: Path) -> None:
    statusline.line(payload(), colour=False)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("told", ["", "junk", "[]", "{}", '{"context_window": 3}'])
def test_whatever_the_host_sends_it_prints_one_line_and_exits_0(home: Path, told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "statusline"],
        input=told, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "")


def test_no_color_is_respected(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "statusline"],
        input=json.dumps(payload()), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "\x1b" not in done.stdout
    assert "42 %" in done.stdout
