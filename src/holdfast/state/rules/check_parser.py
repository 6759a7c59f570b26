"""Parse the output of a command: whether it failed, with which errors, and where."""

from __future__ import annotations

from holdfast.redaction import strip_terminal_codes
from holdfast.state.text import has_digit, redact_and_clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

MAX_ERROR_LINES, MAX_ERROR_CHARS = 6, 300
MAX_LINE_CHARS = 4 * MAX_ERROR_CHARS
# A pipe hides the exit code, so what test runners print counts too.
FAILURE_PATTERN = (
    r"\b[1-9]\d* (failed|failing|failures?|errors?)\b|^FAILED\b|^FAIL\b|^--- FAIL|^E   "
    r"|panicked at|^Traceback \(most recent|^error(\[\w+\])?: |\[build failed\]|ERROR task failed"
)
# Every text that matches contains one of these, and searching for them is far faster.
FAILURE_HINTS = ("FAIL", "fail", "error", "E   ", "panicked at", "Traceback")
# Lines in which test runners and compilers state a failure.
VERDICT = (
    r"E   |FAILED |FAIL\b.|--- FAIL|_{3,} .+ _{3,}$|[ \t]*(?:✗|✕|×) |error(?:\[\w+\])?:"
    r"|[\w.]*(?:Error|Exception)\b|[A-Z]{1,4}\d{2,5} "
    # A failed test with its number, and the lines below it: Playwright, Jest, Mocha, ExUnit.
    r"|[ \t]+(?:\d+\) \S|\[[\w-]+\] › |\*\* \([\w.]+\) .|[\w.]*(?:Error|Exception): ."
    r"|(?:Expected|Received|left|right): |Assertion with )"
)
# Lines that match but state no error: a hint where to look, a test that was not run, a stack frame,
# a package whose errors follow.
POINTER = r"[ \t]*(?:Error Context: |-\s+\d+ \[|[\w./@-]{1,200}:\d+: ?(?:\(\w+\)$|: #))"
PANIC = "panicked at"
# `a.go:12:5: what is wrong`, as compilers, linters and some test runners print it.
LOCATED_ERROR = r"[ \t]*[\w./@-]{1,200}\.\w{1,5}:\d+(?::\d+)?:? [^\s\d]"
ERROR_WORD = r"error\b|exception\b|\bpanic\b|\bfail|\bnot found\b|no such file"
# Warnings are kept only if there is no other error.
WARNING = r"\bwarn(?:ing)?\b"
PYTHON_LINE = '", line '
# Matches only from the start of a name and without backtracking: output may be one endless word.
LOCATION = r"(?<![\w.@/-])(/?(?:[\w.@-]++/)*+[\w.@-]+\.[A-Za-z]\w{0,4})(?::|\", line )(\d+)"
GO_TEST_FILE = "_test.go:"
# Words of a Go test's failure message, which are rare in what it logs.
GO_FAILURE_WORD = (
    r"\b(?:got|want|wanted|expect|expected|should|must|mismatch|unexpected|failed|error|missing)\b"
)
# Prefixes of lines that name a failed test.
# How many lines at the end of an output are searched for a verdict.
VERDICT_LINES, MAX_TAIL_CHARS, MAX_VERDICT_CHARS = 20, 4000, 160
VERDICT_WORDS = (
    "pass",
    "fail",
    "error",
    "warning",
    "issue",
    " ok",
    "ok ",
    "tests",
    "suggestion",
    "problem",
    "found",
    "clean",
    "built",
    "compiled",
    "finished",
    "success",
)
SHORT_VERDICTS = ("all checks passed", "success", "no issues", "all tests passed", "build succe")
FAILED_TEST_PREFIXES = ("--- FAIL: ", "FAILED ")


def reports_failure(text: str) -> bool:
    """Whether a command's output says that something failed.

    Only lines with a hint are matched: trying the pattern at every character is slow.
    """
    return any(hint[0] in text and _has_failure(text, hint) for hint in FAILURE_HINTS)


def _has_failure(text: str, hint: str) -> bool:
    at = text.find(hint)
    if at < 0:
        return False
    import re

    search = re.compile(FAILURE_PATTERN, re.MULTILINE).search
    while at >= 0:
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        end = len(text) if end < 0 else end
        if search(text, start, end):
            return True
        at = text.find(hint, end)
    return False


