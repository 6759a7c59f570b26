"""Active slash commands, from the transcript to the summariser, hook by hook."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from holdfast.demo import Line
from holdfast.services.compaction.active_commands import stop_command

from .scene import Scene

MARKED = "Prose.\n<!-- COMPACT_SUMMARY_START -->\n{}\n<!-- COMPACT_SUMMARY_END -->\n"


@pytest.fixture
def project(scene: Scene) -> Path:
    folder = Path(scene.demo.project_dir, ".claude", "commands")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "babysit.md").write_text(MARKED.format("Ask before each step."))
    (folder / "review.md").write_text("# Review\nNever approve your own change.\nMore prose.\n")
    (folder / "epic.md").write_text(MARKED.format("Write one epic."))
    return folder


def typed(scene: Scene, *names: str) -> list[Line]:
    """Lines as the client writes them when somebody types these commands."""
    like = next(line for line in scene.demo.before if line["type"] == "user")
    return [
        like
        | {
            "uuid": f"typed-{name}",
            "message": {"role": "user", "content": f"<command-name>/{name}</command-name>"},
        }
        for name in names
    ]


def test_the_rules_of_active_commands_reach_the_summariser(scene: Scene, project: Path) -> None:
    scene.write([*scene.demo.before, *typed(scene, "babysit", "review", "epic")])
    scene.fire("Stop")
    with scene.store() as store:
        stop_command(store, "s1", "epic", scene.row()["state"]["lines"], time.time())
    told = scene.fire("PreCompact").out
    assert "/babysit:\nAsk before each step." in told
    assert "/review:\n# Review\n- Never approve your own change." in told
    assert "epic" not in told
    assert scene.log() == []


@pytest.mark.parametrize(
    ("source", "stays"), [("startup", False), ("clear", False), ("resume", True), ("compact", True)]
)
def test_a_new_conversation_clears_them_and_a_compaction_does_not(
    scene: Scene, project: Path, source: str, stays: bool
) -> None:
    scene.write([*scene.demo.before, *typed(scene, "babysit")])
    scene.fire("Stop")
    scene.fire("SessionStart", source=source)
    assert ("Ask before each step." in scene.fire("PreCompact").out) == stays


def test_a_name_that_is_a_path_is_refused_and_the_compaction_goes_on(
    scene: Scene, project: Path
) -> None:
    secret = Path(scene.demo.project_dir, "secret.md")
    secret.write_text("Never tell.")
    scene.write([*scene.demo.before, *typed(scene, "../../secret", "babysit")])
    told = scene.fire("PreCompact")
    assert told.code == 0
    assert "Never tell." not in told.out
    assert "Ask before each step." in told.out
    assert "command refused" in scene.log()[0]


def test_a_command_is_active_as_soon_as_it_is_typed(scene: Scene, project: Path) -> None:
    scene.write(scene.demo.before)
    assert scene.fire("UserPromptExpansion", text="/babysit all of it").is_silent
    assert "/babysit:\nAsk before each step." in scene.fire("PreCompact").out


def test_a_command_reported_twice_counts_once(scene: Scene, project: Path) -> None:
    scene.write(scene.demo.before)
    scene.fire("UserPromptExpansion", text="/babysit")
    scene.write(typed(scene, "babysit"))
    scene.fire("Stop")
    assert scene.fire("PreCompact").out.count("Ask before each step.") == 1


def test_a_command_that_was_stopped_is_active_again_when_it_is_typed_again(
    scene: Scene, project: Path
) -> None:
    scene.write(scene.demo.before)
    scene.fire("UserPromptExpansion", text="/babysit")
    with scene.store() as store:
        stop_command(store, "s1", "babysit", scene.row()["state"]["lines"], time.time())
    assert "Ask before each step." not in scene.fire("PreCompact").out
    scene.fire("UserPromptExpansion", text="/babysit")
    assert "Ask before each step." in scene.fire("PreCompact").out


@pytest.mark.parametrize("name", ["compact", "holdfast:brief", "../../secret"])
def test_the_host_s_own_commands_and_paths_are_not_registered(
    scene: Scene, project: Path, name: str
) -> None:
    scene.write(scene.demo.before)
    assert scene.fire("UserPromptExpansion", text=f"/{name}").is_silent
    with scene.store() as store:
        assert store.mark("s1", "commands") == {}
    assert len(scene.log()) == ("/" in name)
