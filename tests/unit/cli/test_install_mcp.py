"""`holdfast install --mcp`: registers the server, and `uninstall` removes it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.terminal import Terminal

EXISTING_SETTINGS = '{"numStartups":  7,\n\n "mcpServers": {"other":{"command":"x"}}, "z":1}'


@pytest.fixture
def user_file(terminal: Terminal) -> Path:
    return terminal.home / ".claude.json"


def read_server(file: Path) -> object:
    return json.loads(file.read_text())["mcpServers"]["holdfast"]


def test_the_server_is_registered_once_and_removed_byte_for_byte(
    terminal: Terminal, user_file: Path
) -> None:
    user_file.write_text(EXISTING_SETTINGS)
    assert terminal.run("install", "--mcp").code == 0
    arguments = ["-P", "-m", "holdfast", "mcp"]
    assert read_server(user_file) == {
        "type": "stdio", "command": sys.executable, "args": arguments, "env": {},
    }  # fmt: skip
    first = user_file.read_bytes()
    assert "Already registered" in terminal.run("install", "--mcp").err
    assert user_file.read_bytes() == first
    assert terminal.run("uninstall").code == 0
    assert user_file.read_text() == EXISTING_SETTINGS
    assert not terminal.user_settings.exists()


def test_a_project_has_its_own_file_which_uninstall_removes(terminal: Terminal) -> None:
    before = terminal.read_all_files()
    terminal.run("install", "--project", "--mcp")
    assert read_server(terminal.project / ".mcp.json")
    terminal.run("uninstall", "--project")
    assert terminal.read_all_files() == before


def test_without_the_option_no_mcp_file_is_created(terminal: Terminal, user_file: Path) -> None:
    terminal.run("install")
    assert not user_file.exists()
    assert terminal.run("uninstall").code == 0


def test_changes_by_the_host_are_kept(terminal: Terminal, user_file: Path) -> None:
    user_file.write_text(EXISTING_SETTINGS)
    terminal.run("install", "--mcp")
    settings = json.loads(user_file.read_text())
    user_file.write_text(json.dumps({**settings, "numStartups": 8}, indent=2))
    terminal.run("uninstall")
    assert json.loads(user_file.read_text()) == {**json.loads(EXISTING_SETTINGS), "numStartups": 8}


def test_installing_again_replaces_an_old_interpreter(terminal: Terminal, user_file: Path) -> None:
    terminal.run("install", "--mcp")
    user_file.write_text(user_file.read_text().replace(sys.executable, "/gone/python"))
    terminal.run("install", "--mcp")
    assert read_server(user_file)["command"] == sys.executable  # type: ignore[index]
    terminal.run("uninstall")
    assert not user_file.exists() or json.loads(user_file.read_text()) == {}


def test_uninstall_accepts_that_the_entry_was_already_removed(
    terminal: Terminal, user_file: Path
) -> None:
    terminal.run("install", "--mcp")
    user_file.write_text("{}")
    assert terminal.run("uninstall").code == 0
    assert user_file.read_text() == "{}"
    assert not (terminal.store / "installed").exists()


def test_a_dry_run_shows_both_files_and_writes_none(terminal: Terminal, user_file: Path) -> None:
    before = terminal.read_all_files()
    result = terminal.run("install", "--mcp", "--dry-run")
    assert str(user_file) in result.out
    assert str(terminal.user_settings) in result.out
    assert terminal.read_all_files() == before


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("{", "is not JSON"),
        ('{"mcpServers": {"holdfast": {"command": "rope"}}}', "another MCP server"),
    ],
)
def test_if_the_mcp_file_cannot_be_changed_no_file_is_changed(
    terminal: Terminal, user_file: Path, content: str, error: str
) -> None:
    user_file.write_text(content)
    result = terminal.run("install", "--mcp")
    assert result.code == 1
    assert error in result.err
    assert user_file.read_text() == content
    assert not terminal.user_settings.exists()


def test_mcp_cannot_be_combined_with_local(terminal: Terminal) -> None:
    result = terminal.run("install", "--mcp", "--local")
    assert result.code == 1
    assert "--mcp cannot be combined with --local" in result.err


def test_without_the_mcp_package_nothing_is_registered(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, user_file: Path
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = terminal.run("install", "--mcp")
    assert result.code == 1
    assert "pip install 'holdfast[mcp]'" in result.err
    assert not user_file.exists()
    assert not terminal.user_settings.exists()
