"""`holdfast doctor`: its findings, its exit codes, and the loop on a temporary session."""

from __future__ import annotations

import json
import sys

import pytest

from holdfast.services.doctor import self_test
from holdfast.store.sqlite import SQLiteStore
from tests.terminal import Terminal


def test_without_an_installation_doctor_does_not_fail(terminal: Terminal) -> None:
    ran = terminal.run("doctor")
    assert (ran.code, ran.err) == (0, "")
    assert "! hooks not installed for this user or folder\n    run `holdfast install`\n" in ran.out
    assert not terminal.store.exists()


def test_a_correct_installation_is_reported(terminal: Terminal) -> None:
    terminal.claude("2.1.325")
    terminal.run("install")
    ran = terminal.run("doctor")
    assert ran.code == 0
    assert f"✓ hooks {terminal.user_settings}: 10 events\n" in ran.out
    assert "✓ Claude Code 2.1.325 at " in ran.out


def test_a_broken_installation_exits_with_1(terminal: Terminal) -> None:
    terminal.run("install")
    text = terminal.user_settings.read_text(encoding="utf-8")
    terminal.user_settings.write_text(text.replace(sys.executable, "/gone/python"))
    ran = terminal.run("doctor")
    assert ran.code == 1
    assert f"✗ hooks {terminal.user_settings}: the interpreter /gone/python is gone" in ran.out
    told = terminal.run("doctor", "--json")
    assert told.code == 1
    assert told.json["ok"] is False
    assert {"name", "status", "detail", "hint"} == set(told.json["findings"][0])
    terminal.run("install")
    assert terminal.run("doctor").code == 0


def test_a_damaged_store_is_a_failure_once(terminal: Terminal) -> None:
    terminal.store.mkdir(mode=0o700)
    (terminal.store / "holdfast.db").write_bytes(b"not a database, not at all " * 200)
    assert terminal.run("doctor").code == 1
    ran = terminal.run("doctor")
    assert ran.code == 0
    assert "! store a damaged store was set aside: holdfast.db.damaged-" in ran.out


def test_errors_that_hooks_logged_are_shown(terminal: Terminal) -> None:
    terminal.process("hook", stdin=b"[red]not JSON[/red]")
    out = terminal.run("doctor").out
    assert f"! log {terminal.store / 'holdfast.log'}, last lines\n" in out
    assert "the payload is not JSON" in out


def test_the_loop_passes_and_leaves_no_files(terminal: Terminal) -> None:
    ran = terminal.run("doctor", "--loop")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("pass\n")
    assert "✓ pass  receipt: the brief arrived: whole\n" in ran.out
    assert list(terminal.temporary.iterdir()) == []
    assert not terminal.store.exists()


def test_the_loop_in_json(terminal: Terminal) -> None:
    ran = terminal.run("doctor", "--loop", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["ok"] is True
    names = [step["name"] for step in ran.json["loop"]]
    assert names[0] == "SessionStart startup"
    assert names[-1] == "receipt"
    assert all(step["ok"] for step in ran.json["loop"])


def test_a_loop_that_breaks_is_a_failure(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_test, "hook_command", lambda: f"{sys.executable} -c 'raise Trouble'")
    ran = terminal.run("doctor", "--loop")
    assert ran.code == 1
    assert "✗ FAIL  SessionStart startup: exit 1: NameError: name 'Trouble'" in ran.out
    assert ran.out.endswith("fail\n")
    told = terminal.run("doctor", "--loop", "--json")
    assert told.code == 1
    assert [step["ok"] for step in told.json["loop"]] == [False]
    assert list(terminal.temporary.iterdir()) == []


def test_a_brief_that_never_arrived_is_reported(seasoned: Terminal) -> None:
    assert "✓ briefs 1 of 1 arrived whole\n" in seasoned.run("doctor").out
    store = SQLiteStore(str(seasoned.store / "holdfast.db"))
    (session,) = store.sessions(None)
    store.begin()
    store.note_receipt(session["id"], 1, "never", None)
    store.commit()
    store.close()
    out = seasoned.run("doctor").out
    assert f"! briefs 0 of 1 arrived whole; never in {session['id']} (compaction 1)\n" in out
    findings = json.loads(seasoned.run("doctor", "--json").out)["findings"]
    assert [found["status"] for found in findings if found["name"] == "briefs"] == ["warn"]
