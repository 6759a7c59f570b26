"""The doctor's checks report failures that hooks do not show."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast import diagnostics, processes
from holdfast import settings as holdfast_settings
from holdfast.services.doctor.checks import Finding, run_checks
from holdfast.services.doctor.hook_checks import find_command_problem
from holdfast.services.install import client_version, registration
from holdfast.services.install.registration import hook_command, plan_install
from holdfast.state.fold import new_state
from holdfast.store.sqlite import SQLiteStore

NOW = time.time()
DAY_SECONDS = 86_400.0


class Machine:
    """A machine to check: a user's home, a project, and a version of Claude Code."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "project"
        self.project.mkdir()
        self.stores: list[SQLiteStore] = []
        self.user_file = root / "user" / ".claude" / "settings.json"
        self.environ = {
            "HOME": str(root / "user"),
            "PATH": str(root / "bin"),
            "HOLDFAST_HOME": str(root / "home"),
            "TMPDIR": str(root),
        }

    @property
    def settings(self) -> holdfast_settings.Settings:
        return holdfast_settings.load(self.environ, str(self.project))

    def store(self) -> SQLiteStore:
        store = SQLiteStore(self.settings.database)
        self.stores.append(store)
        return store

    def add_client(self, version: str) -> None:
        (self.root / "bin").mkdir(exist_ok=True)
        program = self.root / "bin" / "claude"
        program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n", encoding="utf-8")
        program.chmod(0o755)

    def install(self, file: Path | None = None, version: str = "2.1.325") -> None:
        home = self.settings.home
        registration.install(plan_install(str(file or self.user_file), version, home), home)

    def edit(self, **changes: Any) -> None:
        current = json.loads(self.user_file.read_text(encoding="utf-8"))
        self.user_file.write_text(json.dumps(current | changes), encoding="utf-8")

    def registered_hooks(self) -> dict[str, Any]:
        hooks: dict[str, Any] = json.loads(self.user_file.read_text(encoding="utf-8"))["hooks"]
        return hooks

    def findings(self, name: str) -> list[Finding]:
        return [finding for finding in self.all_findings() if finding.name == name]

    def finding(self, name: str) -> Finding:
        (finding,) = self.findings(name)
        return finding

    def all_findings(self) -> list[Finding]:
        return run_checks(self.environ, str(self.project), self.settings, NOW)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    yield machine
    for store in machine.stores:
        store.close()


def add_session(store: SQLiteStore, session: str = "s-1", **state: Any) -> None:
    store.begin()
    store.save_session(
        session=session, host="claude-code", project="/p", transcript="/t.jsonl", cursor=None,
        state={**new_state(), **state}, revision=0, now=NOW,  # type: ignore[typeddict-item]
    )  # fmt: skip
    store.commit()


def add_brief(store: SQLiteStore, ordinal: int, receipt: str) -> None:
    store.begin()
    store.open_compaction("s-1", ordinal, trigger="auto", snapshot=None, now=NOW)
    store.note_brief(
        "s-1", ordinal, brief_id=f"b{ordinal}", brief="text", line=1, delivered_by="SessionStart",
        now=NOW,
    )  # fmt: skip
    store.note_receipt("s-1", ordinal, receipt, None)
    store.commit()


def test_a_machine_without_an_installation_gets_hints(machine: Machine) -> None:
    findings = {finding.name: finding for finding in machine.all_findings()}
    assert (findings["Claude Code"].status, findings["hooks"].status) == ("warn", "warn")
    assert "HOLDFAST_CLAUDE" in findings["Claude Code"].hint
    assert findings["hooks"].hint == "run `holdfast install`"
    assert findings["store"].status == "info"
    assert findings["holdfast"].status == "info"
    assert not os.path.exists(machine.settings.home)


def test_a_working_installation_has_no_warnings(machine: Machine) -> None:
    machine.add_client("2.1.325")
    machine.install()
    assert machine.finding("Claude Code").detail.startswith("2.1.325 at ")
    assert machine.finding("hooks") == Finding(
        name="hooks", status="ok", detail=f"{machine.user_file}: 10 events"
    )
    assert {finding.status for finding in machine.all_findings()} <= {"ok", "info"}


def test_a_client_without_a_version_is_a_warning(machine: Machine) -> None:
    machine.add_client("junk")
    assert machine.finding("Claude Code").status == "warn"
    assert "prints no version" in machine.finding("Claude Code").detail


