"""Write the reference pages anew from the code: `make docs`.

A page that differs from what this would write fails tests/unit/test_reference_docs.py.
"""

from __future__ import annotations

from pathlib import Path

from docs.reference import (
    api_page,
    commands_page,
    hooks_page,
    hosts_page,
    session_page,
    settings_page,
)

HERE = Path(__file__).parent


def pages() -> dict[str, str]:
    """Every page by its file name."""
    return {
        "commands.md": commands_page.page(),
        "settings.md": settings_page.page(),
        "hooks.md": hooks_page.page(),
        "session.md": session_page.page(),
        "hosts.md": hosts_page.page(),
        "api.md": api_page.page(),
    }


def main() -> None:
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}")


if __name__ == "__main__":
    main()
