"""`holdfast doctor`: findings, exit codes, and the self-test with `--loop`."""

from __future__ import annotations

import json
import sys

import pytest

from holdfast.services.doctor import self_test
from holdfast.store.sqlite import SQLiteStore
from tests.faulty_disks import make_read_only
from tests.process.waiting import wait_until
from tests.terminal import Terminal


def test_a_missing_installation_is_only_a_warning(terminal: Terminal) -> None:
    result = terminal.run("doctor")
    assert (result.code, result.err) == (0, "")
    assert (
        "! hooks not installed for this user or folder\n    run `holdfast install`\n" in result.out
    )
    assert not terminal.store.exists()


def test_a_correct_installation_is_reported(terminal: Terminal) -> None:
    terminal.install_fake_claude("2.1.325")
    terminal.run("install")
    result = terminal.run("doctor")
    assert result.code == 0
    assert f"✓ hooks {terminal.user_settings}: 10 events\n" in result.out
    assert "✓ Claude Code 2.1.325 at " in result.out


def test_a_broken_installation_exits_with_1(terminal: Terminal) -> None:
    terminal.run("install")
    text = terminal.user_settings.read_text(encoding="utf-8")
    terminal.user_settings.write_text(text.replace(sys.executable, "/gone/python"))
    result = terminal.run("doctor")
    assert result.code == 1
    assert f"✗ hooks {terminal.user_settings}: the interpreter /gone/python is gone" in result.out
    as_json = terminal.run("doctor", "--json")
    assert as_json.code == 1
    assert as_json.json["ok"] is False
    assert {"name", "status", "detail", "hint"} == set(as_json.json["findings"][0])
    terminal.run("install")
    assert terminal.run("doctor").code == 0


def test_a_damaged_store_fails_once_and_is_a_warning_afterwards(terminal: Terminal) -> None:
    terminal.store.mkdir(mode=0o700)
    (terminal.store / "holdfast.db").write_bytes(b"not a database, not at all " * 200)
    assert terminal.run("doctor").code == 1
    wait_until(lambda: not (terminal.store / "holdfast.db.salvage").exists(), "it was not replaced")
    result = terminal.run("doctor")
    assert result.code == 0
    assert "! store a damaged file was set aside: " in result.out
    assert "not readable: no rows" in result.out


def test_a_home_that_cannot_be_written_is_no_success(terminal: Terminal) -> None:
    terminal.store.mkdir(mode=0o700)
    terminal.run("status")
    with make_read_only(terminal.store):
        as_json = terminal.run("doctor", "--json")
        result = terminal.run("doctor")
    assert (result.code, as_json.code, as_json.json["ok"]) == (1, 1, False)
    statuses = {finding["name"]: finding["status"] for finding in as_json.json["findings"]}
    assert (statuses["home"], statuses["store"]) == ("fail", "fail")
    assert "✓ store" not in result.out
    assert "✗ store" in result.out


def test_errors_that_hooks_logged_are_shown(terminal: Terminal) -> None:
    terminal.run_process("hook", stdin=b"[red]not JSON[/red]")
    out = terminal.run("doctor").out
    assert f"! log {terminal.store / 'holdfast.log'}, last lines\n" in out
    assert "the payload is not JSON" in out


def test_the_self_test_passes_and_leaves_no_files(terminal: Terminal) -> None:
    result = terminal.run("doctor", "--loop")
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("pass\n")
    assert "✓ pass  receipt: the brief arrived: whole\n" in result.out
    assert list(terminal.temporary.iterdir()) == []
    assert not terminal.store.exists()


def test_the_self_test_prints_json(terminal: Terminal) -> None:
    result = terminal.run("doctor", "--loop", "--json")
    assert (result.code, result.err) == (0, "")
    assert result.json["ok"] is True
    names = [step["name"] for step in result.json["loop"]]
    assert names[0] == "SessionStart startup"
    assert names[-1] == "receipt"
    assert all(step["ok"] for step in result.json["loop"])


def test_a_failing_hook_fails_the_self_test(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_test, "hook_command", lambda: f"{sys.executable} -c 'raise Trouble'")
    result = terminal.run("doctor", "--loop")
    assert result.code == 1
    assert "✗ FAIL  SessionStart startup: exit 1: NameError: name 'Trouble'" in result.out
    assert result.out.endswith("fail\n")
    as_json = terminal.run("doctor", "--loop", "--json")
    assert as_json.code == 1
    assert [step["ok"] for step in as_json.json["loop"]] == [False]
    assert list(terminal.temporary.iterdir()) == []


def test_a_brief_that_never_arrived_is_reported(demo_terminal: Terminal) -> None:
    assert "✓ briefs 1 of 1 arrived whole\n" in demo_terminal.run("doctor").out
    store = SQLiteStore(str(demo_terminal.store / "holdfast.db"))
    (session,) = store.sessions(None)
    store.begin()
    store.note_receipt(session["id"], 1, "never", None)
    store.commit()
    store.close()
    out = demo_terminal.run("doctor").out
    assert f"! briefs 0 of 1 arrived whole; never in {session['id']} (compaction 1)\n" in out
    findings = json.loads(demo_terminal.run("doctor", "--json").out)["findings"]
    assert [finding["status"] for finding in findings if finding["name"] == "briefs"] == ["warn"]
