"""Lists the actions of a session: its tool calls, and what each read, changed, ran or asked."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from holdfast.state import shell_parser
from holdfast.state.file_effects import find_patch_effects
from holdfast.state.fold import advance, new_state
from holdfast.state.paths import to_project_path
from holdfast.state.rules.check_classifier import analyze
from holdfast.state.rules.current_work import find_question
from holdfast.state.rules.files import EDIT_TOOLS, MCP_PREFIX
from holdfast.state.shell_effects import find_effects, join_path, strip_prefixes
from holdfast.state.text import one_line, redact_and_clip, to_text

if TYPE_CHECKING:
    from holdfast.state.types import State
    from holdfast.transcript.types import Event

AGENT_TOOLS = ("Task", "Agent")
# Kinds of sub-agents that Claude Code gives no tool to change files.
READ_ONLY_AGENT_TYPES = ("Explore", "Plan")
# A script of Codex that calls tools, and the prefix of the ids of these calls.
SCRIPT, SCRIPT_CALL_PREFIX = "exec", "exec-"
SEARCH_TOOLS = ("Grep", "Glob", "LS", "WebFetch", "WebSearch")
MCP_READ_TOOLS = ("read_file", "read_text_file")
MCP_CHANGE_TOOLS = ("write_file", "edit_file", "move_file")
# Programs that print a whole file; `head` and `sed -n` print a part of it.
FILE_PRINTERS = ("cat", "nl", "bat")
# A command with one of these waits for something: it is meant to be repeated.
WAITING_PROGRAMS = frozenset(("sleep", "watch", "wait"))
# What these change only git knows.
GIT_TREE_VERBS = frozenset(
    ("checkout", "switch", "pull", "merge", "rebase", "reset", "stash", "cherry-pick", "revert",
     "restore", "clean", "am")
)  # fmt: skip
LAST_LINE = 1 << 30
SED_RANGE = re.compile(r"(\d+)(?:,(\d+|\$))?p")
# The client appends reminders to what a tool returned.
REMINDER = "<system-reminder>"
WITHOUT_DIGITS = str.maketrans("", "", "0123456789")
MAX_LABEL_CHARS = 160
ALL_FILES = "*"
UNKNOWN_FILES = ""
"""Stands for files that the log does not name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """The lines of a file that an action printed."""

    path: str
    first: int = 1
    last: int = LAST_LINE

    def overlaps(self, other: FileRead) -> bool:
        """Whether both are of the same file and have a line in common."""
        return self.path == other.path and self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One tool call. `line` is that of the call."""

    line: int
    tool: str
    call: str = ""
    agent: str = ""
    """The id of the sub-agent that acted; empty for the session itself."""
    reads: tuple[FileRead, ...] = ()
    changes: tuple[str, ...] = ()
    """The files, folders or patterns that it changed; UNKNOWN_FILES if the log does not say."""
    edits: str = ""
    """The first file that it edited; empty if it edited none of the project's."""
    command: str = ""
    """The command or search; empty for one that waits, which is meant to be repeated."""
    folder: str = ""
    """The folder that the command ran in."""
    starts_agent: bool = False
    """It started a sub-agent that may change files."""
    is_foreign: bool = False
    """It called a tool of an MCP server, which may change files."""
    result: int | None = None
    """A checksum of what it printed; None if it has no result."""
    tokens: int = 0
    """The estimated size of what it printed, if it read a file."""

    def may_change(self, path: str) -> bool:
        """Whether the log says that this action changed the file."""
        return any(_is_meant(change, path) for change in self.changes if change)

    @property
    def label(self) -> str:
        """The command, redacted and on one line."""
        return redact_and_clip(one_line(self.command, MAX_LABEL_CHARS), MAX_LABEL_CHARS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that the agent asked the user."""

    line: int
    text: str
    is_form: bool
    """It was asked with a tool that shows choices; else it is the end of a reply."""


@dataclass(slots=True)
class Activity:
    """What a session did, in the order of its log."""

    actions: list[Action] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    attached: list[tuple[int, str]] = field(default_factory=list)
    """Line and path of each file that the host showed to the model by itself."""
    damaged: list[int] = field(default_factory=list)
    """Lines of the log that could not be read."""
    known_agents: set[str] = field(default_factory=set)
    """The calls that started a sub-agent whose own actions are in the log."""


def collect_activity(events: Iterable[Event], cost: Callable[[str], float]) -> Activity:
    """Return what a session did; `cost` estimates the tokens of a text."""
    collector = _Collector(cost)
    for event in events:
        collector.add(event)
    collector.finish()
    return collector.activity


class _Collector:
    """Joins calls with their results, and questions with the prompts that follow them."""

    def __init__(self, cost: Callable[[str], float]) -> None:
        self.activity = Activity()
        self._cost = cost
        self._state = new_state()
        """Only its place is kept: paths are relative to the project."""
        self._calls: dict[str, tuple[Event, str]] = {}
        self._asked: Question | None = None

    def add(self, event: Event) -> None:
        kind = event["kind"]
        if "agent" in event:
            self.activity.known_agents.add(event.get("parent", ""))
        if kind == "place":
            advance(self._state, [event])
        elif kind == "tool_call":
            self._add_call(event)
        elif kind == "tool_result" and "running" not in event:
            self._add_result(event)
        elif kind == "attached_file" and event["name"]:
            path = to_project_path(self._state, event["name"])
            self.activity.attached.append((event["line"], path))
        elif kind == "bad_line":
            self.activity.damaged.append(event["line"])
        elif "agent" not in event:
            self._follow_conversation(event)

    def finish(self) -> None:
        """Add the calls without a result, and order all by the lines of their calls."""
        self._keep_question()
        for call, folder in self._calls.values():
            self.activity.actions.append(self._to_action(call, folder, None))
        self.activity.actions.sort(key=lambda action: action.line)

    def _add_call(self, event: Event) -> None:
        if event["id"].startswith(SCRIPT_CALL_PREFIX):
            # The calls inside a script are logged one by one: the script is no action of its own.
            scripts = [ident for ident, (call, _) in self._calls.items() if call["name"] == SCRIPT]
            for ident in scripts:
                del self._calls[ident]
        folder = event.get("cwd") or self._state["place"].get("cwd", "")
        self._calls[event["id"]] = (event, folder)
        if "agent" in event:
            return
        self._asked = None
        if event["name"] == "AskUserQuestion":
            self.activity.questions += _find_form_questions(event)

    def _add_result(self, event: Event) -> None:
        call, folder = self._calls.pop(event["id"], (None, ""))
        if call is not None:
            self.activity.actions.append(self._to_action(call, folder, event))

    def _follow_conversation(self, event: Event) -> None:
        """Keep the question at the end of a turn: one that work follows was not for the user."""
        if event["kind"] == "reply":
            question = find_question(event["text"].strip())
            self._asked = (
                Question(line=event["line"], text=_to_label(question), is_form=False)
                if question
                else None
            )
        elif event["kind"] == "prompt":
            self._keep_question()

    def _keep_question(self) -> None:
        if self._asked:
            self.activity.questions.append(self._asked)
            self._asked = None

    def _to_action(self, call: Event, folder: str, result: Event | None) -> Action:
        name, arguments, state = call["name"], call["input"], self._state
        text = result.get("text", "").partition(REMINDER)[0] if result else ""
        ok = bool(result and result["ok"])
        reads = tuple(_find_reads(state, name, arguments, folder)) if ok else ()
        changes = tuple(_find_changes(state, name, arguments, folder)) if ok or not result else ()
        if changes and not result:
            # Whether an interrupted call took effect is not known.
            changes = (UNKNOWN_FILES,)
        command, is_check = ("", False) if reads else _find_command(name, arguments)
        return Action(
            line=call["line"],
            tool=name,
            call=call["id"],
            agent=call.get("agent", ""),
            reads=reads,
            changes=changes,
            edits=_find_edit(changes, name == "Bash"),
            command=command,
            folder=folder,
            starts_agent=name in AGENT_TOOLS
            and arguments.get("subagent_type") not in READ_ONLY_AGENT_TYPES,
            is_foreign=name.startswith("mcp__") and not name.startswith(MCP_PREFIX),
            result=_checksum(text, bool(reads), is_check) if result else None,
            tokens=round(self._cost(text)) if reads and "agent" not in call else 0,
        )


def _checksum(text: str, is_file: bool, is_check: bool) -> int:
    """Return a number to compare outputs by.

    Digits are times and counts, except in files. Of a test run only the last line is compared:
    how much of the output is shown often differs.
    """
    if is_check:
        text = text.rstrip().rpartition("\n")[2]
    if not is_file:
        text = text.translate(WITHOUT_DIGITS)
    return zlib.crc32(text.encode("utf-8", "replace"))


def _to_label(text: str) -> str:
    return redact_and_clip(one_line(text, 2 * MAX_LABEL_CHARS), 2 * MAX_LABEL_CHARS)


def _find_form_questions(event: Event) -> Iterator[Question]:
    questions = event["input"].get("questions")
    for question in questions if isinstance(questions, list) else ():
        text = to_text(question.get("question")) if isinstance(question, dict) else ""
        if text:
            yield Question(line=event["line"], text=_to_label(text), is_form=True)


def _find_reads(
    state: State, name: str, arguments: dict[str, Any], folder: str
) -> Iterator[FileRead]:
    path = arguments.get("file_path") or arguments.get("notebook_path") or arguments.get("path")
    is_mcp = name.startswith(MCP_PREFIX) and name.removeprefix(MCP_PREFIX) in MCP_READ_TOOLS
    if (name in ("Read", "NotebookRead") or is_mcp) and isinstance(path, str) and path:
        first, count = (arguments.get(key) for key in ("offset", "limit"))
        start = first if isinstance(first, int) and first > 0 else 1
        last = start + count - 1 if isinstance(count, int) and count > 0 else LAST_LINE
        yield FileRead(path=to_project_path(state, path), first=start, last=last)
    elif name == "Bash":
        for printed, start, last in find_printed_files(to_text(arguments.get("command")), folder):
            yield FileRead(path=to_project_path(state, printed), first=start, last=last)


def find_printed_files(script: str, folder: str) -> Iterator[tuple[str, int, int]]:
    """Yield path, first and last line of each file that a shell script prints unfiltered."""
    commands = shell_parser.parse_commands(script)
    for index, command in enumerate(commands):
        words = strip_prefixes(command.words)
        if words[:1] == ["cd"]:
            folder = join_path(folder, words[1] or "") if len(words) > 1 else folder
            continue
        following = commands[index + 1].operator if index + 1 < len(commands) else ""
        is_written = any(operator.startswith((">", "&>")) and target != "/dev/null"
                         for operator, target in command.redirections)  # fmt: skip
        if following in ("|", "|&") or is_written or None in words or len(words) < 2:
            continue
        for path, first, last in _find_printed([str(word) for word in words]):
            if "*" not in path:
                yield join_path(folder, path), first, last


def _find_printed(words: list[str]) -> Iterator[tuple[str, int, int]]:
    name, *rest = words
    paths = [word for word in rest if not word.startswith("-")]
    if name in FILE_PRINTERS:
        yield from ((path, 1, LAST_LINE) for path in paths)
    elif name == "head" and "-c" not in rest:
        count = next((word.lstrip("-n") for word in rest if word.lstrip("-n").isdigit()), "10")
        yield from ((path, 1, int(count)) for path in paths if not path.isdigit())
    elif name == "sed" and "-n" in rest and len(paths) > 1:
        part = SED_RANGE.fullmatch(paths[0])
        if part:
            end = part[2] or part[1]
            last = LAST_LINE if end == "$" else int(end)
            yield from ((path, int(part[1]), last) for path in paths[1:])


def _find_changes(state: State, name: str, arguments: dict[str, Any], folder: str) -> Iterator[str]:
    path = arguments.get("file_path") or arguments.get("notebook_path") or arguments.get("path")
    mcp_tool = name.removeprefix(MCP_PREFIX) if name.startswith(MCP_PREFIX) else ""
    if name == "apply_patch":
        for _, changed, target in find_patch_effects(arguments.get("changes"), folder):
            yield from (to_project_path(state, one) for one in (changed, target) if one)
    elif name == "Bash":
        yield from _find_shell_changes(state, to_text(arguments.get("command")), folder)
    elif (name in EDIT_TOOLS or mcp_tool in MCP_CHANGE_TOOLS) and isinstance(path, str) and path:
        yield to_project_path(state, path)
    elif mcp_tool in MCP_CHANGE_TOOLS:
        yield UNKNOWN_FILES


def _find_shell_changes(state: State, script: str, folder: str) -> Iterator[str]:
    root = state["place"].get("root", "").rstrip("/")
    for kind, path, target in find_effects(script, folder):
        if kind == "folder":
            continue
        for name in (one.rstrip("/") for one in (path, target) if one):
            yield ALL_FILES if name == root else to_project_path(state, name)
    for command in shell_parser.parse_commands(script):
        words = strip_prefixes(command.words)
        if words[:1] == ["git"] and not GIT_TREE_VERBS.isdisjoint(words[1:4]):
            yield UNKNOWN_FILES


def _find_edit(changes: tuple[str, ...], is_shell: bool) -> str:
    """The first changed file; of a shell command only a file in the project counts."""
    named = [change for change in changes if change]
    if is_shell:
        named = [change for change in named if not change.startswith(("/", "~"))]
    return named[0] if named else ""


def _find_command(name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """Return the command or search, and whether it is a test, lint or build run."""
    if name in SEARCH_TOOLS:
        return f"{name} {json.dumps(arguments, ensure_ascii=False, sort_keys=True)}", False
    script = to_text(arguments.get("command")) if name == "Bash" else ""
    simple, stripped, kind = analyze(script)
    if any(words[0] in WAITING_PROGRAMS for words in simple if words):
        return "", False
    return " ".join((stripped if kind else script).split()), bool(kind)


def _is_meant(change: str, path: str) -> bool:
    """Whether a changed file, folder or pattern means this file."""
    if "*" in change or "?" in change:
        return fnmatchcase(path, change) or fnmatchcase(path, f"{change}/*")
    return path == change or path.startswith(f"{change}/")
