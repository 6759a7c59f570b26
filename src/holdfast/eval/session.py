"""One session as the scorer reads it: pieces of raw lines, and what each of them names."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from holdfast.eval.artifacts.lines import numbered
from holdfast.eval.commands import simple_commands
from holdfast.eval.entities import Entity, Paths, entities, is_file

CONTINUED = "This session is being continued from a previous conversation"
# What of a tool's input names things to work on: never an edit's body or an agent's prompt.
NAMING = {
    "Read": ("file_path",),
    "Edit": ("file_path",),
    "Write": ("file_path",),
    "MultiEdit": ("file_path",),
    "NotebookEdit": ("notebook_path",),
    "NotebookRead": ("notebook_path",),
    "Grep": ("pattern", "path", "glob"),
    "Glob": ("pattern", "path"),
    "LS": ("path",),
    "Bash": ("command",),
    "WebFetch": ("url",),
}
FILE_PATHS = ("file_path", "notebook_path", "path")
# User lines that no person wrote.
NOT_THE_USER = re.compile(
    r"\s*(?:<(?:command-|local-command|task-notification|bash-|system-reminder|user-prompt-submit)"
    r"|\[Request interrupted|Base directory for this skill|Caveat: The messages below"
    r"|Stop hook feedback|API Error|This session is being continued)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One block of one line. `used` is what a call's input names as its target."""

    line: int
    kind: str  # prompt, note, reply, call, result, summary
    text: str
    cwd: str = ""
    id: str = ""
    tool: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    ok: bool = True
    message: str = ""
    names: frozenset[Entity] = frozenset()
    used: frozenset[Entity] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """Where the context was replaced: the first line of it, the summary's line and text."""

    line: int
    summary_line: int
    summary: str


@dataclass(frozen=True, kw_only=True)
class Session:
    path: str
    name: str
    repository: str
    pieces: tuple[Piece, ...]
    compactions: tuple[Compaction, ...]
    paths: Paths
    lines: int
    branches: tuple[tuple[int, str], ...]  # where git stood, and from which line on
    raw: dict[int, dict[str, Any]] = field(repr=False)

    def before(self, line: int) -> Iterator[Piece]:
        """What the model had been shown: no thinking, no old summaries."""
        return (piece for piece in self.pieces if piece.line < line and piece.kind != "summary")

    def between(self, first: int, last: int) -> Iterator[Piece]:
        return (piece for piece in self.pieces if first <= piece.line <= last)

    def branch_at(self, line: int) -> str:
        """The branch that the host wrote down last before this line."""
        return next((name for start, name in reversed(self.branches) if start < line), "")

    def text_of(self, line: int) -> str:
        """Every word of one raw line, the host's own account of a result included."""
        return " ".join(" ".join(_strings(self.raw.get(line))).split())

    @cached_property
    def call_lines(self) -> dict[int, list[int]]:
        """For a line that brings results, the lines of the calls that they answer."""
        asked = {piece.id: piece.line for piece in self.calls}
        found: dict[int, list[int]] = {}
        for piece in self.pieces:
            if piece.kind == "result" and piece.id in asked:
                found.setdefault(piece.line, []).append(asked[piece.id])
        return found

    @cached_property
    def calls(self) -> tuple[Piece, ...]:
        return tuple(piece for piece in self.pieces if piece.kind == "call")


def load(path: str) -> Session:
    """Read a transcript; everything that later steps need of it is worked out once, here."""
    lines = list(numbered(path))
    paths = Paths(dict.fromkeys(cwd for _, line in lines if (cwd := _text(line.get("cwd")))))
    pieces = [_named(piece, paths) for number, line in lines for piece in _pieces(number, line)]
    name, repository = names_of(path)
    return Session(
        path=path,
        name=name,
        repository=repository,
        pieces=tuple(pieces),
        compactions=tuple(_compactions(lines)),
        paths=paths,
        lines=lines[-1][0] if lines else 0,
        branches=tuple(_branches(lines)),
        raw=dict(lines),
    )


def names_of(path: str) -> tuple[str, str]:
    """Session and repository: `owner__repo__session`, else the folder is the repository's."""
    stem = re.sub(r"(?:\.clean)?\.jsonl(?:\.gz)?$", "", os.path.basename(path))
    repository, found, session = stem.rpartition("__")
    if found:
        return session, repository
    return stem, os.path.basename(os.path.dirname(os.path.abspath(path)))