def test_the_client_runs_only_once(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_version, "VERSION_TIMEOUT_SECONDS", 0.3)
    (machine.root / "bin").mkdir()
    program = machine.root / "bin" / "claude"
    program.write_text("#!/bin/sh\nexec /bin/sleep 3\n", encoding="utf-8")
    program.chmod(0o755)
    for file in ("settings.json", "settings.local.json"):
        machine.install(machine.project / ".claude" / file)
    machine.install()
    started = time.monotonic()
    assert len(machine.findings("hooks")) == 3
    assert time.monotonic() - started < 1


def test_hooks_of_the_project_and_of_other_folders_are_found(machine: Machine) -> None:
    project_file = machine.project / ".claude" / "settings.local.json"
    other_file = machine.root / "other" / ".claude" / "settings.json"
    machine.install(project_file)
    machine.install(other_file)
    details = [finding.detail for finding in machine.findings("hooks")]
    assert details == [f"{project_file}: 10 events", f"{other_file}: 10 events"]


def test_the_home_folder_is_checked_once(machine: Machine) -> None:
    machine.install()
    machine.project = machine.root / "user"
    assert len(machine.findings("hooks")) == 1


def test_a_hook_of_the_first_edition_is_a_failure_that_install_repairs(machine: Machine) -> None:
    machine.add_client("2.1.325")
    machine.install()
    command = f"{sys.executable} -I -S -c 'from holdfast.surfaces.hook import main; main()'"
    machine.edit(hooks={
        event: [{"hooks": [{"type": "command", "command": command}]}]
        for event in machine.registered_hooks()
    })  # fmt: skip
    (finding,) = machine.findings("hooks")
    assert finding.status == "fail"
    assert "first edition" in finding.detail
    assert finding.hint == "run `holdfast install` again"
    machine.install()
    assert machine.finding("hooks").status == "ok"
    assert "holdfast.surfaces" not in machine.user_file.read_text()


def test_a_status_line_of_the_first_edition_is_a_failure_that_install_repairs(
    machine: Machine,
) -> None:
    machine.install()
    assert machine.findings("status line") == []
    command = f"{sys.executable} -I -S -c 'from holdfast.surfaces.statusline import main; main()'"
    machine.edit(statusLine={"type": "command", "command": f"{command} 'git branch'"})
    finding = machine.finding("status line")
    assert finding.status == "fail"
    assert str(machine.user_file) in finding.detail
    assert "first edition" in finding.detail
    assert finding.hint == "run `holdfast install` again"
    machine.install()
    assert machine.findings("status line") == []
    text = machine.user_file.read_text(encoding="utf-8")
    assert "holdfast.surfaces" not in text
    assert "git branch" in text


def test_a_missing_interpreter_is_a_failure(machine: Machine) -> None:
    machine.install()
    text = machine.user_file.read_text(encoding="utf-8")
    machine.user_file.write_text(text.replace(sys.executable, "/gone/python"), encoding="utf-8")
    finding = machine.finding("hooks")
    assert finding.status == "fail"
    assert "the interpreter /gone/python is gone" in finding.detail
    assert "holdfast install" in finding.hint


