"""What the output of a command says: whether it failed, at what, and where."""

from __future__ import annotations

from holdfast.state.wording import keep, without_colours

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

ERROR_LINES, LONGEST_ERROR = 6, 300
WIDE = 4 * LONGEST_ERROR
# A pipe hides the exit code, so what test runners say counts too.
FAILED = (
    r"\b[1-9]\d* (failed|failing|failures?|errors?)\b|^FAILED\b|^FAIL\b|^--- FAIL|^E   "
    r"|panicked at|^Traceback \(most recent|^error(\[\w+\])?: |\[build failed\]|ERROR task failed"
)
# One of them is in every text that this finds: to look for them is far quicker.
FAILED_HINTS = ("FAIL", "fail", "error", "E   ", "panicked at", "Traceback")
# What a test runner says of a failure itself, then whatever else looks like an error.
VERDICT = (
    r"E   |FAILED |FAIL\b.|--- FAIL|_{3,} .+ _{3,}$|[ \t]*(?:✗|✕|×) |error(?:\[\w+\])?:"
    r"|[\w.]*(?:Error|Exception)\b|[A-Z]{1,4}\d{2,5} "
    # A test that failed by its number, and what stands below it: Playwright, Jest, Mocha, ExUnit.
    r"|[ \t]+(?:\d+\) \S|\[[\w-]+\] › |\*\* \([\w.]+\) .|[\w.]*(?:Error|Exception): ."
    r"|(?:Expected|Received|left|right): |Assertion with )"
)
# Where to look, a test that was not run, a frame of a stack, a package whose errors follow.
POINTS = r"[ \t]*(?:Error Context: |-\s+\d+ \[|[\w./@-]{1,200}:\d+: ?(?:\(\w+\)$|: #))"
PANIC = "panicked at"
# `a.go:12:5: what is wrong`, as compilers, linters and some test runners say it.
LOCATED = r"[ \t]*[\w./@-]{1,200}\.\w{1,5}:\d+(?::\d+)?:? [^\s\d]"
TELLING = r"error\b|exception\b|\bpanic\b|\bfail|\bnot found\b|no such file"
# What was only warned of is not what went wrong, as long as anything else is.
WARNED = r"\bwarn(?:ing)?\b"
# Starts only where a name starts, and never goes back into it: output may be one endless word.
LINE = '", line '
PLACE = r"(?<![\w.@/-])(/?(?:[\w.@-]++/)*+[\w.@-]+\.[A-Za-z]\w{0,4})(?::|\", line )(\d+)"
GO_TEST = "_test.go:"
# What a test says when it fails, as a rule, and hardly when it logs.
GOT = (
    r"\b(?:got|want|wanted|expect|expected|should|must|mismatch|unexpected|failed|error|missing)\b"
)
# Lines that name a test that failed.
NAMING = ("--- FAIL: ", "FAILED ")


def tells_failure(text: str) -> bool:
    """Only lines with a hint are looked at closely: a pattern tried at every sign is slow."""
    return any(hint[0] in text and _has_failed(text, hint) for hint in FAILED_HINTS)


def _has_failed(text: str, hint: str) -> bool:
    at = text.find(hint)
    if at < 0:
        return False
    import re

    failed = re.compile(FAILED, re.MULTILINE).search
    while at >= 0:
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        end = len(text) if end < 0 else end
        if failed(text, start, end):
            return True
        at = text.find(hint, end)
    return False


def error_in(text: str) -> tuple[list[str], str]:
    """The lines that say what is wrong, as a terminal shows them, and where."""
    import re

    text = _spread(without_colours(text))
    verdict, located_at = re.compile(VERDICT).match, re.compile(LOCATED).match
    points = re.compile(POINTS).match
    verdicts = _kept(
        line[:WIDE]
        for line in _lines(text)
        if PANIC in line or (verdict(line) and not points(line))
    )
    located = _kept(
        line[:WIDE]
        for line in _lines(text)
        if _has_number(line) and located_at(line) and not points(line)
    )
    # What failed, then where and why, then the rest.
    why = [line for line in verdicts if line.startswith("E ")][:1] or _of_go(text) or located[:2]
    telling = _kept([*verdicts[:1], *why, *verdicts, *located])
    telling = telling or _told(text)
    kept = telling or _kept(line for line in text.splitlines() if not line.startswith("Exit code"))
    kept = kept or _kept(text.splitlines())
    place = re.compile(PLACE).search
    spots = (place(line) for line in (*telling, *_lines(text)) if ":" in line or LINE in line)
    spot = next(filter(None, spots), None)
    return kept, f"{spot[1]}:{spot[2]}" if spot else ""


def _spread(text: str) -> str:
    """Some programs hand on what others said as one line, with its line ends spelled out."""
    return text.replace("\\n", "\n") if text.count("\\n") > text.count("\n") else text


def _of_go(text: str) -> list[str]:
    """Go prints what a test logs and where it failed alike; the failure comes last."""
    if "FAIL" not in text or GO_TEST not in text:
        return []
    import re

    got = re.compile(GOT, re.I).search
    lines = [line[:WIDE] for line in _lines(text) if GO_TEST in line]
    return _kept(([line for line in lines if got(line)] or lines)[-1:])


def _told(text: str) -> list[str]:
    """The lines that speak of an error in any way, mere warnings only if there is nothing else."""
    import re

    told, warned = re.compile(TELLING, re.I), re.compile(WARNED, re.I)
    points = re.compile(POINTS).match
    spoken = [line for line in _lines_of(told.finditer(text), text) if " " in line.strip()]
    serious = (line for line in spoken if not warned.search(line) and not points(line))
    # A lone name of a file says nothing, unless there is nothing else.
    return _kept(serious) or _kept(spoken) or _kept(_lines_of(told.finditer(text), text))


def _has_number(line: str) -> bool:
    """Whether a digit follows its first colon."""
    at = line.find(":") + 1
    return at > 0 and line[at : at + 1].isdigit()


def _lines(text: str) -> Iterator[str]:
    """Line by line, as far as somebody asks: a pattern that is tried at every sign is slow."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _lines_of(matches: Iterable[re.Match[str]], text: str) -> Iterator[str]:
    end = -1
    for found in matches:
        # Output may be one endless line with a hit in every word.
        if found.end() > end:
            start = text.rfind("\n", 0, found.end()) + 1
            end = text.find("\n", found.end())
            end = len(text) if end < 0 else end
            yield text[start : min(end, start + WIDE)]


def _kept(lines: Iterable[str]) -> list[str]:
    kept: dict[str, None] = {}
    for line in lines:
        # pytest marks even empty lines of an explanation.
        if line.strip() not in ("", "E"):
            kept[keep(_plain(line), LONGEST_ERROR)] = None
        if len(kept) == ERROR_LINES:
            break
    return list(kept)


def _plain(line: str) -> str:
    """pytest draws a rule around the name of a failed test."""
    line = line.strip()
    return line.strip("_ ") if line.startswith("___") else line


def failed_tests(error: list[str]) -> list[str]:
    """The tests that failed, if all of them are named."""
    if len(error) >= ERROR_LINES:
        return []
    named = (line.partition(mark)[2] for line in error for mark in NAMING if line.startswith(mark))
    return [rest.split()[0] for rest in named if rest.strip()]
