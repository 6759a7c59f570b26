"""`holdfast instructions`."""

from __future__ import annotations

from tests.terminal import Terminal


def test_add_twice_then_remove_leaves_the_file_as_it_was(terminal: Terminal) -> None:
    file = terminal.project / "CLAUDE.md"
    before = "# Rules\r\nnö\xff".encode("latin-1")
    file.write_bytes(before)
    assert terminal.run("instructions", "add").code == 0
    after_first_add = file.read_bytes()
    assert b"## Compact Instructions" in after_first_add
    assert "nothing to do" in terminal.run("instructions", "add").err
    assert file.read_bytes() == after_first_add
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


def test_show_prints_the_section_and_changes_nothing(terminal: Terminal) -> None:
    before = terminal.read_all_files()
    shown = terminal.run("instructions", "show")
    assert "1. **Session identity**" in shown.out
    assert "not in" in shown.err
    assert terminal.read_all_files() == before
    terminal.run("instructions", "add")
    output = terminal.run("instructions", "show", "--json").json
    assert (output["installed"], output["current"]) == (True, True)
    assert output["text"] in (terminal.project / "CLAUDE.md").read_text()


def test_the_section_goes_to_the_file_of_the_project_the_user_or_a_given_one(
    terminal: Terminal,
) -> None:
    existing = terminal.project / ".claude" / "CLAUDE.md"
    existing.parent.mkdir()
    existing.write_text("mine\n")
    terminal.run("instructions", "add")
    assert "Compact Instructions" in existing.read_text()
    terminal.run("instructions", "add", "--user")
    assert (terminal.home / ".claude" / "CLAUDE.md").exists()
    terminal.run("instructions", "add", "--file", "AGENTS.md")
    assert (terminal.project / "AGENTS.md").exists()
    assert not (terminal.project / "CLAUDE.md").exists()


def test_a_section_of_the_user_with_the_same_title_is_mentioned(terminal: Terminal) -> None:
    (terminal.project / "CLAUDE.md").write_text("## Compact Instructions\nkeep all\n")
    assert "reads both" in terminal.run("instructions", "add").err


def test_damaged_markers_are_an_error_that_names_the_file(terminal: Terminal) -> None:
    file = terminal.project / "CLAUDE.md"
    terminal.run("instructions", "add")
    file.write_text(file.read_text().replace("HOLDFAST_INSTRUCTIONS_END", "gone"))
    result = terminal.run("instructions", "remove")
    assert result.code == 1
    assert "CLAUDE.md" in result.err
    assert "by hand" in result.err


def test_items_of_the_project_survive_an_update(terminal: Terminal) -> None:
    path = terminal.root / "CLAUDE.md"
    terminal.run("instructions", "add", "--file", path, "--item", "The state  of the migration")
    terminal.run("instructions", "add", "--file", path, "--item", "Open tickets")
    again = terminal.run("instructions", "add", "--file", path)
    assert "nothing to do" in again.err
    text = path.read_text(encoding="utf-8")
    assert "8. The state of the migration\n9. Open tickets\n" in text
    shown = terminal.run("instructions", "show", "--file", path, "--json").json
    assert (shown["installed"], shown["current"]) == (True, True)


def test_an_item_without_add_is_an_error(terminal: Terminal) -> None:
    result = terminal.run("instructions", "show", "--item", "x")
    assert result.code == 1
    assert "--item is for" in result.err
