"""Commands that tell whether things work: their last outcome, and the error while it is open."""

from __future__ import annotations

from holdfast.foreign_json import told
from holdfast.state import shell
from holdfast.state.wording import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from holdfast.state.model import Check, State
    from holdfast.transcript.model import Event

HANDLES = ("tool",)
TOOLS = ("Bash",)
MOST = 60
LONGEST_COMMAND = 500
ERROR_LINES, LONGEST_ERROR = 6, 300
WIDE = 4 * LONGEST_ERROR
ALIKE = 8

# Looked up by words, not by patterns: `re` alone would cost a hook a third of its time.
TESTERS = frozenset(
    ("pytest", "py.test", "unittest", "tox", "nox", "ctest", "jest", "vitest", "mocha", "rspec")
) | frozenset(("phpunit", "playwright", "nextest"))
LINTERS = frozenset(
    ("ruff", "eslint", "mypy", "pyright", "flake8", "pylint", "golangci-lint", "clippy", "tsc")
) | frozenset(("shellcheck", "biome", "vet", "credo", "dialyzer"))
FORMATTERS = frozenset(("prettier", "black", "gofmt", "fmt", "format"))
RUNNERS = frozenset(
    ("go", "cargo", "npm", "npx", "yarn", "pnpm", "bun", "deno", "mix", "mvn", "gradle", "gradlew")
) | frozenset(("dotnet", "swift", "make", "just", "mise", "rake", "bundle", "docker"))
LINTS = frozenset(("check", "typecheck", "fmt", "vet", "types"))
BUILDS = frozenset(("build", "compile", "package"))
# Commands beside the point, and commands that only talk about others.
ASIDE = frozenset(("cd", "tail", "head"))
BYSTANDERS = frozenset(
    ("git", "gh", "echo", "cat", "grep", "rg", "ls", "sed", "find", "which", "pip")
)
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
)
PANIC = "panicked at"
# `a.go:12:5: what is wrong`, as compilers, linters and some test runners say it.
LOCATED = r"[ \t]*[\w./@-]{1,200}\.\w{1,5}:\d+(?::\d+)?:? [^\s\d]"
TELLING = r"error\b|exception\b|\bpanic\b|\bfail"
# Starts only where a name starts, and never goes back into it: output may be one endless word.
LINE = '", line '
PLACE = r"(?<![\w.@/-])(/?(?:[\w.@-]++/)*+[\w.@-]+\.[A-Za-z]\w{0,4})(?::|\", line )(\d+)"
# What the host answers in the place of a command that it did not run.
NEVER_RAN = (
    "The user doesn't want to proceed with this tool use",
    "<tool_use_error>",
    "[Request interrupted by user",
    "Permission to use ",
    "Claude requested permissions to use ",
)


def apply(state: State, event: Event) -> None:
    if event["name"] != "Bash" or not _has_outcome(event):
        return
    command = str(event["input"].get("command") or "")
    simple, bare = _simple(command), core(command)
    if event["ok"]:
        _close(state, simple)
    checks, kind = state["checks"], _kind(simple)
    if event["ok"] and not kind and not any(_begin_alike(check, bare) for check in checks):
        return
    kept = keep(bare, LONGEST_COMMAND)
    known = next((n for n, check in enumerate(checks) if check["command"] == kept), None)
    kind = checks[known]["kind"] if known is not None else kind
    if not simple or (not kind and event["ok"]):
        return
    check = checks.pop(known) if known is not None else _new(kept, kind or "run")
    text = event.get("text", "")
    # A pipe hides the exit code; a linter without one may print what it mended.
    hidden = kind == "test" or (kind in ("lint", "build") and "|" in command)
    ok = event["ok"] and not (hidden and _tells_failure(text))
    check["ok"], check["line"], check["runs"] = ok, event["line"], check["runs"] + 1
    check["call"] = event.get("call_line", 0)
    check["error"], check["where"] = ([], "") if ok else _error(text)
    if ok and kind != "run":
        _settle(checks, simple, event["line"])
    # The order is that of the last run.
    checks.append(check)
    del checks[:-MOST]


def _begin_alike(check: Check, command: str) -> bool:
    """Whether they can be the same: most are told apart before a command is cleaned."""
    return check["command"][:ALIKE] == command[:ALIKE]


def _close(state: State, simple: list[list[str]]) -> None:
    """What failed by the way is settled when the same thing is done again and works.

    `git commit` with another message is the same thing.
    """
    for check in state["checks"]:
        if not check["ok"] and check["kind"] == "run":
            break
    else:
        return
    done = {tuple(words[:2]) for words in simple}
    state["checks"] = [
        check
        for check in state["checks"]
        if check["ok"] or check["kind"] != "run" or not _last(check["command"]) & done
    ]


