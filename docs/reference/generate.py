"""Generate the reference pages from the code: `make docs`.

tests/unit/test_reference_docs.py fails if a page is out of date.
"""

from __future__ import annotations

from pathlib import Path

from docs.reference import (
    api_page,
    commands_page,
    hooks_page,
    hosts_page,
    redaction_page,
    session_page,
    settings_page,
)

HERE = Path(__file__).parent


def build_pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    return {
        "commands.md": commands_page.build_page(),
        "settings.md": settings_page.build_page(),
        "hooks.md": hooks_page.build_page(),
        "session.md": session_page.build_page(),
        "hosts.md": hosts_page.build_page(),
        "api.md": api_page.build_page(),
        "redaction.md": redaction_page.build_page(),
    }


def main() -> None:
    """Write all pages and print their names."""
    for name, text in build_pages().items():
        (HERE / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}")


if __name__ == "__main__":
    main()
