"""The arrows between packages point one way: surfaces → services → everything else.

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

# Small modules that any part may use.
COMMON = {"errors", "redaction", "fast_json", "lenient_json"}
LOWER = {
    "hosts",
    "transcript",
    "state",
    "mentions",
    "store",
    "ledger",
    "search",
    "brief",
    "reports",
    "notes",
    "tokens",
    "handoff",
}
BELOW_SERVICES = {*LOWER, "settings", "diagnostics", *COMMON, ""}
BELOW_SURFACES = {*BELOW_SERVICES, "services"}

# Which parts of Holdfast a part may import, besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "": set(),
    "__main__": {"entry", "cli"},
    "entry": {"hooks", "statusline"},
    "errors": set(),
    "redaction": set(),
    "fast_json": set(),
    "lenient_json": {"fast_json"},
    "diagnostics": COMMON,
    "settings": COMMON,
    "tokens": COMMON,
    "state": COMMON,
    "transcript": COMMON,
    "hosts": COMMON,
    "mentions": {"state", *COMMON},
    "brief": {"state", "tokens", *COMMON},
    "reports": {"brief", "state", *COMMON},
    "store": {"state", "transcript", *COMMON},
    "notes": {"search", "state", "store", *COMMON},
    "ledger": {"state", "store", *COMMON},
    "search": {"store", "transcript", *COMMON},
    "handoff": {"brief", "mentions", "state", "tokens", *COMMON},
    "conversations": {"brief", "settings", "state", "store", "tokens", *COMMON},
    "demo": COMMON,
    "eval": BELOW_SURFACES,
    "services": {*BELOW_SERVICES, "demo"},
    # The surfaces. Only the command line starts others.
    "hooks": BELOW_SURFACES,
    "statusline": BELOW_SURFACES,
    "mcp": BELOW_SURFACES,
    "server": BELOW_SURFACES,
    "cli": {*BELOW_SURFACES, "conversations", "eval", "hooks", "mcp", "server", "statusline"},
}

# Packages of others, and the one part that may use each: nothing that a hook imports.
THEIRS = {
    ("rich", "cli"),
    ("anthropic", "conversations"),
    ("claude_agent_sdk", "conversations"),
    ("langchain", "conversations"),
    ("langchain_core", "conversations"),
    ("openai", "conversations"),
    ("mcp", "mcp"),
    ("pydantic", "mcp"),
    ("litestar", "server"),
    ("msgspec", "server"),
    ("uvicorn", "server"),
    ("uvicorn", "cli"),
    ("httptools", "server"),
    ("psycopg", "store"),
    ("psycopg_pool", "store"),
    ("matplotlib", "eval"),
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
PURE = ("state", "mentions", "brief", "reports", "tokens", "handoff", "redaction")
# Reads the learned scales from the home folder; the rest of `tokens` is pure.
NOT_PURE = {"holdfast.tokens.scales"}
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


def test_every_package_is_listed_with_what_it_may_import() -> None:
    assert {part_of(name_of(file)) for file in MODULES} == MAY_IMPORT.keys()


def test_a_module_imports_only_what_its_place_allows() -> None:
    for part in MAY_IMPORT:
        allowed = {part, *MAY_IMPORT[part]}
        modules = [file for file in MODULES if part_of(name_of(file)) == part]
        ours = [(name_of(file), name) for file in modules for name in imports(file)]
        assert [
            (module, name)
            for module, name in ours
            if name.split(".")[0] == "holdfast" and part_of(name) not in allowed
        ] == [], part


@pytest.mark.parametrize(
    "file",
    [file for file in MODULES if part_of(name_of(file)) in PURE and name_of(file) not in NOT_PURE],
    ids=name_of,
)
def test_pure_packages_do_no_input_or_output(file: Path) -> None:
    assert {name.split(".")[0] for name in imports(file)} & IMPURE == set()
    assert calls(file) & CALLS_THAT_TOUCH_THE_WORLD == set()


def test_third_party_packages_are_imported_only_where_allowed() -> None:
    used = {
        (name.split(".")[0], part_of(name_of(file))) for file in MODULES for name in imports(file)
    }
    theirs = {(name, part) for name, part in used if name not in sys.stdlib_module_names}
    assert {(name, part) for name, part in theirs if name != "holdfast"} <= THEIRS


def test_the_allowed_imports_have_no_cycle() -> None:
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
        "def late():\n    from holdfast.cli import main\n"
        "try:\n    import _json\nexcept ImportError:\n    import json as other\n"
    )
    found = sorted(_found(ast.parse(file.read_text()), "holdfast.example"))
    assert found == [
        "_json",
        "holdfast.cli",
        "holdfast.store",
        "holdfast.store.sqlite",
        "json",
        "os.path",
    ]