def _settle(checks: list[Check], simple: list[list[str]], line: int) -> None:
    """A check that failed is settled when the same check passes, pointed at no less."""
    passed = [_pointed(words) for words in simple if _kind_of_one(words)]
    for check in checks:
        if check["ok"] or check["kind"] == "run":
            continue
        failed = [_pointed(words) for words in _simple(check["command"]) if _kind_of_one(words)]
        if any(
            wide[:2] == narrow[:2] and set(wide) <= set(narrow)
            for wide in passed
            for narrow in failed[-1:]
        ):
            check["ok"], check["error"], check["where"], check["line"] = True, [], "", line


def _pointed(words: list[str]) -> list[str]:
    """What a command is and what it is pointed at, without its options."""
    return [word for word in words if not word.startswith("-")]


def _last(command: str) -> set[tuple[str, ...]]:
    """What the last of several commands does: it is the one that failed, as a rule."""
    return {tuple(words[:2]) for words in _simple(command)[-1:]}


def _has_outcome(event: Event) -> bool:
    """Neither refused nor sent to the background."""
    if not event["ok"]:
        return not event.get("text", "").startswith(NEVER_RAN)
    return not told(event.get("detail")).get("backgroundTaskId")


def _new(command: str, kind: str) -> Check:
    return {
        "command": command,
        "kind": kind,
        "ok": True,
        "line": 0,
        "call": 0,
        "runs": 0,
        "error": [],
        "where": "",
    }


def core(command: str) -> str:
    """The command without going to a folder first and without shortening its output after."""
    command = command.strip()
    for joint in ("&&", ";"):
        first, found, rest = command.partition(joint)
        if found and first.split()[:1] == ["cd"]:
            command = rest.strip()
    while True:
        head, found, last = command.rpartition("|")
        if not found or last.split()[:1] not in (["tail"], ["head"]):
            return command.removesuffix("2>&1").strip()
        command = head.strip().removesuffix("2>&1").strip()


def _simple(command: str) -> list[list[str]]:
    """The words of each simple command, programs without their folders."""
    named = (
        [word.rpartition("/")[2] for word in one.words if word] for one in shell.commands(command)
    )
    return [words for words in named if words and words[0] not in ASIDE]


def _kind(simple: list[list[str]]) -> str:
    return next(filter(None, map(_kind_of_one, simple)), "")


def _kind_of_one(words: list[str]) -> str:
    if not words or words[0] in BYSTANDERS:
        return ""
    named = frozenset(words)
    runs = next((number for number, word in enumerate(words) if word in RUNNERS), None)
    after = words[runs + 1 :] if runs is not None else []
    if named & TESTERS or any("test" in word for word in after):
        return "test"
    if named & LINTERS or LINTS & frozenset(after) or any("lint" in word for word in after):
        return "lint"
    if named & FORMATTERS and named & {"--check", "-l", "--check-formatted"}:
        return "lint"
    return "build" if BUILDS & frozenset(after) else ""


def _tells_failure(text: str) -> bool:
    if not any(hint[0] in text and hint in text for hint in FAILED_HINTS):
        return False
    import re

    return re.search(FAILED, text, re.MULTILINE) is not None


def _error(text: str) -> tuple[list[str], str]:
    """The lines that say what is wrong, verbatim, and where."""
    import re

    verdict, located_at = re.compile(VERDICT).match, re.compile(LOCATED).match
    verdicts = _kept(line[:WIDE] for line in _lines(text) if PANIC in line or verdict(line))
    located = _kept(line[:WIDE] for line in _lines(text) if ":" in line and located_at(line))
    # What failed, then where and why, then the rest.
    why = [line for line in verdicts if line.startswith("E ")][:1] or located[:2]
    telling = _kept([*verdicts[:1], *why, *verdicts, *located])
    telling = telling or _kept(_lines_of(re.finditer(TELLING, text, re.IGNORECASE), text))
    kept = telling or _kept(line for line in text.splitlines() if not line.startswith("Exit code"))
    kept = kept or _kept(text.splitlines())
    place = re.compile(PLACE).search
    spots = (place(line) for line in (*telling, *_lines(text)) if ":" in line or LINE in line)
    spot = next(filter(None, spots), None)
    return kept, f"{spot[1]}:{spot[2]}" if spot else ""


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
        if line.strip():
            kept[keep(_plain(line), LONGEST_ERROR)] = None
        if len(kept) == ERROR_LINES:
            break
    return list(kept)


def _plain(line: str) -> str:
    """pytest draws a rule around the name of a failed test."""
    line = line.strip()
    return line.strip("_ ") if line.startswith("___") else line
