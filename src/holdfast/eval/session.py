"""A session as the scorer reads it: the blocks of its messages, and the entities in each."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from holdfast.eval.commands import split_commands
from holdfast.eval.entities import Entity, Paths, extract_entities, is_file
from holdfast.eval.lines import read_main_lines

SUMMARY_PREFIX = "This session is being continued from a previous conversation"
# The arguments that name what a tool works on, which an edit's text or an agent's prompt do not.
TARGET_FIELDS = {
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
PATH_FIELDS = ("file_path", "notebook_path", "path")
# Texts in the user's role that the client wrote.
CLIENT_TEXT = re.compile(
    r"\s*(?:<(?:command-|local-command|task-notification|bash-|system-reminder|user-prompt-submit)"
    r"|\[Request interrupted|Base directory for this skill|Caveat: The messages below"
    r"|Stop hook feedback|API Error|This session is being continued)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One block of a message."""

    line: int
    kind: str  # prompt, note, reply, call, result, summary
    text: str
    cwd: str = ""
    id: str = ""
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    ok: bool = True
    message_id: str = ""
    names: frozenset[Entity] = frozenset()  # every entity in it
    used: frozenset[Entity] = frozenset()  # for a call, the entities that it works on


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCompaction:
    """A compaction: its first line, and the line and text of its summary."""

    line: int
    summary_line: int
    summary: str


@dataclass(frozen=True, kw_only=True)
class Session:
    path: str
    name: str
    repository: str
    pieces: tuple[Piece, ...]
    compactions: tuple[LoggedCompaction, ...]
    paths: Paths
    lines: int
    branches: tuple[tuple[int, str], ...]  # (first line, branch)
    raw: dict[int, dict[str, Any]] = field(repr=False)

    def before(self, line: int) -> Iterator[Piece]:
        """Yield what the model had seen before this line, without earlier summaries."""
        return (piece for piece in self.pieces if piece.line < line and piece.kind != "summary")

    def between(self, first: int, last: int) -> Iterator[Piece]:
        return (piece for piece in self.pieces if first <= piece.line <= last)

    def branch_at(self, line: int) -> str:
        """Return the last branch recorded before this line."""
        return next((name for start, name in reversed(self.branches) if start < line), "")

    def line_text(self, line: int) -> str:
        """Return all text of one raw line, including the host's own record of a result."""
        return " ".join(" ".join(_strings(self.raw.get(line))).split())

    @cached_property
    def call_lines(self) -> dict[int, list[int]]:
        """Map each line with results to the lines of their calls."""
        line_by_call = {piece.id: piece.line for piece in self.calls}
        call_lines: dict[int, list[int]] = {}
        for piece in self.pieces:
            if piece.kind == "result" and piece.id in line_by_call:
                call_lines.setdefault(piece.line, []).append(line_by_call[piece.id])
        return call_lines

    @cached_property
    def calls(self) -> tuple[Piece, ...]:
        return tuple(piece for piece in self.pieces if piece.kind == "call")


def load_session(path: str) -> Session:
    """Read a transcript. Raises UnreadableTranscript if that fails."""
    lines = list(read_main_lines(path))
    paths = Paths(dict.fromkeys(cwd for _, line in lines if (cwd := _text(line.get("cwd")))))
    pieces = [
        _add_entities(piece, paths) for number, line in lines for piece in _to_pieces(number, line)
    ]
    name, repository = parse_session_name(path)
    return Session(
        path=path,
        name=name,
        repository=repository,
        pieces=tuple(pieces),
        compactions=tuple(_find_compactions(lines)),
        paths=paths,
        lines=lines[-1][0] if lines else 0,
        branches=tuple(_find_branches(lines)),
        raw=dict(lines),
    )


def parse_session_name(path: str) -> tuple[str, str]:
    """Return session and repository from a file name `owner__repo__session`.

    With another file name, the repository is the name of the folder.
    """
    stem = re.sub(r"(?:\.clean)?\.jsonl(?:\.gz)?$", "", os.path.basename(path))
    repository, separator, session = stem.rpartition("__")
    if separator:
        return session, repository
    return stem, os.path.basename(os.path.dirname(os.path.abspath(path)))


