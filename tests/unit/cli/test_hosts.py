"""`holdfast hosts`, and installing for a host other than Claude Code."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast import hosts
from holdfast.hosts import codex, codex_trust, hook_settings
from tests.terminal import Terminal
from tests.unit import rollout_lines as rollout


def install_program(terminal: Terminal, name: str, output: str) -> None:
    file = terminal.root / "bin" / name
    file.write_text(f"#!/bin/sh\necho '{output}'\n", encoding="utf-8")
    file.chmod(0o755)


@pytest.fixture
def hooks_file(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put Claude Code and Codex on the PATH, and return where Codex's hooks will be."""
    monkeypatch.delenv("CODEX_HOME", raising=False)
    install_program(terminal, "claude", "2.1.325 (Claude Code)")
    install_program(terminal, "codex", "codex-cli 0.166.0")
    return terminal.home / ".codex" / "hooks.json"


def trust_hooks(hooks_file: Path) -> None:
    """Write what Codex writes when the user trusts every hook."""
    settings = json.loads(hooks_file.read_text())
    tables = [
        f'[hooks.state."{hooks_file}:{codex_trust.to_snake_case(event)}:0:0"]\n'
        f'trusted_hash = "{codex_trust.hook_checksum(event, group, group["hooks"][0])}"\n'
        for event, (group,) in settings["hooks"].items()
    ]
    (hooks_file.parent / "config.toml").write_text("\n".join(tables), encoding="utf-8")


def read_findings(terminal: Terminal, name: str = "Codex hooks") -> list[tuple[str, str]]:
    """Return status and detail of the findings with this name."""
    findings = terminal.run("doctor", "--json").json["findings"]
    return [(row["status"], row["detail"]) for row in findings if row["name"] == name]


def read_host_row(terminal: Terminal, name: str) -> dict[str, Any]:
    """Return what `holdfast hosts` says about one host."""
    rows = terminal.run("hosts", "--json").json["hosts"]
    (row,) = [row for row in rows if row["name"] == name]
    return cast("dict[str, Any]", row)


def test_hosts_are_printed_as_a_table_and_with_all_details_as_json(
    terminal: Terminal, hooks_file: Path
) -> None:
    result = terminal.run("hosts")
    assert "0.166.0" in result.out
    assert "holdfast install --host codex" in result.err
    row = read_host_row(terminal, "codex")
    assert (row["found"], row["version"], row["installed"]) == (True, "0.166.0", [])
    assert row["support"]["restore"] == "real client"
    assert row["last_fired"] is None


def test_codex_gets_its_own_hooks_file_and_the_user_must_trust_it(
    terminal: Terminal, hooks_file: Path
) -> None:
    result = terminal.run("install", "--host", "codex")
    assert result.code == 0
    assert "/hooks" in result.err
    assert "trust" in result.err
    settings = hook_settings.parse_settings(hooks_file.read_text(), str(hooks_file))
    assert [*hook_settings.find_our_entries(settings)] == [*codex.EVENTS]
    assert not terminal.user_settings.exists()
    assert "Already installed" in terminal.run("install", "--host", "codex").err


@pytest.mark.parametrize("before", [None, "", '{"hooks": {"Stop": []}, "x":\t1}', '{\n  "y": 2\n}'])
def test_uninstall_restores_the_hooks_file_byte_for_byte(
    terminal: Terminal, hooks_file: Path, before: str | None
) -> None:
    if before is not None:
        hooks_file.parent.mkdir()
        hooks_file.write_text(before)
    terminal.run("install", "--host", "codex")
    assert hooks_file.read_text() != before
    assert terminal.run("uninstall", "--host", "codex").code == 0
    assert (hooks_file.read_text() if hooks_file.exists() else None) == before
    assert hooks_file.parent.exists() == (before is not None)


def test_each_host_is_uninstalled_separately(terminal: Terminal, hooks_file: Path) -> None:
    terminal.run("install")
    terminal.run("install", "--host", "codex")
    assert terminal.user_settings.exists()
    terminal.run("uninstall")
    assert not terminal.user_settings.exists()
    assert hooks_file.exists()


