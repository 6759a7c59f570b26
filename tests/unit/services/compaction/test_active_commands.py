"""Which commands are active, where their files are found, and what is refused."""

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

MARKED = "<!-- COMPACT_SUMMARY_START -->\n{}\n<!-- COMPACT_SUMMARY_END -->\n"


class Place:
    """A project and a user folder with commands in them."""

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
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


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
def test_a_command_of_the_project_is_found(place: Place, name: str, path: str) -> None:
    place.write(path)
    assert place.find(name) == f"project/{path}"


def test_the_first_folder_that_has_it_wins(place: Place) -> None:
    places = [
        "prompts/review.md",
        ".claude/commands/review.md",
        ".claude/skills/review/SKILL.md",
        "packages/cli/src/core/commands/review.md",
        ".agileflow/commands/review.md",
        "../user/.claude/commands/review.md",
    ]
    place.sources = ("prompts",)
    for path in reversed(places):
        place.write(path)
        assert place.find("review") == str(Path("project", path)).replace("project/../", "")


def test_a_plugin_s_command_is_prefixed_with_the_plugin_s_name(place: Place) -> None:
    plugin = place.user / "plugins" / "cache" / "market" / "kit" / "1.0"
    place.write(str(plugin / "commands" / "review.md"))
    place.write(str(plugin / "skills" / "careful" / "SKILL.md"))
    plugins = {"version": 2, "plugins": {"kit@market": [{"installPath": str(plugin)}]}}
    (place.user / "plugins" / "installed_plugins.json").write_text(json.dumps(plugins))
    assert place.find("kit:review").endswith("kit/1.0/commands/review.md")
    assert place.find("kit:careful").endswith("skills/careful/SKILL.md")
    assert place.find("review") == ""


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"plugins": 3}', '{"plugins": {"a": [3]}}'])
def test_a_malformed_plugin_list_is_ignored(place: Place, text: str) -> None:
    place.write("../user/.claude/plugins/installed_plugins.json", text)
    assert place.find("kit:review") == ""


def test_a_folder_inside_the_project_sees_its_commands(place: Place) -> None:
    place.write(".claude/commands/review.md")
    (place.project / "src").mkdir()
    assert place.find("review", "src") == "project/.claude/commands/review.md"


@pytest.mark.parametrize(
    "name",
    ["../review", "/etc/passwd", "a/b", "a\\b", "..", ".", "", "a:..:b", "a:", "a\0b", "~root",
     "a..b", "x" * 200],
)  # fmt: skip
def test_a_name_that_could_be_a_path_is_refused(place: Place, name: str) -> None:
    with pytest.raises(CommandRefused):
        split_command_name(name)


def test_a_link_that_leads_out_of_the_project_is_refused(place: Place, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("Never tell.")
    folder = place.project / ".claude" / "commands"
    folder.mkdir(parents=True)
    (folder / "review.md").symlink_to(secret)
    with pytest.raises(CommandRefused, match="leads out"):
        place.find("review")
    (place.project / "all").symlink_to(tmp_path)
    place.sources = ("all", "..")
    with pytest.raises(CommandRefused):
        place.find("secret")


def test_a_link_within_the_project_and_a_linked_user_folder_are_fine(
    place: Place, tmp_path: Path
) -> None:
    real = place.write("docs/review.md")
    (place.project / ".claude").mkdir()
    (place.project / ".claude" / "commands").symlink_to(real.parent)
    assert place.find("review") == "project/.claude/commands/review.md"
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "mine.md").write_text("Always.")
    place.user.mkdir(parents=True)
    (place.user / "commands").symlink_to(tmp_path / "dotfiles")
    assert place.find("mine") == "user/.claude/commands/mine.md"


# Which are active


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(str(tmp_path / "home" / "holdfast.db"))) as opened:
        opened.save_session(
            session="s1", host="claude-code", project="/p", transcript="", cursor=None,
            state=new_state(), revision=0, now=1.0,
        )  # fmt: skip
        yield opened


def used(*names: str, first: int = 1) -> State:
    state = new_state()
    state["commands"] = [
        {"name": name, "text": "", "line": line, "at": "2026-01-05T10:00:00.000Z"}
        for line, name in enumerate(names, first)
    ]
    state["lines"] = first + len(names)
    state["place"] = {"session": "s1"}
    return state


def statuses(state: State, store: SQLiteStore) -> list[tuple[str, str]]:
    found = list_commands(state, store.mark("s1", active_commands.COMMANDS_MARK))
    return [(one["name"], one["status"]) for one in found]


def test_used_and_started_commands_are_both_active(
    store: SQLiteStore,
) -> None:
    start_command(store, "s1", "epic", 3, 0.0, {"phase": "one"})
    start_command(store, "s1", "babysit", 3, 0.0, None)
    state = used("babysit", "story")
    assert statuses(state, store) == [
        ("babysit", "active"),
        ("story", "active"),
        ("epic", "active"),
    ]
    epic = list_commands(state, store.mark("s1", active_commands.COMMANDS_MARK))[-1]
    assert (epic["activated_at"], epic["state"]) == ("1970-01-01T00:00:00Z", {"phase": "one"})


