"""Settings: the precedence of the layers, and the handling of invalid values."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from holdfast import settings, trust


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".holdfast").mkdir(parents=True)
    return folder


def load(home: Path, project: Path | None = None, **environ: str) -> settings.Settings:
    return settings.load({"HOLDFAST_HOME": str(home), **environ}, str(project) if project else None)


def write(folder: Path, content: object) -> Path:
    file = folder / "settings.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def test_without_files_and_variables_the_defaults_apply(home: Path, project: Path) -> None:
    loaded = load(home, project)
    assert (loaded.brief_tokens, loaded.guidance, loaded.problems) == (3000, True, ())


def test_the_environment_beats_the_project_which_beats_the_user(home: Path, project: Path) -> None:
    write(home, {"brief_tokens": 500, "guidance": False})
    assert load(home, project).brief_tokens == 500
    write(project / ".holdfast", {"brief_tokens": 600})
    trust.trust(str(home), str(project))
    loaded = load(home, project)
    assert (loaded.brief_tokens, loaded.guidance) == (600, False)
    loaded = load(home, project, HOLDFAST_BRIEF_TOKENS="700")
    assert (loaded.brief_tokens, loaded.guidance) == (700, False)


def test_the_settings_of_another_project_are_not_read(home: Path, project: Path) -> None:
    write(project / ".holdfast", {"brief_tokens": 600})
    assert load(home).brief_tokens == 3000
    assert load(home, project.parent).brief_tokens == 3000


@pytest.mark.parametrize("word", ["off", "OFF", "False", "0", "no"])
def test_a_switch_accepts_the_usual_words_for_off(home: Path, word: str) -> None:
    assert load(home, HOLDFAST_GUIDANCE=word).guidance is False


@pytest.mark.parametrize("word", ["on", "True", "1", "YES"])
def test_a_switch_accepts_the_usual_words_for_on(home: Path, word: str) -> None:
    write(home, {"guidance": False})
    assert load(home, HOLDFAST_GUIDANCE=word).guidance is True


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("99", "between 100 and 3000, not 99"),
        ("3001", "between 100 and 3000, not 3001"),
        ("-500", "between 100 and 3000, not -500"),
        ("many", "a whole number, not 'many'"),
        ("", "a whole number, not ''"),
        ("1.5", "a whole number, not '1.5'"),
        ("9" * 5000, "a whole number"),
    ],
)
def test_an_invalid_number_is_reported_and_ignored(home: Path, value: str, message: str) -> None:
    write(home, {"brief_tokens": 500})
    loaded = load(home, HOLDFAST_BRIEF_TOKENS=value)
    assert loaded.brief_tokens == 500, "the value of the next layer applies"
    (problem,) = loaded.problems
    assert problem.startswith("environment: brief_tokens must be ")
    assert message in problem


@pytest.mark.parametrize("edge", [100, 3000])
def test_the_limits_themselves_are_allowed(home: Path, edge: int) -> None:
    assert load(home, HOLDFAST_BRIEF_TOKENS=str(edge)).brief_tokens == edge


def test_an_invalid_value_names_its_file_and_affects_no_other(home: Path) -> None:
    file = write(home, {"guidance": "perhaps", "brief_tokens": 500, "brief_tokns": 5})
    loaded = load(home)
    assert (loaded.guidance, loaded.brief_tokens) == (True, 500)
    assert loaded.problems == (
        f"{file}: guidance must be on or off, not 'perhaps'",
        f"{file}: unknown setting 'brief_tokns'",
    )


@pytest.mark.parametrize(
    "content", ["", "{", "[1, 2]", "null", '"text"', "[" * 100_000, '{"a":' * 100_000, "\x00"]
)
def test_a_file_without_a_json_object_is_reported_and_ignored(home: Path, content: str) -> None:
    file = write(home, content)
    loaded = load(home, HOLDFAST_BRIEF_TOKENS="700")
    assert (loaded.brief_tokens, loaded.guidance) == (700, True)
    (problem,) = loaded.problems
    assert problem.startswith(f"{file}: (file): ")


def test_an_unreadable_file_or_a_folder_is_reported(home: Path) -> None:
    (home / "settings.json").write_bytes(b'{"guidance": "\xff\xfe"}')
    assert len(load(home).problems) == 1
    (home / "settings.json").unlink()
    (home / "settings.json").mkdir()
    assert len(load(home).problems) == 1


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/tty"])
def test_a_symlink_to_a_device_is_not_read(home: Path, project: Path, target: str) -> None:
    """A repository can contain such a symlink, and a hook that reads it would hang."""
    (project / ".holdfast" / "settings.json").symlink_to(target)
    loaded = load(home, project)
    assert (loaded.ignores_project, loaded.problems) == (True, ())
    (home / "settings.json").symlink_to(target)
    (problem,) = load(home, project).problems
    assert problem.endswith("(file): not a small regular file")


def test_a_pipe_does_not_block_loading(home: Path, project: Path) -> None:
    os.mkfifo(project / ".holdfast" / "settings.json")
    assert load(home, project).ignores_project


def test_a_settings_file_of_megabytes_is_not_read(home: Path) -> None:
    write(home, '{"brief_tokens": 500}' + " " * settings.MAX_FILE_BYTES)
    loaded = load(home)
    assert (loaded.brief_tokens, len(loaded.problems)) == (3000, 1)


def test_a_home_that_is_a_file_has_no_settings_and_no_problems(home: Path) -> None:
    home.rmdir()
    home.touch()
    assert load(home).problems == ()


def test_the_store_and_the_log_are_in_the_home_folder(home: Path) -> None:
    loaded = load(home)
    assert loaded.database == str(home / "holdfast.db")
    assert loaded.log == str(home / "holdfast.log")


def test_a_relative_home_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert settings.find_home({"HOLDFAST_HOME": "here"}) == str(tmp_path / "here")


@pytest.mark.parametrize(
    ("platform", "environ", "expected"),
    [
        ("linux", {}, "/home/u/.local/state/holdfast"),
        ("linux", {"XDG_STATE_HOME": "/var/u"}, "/var/u/holdfast"),
        ("linux", {"XDG_STATE_HOME": "relative"}, "/home/u/.local/state/holdfast"),
        ("linux", {"HOLDFAST_HOME": "/srv/h", "XDG_STATE_HOME": "/var/u"}, "/srv/h"),
        ("linux", {"HOLDFAST_HOME": ""}, "/home/u/.local/state/holdfast"),
        ("darwin", {}, "/home/u/Library/Application Support/holdfast"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/holdfast"),
        ("win32", {}, "/home/u/AppData/Local/holdfast"),
    ],
)
def test_every_platform_has_its_own_default_home(
    monkeypatch: pytest.MonkeyPatch, platform: str, environ: dict[str, str], expected: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert settings.find_home({"HOME": "/home/u", **environ}) == expected


def test_every_setting_has_a_description() -> None:
    assert settings.DESCRIPTIONS.keys() == settings.DEFAULTS.keys()


def test_a_list_is_written_as_json_or_separated_by_commas(home: Path, project: Path) -> None:
    write(project / ".holdfast", {"command_sources": ["prompts", " team/prompts "]})
    trust.trust(str(home), str(project))
    assert load(home, project).command_sources == ("prompts", "team/prompts")
    assert load(home, HOLDFAST_COMMAND_SOURCES="a, b,,").command_sources == ("a", "b")
    loaded = load(home, project, HOLDFAST_COMMAND_SOURCES="")
    assert (loaded.command_sources, loaded.problems) == ((), ())


@pytest.mark.parametrize("value", [3, ["a", 3], {"a": 1}, None])
def test_an_invalid_list_is_reported_and_ignored(home: Path, value: object) -> None:
    write(home, {"command_sources": value})
    loaded = load(home)
    assert loaded.command_sources == ()
    assert "command_sources must be a list of texts" in loaded.problems[0]


def test_a_setting_with_choices_rejects_other_values(home: Path) -> None:
    assert load(home).restore_on_clear == "off"
    assert load(home, HOLDFAST_RESTORE_ON_CLEAR="Rules").restore_on_clear == "rules"
    write(home, {"restore_on_clear": False})
    assert load(home).restore_on_clear == "off"
    loaded = load(home, HOLDFAST_RESTORE_ON_CLEAR="everything")
    assert loaded.restore_on_clear == "off"
    assert loaded.problems == (
        "environment: restore_on_clear must be off or rules, not 'everything'",
    )  # fmt: skip