def _find_branches(lines: list[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, str]]:
    known = ""
    for number, line in lines:
        branch = _text(line.get("gitBranch"))
        if branch and branch != known:
            known = branch
            yield number, branch


def _to_pieces(number: int, line: dict[str, Any]) -> Iterator[Piece]:
    kind, message = line.get("type"), line.get("message")
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        return
    content, cwd, ident = message.get("content"), _text(line.get("cwd")), _text(message.get("id"))
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    summary = is_summary(line)
    for block in (block for block in blocks if isinstance(block, dict)):
        text = _text(block.get("text"))
        if block.get("type") == "text" and text.strip():
            role = "summary" if summary else _classify_text(kind, line, text)
            yield Piece(line=number, kind=role, text=text, cwd=cwd, message_id=ident)
        elif block.get("type") == "tool_use":
            yield _to_call(number, block, cwd, ident)
        elif block.get("type") == "tool_result":
            yield _to_result(number, line, block, cwd)


def _classify_text(kind: Any, line: dict[str, Any], text: str) -> str:
    if kind == "assistant":
        return "reply"
    is_note = line.get("isMeta") or CLIENT_TEXT.match(text)
    return "note" if is_note else "prompt"


def _to_call(number: int, block: dict[str, Any], cwd: str, message_id: str) -> Piece:
    arguments = block.get("input")
    arguments = arguments if isinstance(arguments, dict) else {}
    return Piece(
        line=number,
        kind="call",
        text="\n".join(_strings(arguments)),
        cwd=cwd,
        id=_text(block.get("id")),
        tool=_text(block.get("name")),
        arguments=arguments,
        message_id=message_id,
    )


def _to_result(number: int, line: dict[str, Any], block: dict[str, Any], cwd: str) -> Piece:
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


def _add_entities(piece: Piece, paths: Paths) -> Piece:
    if piece.kind == "summary":
        return piece
    names, used = extract_entities(piece.text, paths), set[Entity]()
    if piece.kind == "call":
        used = _find_targets(piece, paths)
        names |= used
    return Piece(
        **{slot: getattr(piece, slot) for slot in ("line", "kind", "text", "cwd", "id", "tool")},
        arguments=piece.arguments,
        ok=piece.ok,
        message_id=piece.message_id,
        names=frozenset(names),
        used=frozenset(used),
    )


def _find_targets(piece: Piece, paths: Paths) -> set[Entity]:
    targets: set[Entity] = set()
    fields = TARGET_FIELDS.get(piece.tool) or (("path",) if "file" in piece.tool else ())
    for name in fields:
        value = _text(piece.arguments.get(name))
        if name in PATH_FIELDS and piece.tool not in ("Grep", "Glob", "LS"):
            if is_file(value):
                targets.add(("P", paths.normalize(value)))
            continue
        named = extract_entities(value, paths)
        if piece.tool == "Bash":
            named = {entity for entity in named if entity[0] != "P"}
            named |= {("P", path) for path in paths.extract(value, piece.cwd)}
            named |= {("C", command) for command in split_commands(value)}
        targets |= named
    return targets


def _find_compactions(lines: list[tuple[int, dict[str, Any]]]) -> Iterator[LoggedCompaction]:
    """Yield the compactions; each client version marks them by a boundary, a flag or a prefix."""
    boundary = 0
    for number, line in lines:
        if line.get("type") == "system" and line.get("subtype") == "compact_boundary":
            boundary = number
        elif is_summary(line):
            text = "\n".join(read_texts(line))
            yield LoggedCompaction(line=boundary or number, summary_line=number, summary=text)
            boundary = 0


def is_summary(line: dict[str, Any]) -> bool:
    if line.get("isCompactSummary") is True:
        return True
    if line.get("type") != "user":
        return False
    return next(read_texts(line), "").startswith(SUMMARY_PREFIX)


def read_texts(line: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of a line's message, without calls and results of tools."""
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
