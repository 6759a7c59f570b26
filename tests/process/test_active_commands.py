"""Rules of active slash commands reach the prompt of the compaction."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from holdfast.demo import Line
from holdfast.services.compaction.active_commands import stop_command

from .hook_session import HookSession

MARKED_COMMAND = "Prose.\n<!-- COMPACT_SUMMARY_START -->\n{}\n<!-- COMPACT_SUMMARY_END -->\n"


@pytest.fixture(autouse=True)
def _commands(session: HookSession) -> None:
    """The project's own slash commands."""
    folder = Path(session.demo.project_dir, ".claude", "commands")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "babysit.md").write_text(MARKED_COMMAND.format("Ask before each step."))
    (folder / "review.md").write_text("# Review\nNever approve your own change.\nMore prose.\n")
    (folder / "epic.md").write_text(MARKED_COMMAND.format("Write one epic."))


def make_command_lines(session: HookSession, *names: str) -> list[Line]:
    """The lines that the client writes when the user types these commands."""
    template = next(line for line in session.demo.before if line["type"] == "user")
    return [
        template
        | {
            "uuid": f"typed-{name}",
            "message": {"role": "user", "content": f"<command-name>/{name}</command-name>"},
        }
        for name in names
    ]


def test_the_rules_of_active_commands_reach_the_summariser(session: HookSession) -> None:
    session.write([*session.demo.before, *make_command_lines(session, "babysit", "review", "epic")])
    session.run_hook("Stop")
    with session.open_store() as store:
        stop_command(store, "s1", "epic", session.read_row()["state"]["lines"], time.time())
    prompt = session.run_hook("PreCompact").stdout
    assert "/babysit:\n  > Ask before each step." in prompt
    assert "/review:\n  > # Review\n  > - Never approve your own change." in prompt
    assert "epic" not in prompt
    assert session.read_log() == []


@pytest.mark.parametrize(
    ("source", "stays_active"),
    [("startup", False), ("clear", False), ("resume", True), ("compact", True)],
)
def test_a_new_conversation_clears_active_commands_and_a_compaction_does_not(
    session: HookSession, source: str, stays_active: bool
) -> None:
    session.write([*session.demo.before, *make_command_lines(session, "babysit")])
    session.run_hook("Stop")
    session.run_hook("SessionStart", source=source)
    assert ("Ask before each step." in session.run_hook("PreCompact").stdout) == stays_active


def test_a_command_name_that_is_a_path_is_refused(session: HookSession) -> None:
    secret = Path(session.demo.project_dir, "secret.md")
    secret.write_text("Never tell.")
    session.write([*session.demo.before, *make_command_lines(session, "../../secret", "babysit")])
    result = session.run_hook("PreCompact")
    assert result.exit_code == 0
    assert "Never tell." not in result.stdout
    assert "Ask before each step." in result.stdout
    assert "command refused" in session.read_log()[0]


def test_a_command_is_active_as_soon_as_it_is_typed(session: HookSession) -> None:
    session.write(session.demo.before)
    assert session.run_hook("UserPromptExpansion", text="/babysit all of it").is_silent
    assert "/babysit:\n  > Ask before each step." in session.run_hook("PreCompact").stdout


def test_a_command_reported_twice_counts_once(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("UserPromptExpansion", text="/babysit")
    session.write(make_command_lines(session, "babysit"))
    session.run_hook("Stop")
    assert session.run_hook("PreCompact").stdout.count("Ask before each step.") == 1


def test_a_stopped_command_becomes_active_when_it_is_typed_again(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("UserPromptExpansion", text="/babysit")
    with session.open_store() as store:
        stop_command(store, "s1", "babysit", session.read_row()["state"]["lines"], time.time())
    assert "Ask before each step." not in session.run_hook("PreCompact").stdout
    session.run_hook("UserPromptExpansion", text="/babysit")
    assert "Ask before each step." in session.run_hook("PreCompact").stdout


@pytest.mark.parametrize("name", ["compact", "holdfast:brief", "../../secret"])
def test_the_hosts_own_commands_and_paths_are_not_registered(
    session: HookSession, name: str
) -> None:
    session.write(session.demo.before)
    assert session.run_hook("UserPromptExpansion", text=f"/{name}").is_silent
    with session.open_store() as store:
        assert store.get_mark("s1", "commands") == {}
    assert len(session.read_log()) == ("/" in name)
