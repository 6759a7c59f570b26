"""The scorer shares no code with what it grades: one pattern in both would grade itself."""

from __future__ import annotations

import ast
from pathlib import Path

from holdfast import eval as harness

FOLDER = Path(harness.__file__).parent
GRADED = ("holdfast.state", "holdfast.transcript", "holdfast.brief", "holdfast.redaction",
          "holdfast.fast_json", "holdfast.reports", "holdfast.store")  # fmt: skip
# Those that make the briefs which are graded, and those that only count tokens.
MAKERS = {"methods.py", "multi_compaction.py", "lookup.py"}
COUNTERS = {"budget.py", "measure.py"}
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


def test_nothing_that_scores_uses_what_is_scored() -> None:
    for file in MODULES:
        found = {name for name in imported(file) if name.startswith(GRADED)}
        if file.name in MAKERS:
            continue
        assert found <= ({"holdfast.tokens.estimate"} if file.name in COUNTERS else set()), file
