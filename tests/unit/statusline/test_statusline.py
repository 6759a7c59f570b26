"""The line in the host's status bar."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.hosts.statusline_settings import chain_command
from holdfast.services.install.registration import statusline_command
from holdfast.state.fold import new_state
from holdfast.state.thresholds import GUARD_KEY
from holdfast.statusline import main, render
from holdfast.statusline.render import Figures, render_gauge
from holdfast.store.sqlite import SQLiteStore


def payload(
    percent: float | None = 42, tokens: int = 84_000, size: int | None = None
) -> dict[str, object]:
    window = {"used_percentage": percent, "total_input_tokens": tokens}
    window |= {"context_window_size": size} if size else {}
    return {"session_id": "s1", "context_window": window}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("CLAUDE_CODE_AUTO_COMPACT_WINDOW", raising=False)
    return tmp_path


def test_the_gauge_shows_percentage_and_tokens(home: Path) -> None:
    assert main.render_status_line(payload(), colour=False) == "████░░░░░░ 42 % · 84k"


def test_before_the_first_response_the_gauge_is_empty(home: Path) -> None:
    assert main.render_status_line(payload(None), colour=False) == "░░░░░░░░░░ –"


@pytest.mark.parametrize(
    ("percent", "code"), [(10, "32"), (50, "33"), (70, "38;5;208"), (85, "31"), (96, "1;31")]
)
def test_each_zone_of_the_gauge_has_its_colour(home: Path, percent: int, code: str) -> None:
    assert f"\x1b[{code}m" in main.render_status_line(payload(percent), colour=True)


@pytest.mark.parametrize("percent", [-5, 0, 100, 250])
def test_the_bar_always_has_the_same_width(home: Path, percent: int) -> None:
    line = main.render_status_line(payload(percent), colour=False)
    assert len(line.split(" ")[0]) == render.BAR_WIDTH


def save_compaction(home: Path, receipt: str) -> None:
    """Store a session with one compaction, whose brief has this receipt."""
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


def test_the_line_shows_when_the_session_was_last_saved(home: Path) -> None:
    save_compaction(home, "whole")
    line = main.render_status_line(payload(), colour=False)
    assert " d ago" in line
    assert "!" not in line


def test_the_line_warns_if_the_last_brief_did_not_arrive(home: Path) -> None:
    save_compaction(home, "never")
    assert "! the last brief did not arrive" in main.render_status_line(payload(), colour=False)


def set_guard_mark(home: Path, **values: object) -> None:
    """Store what the context guard remembers about the session."""
    with closing(SQLiteStore(str(home / "holdfast.db"))) as store:
        store.set_mark("s1", GUARD_KEY, {"saved": ["80000 tokens"], **values})


def test_the_line_counts_compactions_and_estimates_the_turns_left(home: Path) -> None:
    save_compaction(home, "whole")
    set_guard_mark(home, compactions=2, growth=8000)
    line = main.render_status_line(payload(size=200_000), colour=False)
    assert "84k · ~14 turns left · saved" in line
    assert line.endswith(" d ago · compacted 2×")


def test_turns_left_use_the_configured_or_observed_compaction_size(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_compaction(home, "whole")
    set_guard_mark(home, growth=8000, limit=167_000)
    assert "~10 turns left" in main.render_status_line(payload(size=200_000), colour=False)
    monkeypatch.setenv("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "92000")
    assert "~1 turn left" in main.render_status_line(payload(size=200_000), colour=False)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (80, "████░░░░░░ 42 % · 84k · ~14 turns left · saved 5 min ago · compacted 2×"),
        (60, "████░░░░░░ 42 % · 84k · ~14 turns left · saved 5 min ago"),
        (40, "████░░░░░░ 42 % · 84k · ~14 turns left"),
        (25, "████░░░░░░ 42 % · 84k"),
        (18, "████░░░░░░ 42 %"),
        (12, "██░░░ 42 %"),
        (3, "42 %"),
    ],
)
def test_a_narrow_terminal_gets_only_the_most_important_figures(width: int, expected: str) -> None:
    figures = Figures(percent=42, tokens=84_000, turns=14, saved_ago=300.0, compactions=2)
    assert render_gauge(figures, (50, 70, 85, 95), colour=False, width=width) == expected
    visible_width = main.visible_width(render_gauge(figures, (50,), colour=True, width=width))
    assert visible_width == len(expected)


def test_the_warning_is_shown_at_any_width() -> None:
    figures = Figures(percent=90, tokens=1, turns=3, receipt="never")
    line = render_gauge(figures, (50, 70, 85, 95), colour=True, width=20)
    assert line == "\x1b[31m90 %\x1b[0m · \x1b[31m! the last brief did not arrive\x1b[0m"


def test_the_colour_zones_can_be_set(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_ZONES", "10,20,30,40")
    assert "\x1b[1;31m" in main.render_status_line(payload(42), colour=True)


def test_the_width_comes_from_the_host_or_the_terminal() -> None:
    assert main.terminal_columns({"COLUMNS": "72"}) == 72
    assert main.terminal_columns({"COLUMNS": "wide"}) >= 0


def test_an_unreadable_store_still_shows_the_figures_of_the_payload(home: Path) -> None:
    (home / "holdfast.db").mkdir()
    assert main.render_status_line(payload(), colour=False) == "████░░░░░░ 42 % · 84k"
    assert "statusline:" in (home / "holdfast.log").read_text()


# With a status line of the user


@pytest.mark.parametrize(
    ("existing", "width", "expected"),
    [
        ("opus", 0, "opus │ gauge"),
        ("opus", 12, "opus │ gauge"),
        ("opus", 11, "opus\ngauge"),
        ("one\ntwo\n", 0, "one │ gauge\ntwo"),
        ("one\ntwo", 5, "one\ntwo\ngauge"),
        ("\x1b[31mred\x1b[0m", 11, "\x1b[31mred\x1b[0m │ gauge"),
        ("", 0, "gauge"),
        (" \n", 5, "gauge"),
    ],
)
def test_the_gauge_goes_after_or_below_the_existing_status_line(
    existing: str, width: int, expected: str
) -> None:
    assert main.join_status_lines(existing, "gauge", width) == expected


def run_chained(command: str, stdin: str, **variables: str) -> subprocess.CompletedProcess[str]:
    words = shlex.split(chain_command(statusline_command(), command))
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **variables}
    return subprocess.run(
        words, input=stdin, capture_output=True, text=True, check=False, env=env, timeout=30
    )


def test_the_chained_command_gets_the_payload_and_both_lines_are_shown(home: Path) -> None:
    process = run_chained("cat | cut -c 2-13; echo 'it''s'", json.dumps(payload()))
    assert process.stdout == '"session_id" │ ████░░░░░░ 42 % · 84k\nits\n'
    assert (process.returncode, process.stderr) == (0, "")


@pytest.mark.parametrize("command", ["exit 3", "no-such-program-here 2>/dev/null", "true"])
def test_without_output_of_the_chained_command_only_the_gauge_is_shown(
    home: Path, command: str
) -> None:
    assert run_chained(command, json.dumps(payload())).stdout == "████░░░░░░ 42 % · 84k\n"


def test_a_chained_command_that_ignores_a_large_payload_does_not_block(
    home: Path,
) -> None:
    stdin = json.dumps({**payload(), "more": "x" * 500_000})
    assert run_chained("echo mine", stdin).stdout == "mine │ ████░░░░░░ 42 % · 84k\n"


def test_the_status_line_creates_no_store(home: Path) -> None:
    main.render_status_line(payload(), colour=False)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("stdin", ["", "junk", "[]", "{}", '{"context_window": 3}'])
def test_any_payload_gives_one_line_and_exit_code_0(home: Path, stdin: str) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "holdfast", "statusline"],
        input=stdin, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (process.returncode, process.stdout.count("\n"), process.stderr) == (0, 1, "")


def test_no_color_is_respected(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    process = subprocess.run(
        [sys.executable, "-m", "holdfast", "statusline"],
        input=json.dumps(payload()), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "\x1b" not in process.stdout
    assert "42 %" in process.stdout
