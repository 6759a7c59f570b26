"""The arrows between packages point one way: surfaces → actions → everything else.

Imports for the type checker alone are not arrows: nothing runs there.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import holdfast

ROOT = Path(holdfast.__file__).parent

# Small pure modules that anyone may use.
COMMON = {"errors", "redact", "quick_json", "foreign_json"}
LOWER = {
    "hosts",
    "transcript",
    "state",
    "names",
    "store",
    "ledger",
    "index",
    "brief",
    "views",
    "handoff",
}
BELOW_ACTIONS = {*LOWER, "settings", "log", *COMMON, ""}

# Which parts of Holdfast a part may import, besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "": set(),
    "__main__": {"surfaces"},
    "errors": set(),
    "redact": set(),
    "quick_json": set(),
    "foreign_json": {"quick_json"},
    "log": COMMON,
    "settings": COMMON,
    "state": COMMON,
    "transcript": COMMON,
    "hosts": COMMON,
    "names": {"state", *COMMON},
    "brief": {"state", *COMMON},
    "views": {"brief", "state", *COMMON},
    "store": {"state", "transcript", *COMMON},
    "ledger": {"state", "store", *COMMON},
    "index": {"transcript", *COMMON},
    "calibration": {"brief", *COMMON},
    "handoff": {"brief", "names", *COMMON, "state"},
    "session": {"brief", "settings", "state", "store", *COMMON},
    "example": COMMON,
    "eval": BELOW_ACTIONS,
    "actions": {*BELOW_ACTIONS, "calibration", "example"},
    "surfaces": {*BELOW_ACTIONS, "actions", "calibration", "eval"},
}

# Packages of others, and the one part that may use each: nothing that a hook imports.
THEIRS = {
    ("rich", "surfaces"),
    ("anthropic", "session"),
    ("claude_agent_sdk", "session"),
    ("langchain", "session"),
    ("langchain_core", "session"),
    ("openai", "session"),
    ("mcp", "surfaces"),
    ("litestar", "surfaces"),
    ("msgspec", "surfaces"),
    ("uvicorn", "surfaces"),
    ("httptools", "surfaces"),
    ("pydantic", "surfaces"),
    ("psycopg", "store"),
    ("psycopg_pool", "store"),
    ("tree_sitter", "eval"),
    ("tree_sitter_bash", "eval"),
    # Whichever of the two can unpack .zst; neither is needed.
    ("compression", "transcript"),
    ("zstandard", "transcript"),
}

# What the pure parts do without: the clock, chance, the environment, files, processes, the network.
IMPURE = {
    "asyncio", "builtins", "ctypes", "datetime", "fcntl", "fileinput", "getpass", "glob", "http",
    "importlib", "io", "locale", "logging", "mmap", "multiprocessing", "os", "pathlib", "pickle",
    "platform", "posix", "random", "secrets", "select", "shelve", "shutil", "signal", "socket",
    "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid",
    "_io", "_sqlite3", "_thread",
}  # fmt: skip
PURE = ("state", "names", "brief", "views", "calibration", "handoff", "redact")
CALLS_THAT_TOUCH_THE_WORLD = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}

MODULES = sorted(ROOT.rglob("*.py"))


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """The first name below `holdfast`, or "" for the package itself."""
    return module.partition(".")[2].partition(".")[0]


@cache
def imports(file: Path) -> list[str]:
    """Every module that this file imports when it runs, wherever in the file it says so."""
    return [*_found(tree(file), name_of(file))]


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _found(node: ast.AST, module: str) -> Iterator[str]:
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        for other in node.orelse:
            yield from _found(other, module)
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert not node.level, f"{module} imports relatively, which this test cannot follow"
        for alias in node.names:
            longer = f"{node.module}.{alias.name}"
            yield longer if is_module(longer) else str(node.module)
    for child in ast.iter_child_nodes(node):
        # No expression holds an import, and most of a tree is expressions.
        if not isinstance(child, ast.expr):
            yield from _found(child, module)


@cache
def is_module(name: str) -> bool:
    path = ROOT.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def calls(file: Path) -> set[str]:
    return {
        node.func.id
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def test_of_every_part_it_is_said_what_it_may_import() -> None:
    assert {part_of(name_of(file)) for file in MODULES} == MAY_IMPORT.keys()


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_a_module_imports_only_what_its_place_allows(part: str) -> None:
    allowed = {part, *MAY_IMPORT[part]}
    modules = [file for file in MODULES if part_of(name_of(file)) == part]
    ours = [(name_of(file), name) for file in modules for name in imports(file)]
    assert [
        (module, name)
        for module, name in ours
        if name.split(".")[0] == "holdfast" and part_of(name) not in allowed
    ] == []


@pytest.mark.parametrize(
    "file", [file for file in MODULES if part_of(name_of(file)) in PURE], ids=name_of
)
def test_what_is_pure_touches_nothing_outside(file: Path) -> None:
    assert {name.split(".")[0] for name in imports(file)} & IMPURE == set()
    assert calls(file) & CALLS_THAT_TOUCH_THE_WORLD == set()


def test_other_people_s_packages_are_used_only_in_their_place() -> None:
    used = {
        (name.split(".")[0], part_of(name_of(file))) for file in MODULES for name in imports(file)
    }
    theirs = {(name, part) for name, part in used if name not in sys.stdlib_module_names}
    assert {(name, part) for name, part in theirs if name != "holdfast"} <= THEIRS


def test_the_arrows_have_no_way_back() -> None:
    """A part never reaches itself through others: what is above stays above."""
    for start in MAY_IMPORT:
        reached: set[str] = set()
        waiting = set(MAY_IMPORT[start])
        while waiting:
            part = waiting.pop()
            reached.add(part)
            waiting |= MAY_IMPORT[part] - reached
        assert start not in reached, start


def test_the_reader_of_imports_sees_every_form(tmp_path: Path) -> None:
    file = tmp_path / "holdfast.py"
    file.write_text(
        "TYPE_CHECKING = False\n"
        "if TYPE_CHECKING:\n    import typing\n"
        "else:\n    import os.path\n"
        "from holdfast.store import sqlite, Nothing\n"
        "def late():\n    from holdfast.surfaces.cli import main\n"
        "try:\n    import _json\nexcept ImportError:\n    import json as other\n"
    )
    found = sorted(_found(ast.parse(file.read_text()), "holdfast.example"))
    assert found == [
        "_json",
        "holdfast.store",
        "holdfast.store.sqlite",
        "holdfast.surfaces.cli",
        "json",
        "os.path",
    ]
