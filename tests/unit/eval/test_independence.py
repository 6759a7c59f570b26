"""The scorer shares no code with what it grades: one pattern in both would grade itself."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from holdfast import eval as harness

FOLDER = Path(harness.__file__).parent
GRADED = ("holdfast.state", "holdfast.transcript", "holdfast.brief", "holdfast.redact",
          "holdfast.quick_json", "holdfast.views", "holdfast.store")  # fmt: skip
# Those that make the briefs which are graded, and those that only count tokens.
MAKERS = {"arms.py", "chain.py"}
COUNTERS = {"budget.py", "measure.py", "engineering.py"}
MODULES = sorted(FOLDER.rglob("*.py"))


def imported(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return names | {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }


@pytest.mark.parametrize("file", MODULES, ids=lambda file: str(file.relative_to(FOLDER)))
def test_nothing_that_scores_uses_what_is_scored(file: Path) -> None:
    found = {name for name in imported(file) if name.startswith(GRADED)}
    if file.name in MAKERS:
        return
    assert found <= ({"holdfast.brief.tokens"} if file.name in COUNTERS else set())
