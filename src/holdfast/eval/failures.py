"""Find the checks that were run, their outcomes, and the last unresolved error (class E)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from posixpath import basename

from holdfast.eval.commands import split_commands
from holdfast.eval.session import Piece

# Words that make a command a check, by what it checks; `all` stands for every kind.
WORDS_BY_KIND = {
    "test": "test tests pytest jest vitest playwright rspec spec e2e nextest",
    "lint": "lint ruff eslint pylint flake8 clippy credo golangci-lint vet black prettier",
    "build": "build compile tsc typecheck type-check mypy dialyzer pyright",
    "all": "check checks verify ci validate precommit pre-commit",
}
KIND_BY_WORD = {word: kind for kind, words in WORDS_BY_KIND.items() for word in words.split()}
# Programs that may have such words in their arguments but are not checks.
OTHER_PROGRAMS = frozenset(
    ("git", "gh", "ssh", "rm", "cp", "mv", "grep", "rg", "find", "curl", "sed", "awk", "docker")
)
MAX_COMMAND_WORDS = 4
NOT_RUN_PREFIXES = (
    "The user doesn't want",
    "<tool_use_error>",
    "[Request interrupted",
    "Permission to",
)
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
UNINFORMATIVE = re.compile(
    r"^\W*(?:exit (?:code|status) \d+|(?:---\s*)?FAIL(?:ED)?\b.*|make.*\*\*\*.*|.*task failed"
    r"|.*\b\d+ (?:failed|errors?|failures?)\b.*|traceback.*|=+.*=+|npm (?:ERR|error).*|\W*)$",
    re.I,
)
SIGNATURE_CHARS, MIN_ERROR_CHARS = 60, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """One run of one check."""

    command: str
    kind: str
    line: int
    ok: bool
    output: str


def find_check_runs(pieces: Iterable[Piece]) -> list[CheckRun]:
    """Return every check that was run, in order; a refused call did not run."""
    runs: list[CheckRun] = []
    scripts: dict[str, str] = {}  # by the id of the call
    for piece in pieces:
        if piece.kind == "call" and piece.tool == "Bash":
            scripts[piece.id] = str(piece.arguments.get("command") or "")
        elif (
            piece.kind == "result"
            and piece.id in scripts
            and not piece.text.startswith(NOT_RUN_PREFIXES)
        ):
            ok = piece.ok and not FAILED_OUTPUT.search(piece.text)
            checks = [
                (command, kind)
                for command in split_commands(scripts[piece.id])
                if (kind := classify_command(command))
            ]
            # In `build && test` all ran if the call succeeded; otherwise the last one failed.
            for command, kind in checks if ok else checks[-1:]:
                runs.append(
                    CheckRun(command=command, kind=kind, line=piece.line, ok=ok, output=piece.text)
                )
    return runs


def classify_command(command: str) -> str:
    """Return what a command checks; empty if it is not a check."""
    words = [word for word in command.split() if not word.startswith("-")][:MAX_COMMAND_WORDS]
    if not words or basename(words[0]) in OTHER_PROGRAMS:
        return ""
    parts = [part for word in words if "/" not in word for part in re.split(r"[:.]", word)]
    return next((KIND_BY_WORD[part] for part in parts if part in KIND_BY_WORD), "")


def find_last_unresolved(runs: list[CheckRun]) -> CheckRun | None:
    """Return the latest failure with an error line that no later run resolved."""
    for number in range(len(runs) - 1, -1, -1):
        run = runs[number]
        if run.ok or not find_error_lines(run.output):
            continue
        if not any(later.ok and _resolves(later, run) for later in runs[number:]):
            return run
    return None


def _resolves(later: CheckRun, failed: CheckRun) -> bool:
    """Whether `later` runs the same check on at least as much, or its kind on everything."""
    words, failed_words = _strip_options(later.command), _strip_options(failed.command)
    if words[:2] == failed_words[:2] and set(words) <= set(failed_words):
        return True
    names_target = any("/" in word or "." in word for word in words[1:])
    runs_everything = "./..." in words or not names_target
    return runs_everything and later.kind in (failed.kind, "all")


def _strip_options(command: str) -> list[str]:
    return [word for word in command.split() if not word.startswith("-")]


def find_error_lines(output: str) -> list[str]:
    """Return the error lines, with white space collapsed.

    Lines that only say that something failed are left out, unless there are no others.
    """
    lines = [" ".join(line.split()) for line in output.splitlines()]
    errors = [
        line
        for line in lines
        if len(line) > MIN_ERROR_CHARS and (ERROR.search(line) or LOCATED.match(line))
    ]
    return list(dict.fromkeys([line for line in errors if not UNINFORMATIVE.match(line)] or errors))


def quotes_error(text: str, line: str) -> bool:
    """Whether the text has the line's first 60 characters, or its location and message."""
    if line[:SIGNATURE_CHARS].rstrip() in text:
        return True
    located = LOCATED.match(line)
    if located is None:
        return False
    return located["where"] in text and located["what"][:SIGNATURE_CHARS].rstrip() in text
