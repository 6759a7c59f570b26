"""Every silent failure becomes a finding of the doctor."""

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

from holdfast import diagnostics
from holdfast import settings as holdfast_settings
from holdfast.services.doctor.checks import Finding, run_checks
from holdfast.services.doctor.hook_checks import find_command_problem
from holdfast.services.install import client_version, registration
from holdfast.services.install.registration import hook_command, plan_install
from holdfast.state.fold import new_state
from holdfast.store.sqlite import SQLiteStore

NOW = time.time()
DAY = 86_400.0


class Patient:
    """An installation to look at: a user's home, a project, and Claude Code of some version."""

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

    def client(self, version: str) -> None:
        (self.root / "bin").mkdir(exist_ok=True)
        program = self.root / "bin" / "claude"
        program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n", encoding="utf-8")
        program.chmod(0o755)

    def install(self, file: Path | None = None, version: str = "2.1.325") -> None:
        home = self.settings.home
        registration.install(plan_install(str(file or self.user_file), version, home), home)

    def edit(self, **changes: Any) -> None:
        known = json.loads(self.user_file.read_text(encoding="utf-8"))
        self.user_file.write_text(json.dumps(known | changes), encoding="utf-8")

    def registered(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.user_file.read_text(encoding="utf-8"))["hooks"]
        return found

    def findings(self, name: str) -> list[Finding]:
        return [finding for finding in self.look() if finding.name == name]

    def one(self, name: str) -> Finding:
        (found,) = self.findings(name)
        return found

    def look(self) -> list[Finding]:
        return run_checks(self.environ, str(self.project), self.settings, NOW)


@pytest.fixture
def patient(tmp_path: Path) -> Iterator[Patient]:
    patient = Patient(tmp_path)
    yield patient
    for store in patient.stores:
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


def test_an_empty_machine_gets_hints_what_to_do(patient: Patient) -> None:
    found = {finding.name: finding for finding in patient.look()}
    assert (found["Claude Code"].status, found["hooks"].status) == ("warn", "warn")
    assert "HOLDFAST_CLAUDE" in found["Claude Code"].hint
    assert found["hooks"].hint == "run `holdfast install`"
    assert found["store"].status == "info"
    assert found["holdfast"].status == "info"
    assert not os.path.exists(patient.settings.home)


def test_an_installation_in_order_has_few_findings(patient: Patient) -> None:
    patient.client("2.1.325")
    patient.install()
    assert patient.one("Claude Code").detail.startswith("2.1.325 at ")
    assert patient.one("hooks") == Finding(
        name="hooks", status="ok", detail=f"{patient.user_file}: 10 events"
    )
    assert {finding.status for finding in patient.look()} <= {"ok", "info"}


def test_a_client_without_a_version_is_a_warning(patient: Patient) -> None:
    patient.client("junk")
    assert patient.one("Claude Code").status == "warn"
    assert "prints no version" in patient.one("Claude Code").detail


def test_the_client_runs_only_once(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_version, "VERSION_TIMEOUT_SECONDS", 0.3)
    (patient.root / "bin").mkdir()
    program = patient.root / "bin" / "claude"
    program.write_text("#!/bin/sh\nexec /bin/sleep 3\n", encoding="utf-8")
    program.chmod(0o755)
    for file in ("settings.json", "settings.local.json"):
        patient.install(patient.project / ".claude" / file)
    patient.install()
    started = time.monotonic()
    assert len(patient.findings("hooks")) == 3
    assert time.monotonic() - started < 1


def test_hooks_of_this_folder_and_of_another_are_found(patient: Patient) -> None:
    here = patient.project / ".claude" / "settings.local.json"
    elsewhere = patient.root / "other" / ".claude" / "settings.json"
    patient.install(here)
    patient.install(elsewhere)
    details = [finding.detail for finding in patient.findings("hooks")]
    assert details == [f"{here}: 10 events", f"{elsewhere}: 10 events"]