def parse_error(text: str) -> tuple[list[str], str]:
    """Return the lines that say what is wrong, and the first `file:line` that they name."""
    import re

    text = _expand_newlines(strip_terminal_codes(text))
    is_verdict, is_located = re.compile(VERDICT).match, re.compile(LOCATED_ERROR).match
    is_pointer = re.compile(POINTER).match
    verdicts = _select(
        line[:MAX_LINE_CHARS]
        for line in _lines(text)
        if PANIC in line or (is_verdict(line) and not is_pointer(line))
    )
    located = _select(
        line[:MAX_LINE_CHARS]
        for line in _lines(text)
        if _has_number(line) and is_located(line) and not is_pointer(line)
    )
    # What failed, then where and why, then the rest.
    reasons = [line for line in verdicts if line.startswith("E ")][:1]
    reasons = reasons or _find_go_failure(text) or located[:2]
    errors = _select([*verdicts[:1], *reasons, *verdicts, *located])
    errors = errors or _find_error_words(text)
    kept = errors or _select(line for line in text.splitlines() if not line.startswith("Exit code"))
    kept = kept or _select(text.splitlines())
    search = re.compile(LOCATION).search
    locations = (
        search(line) for line in (*errors, *_lines(text)) if ":" in line or PYTHON_LINE in line
    )
    location = next(filter(None, locations), None)
    return kept, f"{location[1]}:{location[2]}" if location else ""


def _expand_newlines(text: str) -> str:
    """Undo escaped line ends: some programs print another's output as one escaped string."""
    return text.replace("\\n", "\n") if text.count("\\n") > text.count("\n") else text


def _find_go_failure(text: str) -> list[str]:
    """Return the failure message of a Go test.

    Go prints what a test logs in the same form; the failure comes last.
    """
    if "FAIL" not in text or GO_TEST_FILE not in text:
        return []
    import re

    has_failure_word = re.compile(GO_FAILURE_WORD, re.I).search
    lines = [line[:MAX_LINE_CHARS] for line in _lines(text) if GO_TEST_FILE in line]
    return _select(([line for line in lines if has_failure_word(line)] or lines)[-1:])


def _find_error_words(text: str) -> list[str]:
    """Return the lines that mention an error; mere warnings only if there is nothing else."""
    import re

    error_word, warning = re.compile(ERROR_WORD, re.I), re.compile(WARNING, re.I)
    is_pointer = re.compile(POINTER).match
    lines = [line for line in _lines_of(error_word.finditer(text), text) if " " in line.strip()]
    errors = (line for line in lines if not warning.search(line) and not is_pointer(line))
    # A line of one word, such as a file's name, is kept only if there is nothing else.
    return _select(errors) or _select(lines) or _select(_lines_of(error_word.finditer(text), text))


def _has_number(line: str) -> bool:
    """Whether a digit follows the first colon."""
    at = line.find(":") + 1
    return at > 0 and line[at : at + 1].isdigit()


def _lines(text: str) -> Iterator[str]:
    """Yield lines lazily, because the caller often stops early."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _lines_of(matches: Iterable[re.Match[str]], text: str) -> Iterator[str]:
    """Yield the line of each match once, shortened."""
    end = -1
    for match in matches:
        # Output may be one endless line with a match in every word.
        if match.end() > end:
            start = text.rfind("\n", 0, match.end()) + 1
            end = text.find("\n", match.end())
            end = len(text) if end < 0 else end
            yield text[start : min(end, start + MAX_LINE_CHARS)]


def _select(lines: Iterable[str]) -> list[str]:
    """Return the first distinct lines, redacted and clipped."""
    selected: dict[str, None] = {}
    for line in lines:
        # pytest marks even the empty lines of an explanation with an E.
        if line.strip() not in ("", "E"):
            selected[redact_and_clip(_strip_rule(line), MAX_ERROR_CHARS)] = None
        if len(selected) == MAX_ERROR_LINES:
            break
    return list(selected)


def _strip_rule(line: str) -> str:
    """Remove the underscores that pytest draws around the name of a failed test."""
    line = line.strip()
    return line.strip("_ ") if line.startswith("___") else line


def find_failed_tests(error: list[str]) -> list[str]:
    """Return the names of the failed tests; [] if the error lines may not name all of them."""
    if len(error) >= MAX_ERROR_LINES:
        return []
    names = (
        line.partition(prefix)[2]
        for line in error
        for prefix in FAILED_TEST_PREFIXES
        if line.startswith(prefix)
    )
    return [name.split()[0] for name in names if name.strip()]


def find_verdict(text: str) -> str:
    """Return the last line of a check's output that sums up its result, or ""."""
    lines = text.rstrip()[-MAX_TAIL_CHARS:].splitlines()[-VERDICT_LINES:]
    tail = "\n".join(lines).lower()
    words = [word for word in VERDICT_WORDS if word in tail]
    for line in reversed(lines if words else ()):
        stripped = strip_terminal_codes(line).strip(" =-\t│")
        lower = stripped.lower()
        if not 2 <= len(stripped) <= MAX_VERDICT_CHARS or "http" in lower or " | " in line:
            continue
        has_figure = has_digit(stripped) or lower.startswith(SHORT_VERDICTS)
        if has_figure and any(word in lower for word in words):
            return redact_and_clip(stripped, MAX_VERDICT_CHARS)
    return ""