def test_install_without_a_host_mentions_other_hosts_on_this_machine(
    terminal: Terminal, hooks_file: Path
) -> None:
    assert "`holdfast install --host codex`" in terminal.run("install").err
    assert not hooks_file.exists()
    terminal.run("install", "--host", "codex")
    assert "--host codex" not in terminal.run("install").err


@pytest.mark.parametrize("option", ["--statusline", "--guard-edits", "--mcp", "--local"])
def test_options_that_codex_does_not_support_are_errors(
    terminal: Terminal, hooks_file: Path, option: str
) -> None:
    result = terminal.run("install", "--host", "codex", option)
    assert result.code == 1
    assert f"Codex does not support {option}" in result.err
    assert not hooks_file.exists()


def test_a_dry_run_prints_the_hooks_and_writes_no_file(
    terminal: Terminal, hooks_file: Path
) -> None:
    assert "PreCompact" in terminal.run("install", "--host", "codex", "--dry-run").out
    assert not hooks_file.exists()


def test_a_project_has_its_own_hooks_file(terminal: Terminal, hooks_file: Path) -> None:
    terminal.run("install", "--host", "codex", "--project")
    assert (terminal.project / ".codex" / "hooks.json").exists()
    assert not hooks_file.exists()


def test_doctor_fails_if_hooks_are_not_trusted(terminal: Terminal, hooks_file: Path) -> None:
    assert read_findings(terminal) == [("info", "not installed for this user or folder")]
    terminal.run("install", "--host", "codex")
    ((status, detail),) = read_findings(terminal)
    assert status == "fail"
    assert "PreCompact" in detail
    assert "not trusted yet" in detail
    trust_hooks(hooks_file)
    assert read_findings(terminal) == [
        ("ok", f"{hooks_file}: {len(codex.EVENTS)} events, all trusted")
    ]


def test_doctor_fails_if_hooks_changed_since_they_were_trusted(
    terminal: Terminal, hooks_file: Path
) -> None:
    terminal.run("install", "--host", "codex")
    trust_hooks(hooks_file)
    hooks_file.write_text(hooks_file.read_text().replace('"timeout": 15', '"timeout": 14'))
    ((status, detail),) = read_findings(terminal)
    assert (status, "changed since they were trusted" in detail) == ("fail", True)


def test_doctor_fails_if_hooks_are_switched_off(terminal: Terminal, hooks_file: Path) -> None:
    terminal.run("install", "--host", "codex")
    trust_hooks(hooks_file)
    config = hooks_file.parent / "config.toml"
    config.write_text(f"{config.read_text()}\n[features]\nhooks = false\n")
    assert read_findings(terminal) == [("fail", "hooks are switched off")]


def test_doctor_fails_if_the_configuration_is_not_toml(
    terminal: Terminal, hooks_file: Path
) -> None:
    terminal.run("install", "--host", "codex")
    (hooks_file.parent / "config.toml").write_text("[")
    ((status, detail),) = read_findings(terminal)
    assert (status, "is not TOML" in detail) == ("fail", True)


def test_doctor_warns_of_hooks_whose_client_was_removed(
    terminal: Terminal, hooks_file: Path
) -> None:
    terminal.run("install", "--host", "codex")
    (terminal.root / "bin" / "codex").unlink()
    assert read_findings(terminal, "Codex") == [("warn", "`codex` is not on the PATH")]


def test_without_codex_doctor_does_not_mention_it(terminal: Terminal) -> None:
    assert read_findings(terminal, "Codex") == read_findings(terminal) == []
    assert "Codex" not in terminal.run("install").err


def test_a_hook_that_breaks_deepagents_is_found_and_removed(terminal: Terminal) -> None:
    """Earlier installs registered PreCompact, which makes its automatic compaction fail."""
    terminal.run("install", "--host", "deepagents")
    path = Path(read_host_row(terminal, "deepagents")["installed"][0])
    settings = json.loads(path.read_text())
    assert "PreCompact" not in settings["hooks"]
    settings["hooks"]["PreCompact"] = settings["hooks"]["Stop"]
    path.write_text(json.dumps(settings))
    assert read_findings(terminal, "deepagents-code hooks") == [
        ("fail", f"{path}: PreCompact must not be registered with deepagents-code")
    ]
    terminal.run("install", "--host", "deepagents")
    assert "PreCompact" not in json.loads(path.read_text())["hooks"]