def test_the_home_folder_is_checked_once(patient: Patient) -> None:
    patient.install()
    patient.project = patient.root / "user"
    assert len(patient.findings("hooks")) == 1


def test_a_hook_of_the_first_edition_is_a_failure_that_install_mends(patient: Patient) -> None:
    patient.client("2.1.325")
    patient.install()
    command = f"{sys.executable} -I -S -c 'from holdfast.surfaces.hook import main; main()'"
    patient.edit(hooks={
        event: [{"hooks": [{"type": "command", "command": command}]}]
        for event in patient.registered()
    })  # fmt: skip
    (finding,) = patient.findings("hooks")
    assert finding.status == "fail"
    assert "first edition" in finding.detail
    assert finding.hint == "run `holdfast install` again"
    patient.install()
    assert patient.one("hooks").status == "ok"
    assert "holdfast.surfaces" not in patient.user_file.read_text()


def test_a_status_line_of_the_first_edition_is_a_failure_that_install_mends(
    patient: Patient,
) -> None:
    patient.install()
    assert patient.findings("status line") == []
    command = f"{sys.executable} -I -S -c 'from holdfast.surfaces.statusline import main; main()'"
    patient.edit(statusLine={"type": "command", "command": f"{command} 'git branch'"})
    finding = patient.one("status line")
    assert finding.status == "fail"
    assert str(patient.user_file) in finding.detail
    assert "first edition" in finding.detail
    assert finding.hint == "run `holdfast install` again"
    patient.install()
    assert patient.findings("status line") == []
    text = patient.user_file.read_text(encoding="utf-8")
    assert "holdfast.surfaces" not in text
    assert "git branch" in text


def test_a_missing_interpreter_is_a_failure(patient: Patient) -> None:
    patient.install()
    text = patient.user_file.read_text(encoding="utf-8")
    patient.user_file.write_text(text.replace(sys.executable, "/gone/python"), encoding="utf-8")
    finding = patient.one("hooks")
    assert finding.status == "fail"
    assert "the interpreter /gone/python is gone" in finding.detail
    assert "holdfast install" in finding.hint


