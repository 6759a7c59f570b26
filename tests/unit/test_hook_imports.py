"""A hook is a fresh process, and most of its time is imports: this list is its start-up budget.

A timer would be flaky and would not say which line did it; a list of modules does both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.demo import append_lines, load_demo
from holdfast.ledger import unread_flags
from holdfast.store.sqlite import SQLiteStore

# Besides what the interpreter itself has loaded. Each costs a fraction of a millisecond.
CHEAP = {
    "__future__", "_collections_abc", "_json", "_sqlite3", "_stat", "genericpath", "os", "os.path",
    "posixpath", "stat", "zlib",
}  # fmt: skip
# What `_sqlite3` brings along for its cache of statements.
CACHE = {
    "_collections", "_functools", "_operator", "collections", "functools", "itertools", "keyword",
    "operator", "reprlib", "types",
}  # fmt: skip
# Regular expressions cost 3 ms, so only what cannot do without them brings them in.
EXPRESSIONS = {
    "_sre", "copyreg", "enum", "re", "re._casefix", "re._compiler", "re._constants", "re._parser",
}  # fmt: skip
ALLOWED = CHEAP | CACHE | EXPRESSIONS

# The usual ways to make a hook slow, by name, so that nobody adds them to the list above.
NEVER = {
    "argparse", "asyncio", "contextlib", "dataclasses", "datetime", "importlib.metadata", "inspect",
    "json", "locale", "logging", "pathlib", "rich", "shlex", "shutil", "site", "socket", "sqlite3",
    "subprocess", "tempfile", "threading", "traceback", "typing", "urllib", "uuid", "weakref",
    "holdfast.demo", "holdfast.hosts.base", "holdfast.state.types", "holdfast.store.protocols",
    "holdfast.cli", "holdfast.transcript.types",
}  # fmt: skip

# What is said to people is one line more; what it loads is the same.
QUIET = {"HOLDFAST_SUGGEST": "off"}
HOMES = ("HOME", "HOLDFAST_HOME")

EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"text": "go on"}),
    ("UserPromptExpansion", {"text": "/review all"}),
    ("Stop", {}),
    ("PreCompact", {"trigger": "auto"}),
    ("SubagentStop", {}),
    ("SessionStart", {"source": "compact"}),
    ("PostCompact", {}),
    ("SessionStart", {"source": "resume"}),
    ("SessionEnd", {}),
]
SILENT = (
    "UserPromptSubmit",
    "UserPromptExpansion",
    "Stop",
    "SubagentStop",
    "PostCompact",
    "SessionEnd",
)

LIST_MODULES = "print(*sorted(sys.modules), sep='\\n')"
PROGRAM = """\
import sys; sys.path.append({folder!r})
from holdfast import entry
from holdfast.hooks import main
out = main.run_hook(sys.stdin.buffer.read(), 0.0)
print(len(out), file=sys.stderr)
"""
STATUS_LINE = """\
import sys; sys.path.append({folder!r})
from holdfast.statusline import main as statusline
print(len(statusline.render_status_line({{"session_id": "s1"}}, False)), file=sys.stderr)
"""


def modules(program: str, told: object, home: Path) -> tuple[set[str], int]:
    """What is loaded when that program has run, and how much the hook would have printed."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program + LIST_MODULES],
        input=json.dumps(told), capture_output=True, text=True, check=True,
        env={"PATH": os.environ.get("PATH", ""), **dict.fromkeys(HOMES, str(home)), **QUIET},
    )  # fmt: skip
    return set(done.stdout.split()), int(done.stderr or "0")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The modules that each firing of a whole session brought in, in the order they happen."""
    return dict(fire_all(tmp_path_factory.mktemp("session")))


def fire_all(folder: Path) -> Iterator[tuple[str, set[str]]]:
    bare, _ = modules("import sys\n", None, folder / "home")
    made = load_demo(str(folder / "courier"), "s1", 1_760_000_000.0)
    transcript = str(folder / "s1.jsonl")
    append_lines(transcript, made.before)
    program = PROGRAM.format(folder=str(Path(holdfast.__file__).parent.parent))
    for event, fields in EVENTS:
        name = " ".join([event, *fields.values()][:2]) if event == "SessionStart" else event
        told = made.hook_payload(event, transcript, **fields)
        found, printed = modules(program, told, folder / "home")
        speaks = name in ("PreCompact", "SessionStart compact")
        assert bool(printed) == speaks, f"{name} did not do its work here"
        yield name, found - bare


@pytest.mark.parametrize("name", [
    "SessionStart startup", "UserPromptSubmit", "UserPromptExpansion", "Stop", "PreCompact",
    "SubagentStop", "SessionStart compact", "PostCompact", "SessionStart resume", "SessionEnd",
])  # fmt: skip
def test_a_hook_imports_nothing_beyond_the_list(loaded: dict[str, set[str]], name: str) -> None:
    ours = {module for module in loaded[name] if module.split(".")[0] == "holdfast"}
    assert "holdfast.hooks.main" in ours
    assert loaded[name] - ours - ALLOWED == set()
    assert loaded[name] & NEVER == set()


@pytest.mark.parametrize("name", SILENT)
def test_a_hook_that_has_nothing_to_say_does_not_load_the_brief(
    loaded: dict[str, set[str]], name: str
) -> None:
    assert {module for module in loaded[name] if module.startswith("holdfast.brief")} == set()
    assert "holdfast.brief.render" in loaded["SessionStart compact"]


# PreCompact looks for names in what tools printed; the host then summarises for half a minute.
@pytest.mark.parametrize("name", ["UserPromptSubmit", "Stop", "SessionEnd"])
def test_a_hook_that_finds_nothing_new_does_without_regular_expressions(
    loaded: dict[str, set[str]], name: str
) -> None:
    assert loaded[name] & EXPRESSIONS == set()


def test_keeping_a_handoff_needs_no_further_imports(tmp_path: Path) -> None:
    bare, _ = modules("import sys\n", None, tmp_path / "home")
    made = load_demo(str(tmp_path / "courier"), "s1", 1_760_000_000.0)
    transcript = str(tmp_path / "s1.jsonl")
    append_lines(transcript, made.before)
    said: dict[str, Any] = {"agent_id": "a1", "agent_type": "Explore"}
    told = made.hook_payload("SubagentStop", transcript, text="word " * 900, **said)
    program = PROGRAM.format(folder=str(Path(holdfast.__file__).parent.parent))
    found, printed = modules(program, told, tmp_path / "home")
    assert not printed
    assert "holdfast.handoff.shorten" in found
    theirs = {module for module in found - bare if module.split(".")[0] != "holdfast"}
    assert theirs - ALLOWED == set()
    assert found & NEVER == set()


def test_messages_for_other_agents_cost_a_hook_one_small_module(tmp_path: Path) -> None:
    made = load_demo(str(tmp_path / "courier"), "s1", 1_760_000_000.0)
    transcript = str(tmp_path / "s1.jsonl")
    append_lines(transcript, made.before)
    unread_flags.raise_flag(str(tmp_path / "home" / "ledger.db"), "somebody else", 9e9)
    told = made.hook_payload("UserPromptSubmit", transcript, text="go on")
    program = PROGRAM.format(folder=str(Path(holdfast.__file__).parent.parent))
    modules(program, told, tmp_path / "home")
    found, printed = modules(program, told, tmp_path / "home")
    assert not printed
    ledger = {module for module in found if module.startswith("holdfast.ledger")}
    assert ledger == {"holdfast.ledger", "holdfast.ledger.unread_flags"}
    assert found & NEVER == set()


def test_the_status_line_loads_even_less(loaded: dict[str, set[str]], tmp_path: Path) -> None:
    """It is drawn several times a minute."""
    SQLiteStore(str(tmp_path / "holdfast.db")).close()
    program = STATUS_LINE.format(folder=str(Path(holdfast.__file__).parent.parent))
    found, printed = modules(program, None, tmp_path)
    assert printed
    assert "holdfast.store.sqlite" in found
    theirs = {module for module in found if module.split(".")[0] != "holdfast"}
    assert theirs & (EXPRESSIONS | NEVER) == set()
    own = {
        "holdfast.statusline",
        "holdfast.statusline.main",
        "holdfast.statusline.render",
        "holdfast.state.thresholds",
    }
    ours = found - theirs - own
    assert ours < loaded["UserPromptSubmit"]
    assert {module for module in ours if module.startswith("holdfast.state.rules")} == set()


def test_every_allowed_module_is_imported_by_some_hook(loaded: dict[str, set[str]]) -> None:
    """What is no longer imported must not be able to come back unseen."""
    used: set[str] = set().union(*loaded.values())
    assert ALLOWED - used == set()


def test_no_forbidden_module_is_allowed() -> None:
    assert ALLOWED.isdisjoint(NEVER)
