"""`holdfast install --mcp`: registers the server, and `uninstall` removes it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.terminal import Terminal

FOREIGN = '{"numStartups":  7,\n\n "mcpServers": {"other":{"command":"x"}}, "z":1}'


@pytest.fixture
def user_file(terminal: Terminal) -> Path:
    return terminal.home / ".claude.json"


def server(file: Path) -> object:
    return json.loads(file.read_text())["mcpServers"]["holdfast"]


def test_it_is_registered_once_and_undone_byte_for_byte(
    terminal: Terminal, user_file: Path
) -> None:
    user_file.write_text(FOREIGN)
    assert terminal.run("install", "--mcp").code == 0
    arguments = ["-P", "-m", "holdfast", "mcp"]
    assert server(user_file) == {
        "type": "stdio", "command": sys.executable, "args": arguments, "env": {},
    }  # fmt: skip
    first = user_file.read_bytes()
    assert "Already registered" in terminal.run("install", "--mcp").err
    assert user_file.read_bytes() == first
    assert terminal.run("uninstall").code == 0
    assert user_file.read_text() == FOREIGN
    assert not terminal.user_settings.exists()


def test_a_project_has_its_own_file_which_uninstall_removes(terminal: Terminal) -> None:
    before = terminal.read_all_files()
    terminal.run("install", "--project", "--mcp")
    assert server(terminal.project / ".mcp.json")
    terminal.run("uninstall", "--project")
    assert terminal.read_all_files() == before


def test_without_the_option_no_such_file_is_touched(terminal: Terminal, user_file: Path) -> None:
    terminal.run("install")
    assert not user_file.exists()
    assert terminal.run("uninstall").code == 0


def test_changes_by_the_host_are_kept(terminal: Terminal, user_file: Path) -> None:
    user_file.write_text(FOREIGN)
    terminal.run("install", "--mcp")
    told = json.loads(user_file.read_text())
    user_file.write_text(json.dumps({**told, "numStartups": 8}, indent=2))
    terminal.run("uninstall")
    assert json.loads(user_file.read_text()) == {**json.loads(FOREIGN), "numStartups": 8}


def test_an_old_interpreter_is_replaced(terminal: Terminal, user_file: Path) -> None:
    terminal.run("install", "--mcp")
    old = user_file.read_text().replace(sys.executable, "/gone/python")
    user_file.write_text(old)
    terminal.run("install", "--mcp")
    assert server(user_file)["command"] == sys.executable  # type: ignore[index]
    terminal.run("uninstall")
    assert not user_file.exists() or json.loads(user_file.read_text()) == {}


def test_an_entry_removed_by_other_means_leaves_no_record(
    terminal: Terminal, user_file: Path
) -> None:
    terminal.run("install", "--mcp")
    user_file.write_text("{}")
    assert terminal.run("uninstall").code == 0
    assert user_file.read_text() == "{}"
    assert not (terminal.store / "installed").exists()


def test_a_dry_run_shows_both_files_and_writes_none(terminal: Terminal, user_file: Path) -> None:
    before = terminal.read_all_files()
    ran = terminal.run("install", "--mcp", "--dry-run")
    assert str(user_file) in ran.out
    assert str(terminal.user_settings) in ran.out
    assert terminal.read_all_files() == before


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is not JSON"),
        ('{"mcpServers": {"holdfast": {"command": "rope"}}}', "another MCP server"),
    ],
)
def test_if_one_file_cannot_be_changed_none_is(
    terminal: Terminal, user_file: Path, content: str, told: str
) -> None:
    user_file.write_text(content)
    ran = terminal.run("install", "--mcp")
    assert ran.code == 1
    assert told in ran.err
    assert user_file.read_text() == content
    assert not terminal.user_settings.exists()


def test_mcp_cannot_be_combined_with_local(terminal: Terminal) -> None:
    ran = terminal.run("install", "--mcp", "--local")
    assert ran.code == 1
    assert "--mcp cannot be combined with --local" in ran.err


def test_without_the_extra_nothing_is_registered(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, user_file: Path
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    ran = terminal.run("install", "--mcp")
    assert ran.code == 1
    assert "pip install 'holdfast[mcp]'" in ran.err
    assert not user_file.exists()
    assert not terminal.user_settings.exists()