def test_a_missing_package_is_a_failure(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = patient.root / "it's gone"
    monkeypatch.setattr("holdfast.__file__", str(gone / "holdfast" / "__init__.py"))
    patient.install()
    monkeypatch.undo()
    finding = patient.one("hooks")
    assert finding.status == "fail"
    assert finding.detail.endswith(f"holdfast is no longer in {gone}")


def test_an_enabled_plugin_counts_as_an_installation(patient: Patient) -> None:
    patient.user_file.parent.mkdir(parents=True, exist_ok=True)
    patient.user_file.write_text('{"enabledPlugins": {"holdfast@holdfast-local": true}}')
    assert patient.one("hooks").status == "warn"
    assert "`holdfast` is not on the PATH of this shell" in patient.one("hooks").detail
    patient.client("2.1.325")
    shutil.copy(patient.root / "bin" / "claude", patient.root / "bin" / "holdfast")
    assert (patient.one("hooks").status, patient.one("hooks").detail) == ("ok", "by the plugin")
    patient.user_file.write_text('{"enabledPlugins": {"holdfast@holdfast-local": false}}')
    assert patient.one("hooks").status == "warn"


def test_missing_events_are_a_warning(patient: Patient) -> None:
    patient.client("2.1.325")
    patient.install(version="2.1.50")
    finding = patient.one("hooks")
    assert (finding.status, finding.hint) == ("warn", "run `holdfast install` again")
    missing = "PostCompact, SubagentStart, UserPromptExpansion, PostToolUse"
    assert finding.detail.endswith(f": missing {missing} for this client")


def test_an_own_event_unknown_to_an_old_client_is_a_failure(patient: Patient) -> None:
    patient.client("2.1.50")
    patient.install(version="2.1.325")
    finding = patient.one("hooks")
    assert finding.status == "fail"
    assert "2.1.50 runs no hook of this file, because of PostCompact" in finding.detail


def test_a_foreign_event_maybe_unknown_to_an_old_client_is_a_warning(patient: Patient) -> None:
    patient.client("2.1.50")
    patient.install(version="2.1.50")
    patient.edit(hooks=patient.registered() | {"FileChanged": []})
    finding = patient.one("hooks")
    assert finding.status == "warn"
    assert "does not know FileChanged, it runs no hook of this file" in finding.detail
    patient.client("2.1.325")
    assert "FileChanged" not in patient.one("hooks").detail


def test_an_unknown_client_version_has_no_unknown_events(patient: Patient) -> None:
    patient.install(version="2.1.325")
    assert patient.one("hooks").status == "ok"


def test_an_event_registered_twice_is_a_warning(patient: Patient) -> None:
    patient.install()
    hooks = patient.registered()
    patient.edit(hooks=hooks | {"Stop": hooks["Stop"] * 2})
    assert patient.one("hooks").status == "warn"
    assert "Stop registered more than once" in patient.one("hooks").detail


def test_different_commands_in_two_files_are_a_warning(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient.install()
    other = f"{shutil.which('sh')} -c 'holdfast.entry import hook'"
    monkeypatch.setattr(registration, "hook_command", lambda: other)
    patient.install(patient.project / ".claude" / "settings.json")
    assert [finding.status for finding in patient.findings("hooks")] == ["ok", "ok", "warn"]
    assert "arrive twice" in patient.findings("hooks")[-1].detail


@pytest.mark.parametrize(
    ("user", "local", "status"),
    [(True, None, "fail"), (True, False, "ok"), (None, True, "fail"), (False, None, "ok")],
)
def test_disabled_hooks_are_a_failure(
    patient: Patient, user: bool | None, local: bool | None, status: str
) -> None:
    patient.install()
    if user is not None:
        patient.edit(disableAllHooks=user)
    if local is not None:
        folder = patient.project / ".claude"
        folder.mkdir()
        (folder / "settings.local.json").write_text(json.dumps({"disableAllHooks": local}))
    assert patient.findings("hooks")[-1].status == status


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": 5}', "// no\n{}"])
def test_a_settings_file_that_cannot_be_read_is_a_failure(patient: Patient, text: str) -> None:
    patient.user_file.parent.mkdir(parents=True)
    patient.user_file.write_text(text, encoding="utf-8")
    first = patient.findings("hooks")[0]
    assert first.status == "fail"
    assert str(patient.user_file) in first.detail
    assert first.hint


def test_problems_of_settings_are_reported(patient: Patient) -> None:
    patient.environ["HOLDFAST_BRIEF_TOKENS"] = "many"
    assert "brief_tokens must be a whole number" in patient.one("settings").detail


def test_a_damaged_store_is_set_aside_and_reported_until_it_is_deleted(patient: Patient) -> None:
    os.makedirs(patient.settings.home, 0o700)
    Path(patient.settings.database).write_bytes(b"this is not a database " * 400)
    first = [finding.status for finding in patient.findings("store")]
    assert first == ["fail", "warn"]
    again = patient.findings("store")
    assert [finding.status for finding in again] == ["info", "warn"]
    assert "damaged-" in again[1].detail


def test_a_store_set_aside_with_its_wal_is_reported_once(patient: Patient) -> None:
    os.makedirs(patient.settings.home)
    for ending in ("", "-wal", "-shm"):
        Path(f"{patient.settings.database}.damaged-20260101-000000{ending}").touch()
    assert [finding.status for finding in patient.findings("store")] == ["info", "warn"]


def test_a_store_that_cannot_be_opened_is_a_failure(patient: Patient) -> None:
    os.makedirs(patient.settings.database)
    finding = patient.one("store")
    assert finding.status == "fail"
    assert finding.hint


def test_a_store_that_others_can_read_is_a_warning(patient: Patient) -> None:
    patient.store()
    os.chmod(patient.settings.database, 0o644)
    finding = patient.findings("store")[1]
    assert finding.status == "warn"
    assert "can be read by others (644)" in finding.detail
    assert finding.hint.startswith("chmod go-rwx ")


def test_hooks_that_fired_are_counted(patient: Patient) -> None:
    store = patient.store()
    assert patient.one("hooks fired").detail == "none yet"
    store.begin()
    store.record_hook("claude-code", "Stop", "s-1", 12.0, NOW - DAY)
    store.record_hook("claude-code", "Stop", "s-1", 12.0, NOW - 60)
    store.record_hook("claude-code", "PreCompact", "s-1", 12.0, NOW - 30 * DAY)
    store.commit()
    assert patient.one("hooks fired").status == "ok"
    assert patient.one("hooks fired").detail == "Stop 2×"


def test_hooks_that_stopped_firing_are_a_warning(patient: Patient) -> None:
    store = patient.store()
    store.begin()
    store.record_hook("claude-code", "Stop", "s-1", 12.0, NOW - 9 * DAY)
    store.record_hook("claude-code", "PreCompact", "s-1", 12.0, NOW - 20 * DAY)
    store.commit()
    assert patient.one("hooks fired").status == "warn"
    assert patient.one("hooks fired").detail == "none for 9 days"


def test_briefs_that_arrived_are_in_order(patient: Patient) -> None:
    store = patient.store()
    assert patient.one("briefs").detail == "none sent yet"
    add_session(store)
    add_brief(store, 1, "whole")
    add_brief(store, 2, "pending")
    assert patient.one("briefs").status == "ok"
    assert patient.one("briefs").detail == "1 of 2 arrived whole"


@pytest.mark.parametrize("receipt", ["never", "cut", "twice"])
def test_a_brief_that_did_not_arrive_whole_and_once_is_a_warning(
    patient: Patient, receipt: str
) -> None:
    store = patient.store()
    add_session(store)
    add_brief(store, 1, "whole")
    add_brief(store, 2, receipt)
    finding = patient.one("briefs")
    assert finding.status == "warn"
    assert finding.detail == f"1 of 2 arrived whole; {receipt} in s-1 (compaction 2)"
    assert "holdfast brief" in finding.hint


def test_unreadable_lines_are_reported(patient: Patient) -> None:
    add_session(patient.store(), bad_lines=[3, 9])
    finding = patient.one("transcript")
    assert finding.status == "info"
    assert "/t.jsonl: unreadable lines were skipped (3, 9)" in finding.detail


def test_the_last_lines_of_the_log_are_shown(patient: Patient) -> None:
    patient.environ["TMPDIR"] = str(patient.root / "tmp")
    for number in range(8):
        diagnostics.log(patient.settings.log, f"hook: trouble {number}", patient.environ)
    finding = patient.one("log")
    assert finding.status == "warn"
    assert [line.split(" ", 1)[1] for line in finding.hint.splitlines()] == [
        f"hook: trouble {number}" for number in range(3, 8)
    ]


def test_old_lines_of_the_log_are_no_warning(patient: Patient) -> None:
    os.makedirs(patient.settings.home)
    Path(patient.settings.log).write_text("2020-01-01T00:00:00+0000 hook: long ago\n")
    assert patient.one("log").status == "info"
    Path(patient.settings.log).write_text("no time at all\n")
    assert patient.one("log").status == "warn"


def test_the_log_in_the_temporary_folder_is_read_too(patient: Patient) -> None:
    diagnostics.log(f"{os.devnull}/log", "hook: no home", patient.environ)
    assert patient.one("log").hint.endswith("hook: no home")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (hook_command(), ""),
        ("'unclosed", "the command is not a shell command"),
        ("", "the command is empty"),
        (f"{sys.executable} -c 'not python ('", ""),
        (f"{sys.executable} -c 'sys.path.append(folder)'", ""),
        (f"{sys.executable} -c 'sys.path.append()'", ""),
    ],
)
def test_a_broken_command_is_recognized(command: str, why: str) -> None:
    assert find_command_problem(command) == why