@pytest.mark.parametrize("name", ["droid", "deepagents", "gemini", "copilot", "cursor"])
def test_other_hosts_are_installed_checked_and_uninstalled(terminal: Terminal, name: str) -> None:
    before = terminal.read_all_files()
    result = terminal.run("install", "--host", name)
    assert "not yet tested with the client" in result.err
    row = read_host_row(terminal, name)
    (path,) = row["installed"]
    assert read_findings(terminal, f"{row['title']} hooks") == [
        ("ok", f"{path}: {len(hosts.find_host(name).events_for(None))} events")
    ]
    text = Path(path).read_text()
    Path(path).write_text(text.replace("/python", "/gone/python"))
    ((status, detail),) = read_findings(terminal, f"{row['title']} hooks")
    assert (status, "is gone" in detail) == ("fail", True)
    Path(path).write_text(text)
    terminal.run("uninstall", "--host", name)
    remaining = {
        file for file in terminal.read_all_files() if not file.startswith(str(terminal.store))
    }
    assert remaining == set(before)


def type_answer(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    """Make stdin and stderr a terminal at which the user types this."""
    stdin = io.StringIO(typed)
    monkeypatch.setattr(stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", stdin)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)


@pytest.mark.parametrize(("typed", "is_installed"), [("n\n", False), ("", False), ("\n", True)])
def test_the_user_is_asked_for_each_other_host(
    terminal: Terminal,
    hooks_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    is_installed: bool,
) -> None:
    type_answer(monkeypatch, typed)
    assert "Codex 0.166.0 is installed." in terminal.run("install").err
    assert hooks_file.exists() is is_installed


@pytest.fixture
def without_claude(terminal: Terminal, hooks_file: Path) -> None:
    (terminal.root / "bin" / "claude").unlink()


@pytest.mark.usefixtures("without_claude")
def test_no_settings_are_created_for_an_absent_host_if_others_are_present(
    terminal: Terminal,
) -> None:
    result = terminal.run("install")
    assert result.code == 1
    assert "Claude Code is not on this machine" in result.err
    assert "`holdfast install --host codex`" in result.err
    assert not terminal.user_settings.exists()
    terminal.run("install", "--host", "claude-code")
    assert terminal.user_settings.exists()


@pytest.mark.usefixtures("without_claude")
def test_the_only_host_on_the_machine_is_offered(
    terminal: Terminal, hooks_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_answer(monkeypatch, "y\n")
    assert terminal.run("install").code == 0
    assert hooks_file.exists()
    assert not terminal.user_settings.exists()


@pytest.mark.usefixtures("without_claude")
def test_a_host_that_was_set_up_before_is_used_even_if_its_client_is_not_found(
    terminal: Terminal,
) -> None:
    terminal.user_settings.parent.mkdir()
    assert terminal.run("install").code == 0
    assert terminal.user_settings.exists()


def test_uninstall_names_other_hosts_that_still_have_hooks(
    terminal: Terminal, hooks_file: Path
) -> None:
    terminal.run("install", "--host", "Codex")
    terminal.run("install")
    assert "`holdfast uninstall --host codex`" in terminal.run("uninstall").err
    assert "still has hooks" not in terminal.run("uninstall", "--host", "codex").err


def test_a_folder_created_by_install_does_not_make_a_host_found(terminal: Terminal) -> None:
    result = terminal.run("install", "--host", "droid")
    assert "`droid` is not on the PATH" in result.err
    row = read_host_row(terminal, "droid")
    assert (row["found"], len(row["installed"])) == (False, 1)


def test_installing_machine_paths_into_a_project_warns_against_sharing(
    terminal: Terminal, hooks_file: Path
) -> None:
    assert "do not share" in terminal.run("install", "--host", "codex", "--project").err


def test_commands_run_by_codex_use_the_session_of_the_environment(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        lines = [rollout.meta(id=name, cwd=str(terminal.project)), rollout.prompt(f"Say {name}.")]
        file = terminal.root / f"rollout-{name}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        terminal.run("recover", file)
    for name in ("one", "two"):
        monkeypatch.setenv("CODEX_SESSION_ID", name)
        assert f"Say {name}." in terminal.run("show", "L2").out
