"""`holdfast instructions`."""

from __future__ import annotations

from tests.terminal import Terminal


def test_add_twice_then_remove_leaves_the_file_as_it_was(terminal: Terminal) -> None:
    file = terminal.project / "CLAUDE.md"
    before = "# Rules\r\nnö\xff".encode("latin-1")
    file.write_bytes(before)
    assert terminal.run("instructions", "add").code == 0
    once = file.read_bytes()
    assert b"## Compact Instructions" in once
    assert "nothing to do" in terminal.run("instructions", "add").err
    assert file.read_bytes() == once
    assert terminal.run("instructions", "remove").code == 0
    assert file.read_bytes() == before
    assert "nothing to do" in terminal.run("instructions", "remove").err


def test_remove_deletes_a_file_that_add_created(terminal: Terminal) -> None:
    before = terminal.read_all_files()
    assert "nothing to do" in terminal.run("instructions", "remove").err
    terminal.run("instructions", "add")
    assert (terminal.project / "CLAUDE.md").exists()
    terminal.run("instructions", "remove")
    assert terminal.read_all_files() == before


def test_show_prints_it_and_changes_nothing(terminal: Terminal) -> None:
    before = terminal.read_all_files()
    shown = terminal.run("instructions", "show")
    assert "1. **The goal**" in shown.out
    assert "not in" in shown.err
    assert terminal.read_all_files() == before
    terminal.run("instructions", "add")
    output = terminal.run("instructions", "show", "--json").json
    assert (output["installed"], output["current"]) == (True, True)
    assert output["text"] in (terminal.project / "CLAUDE.md").read_text()


def test_the_file_is_the_projects_the_users_or_another(terminal: Terminal) -> None:
    hidden = terminal.project / ".claude" / "CLAUDE.md"
    hidden.parent.mkdir()
    hidden.write_text("mine\n")
    terminal.run("instructions", "add")
    assert "Compact Instructions" in hidden.read_text()
    terminal.run("instructions", "add", "--user")
    assert (terminal.home / ".claude" / "CLAUDE.md").exists()
    terminal.run("instructions", "add", "--file", "AGENTS.md")
    assert (terminal.project / "AGENTS.md").exists()
    assert not (terminal.project / "CLAUDE.md").exists()


def test_an_own_section_of_the_same_name_is_kept_and_mentioned(terminal: Terminal) -> None:
    (terminal.project / "CLAUDE.md").write_text("## Compact Instructions\nkeep all\n")
    assert "reads both" in terminal.run("instructions", "add").err


def test_damaged_markers_are_an_error_that_names_the_file(terminal: Terminal) -> None:
    file = terminal.project / "CLAUDE.md"
    terminal.run("instructions", "add")
    file.write_text(file.read_text().replace("HOLDFAST_INSTRUCTIONS_END", "gone"))
    output = terminal.run("instructions", "remove")
    assert output.code == 1
    assert "CLAUDE.md" in output.err
    assert "by hand" in output.err
