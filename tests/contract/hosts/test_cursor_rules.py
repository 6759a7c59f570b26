"""Cursor gets its brief as a rules file: where it is written and when it is deleted."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.services.install import registration

from .host_session import QUIET_ENV, HostSession, create_host_session
from .kit import FILE, SESSION

OTHER_SESSION = "0a1b2c3d-0000-4000-8000-00000000000a"
IDLE_SECONDS = 2 * 3600.0


@pytest.fixture
def cursor(tmp_path: Path) -> HostSession:
    """A conversation with installed hooks that is about to be compacted."""
    host_session = create_host_session("cursor", tmp_path)
    host_session.install()
    host_session.fire("start")
    host_session.write(host_session.sample.before(str(host_session.project)))
    return host_session


def list_rules_files(host_session: HostSession) -> list[str]:
    """Return the ids of the sessions that have a rules file."""
    return sorted(
        file.stem for file in (host_session.project / host_session.host.RULES_FOLDER).glob("*.mdc")
    )


def list_receipts(host_session: HostSession) -> list[str]:
    store = host_session.store()
    try:
        return [row["receipt"] for row in store.compactions(SESSION)]
    finally:
        store.close()


def set_last_seen(host_session: HostSession, seconds: float) -> None:
    """Make the first session look idle for this many seconds."""
    store = host_session.store()
    try:
        past = time.time() - seconds
        store.database.run("UPDATE sessions SET seen_at = ? WHERE id = ?", (past, SESSION))
    finally:
        store.close()


def test_the_rules_file_is_always_applied_private_and_ignored_by_git(
    cursor: HostSession,
) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=cursor.project, check=True)
    cursor.fire("save")
    file = cursor.project / cursor.host.RULES_FOLDER / f"{SESSION}.mdc"
    text = file.read_text(encoding="utf-8")
    assert text.startswith("---\n")
    assert "\nalwaysApply: true\n---\n" in text
    assert "began with “Make the retry back off." in text
    assert FILE in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    assert subprocess.check_output(command, cwd=cursor.project) == b""


def test_secrets_are_not_written_to_the_rules_file(cursor: HostSession) -> None:
    token = "ghp_" + "a1B2" * 9
    line = {"role": "user", "message": {"content": f"Never print {token} anywhere."}}
    cursor.write([line])
    cursor.fire("save")
    assert list_rules_files(cursor) == [SESSION]
    assert token not in (cursor.project / cursor.host.RULES_FOLDER / f"{SESSION}.mdc").read_text()


def test_the_end_of_the_conversation_deletes_the_rules_file(cursor: HostSession) -> None:
    cursor.fire("save")
    cursor.fire("end")
    assert [*cursor.project.iterdir()] == []


def test_other_rules_of_the_project_stay(cursor: HostSession) -> None:
    own_rules = cursor.project / ".cursor" / "rules" / "style.mdc"
    own_rules.parent.mkdir(parents=True)
    own_rules.write_text("my rules")
    cursor.fire("save")
    cursor.fire("end")
    assert [*own_rules.parent.iterdir()] == [own_rules]


def test_concurrent_conversations_have_separate_rules_files(cursor: HostSession) -> None:
    cursor.fire("save")
    cursor.fire("start", conversation_id=OTHER_SESSION)
    cursor.fire("save", conversation_id=OTHER_SESSION)
    assert list_rules_files(cursor) == [SESSION, OTHER_SESSION]
    cursor.fire("end", conversation_id=OTHER_SESSION)
    assert list_rules_files(cursor) == [SESSION]


def test_the_rules_file_of_an_idle_conversation_is_deleted_until_it_continues(
    cursor: HostSession,
) -> None:
    cursor.fire("save")
    set_last_seen(cursor, IDLE_SECONDS)
    cursor.fire("start", conversation_id=OTHER_SESSION)
    assert list_rules_files(cursor) == []
    cursor.fire("stop", conversation_id=OTHER_SESSION)
    assert list_rules_files(cursor) == []
    cursor.fire("stop")
    assert list_rules_files(cursor) == [SESSION]


def test_no_rules_file_is_written_if_holdfast_is_not_installed_for_cursor(
    cursor: HostSession,
) -> None:
    """Cursor also runs the hooks of Claude Code's settings."""
    Path(cursor.host.settings_path(cursor.environ, None)).unlink()
    cursor.run(registration.hook_command(), cursor.payload("save"))
    assert [*cursor.project.iterdir()] == []
    assert list_receipts(cursor) == ["pending"]


def test_a_hook_of_other_settings_leaves_the_rules_file_to_the_installed_hook(
    cursor: HostSession,
) -> None:
    for _ in range(2):
        cursor.run(registration.hook_command(), cursor.payload("save"))
    assert list_receipts(cursor) == []
    cursor.fire("save")
    assert list_receipts(cursor) == ["unproven"]


@pytest.mark.parametrize("linked", [".cursor", ".cursor/rules", ".cursor/rules/holdfast"])
def test_nothing_is_written_through_a_symlink(
    cursor: HostSession, tmp_path: Path, linked: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (cursor.project / linked).parent.mkdir(parents=True, exist_ok=True)
    (cursor.project / linked).symlink_to(elsewhere)
    cursor.fire("save")
    assert [*elsewhere.iterdir()] == []
    assert list_receipts(cursor) == ["never"]
    assert "reached by a link" in (cursor.root / "holdfast" / "holdfast.log").read_text()


def test_a_rules_file_that_cannot_be_written_is_logged_once_and_stops_nothing(
    cursor: HostSession,
) -> None:
    (cursor.project / ".cursor").write_text("not a folder")
    cursor.fire("save")
    assert list_receipts(cursor) == ["never"]
    log = cursor.root / "holdfast" / "holdfast.log"
    logged = log.read_text()
    cursor.fire("stop")
    assert log.read_text() == logged


def test_uninstall_deletes_the_rules_files_of_every_project(cursor: HostSession) -> None:
    cursor.fire("save")
    command = [sys.executable, "-m", "holdfast", "uninstall", "--host", "cursor"]
    env = {**os.environ, **cursor.environ, **QUIET_ENV}
    completed = subprocess.run(
        command, cwd=cursor.root, env=env, capture_output=True, text=True, check=True
    )
    assert f"{cursor.project}/.cursor/rules/holdfast: a brief." in completed.stderr
    assert [*cursor.project.iterdir()] == []
