"""`holdfast install` and `uninstall` for Claude Code: files, events and messages."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.terminal import Terminal

EXISTING_SETTINGS = b'{\r\n\t"model": "opus",\r\n\t"env": {"A": "\xc3\xa9"}\r\n}'
SCOPES: list[tuple[list[str], str]] = [
    ([], "user/.claude/settings.json"),
    (["--project"], "project/.claude/settings.json"),
    (["--local"], "project/.claude/settings.local.json"),
]


def read_events(path: Path) -> list[str]:
    return list(json.loads(path.read_text(encoding="utf-8"))["hooks"])


@pytest.mark.parametrize(("scope", "relative_path"), SCOPES)
def test_each_scope_has_its_own_file_which_uninstall_removes(
    terminal: Terminal, scope: list[str], relative_path: str
) -> None:
    terminal.install_fake_claude("2.1.325")
    before = terminal.read_all_files()
    path = terminal.root / relative_path
    result = terminal.run("install", *scope)
    assert (result.code, result.out) == (0, "")
    assert f"Installed in {path} (Claude Code 2.1.325): SessionStart, " in result.err
    assert "PostCompact" in read_events(path)
    assert [file for file in terminal.root.rglob("*.json") if file != path] == [
        *(terminal.store / "installed").iterdir()
    ]
    result = terminal.run("uninstall", *scope)
    assert (result.code, result.out) == (0, "")
    assert f"Removed from {path} (the install created this file, so it is deleted)." in result.err
    assert terminal.read_all_files() == before


@pytest.mark.parametrize(("scope", "relative_path"), SCOPES)
def test_uninstall_restores_an_existing_file_byte_for_byte(
    terminal: Terminal, scope: list[str], relative_path: str
) -> None:
    path = terminal.root / relative_path
    path.parent.mkdir()
    path.write_bytes(EXISTING_SETTINGS)
    before = terminal.read_all_files()
    assert terminal.run("install", *scope).code == 0
    assert path.read_bytes() != EXISTING_SETTINGS
    assert "as it was, byte for byte" in terminal.run("uninstall", *scope).err
    assert terminal.read_all_files() == before


def test_installing_or_uninstalling_twice_changes_nothing(terminal: Terminal) -> None:
    terminal.run("install")
    before = terminal.read_all_files()
    result = terminal.run("install")
    assert result.err == f"Already installed in {terminal.user_settings}; nothing to do.\n"
    assert terminal.read_all_files() == before
    terminal.run("uninstall")
    result = terminal.run("uninstall")
    assert result.code == 0
    assert f"not installed in {terminal.user_settings}; nothing to do" in result.err


@pytest.mark.parametrize(
    ("version", "has_post_compact"), [("2.0.14", False), ("2.1.50", False), ("2.1.197", True)]
)
def test_the_client_on_the_path_determines_the_events(
    terminal: Terminal, version: str, has_post_compact: bool
) -> None:
    terminal.install_fake_claude(version)
    assert f"(Claude Code {version})" in terminal.run("install").err
    assert ("PostCompact" in read_events(terminal.user_settings)) == has_post_compact


def test_a_configured_client_is_preferred_to_the_path(terminal: Terminal) -> None:
    configured = terminal.install_fake_claude("2.1.50").rename(terminal.root / "configured")
    terminal.install_fake_claude("2.1.325")
    terminal.set_env(HOLDFAST_CLAUDE=configured)
    terminal.run("install")
    assert "PostCompact" not in read_events(terminal.user_settings)


def test_without_a_client_only_events_that_every_version_has_are_registered(
    terminal: Terminal,
) -> None:
    result = terminal.run("install")
    assert result.code == 0
    assert "(the events of every Claude Code)" in result.err
    assert "`claude` is not on the PATH; run this again" in result.err
    assert "PostCompact" not in read_events(terminal.user_settings)
    program = terminal.install_fake_claude("no version")
    terminal.run("uninstall")
    assert f"{program} did not print its version; run this again" in terminal.run("install").err


def test_installing_into_a_shared_file_suggests_the_local_one(terminal: Terminal) -> None:
    message = "If you share it, use --local instead"
    assert message in terminal.run("install", "--project").err
    assert message not in terminal.run("install", "--local").err


def test_the_configuration_folder_of_the_client_is_used(terminal: Terminal) -> None:
    terminal.set_env(CLAUDE_CONFIG_DIR="relative/config")
    path = terminal.project / "relative" / "config" / "settings.json"
    assert f"Installed in {path} " in terminal.run("install").err
    terminal.run("uninstall")
    assert not (terminal.project / "relative").exists()


@pytest.mark.parametrize(
    "data", [None, EXISTING_SETTINGS, EXISTING_SETTINGS + b"\n", b"", b"\n", b"{}\n"]
)
def test_a_dry_run_prints_the_change_and_writes_nothing(
    terminal: Terminal, data: bytes | None
) -> None:
    if data is not None:
        terminal.user_settings.parent.mkdir()
        terminal.user_settings.write_bytes(data)
    before = terminal.read_all_files()
    result = terminal.run("install", "--dry-run")
    assert (result.code, result.err) == (0, "Nothing was written.\n")
    assert terminal.read_all_files() == before
    old = "/dev/null" if data is None else terminal.user_settings
    assert result.out.startswith(f"--- {old}\n")
    ends_with_newline = data is None or data.endswith(b"\n") or not data
    assert ("\n\\ No newline at end of file\n" in result.out) == (not ends_with_newline)
    terminal.run("install")
    installed = terminal.user_settings.read_bytes()
    assert apply_diff(data or b"", result.out) == installed
    uninstall = terminal.run("uninstall", "--dry-run")
    assert apply_diff(installed, uninstall.out) == (data or b"")
    assert terminal.user_settings.read_bytes() == installed
    assert uninstall.out.splitlines()[1] == f"+++ {old}"


def apply_diff(data: bytes, diff: str) -> bytes:
    """Return the data after applying a unified diff."""
    old, new, rest = data.split(b"\n"), [], diff.encode().split(b"\n")[2:-1]
    position = 0
    for number, line in enumerate(rest):
        line_end = (
            b"" if rest[number + 1 : number + 2] == [b"\\ No newline at end of file"] else b"\n"
        )
        if header := re.match(rb"@@ -(\d+)(,\d+)? ", line):
            start = max(0, int(header[1]) - 1)
            new += [part + b"\n" for part in old[position:start]]
            position = start
        elif line[:1] in b"- ":
            assert old[position] == line[1:]
            position += 1
            new += [line[1:] + line_end] if line[:1] == b" " else []
        elif line[:1] == b"+":
            new += [line[1:] + line_end]
    return b"".join(new) + b"\n".join(old[position:])


def test_a_dry_run_without_a_change_prints_a_message(terminal: Terminal) -> None:
    result = terminal.run("uninstall", "--dry-run")
    assert (result.code, result.out, result.err) == (0, "", "There is nothing to change.\n")
    terminal.run("install")
    result = terminal.run("install", "--dry-run")
    assert (result.code, result.out, result.err) == (0, "", "There is nothing to change.\n")


@pytest.mark.parametrize("command", ["install", "uninstall"])
@pytest.mark.parametrize("data", [b"{", b"[]", b"// mine\n{}\n", b'{"hooks": null}'])
def test_a_file_that_cannot_be_parsed_is_an_error_and_stays_unchanged(
    terminal: Terminal, command: str, data: bytes
) -> None:
    terminal.user_settings.parent.mkdir()
    terminal.user_settings.write_bytes(data)
    before = terminal.read_all_files()
    for flags in ([], ["--dry-run"]):
        result = terminal.run(command, *flags)
        assert (result.code, result.out) == (1, "")
        error, hint = result.err.splitlines()
        assert error.startswith(
            f"error: The host's settings file cannot be changed and was left untouched: "
            f"{terminal.user_settings}"
        )
        assert hint.startswith("hint: ")
    assert terminal.read_all_files() == before


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_folder_instead_of_the_file_is_an_error(terminal: Terminal, command: str) -> None:
    terminal.user_settings.mkdir(parents=True)
    result = terminal.run(command)
    assert (result.code, result.out) == (1, "")
    assert "is not a regular file" in result.err
    assert "\nhint: " in result.err


def test_project_and_local_options_exclude_each_other(terminal: Terminal) -> None:
    assert terminal.run("install", "--project", "--local").code == 2


def test_a_path_that_looks_like_markup_is_printed_unchanged(terminal: Terminal) -> None:
    folder = terminal.root / "[red]x[/red] :warning: \\[y] and a name that is longer than a line is"
    terminal.set_env(CLAUDE_CONFIG_DIR=folder)
    result = terminal.run("install")
    assert f"Installed in {folder}/settings.json (" in result.err


def test_an_installed_hook_runs_in_a_shell(terminal: Terminal) -> None:
    assert terminal.run_process("install").returncode == 0
    hooks = json.loads(terminal.user_settings.read_bytes())["hooks"]
    command = hooks["Stop"][0]["hooks"][0]["command"]
    payload = {"session_id": "s-1", "hook_event_name": "Stop", "cwd": str(terminal.project)}
    process = subprocess.run(
        ["sh", "-c", command], input=json.dumps(payload).encode(), capture_output=True, check=False
    )
    assert (process.returncode, process.stdout, process.stderr) == (0, b"", b"")
    assert "s-1" in terminal.run("status", "--json").out
