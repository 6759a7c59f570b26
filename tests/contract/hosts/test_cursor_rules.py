"""Cursor is given its brief as a file of rules: where that lies, whose it is, and when it goes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.services.install import registration

from .kit import FILE, SESSION
from .stage import QUIET, Stage, staged

OTHER = "0a1b2c3d-0000-4000-8000-00000000000a"
HOURS = 2 * 3600.0


@pytest.fixture
def cursor(tmp_path: Path) -> Stage:
    """A conversation that is about to be compacted, with our hooks installed."""
    stage = staged("cursor", tmp_path)
    stage.install()
    stage.fire("start")
    stage.write(stage.sample.before(str(stage.project)))
    return stage


def rules(stage: Stage) -> list[str]:
    """The sessions that have a file."""
    return sorted(file.stem for file in (stage.project / stage.host.RULES_FOLDER).glob("*.mdc"))


def receipts(stage: Stage) -> list[str]:
    store = stage.store()
    try:
        return [row["receipt"] for row in store.compactions(SESSION)]
    finally:
        store.close()


def seen_before(stage: Stage, seconds: float) -> None:
    """As if nothing had been heard of the first session for so long."""
    store = stage.store()
    try:
        past = time.time() - seconds
        store.database.run("UPDATE sessions SET seen_at = ? WHERE id = ?", (past, SESSION))
    finally:
        store.close()


def test_the_brief_is_shown_always_to_its_owner_alone_and_git_does_not_see_it(
    cursor: Stage,
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
    told = ["git", "status", "--porcelain", "--untracked-files=all"]
    assert subprocess.check_output(told, cwd=cursor.project) == b""


def test_secrets_do_not_get_into_the_file(cursor: Stage) -> None:
    token = "ghp_" + "a1B2" * 9
    said = {"role": "user", "message": {"content": f"Never print {token} anywhere."}}
    cursor.write([said])
    cursor.fire("save")
    assert rules(cursor) == [SESSION]
    assert token not in (cursor.project / cursor.host.RULES_FOLDER / f"{SESSION}.mdc").read_text()


def test_at_the_end_of_the_conversation_nothing_is_left(cursor: Stage) -> None:
    cursor.fire("save")
    cursor.fire("end")
    assert [*cursor.project.iterdir()] == []


def test_rules_of_the_project_stay(cursor: Stage) -> None:
    theirs = cursor.project / ".cursor" / "rules" / "style.mdc"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs")
    cursor.fire("save")
    cursor.fire("end")
    assert [*theirs.parent.iterdir()] == [theirs]


def test_two_conversations_at_once_have_a_file_each(cursor: Stage) -> None:
    cursor.fire("save")
    cursor.fire("start", conversation_id=OTHER)
    cursor.fire("save", conversation_id=OTHER)
    assert rules(cursor) == [SESSION, OTHER]
    cursor.fire("end", conversation_id=OTHER)
    assert rules(cursor) == [SESSION]


def test_an_idle_conversation_gives_way_to_a_new_one_and_comes_back_when_it_goes_on(
    cursor: Stage,
) -> None:
    cursor.fire("save")
    seen_before(cursor, HOURS)
    cursor.fire("start", conversation_id=OTHER)
    assert rules(cursor) == []
    cursor.fire("stop", conversation_id=OTHER)
    assert rules(cursor) == []
    cursor.fire("stop")
    assert rules(cursor) == [SESSION]


def test_nothing_is_written_for_somebody_who_did_not_install_it_for_cursor(cursor: Stage) -> None:
    """Cursor can run the hooks of Claude Code's settings too."""
    Path(cursor.host.settings_path(cursor.environ, None)).unlink()
    cursor.run(registration.hook_command(), cursor.payload("save"))
    assert [*cursor.project.iterdir()] == []
    assert receipts(cursor) == ["pending"]


def test_a_hook_of_other_settings_leaves_it_to_the_one_that_was_installed(cursor: Stage) -> None:
    for _ in range(2):
        cursor.run(registration.hook_command(), cursor.payload("save"))
    assert receipts(cursor) == []
    cursor.fire("save")
    assert receipts(cursor) == ["unproven"]


@pytest.mark.parametrize("linked", [".cursor", ".cursor/rules", ".cursor/rules/holdfast"])
def test_nothing_is_written_where_a_link_leads(cursor: Stage, tmp_path: Path, linked: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (cursor.project / linked).parent.mkdir(parents=True, exist_ok=True)
    (cursor.project / linked).symlink_to(elsewhere)
    cursor.fire("save")
    assert [*elsewhere.iterdir()] == []
    assert receipts(cursor) == ["never"]
    assert "reached by a link" in (cursor.root / "holdfast" / "holdfast.log").read_text()


def test_a_project_that_cannot_be_written_to_costs_nothing_but_the_file(cursor: Stage) -> None:
    (cursor.project / ".cursor").write_text("no folder")
    cursor.fire("save")
    assert receipts(cursor) == ["never"]
    log = cursor.root / "holdfast" / "holdfast.log"
    said = log.read_text()
    cursor.fire("stop")
    assert log.read_text() == said


def test_uninstalling_takes_the_files_out_of_every_project(cursor: Stage) -> None:
    cursor.fire("save")
    command = [sys.executable, "-m", "holdfast", "uninstall", "--host", "cursor"]
    env = {**os.environ, **cursor.environ, **QUIET}
    done = subprocess.run(
        command, cwd=cursor.root, env=env, capture_output=True, text=True, check=True
    )
    assert f"{cursor.project}/.cursor/rules/holdfast: a brief." in done.stderr
    assert [*cursor.project.iterdir()] == []
