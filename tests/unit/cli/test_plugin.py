"""`holdfast plugin build`: a plugin with the hooks, slash commands and a skill."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.brief.front_matter import parse_front_matter
from holdfast.hosts import claude_code, plugin
from tests.terminal import Terminal


def test_a_plugin_has_hooks_commands_and_a_skill(terminal: Terminal) -> None:
    terminal.install_fake_claude("2.1.325")
    result = terminal.run("plugin", "build", "out")
    assert result.code == 0
    folder = Path(result.out.strip())
    manifest = json.loads((folder / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["name"] == "holdfast"
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    assert list(hooks) == [*claude_code.events_for((2, 1, 325)), "PostToolUse"]
    assert {path.stem for path in folder.glob("commands/*.md")} == {
        "brief", "note", "recall", "status"
    }  # fmt: skip
    for file in (*folder.glob("commands/*.md"), folder / "skills" / "recall" / "SKILL.md"):
        front, body = parse_front_matter(file.read_text())
        assert front["description"]
        assert "`holdfast " in body
        assert "{program}" not in body


@pytest.mark.parametrize("version", ["2.0.14", "2.1.50"])
def test_an_old_client_gets_only_events_that_it_has(terminal: Terminal, version: str) -> None:
    terminal.install_fake_claude(version)
    terminal.run("plugin", "build", "out")
    hooks = json.loads((terminal.project / "out" / "hooks" / "hooks.json").read_text())["hooks"]
    assert set(hooks).isdisjoint({"PostCompact", "SubagentStart", "UserPromptExpansion"})


def test_building_again_changes_nothing_and_a_foreign_folder_is_refused(
    terminal: Terminal,
) -> None:
    terminal.run("plugin", "build", "out")
    before = terminal.read_all_files()
    assert terminal.run("plugin", "build", "out").code == 0
    assert terminal.read_all_files() == before
    (terminal.project / "mine").mkdir()
    (terminal.project / "mine" / "file").touch()
    result = terminal.run("plugin", "build", "mine")
    assert result.code == 1
    assert "not empty" in result.err


def test_a_plugin_contains_no_paths_of_this_machine(terminal: Terminal) -> None:
    """A plugin is shared with machines that have another Python at another path."""
    terminal.run("plugin", "build", "out", "--client", "2.1.325")
    files = [path for path in (terminal.project / "out").rglob("*") if path.is_file()]
    local_paths = (
        sys.prefix,
        sys.base_prefix,
        str(Path(holdfast.__file__).parent),
        str(Path.home()),
    )
    assert [
        (file, path) for file in files for path in local_paths if path in file.read_text()
    ] == []


def test_the_plugin_is_built_for_the_given_client(terminal: Terminal) -> None:
    terminal.run("plugin", "build", "out", "--client", "2.1.50")
    hooks = json.loads((terminal.project / "out" / "hooks" / "hooks.json").read_text())["hooks"]
    assert list(hooks) == claude_code.events_for((2, 1, 50))
    result = terminal.run("plugin", "build", "out", "--client", "new")
    assert (result.code, "'new' is not a version" in result.err) == (1, True)


# The command in hooks.json


def run_hook(path: str, event: str = "SessionStart", cwd: Path | None = None) -> tuple[int, str]:
    """Run the plugin's hook in a shell with this PATH; return exit code and stdout."""
    process = subprocess.run(
        ["/bin/sh", "-c", plugin.hook_command(event)], input=b'{"a": 1}', capture_output=True,
        env={"PATH": path}, cwd=cwd, check=False,
    )  # fmt: skip
    return process.returncode, process.stdout.decode()


def make_program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return folder


def test_the_hook_runs_the_program_on_the_path_with_the_payload(tmp_path: Path) -> None:
    folder = make_program(tmp_path / "bin", "holdfast", 'echo "$@"; read line; echo "$line"')
    assert run_hook(str(folder)) == (0, 'hook plugin\n{"a": 1}\n')


@pytest.mark.parametrize("code", [1, 2, 127])
def test_the_hook_never_blocks_the_host(tmp_path: Path, code: int) -> None:
    with_program = make_program(tmp_path / "bin", "holdfast", f"exit {code}")
    assert run_hook(str(with_program)) == (0, "")
    with_python = make_program(tmp_path / "other", "python3", f"exit {code}")
    assert run_hook(str(with_python), "Stop") == (0, "")


def test_without_the_program_the_hook_runs_python(tmp_path: Path) -> None:
    folder = make_program(tmp_path / "bin", "python3", 'echo "$1 $2: $3"')
    assert run_hook(str(folder)) == (0, f"-I -c: {plugin.HOOK_PROGRAM}\n")


@pytest.mark.parametrize("has_python", [True, False])
def test_without_holdfast_the_user_gets_a_message_at_session_start(
    tmp_path: Path, has_python: bool
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    if has_python:
        make_program(folder, "python3", "exit 1")
    code, out = run_hook(str(folder))
    assert (code, json.loads(out)) == (0, plugin.NOT_INSTALLED_OUTPUT)
    assert run_hook(str(folder), "PreCompact") == (0, "")


@pytest.mark.parametrize("name", ["holdfast", "python3"])
def test_a_program_inside_the_project_is_not_run(tmp_path: Path, name: str) -> None:
    project = make_program(tmp_path / "project", name, "echo harm")
    assert run_hook(".", "Stop", project) == (0, "")
