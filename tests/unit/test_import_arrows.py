"""Packages may import each other in one direction only: surfaces → services → everything else.

Imports under `TYPE_CHECKING` are not counted, because they do not run.
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

# Small modules that any package may import.
COMMON_MODULES = {"errors", "redaction", "fast_json", "lenient_json"}
LOWER_PACKAGES = {
    "hosts",
    "transcript",
    "state",
    "store",
    "ledger",
    "search",
    "brief",
    "reports",
    "notes",
    "tokens",
    "handoff",
}
BELOW_SERVICES = {
    *LOWER_PACKAGES,
    "settings",
    "diagnostics",
    "own_files",
    "processes",
    "trust",
    *COMMON_MODULES,
    "",
}
BELOW_SURFACES = {*BELOW_SERVICES, "services"}

# Which packages of Holdfast a package may import, besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "": set(),
    "__main__": {"entry", "cli"},
    "entry": {"hooks", "statusline"},
    "errors": set(),
    "redaction": {"fast_json"},
    "fast_json": set(),
    "lenient_json": {"fast_json", "redaction"},
    "own_files": set(),
    "processes": set(),
    "trust": {"own_files", *COMMON_MODULES},
    "diagnostics": COMMON_MODULES,
    "settings": {"trust", *COMMON_MODULES},
    "tokens": COMMON_MODULES,
    "state": COMMON_MODULES,
    "transcript": COMMON_MODULES,
    "hosts": COMMON_MODULES,
    "brief": {"state", "tokens", *COMMON_MODULES},
    "reports": {"brief", "state", *COMMON_MODULES},
    "store": {"own_files", "processes", "state", "transcript", *COMMON_MODULES},
    "notes": {"own_files", "search", "state", "store", *COMMON_MODULES},
    "ledger": {"own_files", "state", "store", *COMMON_MODULES},
    "search": {"store", "transcript", *COMMON_MODULES},
    "handoff": {"brief", "state", "tokens", *COMMON_MODULES},
    "conversations": {
        "brief",
        "settings",
        "state",
        "store",
        "tokens",
        "transcript",
        *COMMON_MODULES,
    },
    "demo": COMMON_MODULES,
    "eval": BELOW_SURFACES,
    "services": {*BELOW_SERVICES, "conversations", "demo"},
    # The surfaces. Only the command line may import other surfaces.
    "hooks": BELOW_SURFACES,
    "statusline": BELOW_SURFACES,
    "mcp": BELOW_SURFACES,
    "server": BELOW_SURFACES,
    "cli": {*BELOW_SURFACES, "conversations", "eval", "hooks", "mcp", "server", "statusline"},
}

# Third-party packages, and the package that may import each. Hooks import none of them.
THIRD_PARTY = {
    ("rich", "cli"),
    ("anthropic", "conversations"),
    ("claude_agent_sdk", "conversations"),
    ("langchain", "conversations"),
    ("langchain_core", "conversations"),
    ("openai", "conversations"),
    ("mcp", "mcp"),
    ("pydantic", "mcp"),
    ("jinja2", "server"),
    ("litestar", "server"),
    ("markupsafe", "server"),
    ("msgspec", "server"),
    ("uvicorn", "server"),
    ("uvicorn", "cli"),
    ("httptools", "server"),
    ("psycopg", "store"),
    ("psycopg_pool", "store"),
    ("matplotlib", "eval"),
    # Either of these two can unpack .zst files; both are optional.
    ("compression", "transcript"),
    ("zstandard", "transcript"),
}

# Pure packages import no module for the clock, randomness, the environment, files or the network.
IMPURE_MODULES = {
    "asyncio", "builtins", "ctypes", "datetime", "fcntl", "fileinput", "getpass", "glob", "http",
    "importlib", "io", "locale", "logging", "mmap", "multiprocessing", "os", "pathlib", "pickle",
    "platform", "posix", "random", "secrets", "select", "shelve", "shutil", "signal", "socket",
    "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid",
    "_io", "_sqlite3", "_thread",
}  # fmt: skip
PURE_PACKAGES = ("state", "brief", "reports", "tokens", "handoff", "redaction")
# Reads the learned scales from the home folder; the rest of `tokens` is pure.
IMPURE_EXCEPTIONS = {"holdfast.tokens.scales"}
IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}

MODULES = sorted(ROOT.rglob("*.py"))


def module_name(file: Path) -> str:
    parts = file.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_of(module: str) -> str:
    """The first name below `holdfast`, or "" for the package itself."""
    return module.partition(".")[2].partition(".")[0]


@cache
def imports(file: Path) -> list[str]:
    """Return every module that the file imports at run time, also inside functions."""
    return [*_find_imports(parse(file), module_name(file))]


@cache
def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _find_imports(node: ast.AST, module: str) -> Iterator[str]:
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        for other in node.orelse:
            yield from _find_imports(other, module)
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert not node.level, f"{module} has a relative import, which this test cannot resolve"
        for alias in node.names:
            submodule = f"{node.module}.{alias.name}"
            yield submodule if is_module(submodule) else str(node.module)
    for child in ast.iter_child_nodes(node):
        # Expressions contain no imports, and skipping them saves most of the time.
        if not isinstance(child, ast.expr):
            yield from _find_imports(child, module)


@cache
def is_module(name: str) -> bool:
    path = ROOT.parent.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def called_names(file: Path) -> set[str]:
    return {
        node.func.id
        for node in ast.walk(parse(file))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def test_every_package_has_a_list_of_allowed_imports() -> None:
    assert {package_of(module_name(file)) for file in MODULES} == MAY_IMPORT.keys()


def test_a_module_imports_only_what_its_package_may() -> None:
    for part in MAY_IMPORT:
        allowed = {part, *MAY_IMPORT[part]}
        modules = [file for file in MODULES if package_of(module_name(file)) == part]
        imported = [(module_name(file), name) for file in modules for name in imports(file)]
        assert [
            (module, name)
            for module, name in imported
            if name.split(".")[0] == "holdfast" and package_of(name) not in allowed
        ] == [], part


@pytest.mark.parametrize(
    "file",
    [
        file
        for file in MODULES
        if package_of(module_name(file)) in PURE_PACKAGES
        and module_name(file) not in IMPURE_EXCEPTIONS
    ],
    ids=module_name,
)
def test_pure_packages_do_no_input_or_output(file: Path) -> None:
    assert {name.split(".")[0] for name in imports(file)} & IMPURE_MODULES == set()
    assert called_names(file) & IMPURE_CALLS == set()


def test_third_party_packages_are_imported_only_where_allowed() -> None:
    used = {
        (name.split(".")[0], package_of(module_name(file)))
        for file in MODULES
        for name in imports(file)
    }
    not_stdlib = {(name, part) for name, part in used if name not in sys.stdlib_module_names}
    assert {(name, part) for name, part in not_stdlib if name != "holdfast"} <= THIRD_PARTY


def test_the_allowed_imports_have_no_cycle() -> None:
    for start in MAY_IMPORT:
        reached: set[str] = set()
        waiting = set(MAY_IMPORT[start])
        while waiting:
            part = waiting.pop()
            reached.add(part)
            waiting |= MAY_IMPORT[part] - reached
        assert start not in reached, start


def test_every_form_of_import_is_found(tmp_path: Path) -> None:
    file = tmp_path / "holdfast.py"
    file.write_text(
        "TYPE_CHECKING = False\n"
        "if TYPE_CHECKING:\n    import typing\n"
        "else:\n    import os.path\n"
        "from holdfast.store import sqlite, Nothing\n"
        "def late():\n    from holdfast.cli import main\n"
        "try:\n    import _json\nexcept ImportError:\n    import json as other\n"
    )
    found_imports = sorted(_find_imports(ast.parse(file.read_text()), "holdfast.example"))
    assert found_imports == [
        "_json",
        "holdfast.cli",
        "holdfast.store",
        "holdfast.store.sqlite",
        "json",
        "os.path",
    ]
