"""The modules that a hook may import.

A hook is a new process that spends most of its time importing. A test with a timer would be flaky
and would not name the import at fault; a list of modules is exact.
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

# Besides the modules that the interpreter loads itself. Each costs a fraction of a millisecond.
CHEAP_MODULES = {
    "__future__", "_collections_abc", "_json", "_sqlite3", "_stat", "gc", "genericpath", "os",
    "os.path", "posixpath", "stat", "zlib",
}  # fmt: skip
# `_sqlite3` imports these for its statement cache.
STATEMENT_CACHE_MODULES = {
    "_collections", "_functools", "_operator", "collections", "functools", "itertools", "keyword",
    "operator", "reprlib", "types",
}  # fmt: skip
# Regular expressions cost 3 ms, so only the hooks that need them may import them.
REGEX_MODULES = {
    "_sre", "copyreg", "enum", "re", "re._casefix", "re._compiler", "re._constants", "re._parser",
}  # fmt: skip
ALLOWED_MODULES = CHEAP_MODULES | STATEMENT_CACHE_MODULES | REGEX_MODULES

# Slow modules that must not be added to the lists above.
FORBIDDEN_MODULES = {
    "argparse", "asyncio", "contextlib", "dataclasses", "datetime", "importlib.metadata", "inspect",
    "json", "locale", "logging", "pathlib", "rich", "shlex", "shutil", "site", "socket", "sqlite3",
    "subprocess", "tempfile", "threading", "traceback", "typing", "urllib", "uuid", "weakref",
    "holdfast.demo", "holdfast.hosts.base", "holdfast.state.types", "holdfast.store.protocols",
    "holdfast.cli", "holdfast.transcript.types",
}  # fmt: skip

# Suggestions only add a line to the output; the imports are the same.
NO_SUGGESTIONS = {"HOLDFAST_SUGGEST": "off"}
HOME_VARIABLES = ("HOME", "HOLDFAST_HOME")

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
EVENTS_WITHOUT_OUTPUT = (
    "UserPromptSubmit",
    "UserPromptExpansion",
    "Stop",
    "SubagentStop",
    "PostCompact",
    "SessionEnd",
)

LIST_MODULES = "print(*sorted(sys.modules), sep='\\n')"
HOOK_PROGRAM = """\
import sys; sys.path.append({folder!r})
from holdfast import entry
from holdfast.hooks import main
out = main.run_hook(sys.stdin.buffer.read(), 0.0)
print(len(out), file=sys.stderr)
"""
STATUS_LINE_PROGRAM = """\
import sys; sys.path.append({folder!r})
from holdfast.statusline import main as statusline
print(len(statusline.render_status_line({{"session_id": "s1"}}, False)), file=sys.stderr)
"""


def run_program(program: str, payload: object, home: Path) -> tuple[set[str], int]:
    """Return the modules that are loaded after the program, and the length of the hook's output."""
    process = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program + LIST_MODULES],
        input=json.dumps(payload), capture_output=True, text=True, check=True,
        env={
            "PATH": os.environ.get("PATH", ""),
            **dict.fromkeys(HOME_VARIABLES, str(home)),
            **NO_SUGGESTIONS,
        },
    )  # fmt: skip
    return set(process.stdout.split()), int(process.stderr or "0")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The modules that each hook of a whole session imported, by event."""
    return dict(run_all_hooks(tmp_path_factory.mktemp("session")))


def run_all_hooks(folder: Path) -> Iterator[tuple[str, set[str]]]:
    preloaded, _ = run_program("import sys\n", None, folder / "home")
    session = load_demo(str(folder / "courier"), "s1", 1_760_000_000.0)
    transcript = str(folder / "s1.jsonl")
    append_lines(transcript, session.before)
    program = HOOK_PROGRAM.format(folder=str(Path(holdfast.__file__).parent.parent))
    for event, fields in EVENTS:
        name = " ".join([event, *fields.values()][:2]) if event == "SessionStart" else event
        payload = session.hook_payload(event, transcript, **fields)
        modules, output_length = run_program(program, payload, folder / "home")
        prints = name in ("PreCompact", "SessionStart compact")
        assert bool(output_length) == prints, f"{name} printed {output_length} bytes"
        yield name, modules - preloaded


@pytest.mark.parametrize("name", [
    "SessionStart startup", "UserPromptSubmit", "UserPromptExpansion", "Stop", "PreCompact",
    "SubagentStop", "SessionStart compact", "PostCompact", "SessionStart resume", "SessionEnd",
])  # fmt: skip
def test_a_hook_imports_only_allowed_modules(loaded: dict[str, set[str]], name: str) -> None:
    own_modules = {module for module in loaded[name] if module.split(".")[0] == "holdfast"}
    assert "holdfast.hooks.main" in own_modules
    assert loaded[name] - own_modules - ALLOWED_MODULES == set()
    assert loaded[name] & FORBIDDEN_MODULES == set()


@pytest.mark.parametrize("name", EVENTS_WITHOUT_OUTPUT)
def test_a_hook_without_output_does_not_import_the_brief(
    loaded: dict[str, set[str]], name: str
) -> None:
    assert {module for module in loaded[name] if module.startswith("holdfast.brief")} == set()
    assert "holdfast.brief.render" in loaded["SessionStart compact"]


# PreCompact may use them to find names in tool output: the host then takes half a minute anyway.
@pytest.mark.parametrize("name", ["UserPromptSubmit", "Stop", "SessionEnd"])
def test_a_hook_without_new_lines_does_not_import_regular_expressions(
    loaded: dict[str, set[str]], name: str
) -> None:
    assert loaded[name] & REGEX_MODULES == set()


def test_storing_a_handoff_imports_only_allowed_modules(tmp_path: Path) -> None:
    preloaded, _ = run_program("import sys\n", None, tmp_path / "home")
    session = load_demo(str(tmp_path / "courier"), "s1", 1_760_000_000.0)
    transcript = str(tmp_path / "s1.jsonl")
    append_lines(transcript, session.before)
    agent: dict[str, Any] = {"agent_id": "a1", "agent_type": "Explore"}
    payload = session.hook_payload("SubagentStop", transcript, text="word " * 900, **agent)
    program = HOOK_PROGRAM.format(folder=str(Path(holdfast.__file__).parent.parent))
    modules, output_length = run_program(program, payload, tmp_path / "home")
    assert not output_length
    assert "holdfast.handoff.shorten" in modules
    foreign = {module for module in modules - preloaded if module.split(".")[0] != "holdfast"}
    assert foreign - ALLOWED_MODULES == set()
    assert modules & FORBIDDEN_MODULES == set()


@pytest.mark.parametrize(
    ("event", "fields"), [("PreCompact", {}), ("SessionStart", {"source": "compact"})]
)
def test_the_compaction_of_a_sub_agent_imports_only_allowed_modules(
    tmp_path: Path, event: str, fields: dict[str, Any]
) -> None:
    preloaded, _ = run_program("import sys\n", None, tmp_path / "home")
    session = load_demo(str(tmp_path / "courier"), "s1", 1_760_000_000.0)
    transcript = str(tmp_path / "s1.jsonl")
    append_lines(transcript, session.before)
    own_log = tmp_path / "s1" / "subagents" / "agent-a1.jsonl"
    own_log.parent.mkdir(parents=True)
    append_lines(str(own_log), [{**line, "isSidechain": True} for line in session.before])
    agent: dict[str, Any] = {"agent_id": "a1", "agent_type": "Explore"}
    payload = session.hook_payload(event, transcript, **fields, **agent)
    program = HOOK_PROGRAM.format(folder=str(Path(holdfast.__file__).parent.parent))
    modules, output_length = run_program(program, payload, tmp_path / "home")
    is_brief = event == "SessionStart"
    assert bool(output_length) == is_brief
    assert ("holdfast.brief.render" in modules) == is_brief
    foreign = {module for module in modules - preloaded if module.split(".")[0] != "holdfast"}
    assert foreign - ALLOWED_MODULES == set()
    assert modules & FORBIDDEN_MODULES == set()


def test_unread_messages_for_other_agents_make_a_hook_import_one_small_module(
    tmp_path: Path,
) -> None:
    session = load_demo(str(tmp_path / "courier"), "s1", 1_760_000_000.0)
    transcript = str(tmp_path / "s1.jsonl")
    append_lines(transcript, session.before)
    unread_flags.raise_flag(str(tmp_path / "home" / "ledger.db"), "other-agent", 9e9)
    payload = session.hook_payload("UserPromptSubmit", transcript, text="go on")
    program = HOOK_PROGRAM.format(folder=str(Path(holdfast.__file__).parent.parent))
    run_program(program, payload, tmp_path / "home")
    modules, output_length = run_program(program, payload, tmp_path / "home")
    assert not output_length
    ledger = {module for module in modules if module.startswith("holdfast.ledger")}
    assert ledger == {"holdfast.ledger", "holdfast.ledger.unread_flags"}
    assert modules & FORBIDDEN_MODULES == set()


def test_the_status_line_imports_less_than_a_prompt_hook(
    loaded: dict[str, set[str]], tmp_path: Path
) -> None:
    """The host redraws the status line several times a minute."""
    SQLiteStore(str(tmp_path / "holdfast.db")).close()
    program = STATUS_LINE_PROGRAM.format(folder=str(Path(holdfast.__file__).parent.parent))
    modules, output_length = run_program(program, None, tmp_path)
    assert output_length
    assert "holdfast.store.sqlite" in modules
    foreign = {module for module in modules if module.split(".")[0] != "holdfast"}
    assert foreign & (REGEX_MODULES | FORBIDDEN_MODULES) == set()
    status_line_modules = {
        "holdfast.statusline",
        "holdfast.statusline.main",
        "holdfast.statusline.render",
        "holdfast.state.gauge",
        "holdfast.state.thresholds",
    }
    shared = modules - foreign - status_line_modules
    assert shared < loaded["UserPromptSubmit"]
    assert {module for module in shared if module.startswith("holdfast.state.rules")} == set()


def test_every_allowed_module_is_imported_by_some_hook(loaded: dict[str, set[str]]) -> None:
    """A module that hooks stopped importing must not stay allowed."""
    used: set[str] = set().union(*loaded.values())
    assert ALLOWED_MODULES - used == set()


def test_no_forbidden_module_is_allowed() -> None:
    assert ALLOWED_MODULES.isdisjoint(FORBIDDEN_MODULES)
