"""Active commands: finding their files, their status, and the rules that they contribute."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import settings
from holdfast.diagnostics import read_tail
from holdfast.services.compaction import active_commands
from holdfast.services.compaction.active_commands import (
    clear_commands,
    list_commands,
    load_active_rules,
    start_command,
    stop_command,
)
from holdfast.services.compaction.command_files import (
    CommandRefused,
    read_command,
    split_command_name,
)
from holdfast.services.compaction.summarizer_guidance import MAX_GUIDANCE_UNITS, render_guidance
from holdfast.state.fold import new_state
from holdfast.state.types import State
from holdfast.store.sqlite import SQLiteStore
from holdfast.tokens.estimate import utf16_units

MARKED_SUMMARY = "<!-- COMPACT_SUMMARY_START -->\n{}\n<!-- COMPACT_SUMMARY_END -->\n"


class CommandFolders:
    """A project and a user folder that contain commands."""

    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        self.user = root / "user" / ".claude"
        self.sources: tuple[str, ...] = ()
        (self.project / ".git").mkdir(parents=True)

    def write(self, path: str, text: str = "Always ask.") -> Path:
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def find(self, name: str, cwd: str = "") -> str:
        folder = self.project / cwd
        environ = {"HOME": str(self.user.parent)}
        path = read_command(name, str(folder), self.sources, environ)[1]
        return str(Path(path).relative_to(self.project.parent)) if path else ""


@pytest.fixture
def folders(tmp_path: Path) -> CommandFolders:
    return CommandFolders(tmp_path)


# Files


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("review", ".claude/commands/review.md"),
        ("review", ".claude/commands/team/deep/review.md"),
        ("team:review", ".claude/commands/team/review.md"),
        ("careful", ".claude/skills/careful/SKILL.md"),
        ("babysit", "packages/cli/src/core/commands/babysit.md"),
        ("agileflow:babysit", ".agileflow/commands/babysit.md"),
        ("agileflow:research:ask", ".agileflow/commands/research/ask.md"),
        ("agileflow:babysit", ".claude/commands/agileflow/babysit.md"),
        ("babysit", ".claude/commands/agileflow/babysit.md"),
    ],
)
def test_a_command_of_the_project_is_found(folders: CommandFolders, name: str, path: str) -> None:
    folders.write(path)
    assert folders.find(name) == f"project/{path}"


def test_the_first_folder_with_the_command_is_used(folders: CommandFolders) -> None:
    paths = [
        "prompts/review.md",
        ".claude/commands/review.md",
        ".claude/skills/review/SKILL.md",
        "packages/cli/src/core/commands/review.md",
        ".agileflow/commands/review.md",
        "../user/.claude/commands/review.md",
    ]
    folders.sources = ("prompts",)
    for path in reversed(paths):
        folders.write(path)
        assert folders.find("review") == str(Path("project", path)).replace("project/../", "")


def test_the_command_of_a_plugin_is_prefixed_with_its_plugin(folders: CommandFolders) -> None:
    plugin = folders.user / "plugins" / "cache" / "market" / "kit" / "1.0"
    folders.write(str(plugin / "commands" / "review.md"))
    folders.write(str(plugin / "skills" / "careful" / "SKILL.md"))
    plugins = {"version": 2, "plugins": {"kit@market": [{"installPath": str(plugin)}]}}
    (folders.user / "plugins" / "installed_plugins.json").write_text(json.dumps(plugins))
    assert folders.find("kit:review").endswith("kit/1.0/commands/review.md")
    assert folders.find("kit:careful").endswith("skills/careful/SKILL.md")
    assert folders.find("review") == ""


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"plugins": 3}', '{"plugins": {"a": [3]}}'])
def test_a_malformed_plugin_list_is_ignored(folders: CommandFolders, text: str) -> None:
    folders.write("../user/.claude/plugins/installed_plugins.json", text)
    assert folders.find("kit:review") == ""


def test_commands_are_found_from_a_subfolder_of_the_project(folders: CommandFolders) -> None:
    folders.write(".claude/commands/review.md")
    (folders.project / "src").mkdir()
    assert folders.find("review", "src") == "project/.claude/commands/review.md"


@pytest.mark.parametrize(
    "name",
    ["../review", "/etc/passwd", "a/b", "a\\b", "..", ".", "", "a:..:b", "a:", "a\0b", "~root",
     "a..b", "x" * 200],
)  # fmt: skip
def test_a_name_with_path_characters_is_refused(folders: CommandFolders, name: str) -> None:
    with pytest.raises(CommandRefused):
        split_command_name(name)


def test_a_symlink_that_leads_out_of_the_project_is_refused(
    folders: CommandFolders, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("Never reveal this.")
    folder = folders.project / ".claude" / "commands"
    folder.mkdir(parents=True)
    (folder / "review.md").symlink_to(secret)
    with pytest.raises(CommandRefused, match="leads out"):
        folders.find("review")
    (folders.project / "all").symlink_to(tmp_path)
    folders.sources = ("all", "..")
    with pytest.raises(CommandRefused):
        folders.find("secret")


def test_symlinks_within_the_project_and_in_the_user_folder_are_followed(
    folders: CommandFolders, tmp_path: Path
) -> None:
    target = folders.write("docs/review.md")
    (folders.project / ".claude").mkdir()
    (folders.project / ".claude" / "commands").symlink_to(target.parent)
    assert folders.find("review") == "project/.claude/commands/review.md"
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "mine.md").write_text("Always.")
    folders.user.mkdir(parents=True)
    (folders.user / "commands").symlink_to(tmp_path / "dotfiles")
    assert folders.find("mine") == "user/.claude/commands/mine.md"


# Status


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(str(tmp_path / "home" / "holdfast.db"))) as store:
        store.save_session(
            session="s1", host="claude-code", project="/p", transcript="", cursor=None,
            state=new_state(), revision=0, now=1.0,
        )  # fmt: skip
        yield store


def state_with_commands(*names: str, first: int = 1) -> State:
    state = new_state()
    state["commands"] = [
        {"name": name, "text": "", "line": line, "at": "2026-01-05T10:00:00.000Z"}
        for line, name in enumerate(names, first)
    ]
    state["lines"] = first + len(names)
    state["place"] = {"session": "s1"}
    return state


def statuses(state: State, store: SQLiteStore) -> list[tuple[str, str]]:
    commands = list_commands(state, store.get_mark("s1", active_commands.COMMANDS_MARK))
    return [(command["name"], command["status"]) for command in commands]


def test_used_and_started_commands_are_active(
    store: SQLiteStore,
) -> None:
    start_command(store, "s1", "epic", 3, 0.0, {"phase": "one"})
    start_command(store, "s1", "babysit", 3, 0.0, None)
    state = state_with_commands("babysit", "story")
    assert statuses(state, store) == [
        ("babysit", "active"),
        ("story", "active"),
        ("epic", "active"),
    ]
    epic = list_commands(state, store.get_mark("s1", active_commands.COMMANDS_MARK))[-1]
    assert (epic["activated_at"], epic["state"]) == ("1970-01-01T00:00:00Z", {"phase": "one"})


def test_starting_twice_keeps_the_start_time_and_replaces_the_state(store: SQLiteStore) -> None:
    start_command(store, "s1", "epic", 3, 0.0, {"phase": "one"})
    start_command(store, "s1", "epic", 9, 60.0, None)
    start_command(store, "s1", "epic", 9, 60.0, {"phase": "two"})
    (command,) = list_commands(new_state(), store.get_mark("s1", active_commands.COMMANDS_MARK))
    assert (command["activated_at"], command["state"]) == ("1970-01-01T00:00:00Z", {"phase": "two"})


def test_a_stopped_command_is_finished_until_it_is_used_again(store: SQLiteStore) -> None:
    stop_command(store, "s1", "babysit", 5, 0.0)
    assert statuses(state_with_commands("babysit", first=2), store) == [("babysit", "finished")]
    assert statuses(state_with_commands("babysit", first=9), store) == [("babysit", "active")]


@pytest.mark.parametrize("word", ["done", "Finished", "completed"])
def test_a_command_whose_state_says_done_is_finished(store: SQLiteStore, word: str) -> None:
    start_command(store, "s1", "epic", 3, 0.0, {"status": word})
    assert statuses(state_with_commands(), store) == [("epic", "finished")]


def test_cleared_commands_are_not_active_in_a_new_conversation(
    store: SQLiteStore,
) -> None:
    start_command(store, "s1", "epic", 2, 0.0, None)
    clear_commands(store, "s1", 3)
    assert statuses(state_with_commands("babysit"), store) == []
    assert statuses(state_with_commands("babysit", first=4), store) == [("babysit", "active")]


def test_clearing_an_empty_session_stores_nothing(store: SQLiteStore) -> None:
    clear_commands(store, "s1", 0)
    assert store.get_mark("s1", active_commands.COMMANDS_MARK) == {}


# Rules


def load_rules(folders: CommandFolders, store: SQLiteStore, state: State) -> dict[str, str]:
    loaded = settings.load({"HOLDFAST_HOME": str(Path(store.path).parent)})
    active_rules = load_active_rules(state, store, loaded, str(folders.project), 4000)
    return {name: text for name, text, _ in active_rules}


@pytest.fixture(autouse=True)
def isolate_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)


def test_rules_come_from_active_commands_that_are_not_output_only(
    folders: CommandFolders, store: SQLiteStore
) -> None:
    folders.write(
        ".claude/commands/babysit.md", "Prose.\n" + MARKED_SUMMARY.format("Ask, then act.")
    )
    folders.write(".claude/skills/careful/SKILL.md", "Prose.\nNever charge twice.\n")
    folders.write(".claude/commands/report.md", "---\ntype: output-only\n---\nNever stop.")
    folders.write(".claude/commands/epic.md", MARKED_SUMMARY.format("Write an epic."))
    stop_command(store, "s1", "epic", 50, 0.0)
    state = state_with_commands("babysit", "careful", "report", "epic", "nowhere")
    assert load_rules(folders, store, state) == {
        "babysit": "Ask, then act.",
        "careful": "- Never charge twice.",
    }


def test_the_refusal_of_a_path_as_a_name_is_logged(
    folders: CommandFolders, store: SQLiteStore
) -> None:
    (folders.project.parent / "secret.md").write_text("Never reveal this.")
    assert load_rules(folders, store, state_with_commands("../secret")) == {}
    (line,) = read_tail(str(Path(store.path).parent / "holdfast.log"))
    assert "command refused: '../secret'" in line


def test_guidance_includes_rules_of_active_commands_within_the_limit(
    folders: CommandFolders, store: SQLiteStore
) -> None:
    for number in range(6):
        text = "\n\n".join(f"## Part {n}\n{'word ' * 60}" for n in range(40))
        folders.write(
            f".claude/commands/c{number}.md", MARKED_SUMMARY.format(f"Start {number}.\n\n{text}")
        )
    state = state_with_commands(*(f"c{number}" for number in range(6)))
    state["rules"] = [
        {"text": f"Never {'x' * 380} {n}", "kind": "prohibition", "line": n, "superseded": 0}
        for n in range(60)
    ]
    active_rules = load_active_rules(
        state, store, settings.load({}), str(folders.project), 4000, "s1"
    )
    text = render_guidance(state, active_rules)
    assert utf16_units(text) <= MAX_GUIDANCE_UNITS
    assert all(f"/c{number}:\n  > Start {number}." in text for number in range(6))
    assert "not to be run again" in text
    assert "- “Never " in text


def test_guidance_is_rendered_for_a_command_without_other_state() -> None:
    assert "/a:\n  > b" in render_guidance(new_state(), [("a", "b", "/f.md")])
    assert render_guidance(new_state()) == ""
