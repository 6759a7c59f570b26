"""`holdfast roles`."""

from __future__ import annotations

from holdfast.services.doctor.self_test import SelfTest
from tests.terminal import Terminal


def test_roles_are_listed_with_the_agents_that_have_them(terminal: Terminal) -> None:
    listed = terminal.run("roles")
    assert listed.code == 0
    assert "orchestrator" in listed.out
    assert "tech-lead" in listed.out
    assert {one["name"] for one in terminal.run("roles", "--json").json} == {
        "session", "orchestrator", "developer", "specialist", "validator",
    }  # fmt: skip


def test_a_template_can_be_copied_and_changed(terminal: Terminal, rehearsal: SelfTest) -> None:
    folder = terminal.project / ".holdfast" / "briefs"
    folder.mkdir(parents=True)
    text = terminal.run("roles", "validator").out.replace("validation", "review")
    (folder / "review.md").write_text(text, encoding="utf-8")
    assert "yours" in terminal.run("roles").out
    brief = terminal.run("brief", "--transcript", rehearsal.transcript, "--role", "review")
    assert brief.out.startswith("# Where this review stands (holdfast:")


def test_an_unknown_role_and_a_bad_template_are_explained(terminal: Terminal) -> None:
    folder = terminal.project / ".holdfast" / "briefs"
    folder.mkdir(parents=True)
    (folder / "mine.md").write_text("## {nothing}", encoding="utf-8")
    listed = terminal.run("roles")
    assert listed.code == 0
    assert "mine.md" in listed.err
    refused = terminal.run("roles", "boss")
    assert refused.code == 1
    assert "validator" in refused.err
