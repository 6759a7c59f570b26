"""`holdfast trust`: a project's settings and templates count only after the user looked at them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from holdfast import settings, trust
from tests.terminal import Terminal


@pytest.fixture
def project(terminal: Terminal) -> Path:
    """A project with settings of its own."""
    folder = terminal.project / ".holdfast"
    folder.mkdir()
    _write(folder / "settings.json", {"guidance": False, "brief_tokens": 100})
    return terminal.project


def _write(file: Path, value: object) -> None:
    file.write_text(json.dumps(value), encoding="utf-8")


def _load(project: Path) -> settings.Settings:
    return settings.load(os.environ, str(project))


def test_settings_of_a_project_count_only_after_they_were_trusted(
    terminal: Terminal, project: Path
) -> None:
    assert (_load(project).guidance, _load(project).ignores_project) == (True, True)
    shown = terminal.run("trust", "--yes")
    assert shown.code == 0
    assert '"guidance": false' in shown.out
    # The user's rules need room, so a project cannot make the brief too short for them.
    loaded = _load(project)
    assert (loaded.guidance, loaded.brief_tokens, loaded.ignores_project) == (False, 500, False)


def test_a_change_has_to_be_trusted_again(terminal: Terminal, project: Path) -> None:
    terminal.run("trust", "--yes")
    (project / ".holdfast" / "briefs").mkdir()
    (project / ".holdfast" / "briefs" / "mine.md").write_text("## Plan {plan}", encoding="utf-8")
    assert _load(project).ignores_project
    terminal.run("trust", "--yes")
    assert not _load(project).ignores_project
    _write(project / ".holdfast" / "settings.json", {"guidance": False})
    assert _load(project).guidance
    assert "trusted already" not in terminal.run("trust").err


def test_without_a_terminal_nothing_is_trusted_by_itself(terminal: Terminal, project: Path) -> None:
    asked = terminal.run("trust")
    assert asked.code == 1
    assert "holdfast trust --yes" in asked.err
    assert _load(project).ignores_project


def test_trust_can_be_taken_back(terminal: Terminal, project: Path) -> None:
    assert "was not trusted" in terminal.run("trust", "--remove").err
    terminal.run("trust", "--yes")
    assert "trusted already" in terminal.run("trust").err
    assert "no longer trusted" in terminal.run("trust", "--remove").err
    assert _load(project).guidance


def test_doctor_and_status_say_what_is_in_force(terminal: Terminal, project: Path) -> None:
    assert "not trusted, so not in force: .holdfast/settings.json" in terminal.run("doctor").out
    assert "not in force" in terminal.run("status").err
    assert terminal.run("status", "--json").json["project_files_trusted"] is False
    terminal.run("trust", "--yes")
    assert "trusted and in force: .holdfast/settings.json" in terminal.run("doctor").out
    assert "are in force" in terminal.run("status").err
    (described,) = terminal.run("trust", "--json").json
    assert described["trusted"] is True
    assert described["files"] == [str(project / ".holdfast" / "settings.json")]


def test_what_cannot_be_read_cannot_be_trusted(terminal: Terminal, project: Path) -> None:
    file = project / ".holdfast" / "settings.json"
    file.unlink()
    file.symlink_to("/dev/zero")
    refused = terminal.run("trust", "--yes")
    assert refused.code == 1
    assert "cannot be trusted" in refused.err


def test_a_project_without_files_has_nothing_to_trust(terminal: Terminal) -> None:
    assert "no settings or templates" in terminal.run("trust").err
    assert terminal.run("status", "--json").json["project_files_trusted"] is None
    assert terminal.run("trust", "--json", "--yes").code == 1


def test_what_was_shown_is_trusted_even_if_the_file_changes_meanwhile(
    terminal: Terminal, project: Path
) -> None:
    files = trust.read_files(str(project))
    _write(project / ".holdfast" / "settings.json", {"guidance": False, "notes": False})
    trust.trust(str(terminal.store), str(project), files)
    assert _load(project).ignores_project


def test_signs_that_hide_or_reorder_text_are_shown_as_codes(
    terminal: Terminal, project: Path
) -> None:
    (project / ".holdfast" / "settings.json").write_text('{"role": "\u202eelor"}')
    assert '"\\u202eelor"' in terminal.run("trust", "--yes").out


def test_a_file_that_nobody_would_read_cannot_be_trusted(terminal: Terminal, project: Path) -> None:
    (project / ".holdfast" / "settings.json").write_text(" " * trust.MAX_FILE_BYTES + "{} ")
    assert "cannot be trusted" in terminal.run("trust", "--yes").err