def test_a_missing_package_is_a_failure(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    missing_folder = machine.root / "it's gone"
    monkeypatch.setattr("holdfast.__file__", str(missing_folder / "holdfast" / "__init__.py"))
    machine.install()
    monkeypatch.undo()
    finding = machine.finding("hooks")
    assert finding.status == "fail"
    assert finding.detail.endswith(f"holdfast is no longer in {missing_folder}")


def test_an_enabled_plugin_counts_as_an_installation(machine: Machine) -> None:
    machine.user_file.parent.mkdir(parents=True, exist_ok=True)
    machine.user_file.write_text('{"enabledPlugins": {"holdfast@holdfast-local": true}}')
    assert machine.finding("hooks").status == "warn"
    assert "`holdfast` is not on the PATH of this shell" in machine.finding("hooks").detail
    machine.add_client("2.1.325")
    shutil.copy(machine.root / "bin" / "claude", machine.root / "bin" / "holdfast")
    assert (machine.finding("hooks").status, machine.finding("hooks").detail) == (
        "ok",
        "by the plugin",
    )
    machine.user_file.write_text('{"enabledPlugins": {"holdfast@holdfast-local": false}}')
    assert machine.finding("hooks").status == "warn"


def test_missing_events_are_a_warning(machine: Machine) -> None:
    machine.add_client("2.1.325")
    machine.install(version="2.1.50")
    finding = machine.finding("hooks")
    assert (finding.status, finding.hint) == ("warn", "run `holdfast install` again")
    missing = "PostCompact, SubagentStart, UserPromptExpansion, PostToolUse"
    assert finding.detail.endswith(f": missing {missing} for this client")


def test_a_holdfast_event_that_the_client_does_not_support_is_a_failure(machine: Machine) -> None:
    machine.add_client("2.1.50")
    machine.install(version="2.1.325")
    finding = machine.finding("hooks")
    assert finding.status == "fail"
    assert "2.1.50 runs no hook of this file, because of PostCompact" in finding.detail


def test_another_event_that_an_old_client_may_not_support_is_a_warning(machine: Machine) -> None:
    machine.add_client("2.1.50")
    machine.install(version="2.1.50")
    machine.edit(hooks=machine.registered_hooks() | {"FileChanged": []})
    finding = machine.finding("hooks")
    assert finding.status == "warn"
    assert "does not know FileChanged, it runs no hook of this file" in finding.detail
    machine.add_client("2.1.325")
    assert "FileChanged" not in machine.finding("hooks").detail


def test_with_an_unknown_client_version_no_event_is_unsupported(machine: Machine) -> None:
    machine.install(version="2.1.325")
    assert machine.finding("hooks").status == "ok"


def test_an_event_registered_twice_is_a_warning(machine: Machine) -> None:
    machine.install()
    hooks = machine.registered_hooks()
    machine.edit(hooks=hooks | {"Stop": hooks["Stop"] * 2})
    assert machine.finding("hooks").status == "warn"
    assert "Stop registered more than once" in machine.finding("hooks").detail


def test_different_commands_in_two_files_are_a_warning(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.install()
    other = f"{shutil.which('sh')} -c 'holdfast.entry import hook'"
    monkeypatch.setattr(registration, "hook_command", lambda: other)
    machine.install(machine.project / ".claude" / "settings.json")
    assert [finding.status for finding in machine.findings("hooks")] == ["ok", "ok", "warn"]
    assert "arrive twice" in machine.findings("hooks")[-1].detail


@pytest.mark.parametrize(
    ("user", "local", "status"),
    [(True, None, "fail"), (True, False, "ok"), (None, True, "fail"), (False, None, "ok")],
)
def test_disabled_hooks_are_a_failure(
    machine: Machine, user: bool | None, local: bool | None, status: str
) -> None:
    machine.install()
    if user is not None:
        machine.edit(disableAllHooks=user)
    if local is not None:
        folder = machine.project / ".claude"
        folder.mkdir()
        (folder / "settings.local.json").write_text(json.dumps({"disableAllHooks": local}))
    assert machine.findings("hooks")[-1].status == status


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": 5}', "// no\n{}"])
def test_a_settings_file_that_cannot_be_read_is_a_failure(machine: Machine, text: str) -> None:
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text(text, encoding="utf-8")
    first = machine.findings("hooks")[0]
    assert first.status == "fail"
    assert str(machine.user_file) in first.detail
    assert first.hint


def test_problems_of_settings_are_reported(machine: Machine) -> None:
    machine.environ["HOLDFAST_BRIEF_TOKENS"] = "many"
    assert "brief_tokens must be a whole number" in machine.finding("settings").detail


def test_a_damaged_store_is_set_aside_and_reported_until_it_is_deleted(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "start_process", lambda *_: 0)
    os.makedirs(machine.settings.home, 0o700)
    Path(machine.settings.database).write_bytes(b"this is not a database " * 400)
    first_statuses = [finding.status for finding in machine.findings("store")]
    assert first_statuses == ["fail", "warn"]
    second_findings = machine.findings("store")
    assert [finding.status for finding in second_findings] == ["ok", "warn"]
    assert "damaged-" in second_findings[1].detail
    assert "copied: no rows" in second_findings[1].detail


def test_a_store_set_aside_with_its_wal_is_reported_once(machine: Machine) -> None:
    os.makedirs(machine.settings.home)
    for suffix in ("", "-wal", "-shm"):
        Path(f"{machine.settings.database}.damaged-20260101-000000{suffix}").touch()
    assert [finding.status for finding in machine.findings("store")] == ["info", "warn"]


def test_a_store_that_cannot_be_opened_is_a_failure(machine: Machine) -> None:
    os.makedirs(machine.settings.database)
    finding = machine.finding("store")
    assert finding.status == "fail"
    assert finding.hint


def test_a_store_that_others_can_read_is_a_warning(machine: Machine) -> None:
    machine.store()
    os.chmod(machine.settings.database, 0o644)
    finding = machine.findings("store")[1]
    assert finding.status == "warn"
    assert "can be read by others (644)" in finding.detail
    assert finding.hint.startswith("chmod go-rwx ")


def test_hooks_that_fired_are_counted(machine: Machine) -> None:
    store = machine.store()
    assert machine.finding("hooks fired").detail == "none yet"
    store.begin()
    store.record_hook("claude-code", "Stop", "s-1", 12.0, NOW - DAY_SECONDS)
    store.record_hook("claude-code", "Stop", "s-1", 12.0, NOW - 60)
    store.record_hook("claude-code", "PreCompact", "s-1", 12.0, NOW - 30 * DAY_SECONDS)
    store.commit()
    assert machine.finding("hooks fired").status == "ok"
    assert machine.finding("hooks fired").detail == "Stop 2×"


def test_hooks_that_stopped_firing_are_a_warning(machine: Machine) -> None:
    store = machine.store()
    store.begin()
    store.record_hook("claude-code", "Stop", "s-1", 12.0, NOW - 9 * DAY_SECONDS)
    store.record_hook("claude-code", "PreCompact", "s-1", 12.0, NOW - 20 * DAY_SECONDS)
    store.commit()
    assert machine.finding("hooks fired").status == "warn"
    assert machine.finding("hooks fired").detail == "none for 9 days"


def test_briefs_that_arrived_whole_are_counted(machine: Machine) -> None:
    store = machine.store()
    assert machine.finding("briefs").detail == "none sent yet"
    add_session(store)
    add_brief(store, 1, "whole")
    add_brief(store, 2, "pending")
    assert machine.finding("briefs").status == "ok"
    assert machine.finding("briefs").detail == "1 of 2 arrived whole"


@pytest.mark.parametrize("receipt", ["never", "cut", "twice"])
def test_a_brief_that_was_lost_cut_or_duplicated_is_a_warning(
    machine: Machine, receipt: str
) -> None:
    store = machine.store()
    add_session(store)
    add_brief(store, 1, "whole")
    add_brief(store, 2, receipt)
    finding = machine.finding("briefs")
    assert finding.status == "warn"
    assert finding.detail == f"1 of 2 arrived whole; {receipt} in s-1 (compaction 2)"
    assert "holdfast brief" in finding.hint


def test_unreadable_lines_are_reported(machine: Machine) -> None:
    add_session(machine.store(), bad_lines=[3, 9])
    finding = machine.finding("transcript")
    assert finding.status == "info"
    assert "/t.jsonl: unreadable lines were skipped (3, 9)" in finding.detail


def test_the_last_lines_of_the_log_are_shown(machine: Machine) -> None:
    machine.environ["TMPDIR"] = str(machine.root / "tmp")
    for number in range(8):
        diagnostics.log(machine.settings.log, f"hook: trouble {number}", machine.environ)
    finding = machine.finding("log")
    assert finding.status == "warn"
    assert [line.split(" ", 1)[1] for line in finding.hint.splitlines()] == [
        f"hook: trouble {number}" for number in range(3, 8)
    ]


def test_old_lines_of_the_log_are_no_warning(machine: Machine) -> None:
    os.makedirs(machine.settings.home)
    Path(machine.settings.log).write_text("2020-01-01T00:00:00+0000 hook: long ago\n")
    assert machine.finding("log").status == "info"
    Path(machine.settings.log).write_text("no time at all\n")
    assert machine.finding("log").status == "warn"


def test_the_log_in_the_temporary_folder_is_read_too(machine: Machine) -> None:
    diagnostics.log(f"{os.devnull}/log", "hook: no home", machine.environ)
    assert machine.finding("log").hint.endswith("hook: no home")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (hook_command(), ""),
        ("'unclosed", "the command is not a shell command"),
        ("", "the command is empty"),
        (f"{sys.executable} -c 'not python ('", ""),
        (f"{sys.executable} -c 'sys.path.append(folder)'", ""),
        (f"{sys.executable} -c 'sys.path.append()'", ""),
    ],
)
def test_a_broken_command_is_recognised(command: str, problem: str) -> None:
    assert find_command_problem(command) == problem
