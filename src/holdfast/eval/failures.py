"""Checks that were run, how each ended last, and the last error nobody resolved (class E)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from posixpath import basename

from holdfast.eval.commands import simple_commands
from holdfast.eval.session import Piece

# Words that make a command a check, by what it checks; `all` stands for every kind.
KINDS = {
    "test": "test tests pytest jest vitest playwright rspec spec e2e nextest",
    "lint": "lint ruff eslint pylint flake8 clippy credo golangci-lint vet black prettier",
    "build": "build compile tsc typecheck type-check mypy dialyzer pyright",
    "all": "check checks verify ci validate precommit pre-commit",
}
KIND_OF = {word: kind for kind, words in KINDS.items() for word in words.split()}
# Programs whose arguments may hold such words without being checks.
OTHER_PROGRAMS = frozenset(
    ("git", "gh", "ssh", "rm", "cp", "mv", "grep", "rg", "find", "curl", "sed", "awk", "docker")
)
MOST_WORDS = 4
NOT_RUN = ("The user doesn't want", "<tool_use_error>", "[Request interrupted", "Permission to")
FAILED_OUTPUT = re.compile(
    r"^(?:--- FAIL|FAIL\b|FAILED\b|E   |panic: |error\[E\d|error: |Error: )|\b[1-9]\d* failed\b"
    r"|\bERROR task failed",
    re.M,
)
LOCATED = re.compile(r"^(?P<where>[^\s:]+\.\w+:\d+(?::\d+)?)[:\s-]+(?P<what>\S.*)$")
ERROR = re.compile(
    r"\b(?:error|panic|fail(?:ed|ure|s)?|exception|fatal|cannot|undefined|unexpected|traceback"
    r"|not found|no such|denied|refused|mismatch|assert\w*)\b|^E  |\w+(?:Error|Exception)\b",
    re.I,
)
# Lines that say that something failed, but not what.
EMPTY = re.compile(
    r"^\W*(?:exit (?:code|status) \d+|(?:---\s*)?FAIL(?:ED)?\b.*|make.*\*\*\*.*|.*task failed"
    r"|.*\b\d+ (?:failed|errors?|failures?)\b.*|traceback.*|=+.*=+|npm (?:ERR|error).*|\W*)$",
    re.I,
)
SIGNATURE, SHORTEST = 60, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of one check."""

    command: str
    kind: str
    line: int
    ok: bool
    output: str


def runs(pieces: Iterable[Piece]) -> list[Run]:
    """Every check that was run, in order; what was refused did not run."""
    found: list[Run] = []
    asked: dict[str, str] = {}
    for piece in pieces:
        if piece.kind == "call" and piece.tool == "Bash":
            asked[piece.id] = str(piece.given.get("command") or "")
        elif piece.kind == "result" and piece.id in asked and not piece.text.startswith(NOT_RUN):
            ok = piece.ok and not FAILED_OUTPUT.search(piece.text)
            checks = [
                (one, kind) for one in simple_commands(asked[piece.id]) if (kind := kind_of(one))
            ]
            # In `build && test` all ran if all is well; else the last stands for what failed.
            for command, kind in checks if ok else checks[-1:]:
                found.append(
                    Run(command=command, kind=kind, line=piece.line, ok=ok, output=piece.text)
                )
    return found


def kind_of(command: str) -> str:
    """What a command checks; empty if it is no check."""
    words = [word for word in command.split() if not word.startswith("-")][:MOST_WORDS]
    if not words or basename(words[0]) in OTHER_PROGRAMS:
        return ""
    parts = [part for word in words if "/" not in word for part in re.split(r"[:.]", word)]
    return next((KIND_OF[part] for part in parts if part in KIND_OF), "")


def last_unresolved(found: list[Run]) -> Run | None:
    """The latest failure that says what is wrong and that no later run has put right."""
    for number in range(len(found) - 1, -1, -1):
        run = found[number]
        if run.ok or not signatures(run.output):
            continue
        if not any(later.ok and _settles(later, run) for later in found[number:]):
            return run
    return None


def _settles(later: Run, failed: Run) -> bool:
    """The same check, pointed at no less, or one of its kind that is pointed at everything."""
    first, second = _words(later.command), _words(failed.command)
    if first[:2] == second[:2] and set(first) <= set(second):
        return True
    everything = "./..." in first or not any("/" in word or "." in word for word in first[1:])
    return everything and later.kind in (failed.kind, "all")


def _words(command: str) -> list[str]:
    return [word for word in command.split() if not word.startswith("-")]


def signatures(output: str) -> list[str]:
    """Its error lines in one spelling: those that say what is wrong, if there are any."""
    lines = [" ".join(line.split()) for line in output.splitlines()]
    errors = [
        line
        for line in lines
        if len(line) > SHORTEST and (ERROR.search(line) or LOCATED.match(line))
    ]
    return list(dict.fromkeys([line for line in errors if not EMPTY.match(line)] or errors))


def quotes(text: str, line: str) -> bool:
    """Whether a text gives this line by its first 60 characters, or its place and its message."""
    if line[:SIGNATURE].rstrip() in text:
        return True
    found = LOCATED.match(line)
    if found is None:
        return False
    return found["where"] in text and found["what"][:SIGNATURE].rstrip() in text
