"""`holdfast hosts`, and installing for a host other than Claude Code."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from holdfast import hosts
from holdfast.hosts import codex, codex_trust, hook_settings
from tests.terminal import Terminal
from tests.unit import rollout_lines as rollout


def program(terminal: Terminal, name: str, says: str) -> None:
    file = terminal.root / "bin" / name
    file.write_text(f"#!/bin/sh\necho '{says}'\n", encoding="utf-8")
    file.chmod(0o755)


@pytest.fixture
def hooks(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Claude Code and Codex are here; Codex's list of hooks is not yet."""
    monkeypatch.delenv("CODEX_HOME", raising=False)
    program(terminal, "claude", "2.1.325 (Claude Code)")
    program(terminal, "codex", "codex-cli 0.166.0")
    return terminal.home / ".codex" / "hooks.json"


def trust(hooks: Path) -> None:
    """What Codex writes when a person trusts every hook."""
    settings = json.loads(hooks.read_text())
    tables = [
        f'[hooks.state."{hooks}:{codex_trust.to_snake_case(event)}:0:0"]\n'
        f'trusted_hash = "{codex_trust.hook_checksum(event, group, group["hooks"][0])}"\n'
        for event, (group,) in settings["hooks"].items()
    ]
    (hooks.parent / "config.toml").write_text("\n".join(tables), encoding="utf-8")


def findings(terminal: Terminal, name: str = "Codex hooks") -> list[tuple[str, str]]:
    message = terminal.run("doctor", "--json").json["findings"]
    return [(one["status"], one["detail"]) for one in message if one["name"] == name]


def test_a_table_for_people_and_everything_for_programs(terminal: Terminal, hooks: Path) -> None:
    ran = terminal.run("hosts")
    assert "0.166.0" in ran.out
    assert "holdfast install --host codex" in ran.err
    (one,) = [
        one for one in terminal.run("hosts", "--json").json["hosts"] if one["name"] == "codex"
    ]
    assert (one["found"], one["version"], one["installed"]) == (True, "0.166.0", [])
    assert one["support"]["restore"] == "real client"
    assert one["last_fired"] is None


def test_codex_gets_its_own_file_and_the_user_is_told_to_trust_it(
    terminal: Terminal, hooks: Path
) -> None:
    ran = terminal.run("install", "--host", "codex")
    assert ran.code == 0
    assert "/hooks" in ran.err
    assert "trust" in ran.err
    settings = hook_settings.parse_settings(hooks.read_text(), str(hooks))
    assert [*hook_settings.find_our_entries(settings)] == [*codex.EVENTS]
    assert not terminal.user_settings.exists()
    assert "Already installed" in terminal.run("install", "--host", "codex").err


@pytest.mark.parametrize("before", [None, "", '{"hooks": {"Stop": []}, "x":\t1}', '{\n  "y": 2\n}'])
def test_uninstalling_leaves_every_byte_as_it_was(
    terminal: Terminal, hooks: Path, before: str | None
) -> None:
    if before is not None:
        hooks.parent.mkdir()
        hooks.write_text(before)
    terminal.run("install", "--host", "codex")
    assert hooks.read_text() != before
    assert terminal.run("uninstall", "--host", "codex").code == 0
    assert (hooks.read_text() if hooks.exists() else None) == before
    assert hooks.parent.exists() == (before is not None)


def test_each_host_is_uninstalled_separately(terminal: Terminal, hooks: Path) -> None:
    terminal.run("install")
    terminal.run("install", "--host", "codex")
    assert terminal.user_settings.exists()
    terminal.run("uninstall")
    assert not terminal.user_settings.exists()
    assert hooks.exists()


def test_a_plain_install_mentions_the_other_host(terminal: Terminal, hooks: Path) -> None:
    assert "`holdfast install --host codex`" in terminal.run("install").err
    assert not hooks.exists()
    terminal.run("install", "--host", "codex")
    assert "--host codex" not in terminal.run("install").err


