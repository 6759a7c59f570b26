"""Installing from the command line: where, for which client, and the messages."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.terminal import Terminal

OTHERS = b'{\r\n\t"model": "opus",\r\n\t"env": {"A": "\xc3\xa9"}\r\n}'
SCOPES: list[tuple[list[str], str]] = [
    ([], "user/.claude/settings.json"),
    (["--project"], "project/.claude/settings.json"),
    (["--local"], "project/.claude/settings.local.json"),
]


def events(path: Path) -> list[str]:
    return list(json.loads(path.read_text(encoding="utf-8"))["hooks"])


@pytest.mark.parametrize(("scope", "where"), SCOPES)
def test_each_scope_has_its_own_file(terminal: Terminal, scope: list[str], where: str) -> None:
    terminal.claude("2.1.325")
    before = terminal.read_all_files()
    path = terminal.root / where
    ran = terminal.run("install", *scope)
    assert (ran.code, ran.out) == (0, "")
    assert f"Installed in {path} (Claude Code 2.1.325): SessionStart, " in ran.err
    assert "PostCompact" in events(path)
    assert [file for file in terminal.root.rglob("*.json") if file != path] == [
        *(terminal.store / "installed").iterdir()
    ]
    ran = terminal.run("uninstall", *scope)
    assert (ran.code, ran.out) == (0, "")
    assert f"Removed from {path} (the install created this file, so it is deleted)." in ran.err
    assert terminal.read_all_files() == before


@pytest.mark.parametrize(("scope", "where"), SCOPES)
def test_uninstall_restores_an_existing_file_byte_for_byte(
    terminal: Terminal, scope: list[str], where: str
) -> None:
    path = terminal.root / where
    path.parent.mkdir()
    path.write_bytes(OTHERS)
    before = terminal.read_all_files()
    assert terminal.run("install", *scope).code == 0
    assert path.read_bytes() != OTHERS
    assert "as it was, byte for byte" in terminal.run("uninstall", *scope).err
    assert terminal.read_all_files() == before


def test_installing_twice_changes_nothing_and_says_so(terminal: Terminal) -> None:
    terminal.run("install")
    before = terminal.read_all_files()
    ran = terminal.run("install")
    assert ran.err == f"Already installed in {terminal.user_settings}; nothing to do.\n"
    assert terminal.read_all_files() == before
    terminal.run("uninstall")
    ran = terminal.run("uninstall")
    assert ran.code == 0
    assert f"not installed in {terminal.user_settings}; nothing to do" in ran.err


@pytest.mark.parametrize(
    ("version", "has_post_compact"), [("2.0.14", False), ("2.1.50", False), ("2.1.197", True)]
)
def test_the_client_on_the_path_determines_the_events(
    terminal: Terminal, version: str, has_post_compact: bool
) -> None:
    terminal.claude(version)
    assert f"(Claude Code {version})" in terminal.run("install").err
    assert ("PostCompact" in events(terminal.user_settings)) == has_post_compact


def test_a_configured_client_is_preferred_to_the_path(terminal: Terminal) -> None:
    chosen = terminal.claude("2.1.50").rename(terminal.root / "chosen")
    terminal.claude("2.1.325")
    terminal.set(HOLDFAST_CLAUDE=chosen)
    terminal.run("install")
    assert "PostCompact" not in events(terminal.user_settings)


def test_without_a_client_all_events_are_registered_and_the_message_says_what_to_do(
    terminal: Terminal,
) -> None:
    ran = terminal.run("install")
    assert ran.code == 0
    assert "(the events of every Claude Code)" in ran.err
    assert "`claude` is not on the PATH; run this again" in ran.err
    assert "PostCompact" not in events(terminal.user_settings)
    program = terminal.claude("no version")
    terminal.run("uninstall")
    assert f"{program} did not print its version; run this again" in terminal.run("install").err


def test_installing_into_a_shared_file_suggests_the_local_one(terminal: Terminal) -> None:
    message = "If you share it, use --local instead"
    assert message in terminal.run("install", "--project").err
    assert message not in terminal.run("install", "--local").err


def test_the_configuration_folder_of_the_client_is_used(terminal: Terminal) -> None:
    terminal.set(CLAUDE_CONFIG_DIR="relative/config")
    path = terminal.project / "relative" / "config" / "settings.json"
    assert f"Installed in {path} " in terminal.run("install").err
    terminal.run("uninstall")
    assert not (terminal.project / "relative").exists()


@pytest.mark.parametrize("data", [None, OTHERS, OTHERS + b"\n", b"", b"\n", b"{}\n"])
def test_a_dry_run_prints_the_change_and_writes_nothing(
    terminal: Terminal, data: bytes | None
) -> None:
    if data is not None:
        terminal.user_settings.parent.mkdir()
        terminal.user_settings.write_bytes(data)
    before = terminal.read_all_files()
    ran = terminal.run("install", "--dry-run")
    assert (ran.code, ran.err) == (0, "Nothing was written.\n")
    assert terminal.read_all_files() == before
    old = "/dev/null" if data is None else terminal.user_settings
    assert ran.out.startswith(f"--- {old}\n")
    whole = data is None or data.endswith(b"\n") or not data
    assert ("\n\\ No newline at end of file\n" in ran.out) == (not whole)
    terminal.run("install")
    installed = terminal.user_settings.read_bytes()
    assert patched(data or b"", ran.out) == installed
    undo = terminal.run("uninstall", "--dry-run")
    assert patched(installed, undo.out) == (data or b"")
    assert terminal.user_settings.read_bytes() == installed
    assert undo.out.splitlines()[1] == f"+++ {old}"


def patched(data: bytes, diff: str) -> bytes:
    """What the diff, of one hunk or more, makes of the data."""
    old, new, rest = data.split(b"\n"), [], diff.encode().split(b"\n")[2:-1]
    at = 0
    for number, line in enumerate(rest):
        joined = (
            b"" if rest[number + 1 : number + 2] == [b"\\ No newline at end of file"] else b"\n"
        )
        if header := re.match(rb"@@ -(\d+)(,\d+)? ", line):
            start = max(0, int(header[1]) - 1)
            new += [part + b"\n" for part in old[at:start]]
            at = start
        elif line[:1] in b"- ":
            assert old[at] == line[1:]
            at += 1
            new += [line[1:] + joined] if line[:1] == b" " else []
        elif line[:1] == b"+":
            new += [line[1:] + joined]
    return b"".join(new) + b"\n".join(old[at:])


def test_a_dry_run_without_a_change_says_so(terminal: Terminal) -> None:
    ran = terminal.run("uninstall", "--dry-run")
    assert (ran.code, ran.out, ran.err) == (0, "", "There is nothing to change.\n")
    terminal.run("install")
    ran = terminal.run("install", "--dry-run")
    assert (ran.code, ran.out, ran.err) == (0, "", "There is nothing to change.\n")


@pytest.mark.parametrize("command", ["install", "uninstall"])
@pytest.mark.parametrize("data", [b"{", b"[]", b"// mine\n{}\n", b'{"hooks": null}'])
def test_a_file_that_cannot_be_parsed_is_an_error_and_stays_unchanged(
    terminal: Terminal, command: str, data: bytes
) -> None:
    terminal.user_settings.parent.mkdir()
    terminal.user_settings.write_bytes(data)
    before = terminal.read_all_files()
    for flags in ([], ["--dry-run"]):
        ran = terminal.run(command, *flags)
        assert (ran.code, ran.out) == (1, "")
        error, hint = ran.err.splitlines()
        assert error.startswith(
            f"error: The host's settings file cannot be changed and was left untouched: "
            f"{terminal.user_settings}"
        )
        assert hint.startswith("hint: ")
    assert terminal.read_all_files() == before


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_folder_instead_of_the_file_is_an_error(terminal: Terminal, command: str) -> None:
    terminal.user_settings.mkdir(parents=True)
    ran = terminal.run(command)
    assert (ran.code, ran.out) == (1, "")
    assert "is not a regular file" in ran.err
    assert "\nhint: " in ran.err


def test_a_project_and_a_local_file_at_once_are_refused(terminal: Terminal) -> None:
    assert terminal.run("install", "--project", "--local").code == 2


def test_an_unusual_path_is_printed_as_it_is(terminal: Terminal) -> None:
    folder = terminal.root / "[red]x[/red] :warning: \\[y] and a name that is longer than a line is"
    terminal.set(CLAUDE_CONFIG_DIR=folder)
    ran = terminal.run("install")
    assert f"Installed in {folder}/settings.json (" in ran.err


def test_it_works_from_a_shell(terminal: Terminal) -> None:
    done = terminal.process("install")
    assert done.returncode == 0
    hooks = json.loads(terminal.user_settings.read_bytes())["hooks"]
    command = hooks["Stop"][0]["hooks"][0]["command"]
    payload = {"session_id": "s-1", "hook_event_name": "Stop", "cwd": str(terminal.project)}
    ran = subprocess.run(
        ["sh", "-c", command], input=json.dumps(payload).encode(), capture_output=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    assert "s-1" in terminal.run("status", "--json").out
