"""Commands that show whether the project works: their last outcome, and the error while it fails.

Tests, linters and builds are kept. Any other command is kept, as kind `run`, while it fails.
"""

from __future__ import annotations

from holdfast.lenient_json import as_object
from holdfast.state.rules.check_classifier import (
    analyze,
    basename,
    classify_words,
    find_paths,
    find_targets,
    is_same_check,
    runs_all_tests,
    runs_same_files,
    runs_tests_of,
)
from holdfast.state.rules.check_parser import (
    MAX_ERROR_LINES,
    find_failed_tests,
    find_verdict,
    parse_error,
    reports_failure,
)
from holdfast.state.text import redact_and_clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import Check, State
    from holdfast.transcript.types import Event

HANDLES = ("tool",)
TOOLS = ("Bash",)
MAX_CHECKS = 60
NOT_FOUND = "command not found"
MAX_COMMAND_CHARS = 500
# How many characters are compared before a command is redacted, which is slow.
PREFIX_CHARS = 8

# Prefixes of the result if the host did not run the command.
NOT_RUN_PREFIXES = (
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
    simple, bare, kind = analyze(command)
    if event["ok"]:
        _remove_repeated_failures(state, simple)
    checks = state["checks"]
    if event["ok"] and not kind and not any(_starts_alike(check, bare) for check in checks):
        return
    redacted = redact_and_clip(bare, MAX_COMMAND_CHARS)
    at = next((n for n, check in enumerate(checks) if check["command"] == redacted), None)
    kind = checks[at]["kind"] if at is not None else kind
    if not simple or (not kind and event["ok"]):
        return
    check = checks.pop(at) if at is not None else _new_check(redacted, kind or "run")
    text = event.get("text", "")
    # A pipe hides the exit code. Without a pipe, a linter's output is not searched: it may list
    # errors that it fixed.
    hides_failure = kind == "test" or (kind in ("lint", "build") and "|" in command)
    ok = event["ok"] and not (hides_failure and reports_failure(text))
    check["ok"], check["line"], check["runs"] = ok, event["line"], check["runs"] + 1
    check["call"] = event.get("call_line", 0)
    check["error"], check["where"] = ([], "") if ok else parse_error(text)
    check["verdict"] = find_verdict(text)
    check["is_exit_hidden"] = "|" in command
    if ok and kind != "run":
        _resolve_covered(checks, simple, event["line"])
    # The order is that of the last run.
    checks.append(check)
    del checks[:-MAX_CHECKS]


def _starts_alike(check: Check, command: str) -> bool:
    """A cheap test of whether a check may be this command."""
    return check["command"][:PREFIX_CHARS] == command[:PREFIX_CHARS]


def _remove_repeated_failures(state: State, simple: list[list[str]]) -> None:
    """Remove failures of kind `run` whose command now succeeds.

    The first two words decide: `git commit` with another message is the same command.
    """
    for check in state["checks"]:
        if not check["ok"] and check["kind"] == "run":
            break
    else:
        return
    succeeded = {tuple(map(basename, words[:2])) for words in simple}
    state["checks"] = [
        check
        for check in state["checks"]
        if check["ok"] or check["kind"] != "run" or not _last_heads(check["command"]) & succeeded
    ]


def _resolve_covered(checks: list[Check], simple: list[list[str]], line: int) -> None:
    """Mark failed checks as passed if the checks that just passed cover them."""
    failing = [check for check in checks if not check["ok"] and check["kind"] != "run"]
    if not failing:
        return
    passed = [find_targets(words) for words in simple if classify_words(words)]
    for check in failing:
        commands = analyze(check["command"])[0]
        failed = [find_targets(words) for words in commands if classify_words(words)]
        if any(_covers(targets, other, check) for targets in passed for other in failed[-1:]):
            check["ok"], check["error"], check["where"], check["line"] = True, [], "", line
            check["verdict"] = ""


def _covers(passed: list[str], failed: list[str], check: Check) -> bool:
    """Whether what passed includes what failed: the same targets or more, or just the errors."""
    if not is_same_check(passed, failed):
        if check["kind"] != "test" or classify_words(passed) != "test":
            return False
        runs_everything = runs_all_tests(passed) and runs_tests_of(passed, failed)
        return runs_everything or runs_same_files(passed, failed)
    # A linter is run again on just the files that it complained about.
    is_fixed = check["kind"] == "lint" and set(passed) <= set(failed)
    error = check["error"]
    return (
        is_fixed or _is_wider(passed, failed, error) or _names_failed_tests(passed, failed, error)
    )


def _is_wider(passed: list[str], failed: list[str], error: list[str]) -> bool:
    """Whether the run that passed has no fewer targets.

    Fewer words mean more tests, except for paths: those that failed must be among them.
    """
    failed_paths = find_paths(failed)
    folders = {
        word for word in passed[1:] if any(path.startswith(f"{word}/") for path in failed_paths)
    }
    passed_paths, wrong = find_paths(passed) | folders, _find_named(failed_paths, error)
    if not set(passed) - passed_paths <= set(failed) - failed_paths:
        return False
    has_all = all(any(_is_inside(path, other) for other in passed_paths) for path in wrong)
    return not passed_paths or (bool(wrong) and has_all)


def _names_failed_tests(passed: list[str], failed: list[str], error: list[str]) -> bool:
    """Whether the run that passed selects just the failed tests by name, and all of them."""
    filters = {part for word in set(passed) - set(failed) for part in word.split("|") if part}
    names = find_failed_tests(error)
    is_narrow = all(any(part in name for name in names) for part in filters)
    return (
        bool(names) and is_narrow and all(any(part in name for part in filters) for name in names)
    )


def _find_named(paths: set[str], error: list[str]) -> set[str]:
    """Return the paths that the error names; all of them if it names none or may be incomplete."""
    named = {path for path in paths if any(path in line for line in error)}
    return named if named and len(error) < MAX_ERROR_LINES else paths


def _is_inside(path: str, other: str) -> bool:
    """Whether a path is the other one, as seen from any folder, or inside it."""
    path, other = f"/{path.removeprefix('./')}", f"/{other.removeprefix('./').rstrip('/.')}"
    return path.endswith(other) or other.endswith(path) or path.startswith(f"{other}/")


def _last_heads(command: str) -> set[tuple[str, ...]]:
    """Return the first two words of the last simple command, which usually is what failed."""
    return {tuple(map(basename, words[:2])) for words in analyze(command)[0][-1:]}


def _has_outcome(event: Event) -> bool:
    """Whether the command ran to its end: not refused, interrupted or put in the background."""
    if not event["ok"]:
        text = event.get("text", "")
        first, _, rest = text.partition("\n")
        return not (rest if first.startswith("Exit code ") else text).startswith(NOT_RUN_PREFIXES)
    # A pipe has the exit code of its last command. If that is missing, the outcome is unknown.
    is_filter_missing = NOT_FOUND in event.get("text", "") and "|" in event["input"]["command"]
    return not is_filter_missing and not as_object(event.get("detail")).get("backgroundTaskId")


def _new_check(command: str, kind: str) -> Check:
    return {
        "command": command,
        "kind": kind,
        "ok": True,
        "line": 0,
        "call": 0,
        "runs": 0,
        "error": [],
        "where": "",
        "verdict": "",
        "is_exit_hidden": False,
    }
