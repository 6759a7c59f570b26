"""The reference pages say what the code does, word for word."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.reference import generate, hooks_page

from holdfast import cli, settings
from holdfast.hosts import claude_code

PAGES = Path(generate.__file__).parent


@pytest.mark.parametrize("name", sorted(generate.pages()))
def test_a_page_is_what_the_code_would_write(name: str) -> None:
    written = (PAGES / name).read_text(encoding="utf-8") if (PAGES / name).exists() else ""
    assert written == generate.pages()[name], f"docs/reference/{name} is old: run `make docs`"


def test_no_other_page_lies_among_them() -> None:
    assert {path.name for path in PAGES.glob("*.md")} == set(generate.pages())


@pytest.mark.parametrize("columns", ["20", "300"])
def test_the_terminal_does_not_show_in_the_pages(
    monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    expected = generate.pages()
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("XDG_STATE_HOME", "/elsewhere")
    assert generate.pages() == expected


def test_every_command_setting_and_event_is_explained() -> None:
    pages = generate.pages()
    for name in cli.COMMANDS:
        assert f"\n## holdfast {name}\n" in pages["commands.md"]
    for name, text in settings.DESCRIPTIONS.items():
        assert f"| `{name}` | `HOLDFAST_{name.upper()}` |" in pages["settings.md"]
        assert text in pages["settings.md"]
    for event, _ in claude_code.EVENTS:
        assert f"| `{event}` |" in pages["hooks.md"]
    assert set(hooks_page.ACTIONS) == {event for event, _ in claude_code.EVENTS}