@pytest.mark.parametrize("option", ["--statusline", "--guard-edits", "--mcp", "--local"])
def test_options_that_codex_does_not_support_are_errors(
    terminal: Terminal, hooks: Path, option: str
) -> None:
    ran = terminal.run("install", "--host", "codex", option)
    assert ran.code == 1
    assert f"Codex does not support {option}" in ran.err
    assert not hooks.exists()


def test_a_dry_run_prints_and_writes_nothing(terminal: Terminal, hooks: Path) -> None:
    assert "PreCompact" in terminal.run("install", "--host", "codex", "--dry-run").out
    assert not hooks.exists()


def test_a_project_has_its_own_hooks_file(terminal: Terminal, hooks: Path) -> None:
    terminal.run("install", "--host", "codex", "--project")
    assert (terminal.project / ".codex" / "hooks.json").exists()
    assert not hooks.exists()


def test_the_doctor_says_that_untrusted_hooks_do_not_run(terminal: Terminal, hooks: Path) -> None:
    assert findings(terminal) == [("info", "not installed for this user or folder")]
    terminal.run("install", "--host", "codex")
    ((status, detail),) = findings(terminal)
    assert status == "fail"
    assert "PreCompact" in detail
    assert "not trusted yet" in detail
    trust(hooks)
    assert findings(terminal) == [("ok", f"{hooks}: {len(codex.EVENTS)} events, all trusted")]


def test_the_doctor_says_that_changed_hooks_do_not_run(terminal: Terminal, hooks: Path) -> None:
    terminal.run("install", "--host", "codex")
    trust(hooks)
    hooks.write_text(hooks.read_text().replace('"timeout": 15', '"timeout": 14'))
    ((status, detail),) = findings(terminal)
    assert (status, "changed since they were trusted" in detail) == ("fail", True)


def test_the_doctor_says_that_hooks_are_switched_off(terminal: Terminal, hooks: Path) -> None:
    terminal.run("install", "--host", "codex")
    trust(hooks)
    config = hooks.parent / "config.toml"
    config.write_text(f"{config.read_text()}\n[features]\nhooks = false\n")
    assert findings(terminal) == [("fail", "hooks are switched off")]


def test_an_unreadable_configuration_is_reported(terminal: Terminal, hooks: Path) -> None:
    terminal.run("install", "--host", "codex")
    (hooks.parent / "config.toml").write_text("[")
    ((status, detail),) = findings(terminal)
    assert (status, "is not TOML" in detail) == ("fail", True)


def test_hooks_of_a_removed_client_are_reported(terminal: Terminal, hooks: Path) -> None:
    terminal.run("install", "--host", "codex")
    (terminal.root / "bin" / "codex").unlink()
    assert findings(terminal, "Codex") == [("warn", "`codex` is not on the PATH")]


def test_without_codex_doctor_does_not_mention_it(terminal: Terminal) -> None:
    assert findings(terminal, "Codex") == findings(terminal) == []
    assert "Codex" not in terminal.run("install").err


def test_a_hook_that_breaks_deepagents_is_found_and_removed(terminal: Terminal) -> None:
    """Earlier installs registered PreCompact, which makes its automatic compaction fail."""
    terminal.run("install", "--host", "deepagents")
    (one,) = [
        one for one in terminal.run("hosts", "--json").json["hosts"] if one["name"] == "deepagents"
    ]
    path = Path(one["installed"][0])
    settings = json.loads(path.read_text())
    assert "PreCompact" not in settings["hooks"]
    settings["hooks"]["PreCompact"] = settings["hooks"]["Stop"]
    path.write_text(json.dumps(settings))
    assert findings(terminal, "deepagents-code hooks") == [
        ("fail", f"{path}: PreCompact must not be registered with deepagents-code")
    ]
    terminal.run("install", "--host", "deepagents")
    assert "PreCompact" not in json.loads(path.read_text())["hooks"]