def test_starting_twice_keeps_the_start_time_and_replaces_the_state(store: SQLiteStore) -> None:
    start_command(store, "s1", "epic", 3, 0.0, {"phase": "one"})
    start_command(store, "s1", "epic", 9, 60.0, None)
    start_command(store, "s1", "epic", 9, 60.0, {"phase": "two"})
    (one,) = list_commands(new_state(), store.mark("s1", active_commands.COMMANDS_MARK))
    assert (one["activated_at"], one["state"]) == ("1970-01-01T00:00:00Z", {"phase": "two"})


def test_a_stopped_command_is_finished_until_it_is_used_again(store: SQLiteStore) -> None:
    stop_command(store, "s1", "babysit", 5, 0.0)
    assert statuses(used("babysit", first=2), store) == [("babysit", "finished")]
    assert statuses(used("babysit", first=9), store) == [("babysit", "active")]


@pytest.mark.parametrize("word", ["done", "Finished", "completed"])
def test_a_command_whose_state_says_done_is_finished(store: SQLiteStore, word: str) -> None:
    start_command(store, "s1", "epic", 3, 0.0, {"status": word})
    assert statuses(used(), store) == [("epic", "finished")]


def test_a_new_conversation_starts_without_the_old_commands(
    store: SQLiteStore,
) -> None:
    start_command(store, "s1", "epic", 2, 0.0, None)
    clear_commands(store, "s1", 3)
    assert statuses(used("babysit"), store) == []
    assert statuses(used("babysit", first=4), store) == [("babysit", "active")]


def test_an_empty_session_has_nothing_to_clear(store: SQLiteStore) -> None:
    clear_commands(store, "s1", 0)
    assert store.mark("s1", active_commands.COMMANDS_MARK) == {}


# What they contribute


def rules(place: Place, store: SQLiteStore, state: State, room: int = 4000) -> dict[str, str]:
    loaded = settings.load({"HOLDFAST_HOME": str(Path(store.path).parent)})
    found = load_active_rules(state, store, loaded, str(place.project), room)
    return {name: text for name, text, _ in found}


@pytest.fixture(autouse=True)
def no_other_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)


def test_marked_unmarked_output_only_and_finished_commands(
    place: Place, store: SQLiteStore
) -> None:
    place.write(".claude/commands/babysit.md", "Prose.\n" + MARKED.format("Ask, then act."))
    place.write(".claude/skills/careful/SKILL.md", "Prose.\nNever charge twice.\n")
    place.write(".claude/commands/report.md", "---\ntype: output-only\n---\nNever stop.")
    place.write(".claude/commands/epic.md", MARKED.format("Write an epic."))
    stop_command(store, "s1", "epic", 50, 0.0)
    state = used("babysit", "careful", "report", "epic", "nowhere")
    assert rules(place, store, state) == {
        "babysit": "Ask, then act.",
        "careful": "- Never charge twice.",
    }


def test_a_name_that_is_a_path_is_refused_and_logged(place: Place, store: SQLiteStore) -> None:
    (place.project.parent / "secret.md").write_text("Never tell.")
    assert rules(place, store, used("../secret")) == {}
    (line,) = read_tail(str(Path(store.path).parent / "holdfast.log"))
    assert "command refused: '../secret'" in line


def test_guidance_includes_rules_of_active_commands_within_the_limit(
    place: Place, store: SQLiteStore
) -> None:
    for number in range(6):
        text = "\n\n".join(f"## Part {n}\n{'word ' * 60}" for n in range(40))
        place.write(f".claude/commands/c{number}.md", MARKED.format(f"Start {number}.\n\n{text}"))
    state = used(*(f"c{number}" for number in range(6)))
    state["rules"] = [
        {"text": f"Never {'x' * 380} {n}", "kind": "prohibition", "line": n, "superseded": 0}
        for n in range(60)
    ]
    state["plan"] = [
        {"id": str(n), "text": "y" * 200, "status": "pending", "line": n, "blocked_by": []}
        for n in range(60)
    ]
    found = load_active_rules(
        state, store, settings.load({}), str(place.project), 4000, "s1"
    )  # fmt: skip
    text = render_guidance(state, found)
    assert utf16_units(text) <= MAX_GUIDANCE_UNITS
    assert all(f"/c{number}:\nStart {number}." in text for number in range(6))
    assert "not to be run again" in text
    assert '- "Never ' in text
    assert "- pending: yyy" in text


def test_guidance_is_printed_for_a_command_alone() -> None:
    assert "/a:\nb" in render_guidance(new_state(), [("a", "b", "/f.md")])
    assert render_guidance(new_state()) == ""
