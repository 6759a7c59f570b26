"""Count the statements of a text that are out of date, and the open plan items that it keeps."""

from __future__ import annotations

import re

from holdfast.eval.failures import CheckRun
from holdfast.eval.ground_truth import GroundTruth
from holdfast.eval.matching import TextMatcher, collapse_spaces
from holdfast.eval.todos import is_about

STATUS = (
    r"(?:pending|in progress|in_progress|to ?do|next(?: steps?| actions?)?|remaining|not started"
    r"|waiting|still open|unfinished)\b"
)
# The status of a line: at its start or in brackets, not within its text.
PENDING = re.compile(rf"^\W*{STATUS}|[(\[]{STATUS}[)\]]|\[ \]", re.I)
PENDING_HEADING = re.compile(rf"\b{STATUS}", re.I)
SETTLED = re.compile(r"\b(?:done|completed?|finished|fixed|resolved)\b|\[x\]|✓|✅", re.I)
FAILING = re.compile(r"\bfail(?:s|ed|ing)?\b", re.I)
BRANCH = re.compile(r"\bbranch:?\s+[`“\"]?([\w./-]+[\w])[`”\"]?")
QUOTE = re.compile(r"“[^”]*”")
CODE = re.compile(r"`([^`\n]+)`")


def measure_staleness(matcher: TextMatcher, truth: GroundTruth) -> dict[str, float]:
    checked = {
        "plan": _check_plan(matcher, truth),
        "checks": _check_failures(matcher, truth.runs),
        "branch": _check_branch(matcher, truth.branch) if truth.branch else [],
    }
    figures = {f"stale_{name}": float(results.count(False)) for name, results in checked.items()}
    figures["stale_errors"] = sum(figures.values())
    figures["stale_checked"] = float(sum(map(len, checked.values())))
    if truth.todos.open:
        lines = matcher.text.splitlines()
        kept = [any(is_about(line, item) for line in lines) for item in truth.todos.open]
        figures["open_todos"] = sum(kept) / len(kept)
    return figures


def _lines(matcher: TextMatcher) -> list[str]:
    """Return the lines without quotations: the user's earlier words are not about the present."""
    return QUOTE.sub("“”", matcher.text).splitlines()


def _check_plan(matcher: TextMatcher, truth: GroundTruth) -> list[bool]:
    """Return, for each plan item that a line or its heading calls pending, whether it is open."""
    checked, under_pending = [], False
    for line in _lines(matcher):
        if line.lstrip().startswith(("#", "**")) or re.match(r"\s*\d+\.\s+\S[^.]*:\s*$", line):
            under_pending = bool(PENDING_HEADING.search(line))
        elif (PENDING.search(line) or under_pending) and not SETTLED.search(line):
            if any(is_about(line, item) for item in truth.todos.open):
                checked.append(True)
            elif any(is_about(line, item) for item in truth.todos.done):
                checked.append(False)
    return checked


def _check_failures(matcher: TextMatcher, runs: list[CheckRun]) -> list[bool]:
    """Return, for each check that a line calls failing, whether its last run failed."""
    last = {run.command: run.ok for run in runs}
    checked = []
    for line in _lines(matcher):
        if FAILING.search(CODE.sub("``", line)):
            for code in CODE.findall(line):
                matching = [ok for command, ok in last.items() if command == collapse_spaces(code)]
                checked += [not ok for ok in matching]
    return checked


def _check_branch(matcher: TextMatcher, branch: str) -> list[bool]:
    """Return whether the first branch that the text names is the current one."""
    named = [match[1] for line in _lines(matcher) if (match := BRANCH.match(line.lstrip("-* ")))]
    return [name == branch for name in named[:1]]
