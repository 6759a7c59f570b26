"""Every test that the page about security names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "why" / "security.md"


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 30
    missing = [
        f"{file}::{test}"
        for file, test in named
        if not (ROOT / file).is_file() or f"def {test}(" not in (ROOT / file).read_text()
        if test
    ]
    assert missing == []


def test_every_row_of_the_page_names_a_test() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    heads = ("| threat |", "| fault |", "| kind |")
    assert [row for row in rows if "`tests/" not in row and not row.startswith(heads)] == []