def _branches(lines: list[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, str]]:
    known = ""
    for number, line in lines:
        branch = _text(line.get("gitBranch"))
        if branch and branch != known:
            known = branch
            yield number, branch


def _pieces(number: int, line: dict[str, Any]) -> Iterator[Piece]:
    kind, message = line.get("type"), line.get("message")
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        return
    content, cwd, ident = message.get("content"), _text(line.get("cwd")), _text(message.get("id"))
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    summary = is_summary(line)
    for block in (block for block in blocks if isinstance(block, dict)):
        text = _text(block.get("text"))
        if block.get("type") == "text" and text.strip():
            role = "summary" if summary else _speaker(kind, line, text)
            yield Piece(line=number, kind=role, text=text, cwd=cwd, message=ident)
        elif block.get("type") == "tool_use":
            yield _call(number, block, cwd, ident)
        elif block.get("type") == "tool_result":
            yield _result(number, line, block, cwd)


def _speaker(kind: Any, line: dict[str, Any], text: str) -> str:
    if kind == "assistant":
        return "reply"
    told = line.get("isMeta") or NOT_THE_USER.match(text)
    return "note" if told else "prompt"


def _call(number: int, block: dict[str, Any], cwd: str, message: str) -> Piece:
    given = block.get("input")
    given = given if isinstance(given, dict) else {}
    return Piece(
        line=number,
        kind="call",
        text="\n".join(_strings(given)),
        cwd=cwd,
        id=_text(block.get("id")),
        tool=_text(block.get("name")),
        given=given,
        message=message,
    )


def _result(number: int, line: dict[str, Any], block: dict[str, Any], cwd: str) -> Piece:
    content = block.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [_text(part.get("text")) for part in parts if isinstance(part, dict)]
    return Piece(
        line=number,
        kind="result",
        text="\n".join(filter(None, texts)),
        cwd=cwd,
        id=_text(block.get("tool_use_id")),
        ok=not (block.get("is_error") or line.get("toolDenialKind")),
    )


def _named(piece: Piece, paths: Paths) -> Piece:
    if piece.kind == "summary":
        return piece
    names, used = entities(piece.text, paths), set[Entity]()
    if piece.kind == "call":
        used = _used(piece, paths)
        names |= used
    return Piece(
        **{slot: getattr(piece, slot) for slot in ("line", "kind", "text", "cwd", "id", "tool")},
        given=piece.given,
        ok=piece.ok,
        message=piece.message,
        names=frozenset(names),
        used=frozenset(used),
    )


def _used(piece: Piece, paths: Paths) -> set[Entity]:
    found: set[Entity] = set()
    fields = NAMING.get(piece.tool) or (("path",) if "file" in piece.tool else ())
    for name in fields:
        value = _text(piece.given.get(name))
        if name in FILE_PATHS and piece.tool not in ("Grep", "Glob", "LS"):
            if is_file(value):
                found.add(("P", paths.normal(value)))
            continue
        named = entities(value, paths)
        if piece.tool == "Bash":
            named = {entity for entity in named if entity[0] != "P"}
            named |= {("P", path) for path in paths.of_text(value, piece.cwd)}
            named |= {("C", command) for command in simple_commands(value)}
        found |= named
    return found


def _compactions(lines: list[tuple[int, dict[str, Any]]]) -> Iterator[Compaction]:
    """Of every era: a boundary with its summary, a marked summary, or a plain continuation."""
    boundary = 0
    for number, line in lines:
        if line.get("type") == "system" and line.get("subtype") == "compact_boundary":
            boundary = number
        elif is_summary(line):
            text = "\n".join(_texts(line))
            yield Compaction(line=boundary or number, summary_line=number, summary=text)
            boundary = 0


def is_summary(line: dict[str, Any]) -> bool:
    if line.get("isCompactSummary") is True:
        return True
    if line.get("type") != "user":
        return False
    return next(_texts(line), "").startswith(CONTINUED)


def _texts(line: dict[str, Any]) -> Iterator[str]:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "text":
            yield _text(block.get("text"))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
    elif value is not None:
        yield json.dumps(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
