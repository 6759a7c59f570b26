"""`holdfast roles`."""

from __future__ import annotations

from holdfast.services.doctor.self_test import SelfTest
from tests.terminal import Terminal


def test_roles_are_listed_with_their_agent_types(terminal: Terminal) -> None:
    listed = terminal.run("roles")
    assert listed.code == 0
    assert "orchestrator" in listed.out
    assert "tech-lead" in listed.out
    assert {role["name"] for role in terminal.run("roles", "--json").json} == {
        "session", "orchestrator", "developer", "specialist", "validator",
    }  # fmt: skip


def test_a_template_can_be_copied_and_changed(terminal: Terminal, self_test: SelfTest) -> None:
    folder = terminal.project / ".holdfast" / "briefs"
    folder.mkdir(parents=True)
    text = terminal.run("roles", "validator").out.replace("validation", "review")
    (folder / "review.md").write_text(text, encoding="utf-8")
    assert "yours" not in terminal.run("roles").out
    terminal.run("trust", "--yes")
    assert "yours" in terminal.run("roles").out
    brief = terminal.run("brief", "--transcript", self_test.transcript, "--role", "review")
    assert "## Rules to hold it to" not in brief.out
    assert "## What is validated" in brief.out


def test_an_invalid_template_is_a_warning_and_an_unknown_role_an_error(terminal: Terminal) -> None:
    folder = terminal.project / ".holdfast" / "briefs"
    folder.mkdir(parents=True)
    (folder / "mine.md").write_text("## {nothing}", encoding="utf-8")
    terminal.run("trust", "--yes")
    listed = terminal.run("roles")
    assert listed.code == 0
    assert "mine.md" in listed.err
    unknown = terminal.run("roles", "boss")
    assert unknown.code == 1
    assert "validator" in unknown.err
