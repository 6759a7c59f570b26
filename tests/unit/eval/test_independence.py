"""The scorer imports no code that it scores: a shared bug would not be noticed."""

from __future__ import annotations

import ast
from pathlib import Path

from holdfast import eval as harness

FOLDER = Path(harness.__file__).parent
SCORED_PACKAGES = ("holdfast.state", "holdfast.transcript", "holdfast.brief", "holdfast.redaction",
          "holdfast.fast_json", "holdfast.reports", "holdfast.store")  # fmt: skip
# Modules that make the briefs to be scored, and modules that only count tokens.
BRIEF_MODULES = {"methods.py", "multi_compaction.py", "lookup.py", "product.py"}
TOKEN_MODULES = {"budget.py", "measure.py"}
MODULES = sorted(FOLDER.rglob("*.py"))


def imported_modules(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return names | {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }


def test_scoring_modules_import_no_scored_package() -> None:
    for file in MODULES:
        imported = {name for name in imported_modules(file) if name.startswith(SCORED_PACKAGES)}
        if file.name in BRIEF_MODULES:
            continue
        assert imported <= (
            {"holdfast.tokens.estimate"} if file.name in TOKEN_MODULES else set()
        ), file