@pytest.mark.parametrize("name", ["droid", "deepagents", "gemini", "copilot", "cursor"])
def test_other_hosts_are_installed_checked_and_uninstalled(terminal: Terminal, name: str) -> None:
    before = terminal.read_all_files()
    ran = terminal.run("install", "--host", name)
    assert "not yet tested with the client" in ran.err
    (one,) = [one for one in terminal.run("hosts", "--json").json["hosts"] if one["name"] == name]
    (path,) = one["installed"]
    assert findings(terminal, f"{one['title']} hooks") == [
        ("ok", f"{path}: {len(hosts.find_host(name).events_for(None))} events")
    ]
    text = Path(path).read_text()
    Path(path).write_text(text.replace("/python", "/gone/python"))
    ((status, detail),) = findings(terminal, f"{one['title']} hooks")
    assert (status, "is gone" in detail) == ("fail", True)
    Path(path).write_text(text)
    terminal.run("uninstall", "--host", name)
    left = {file for file in terminal.read_all_files() if not file.startswith(str(terminal.store))}
    assert left == set(before)


def answer(monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    """A person sits there and types this."""
    stdin = io.StringIO(words)
    monkeypatch.setattr(stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", stdin)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)


@pytest.mark.parametrize(("words", "agrees"), [("n\n", False), ("", False), ("\n", True)])
def test_the_user_is_asked_for_each_other_host(
    terminal: Terminal, hooks: Path, monkeypatch: pytest.MonkeyPatch, words: str, agrees: bool
) -> None:
    answer(monkeypatch, words)
    assert "Codex 0.166.0 is installed." in terminal.run("install").err
    assert hooks.exists() is agrees


@pytest.fixture
def without_claude(terminal: Terminal, hooks: Path) -> None:
    (terminal.root / "bin" / "claude").unlink()


@pytest.mark.usefixtures("without_claude")
def test_no_settings_are_created_for_an_absent_host_if_others_are_present(
    terminal: Terminal,
) -> None:
    ran = terminal.run("install")
    assert ran.code == 1
    assert "Claude Code is not on this machine" in ran.err
    assert "`holdfast install --host codex`" in ran.err
    assert not terminal.user_settings.exists()
    terminal.run("install", "--host", "claude-code")
    assert terminal.user_settings.exists()


@pytest.mark.usefixtures("without_claude")
def test_the_only_host_on_the_machine_is_offered(
    terminal: Terminal, hooks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, "y\n")
    assert terminal.run("install").code == 0
    assert hooks.exists()
    assert not terminal.user_settings.exists()


@pytest.mark.usefixtures("without_claude")
def test_a_host_that_was_set_up_before_is_used_even_if_its_client_is_not_found(
    terminal: Terminal,
) -> None:
    terminal.user_settings.parent.mkdir()
    assert terminal.run("install").code == 0
    assert terminal.user_settings.exists()


def test_uninstall_names_other_hosts_that_still_have_hooks(terminal: Terminal, hooks: Path) -> None:
    terminal.run("install", "--host", "Codex")
    terminal.run("install")
    assert "`holdfast uninstall --host codex`" in terminal.run("uninstall").err
    assert "still has hooks" not in terminal.run("uninstall", "--host", "codex").err


def test_a_folder_created_by_install_does_not_count_as_a_host(terminal: Terminal) -> None:
    ran = terminal.run("install", "--host", "droid")
    assert "`droid` is not on the PATH" in ran.err
    known = {one["name"]: one for one in terminal.run("hosts", "--json").json["hosts"]}
    assert (known["droid"]["found"], len(known["droid"]["installed"])) == (False, 1)


def test_a_project_file_with_machine_paths_warns_against_sharing(
    terminal: Terminal, hooks: Path
) -> None:
    assert "do not share" in terminal.run("install", "--host", "codex", "--project").err


def test_commands_that_codex_runs_know_their_session(
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
