"""M5: what a text says that is no longer so, out of what can be checked; and open items kept."""

from __future__ import annotations

import re

from holdfast.eval.failures import Run
from holdfast.eval.ground import Ground
from holdfast.eval.matching import Said, flat
from holdfast.eval.todos import covers

STATUS = (
    r"(?:pending|in progress|in_progress|to ?do|next(?: steps?| actions?)?|remaining|not started"
    r"|waiting|still open|unfinished)\b"
)
# As the status of a line: at its start or in brackets, not somewhere in what it is about.
PENDING = re.compile(rf"^\W*{STATUS}|[(\[]{STATUS}[)\]]|\[ \]", re.I)
PENDING_HEADING = re.compile(rf"\b{STATUS}", re.I)
SETTLED = re.compile(r"\b(?:done|completed?|finished|fixed|resolved)\b|\[x\]|✓|✅", re.I)
GONE = re.compile(r"\b(?:delet|remov|gone|no longer|renam|mov(?:ed|ing)|dropp|clean)", re.I)
FAILING = re.compile(r"\bfail(?:s|ed|ing)?\b", re.I)
BRANCH = re.compile(r"\bbranch:?\s+[`“\"]?([\w./-]+[\w])[`”\"]?")
QUOTE = re.compile(r"“[^”]*”")
CODE = re.compile(r"`([^`\n]+)`")


def staleness(said: Said, truth: Ground) -> dict[str, float]:
    checked = {
        "plan": _plan(said, truth),
        "files": _files(said, truth),
        "checks": _checks(said, truth.runs),
        "branch": _branch(said, truth.branch) if truth.branch else [],
    }
    found = {f"stale_{name}": float(answers.count(False)) for name, answers in checked.items()}
    found["stale_errors"] = sum(found.values())
    found["stale_checked"] = float(sum(map(len, checked.values())))
    if truth.todos.open:
        lines = said.text.splitlines()
        kept = [any(covers(line, item) for line in lines) for item in truth.todos.open]
        found["open_todos"] = sum(kept) / len(kept)
    return found


def _lines(said: Said) -> list[str]:
    """Without what is quoted: the user's old words are no claim about now."""
    return QUOTE.sub("“”", said.text).splitlines()


def _plan(said: Said, truth: Ground) -> list[bool]:
    """Lines given as pending, by their own words or their heading's, must not be done."""
    checked, under_pending = [], False
    for line in _lines(said):
        if line.lstrip().startswith(("#", "**")) or re.match(r"\s*\d+\.\s+\S[^.]*:\s*$", line):
            under_pending = bool(PENDING_HEADING.search(line))
        elif (PENDING.search(line) or under_pending) and not SETTLED.search(line):
            if any(covers(line, item) for item in truth.todos.open):
                checked.append(True)
            elif any(covers(line, item) for item in truth.todos.done):
                checked.append(False)
    return checked


def _files(said: Said, truth: Ground) -> list[bool]:
    """A deleted file that is named must be named as deleted."""
    checked = []
    for path in truth.trail.deleted:
        lines = [line for line in _lines(said) if path in line]
        if lines:
            checked.append(
                any(GONE.search(line) for line in lines) or bool(GONE.search(_above(said, path)))
            )
    return checked


def _above(said: Said, path: str) -> str:
    """The heading under which a path stands."""
    heading = ""
    for line in _lines(said):
        if line.startswith("#"):
            heading = line
        if path in line:
            break
    return heading


def _checks(said: Said, runs: list[Run]) -> list[bool]:
    """A check that is said to fail, in words and not by its own, must have failed last."""
    last = {run.command: run.ok for run in runs}
    checked = []
    for line in _lines(said):
        if FAILING.search(CODE.sub("``", line)):
            for code in CODE.findall(line):
                matching = [ok for command, ok in last.items() if command == flat(code)]
                checked += [not ok for ok in matching]
    return checked


def _branch(said: Said, branch: str) -> list[bool]:
    named = [found[1] for line in _lines(said) if (found := BRANCH.match(line.lstrip("-* ")))]
    return [name == branch for name in named[:1]]
