"""The reference pages are generated from the code and up to date."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from docs.reference import generate, hooks_page

import holdfast
from holdfast import cli, settings
from holdfast.hosts import claude_code

PAGES = Path(generate.__file__).parent


@pytest.mark.parametrize("name", sorted(generate.build_pages()))
def test_a_page_equals_the_generated_text(name: str) -> None:
    text = (PAGES / name).read_text(encoding="utf-8") if (PAGES / name).exists() else ""
    assert text == generate.build_pages()[name], f"docs/reference/{name} is old: run `make docs`"


def test_every_page_in_the_folder_is_generated() -> None:
    assert {path.name for path in PAGES.glob("*.md")} == set(generate.build_pages())


@pytest.mark.parametrize("columns", ["20", "300"])
def test_the_pages_do_not_depend_on_the_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    expected = generate.build_pages()
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("XDG_STATE_HOME", "/elsewhere")
    assert generate.build_pages() == expected


def test_every_public_name_is_documented_with_its_signature() -> None:
    page = generate.build_pages()["session.md"]
    for name in holdfast.__all__:
        value = getattr(holdfast, name)
        if name.startswith("_"):
            continue
        assert f"\n## {name}\n\n```python\n{name}(\n" in page
        start = page.index(f"\n## {name}\n")
        section = page[start : page.index("\n## ", start + 1)]
        for parameter in inspect.signature(value).parameters.values():
            assert f"{parameter.name}: {parameter.annotation}" in section
        methods = vars(value) if isinstance(value, type) else {}
        for method, member in methods.items():
            if inspect.isfunction(member) and not method.startswith("_") and member.__doc__:
                assert f"{method}(" in section


def test_every_command_setting_and_event_is_documented() -> None:
    pages = generate.build_pages()
    for name in cli.COMMANDS:
        assert f"\n## holdfast {name}\n" in pages["commands.md"]
    for name, text in settings.DESCRIPTIONS.items():
        assert f"| `{name}` | `HOLDFAST_{name.upper()}` |" in pages["settings.md"]
        assert text in pages["settings.md"]
    for event, _ in claude_code.EVENTS:
        assert f"| `{event}` |" in pages["hooks.md"]
    assert set(hooks_page.ACTIONS) == {event for event, _ in claude_code.EVENTS}
