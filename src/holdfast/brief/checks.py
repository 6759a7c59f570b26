"""Items of checks and other commands: what fails, what passed and is out of date, what worked."""

from __future__ import annotations

from holdfast.brief.items import Item, base_name, ref
from holdfast.state.quoting import code, plain_line, quote
from holdfast.state.rules.check_classifier import runs_all_tests, split_commands
from holdfast.state.rules.check_parser import find_failed_tests
from holdfast.state.rules.shell_history import is_viewer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.state.types import Check, State

# How lines of output begin that say which test failed, but not why.
TEST_NAME_STARTS = ("FAIL", "--- FAIL", "not ok", "test ", "●", "✗", "×", "[")
MAX_FAILING = 4
MAX_PLACE_CHARS = 200
# A shorter name of a test may occur in a command by chance.
MIN_NAME_CHARS = 6
# A shorter command, such as `git push`, can be guessed.
MIN_COMMAND_WORDS, MAX_COMMAND_CHARS = 3, 240
ENVIRONMENT_COMMANDS = ("export", "source", "nohup", "sudo", "timeout", "env")
# A script in this folder was written for one occasion.
SCRATCH_SCRIPT = "sh /tmp/"
CHECK_VALUES = {"test": 88.0, "build": 80.0, "lint": 74.0}
VERDICT_VALUE, COMMAND_VALUE = 80.0, 52.0
# Errors that only say that there were others.
EMPTY_ERRORS = ("could not compile", "task failed", "aborting due to", "make: ***")
# Cargo prints this for a part of the tests that is empty.
EMPTY_VERDICT = "test result: ok. 0 passed"


def failing_check_items(state: State) -> Iterator[Item]:
    """The last four failing checks with their errors, the newest first.

    The newest is required if it is a test, a build, a linter or a refused commit.
    """
    failing = [
        check
        for check in state["checks"]
        if not check["ok"]
        and (check["kind"] != "run" or _is_current_failure(state, check))
        and not _has_passed_since(state, check)
    ][-MAX_FAILING:]
    failing = [*{_base(check): check for check in failing}.values()]
    relevant = [check for check in failing if _needs_fixing(state, check)]
    for check in reversed(failing):
        is_newest = check is (relevant or failing)[-1]
        needs_fixing = _needs_fixing(state, check)
        command = code(check["command"].partition("<<")[0], 200)
        where = f" at {plain_line(check['where'], MAX_PLACE_CHARS)}" if check["where"] else ""
        lines = [
            f"  {code(line)}" for line in check["error"] if not any(map(line.count, EMPTY_ERRORS))
        ]
        evidence = f"{_check_ref(check)}{_render_passed_since(state, check)}"
        if edited := _find_edited_since(state, check):
            evidence = f"(edited since, not run again: {edited}) {evidence}"
        head = f"- {command} fails{where} {evidence}"
        full, medium = "\n".join([head, *lines]), "\n".join([head, *lines[:2]])
        short = f"- {code(check['command'], 100)} fails {evidence}"
        if cause := _find_cause(check["error"]):
            short += f"\n  {code(cause, 120)}"
        value = CHECK_VALUES.get(check["kind"], 74.0 if needs_fixing else 50.0)
        yield Item(
            "failing",
            "error",
            value if is_newest else value - 15,
            check["line"],
            (full, medium, short),
            quote=_find_cause(check["error"]) or check["command"],
            names=(check["command"],),
            is_required=is_newest and needs_fixing,
        )


def _sets_environment(command: str) -> bool:
    first = command.split(" ", 1)[0]
    return first in ENVIRONMENT_COMMANDS or (first.partition("=")[0].isupper() and "=" in first)


def _render_passed_since(state: State, check: Check) -> str:
    """The last test run that passed after a failed one, or nothing. It may have covered the failed
    test; the reader has to judge."""
    passed = [one for one in state["checks"] if one["ok"] and one["line"] > check["line"]]
    tests = [one for one in passed if one["kind"] == check["kind"] == "test"]
    if not tests:
        return ""
    return f"; since then {code(tests[-1]['command'], 60)} passed {_check_ref(tests[-1])}"


def _find_edited_since(state: State, check: Check) -> str:
    """The names of the last files of the project that were edited after a check ran."""
    names = [
        base_name(path)
        for path, trail in state["files"].items()
        if trail.get("edits") and trail["line"] > check["line"] and not path.startswith(("/", "~"))
    ]
    return ", ".join(names[-3:]) + (", …" if len(names) > 3 else "")


def is_open_failure(state: State, check: Check) -> bool:
    """Whether a test, a build or a linter fails, and no later run may have covered it."""
    is_failing = not check["ok"] and check["kind"] != "run"
    return is_failing and not _render_passed_since(state, check)


def _check_ref(check: Check) -> str:
    return ref(check["call"], check["line"])


def _has_passed_since(state: State, check: Check) -> bool:
    """Whether later runs that passed select by name every test that failed."""
    failed = [name for name in find_failed_tests(check["error"]) if len(name) >= MIN_NAME_CHARS]
    later = [one["command"] for one in state["checks"] if one["ok"] and one["line"] > check["line"]]
    return bool(failed) and all(any(name in command for command in later) for name in failed)


def _base(check: Check) -> str:
    """A check's command without options and filters: the newest run stands for all."""
    words = check["command"].partition("|")[0].removesuffix("2>&1 ").split()
    return " ".join(word for word in words if not word.startswith("-"))


def _is_current_failure(state: State, check: Check) -> bool:
    """Whether a command that is no check failed since the latest request; an older failure was
    dealt with or given up, unless it is a refused commit."""
    latest = state["requests"][-1]["line"] if state["requests"] else 0
    is_recent = check["line"] > latest and not is_viewer(check["command"])
    return is_recent or _needs_fixing(state, check)


def _needs_fixing(state: State, check: Check) -> bool:
    """Whether this is a test, a build or a linter, or a commit that was refused with no commit
    made since; other failed commands may not matter."""
    if check["kind"] != "run":
        return True
    last_commit = max((commit["line"] for commit in state["commits"]), default=0)
    return "git commit" in check["command"] and last_commit < check["line"]


def _find_cause(error: list[str]) -> str:
    """The line of an error that must be shown: the first that says why, rather than which test."""
    sentences = [line for line in error if " " in line]
    causes = [line for line in sentences if not _names_a_test(line)]
    return next(iter(causes or sentences or error), "")


def _names_a_test(line: str) -> bool:
    return line.startswith(TEST_NAME_STARTS) or line.partition(")")[0].isdigit()


def verdict_items(state: State) -> Iterator[Item]:
    """The last verdict of each kind of check that passed, and which files were edited since."""
    passed = [check for check in state["checks"] if check["ok"] and _has_verdict(check)]
    latest: dict[str, Check] = {}
    for check in passed:
        if (
            _runs_everything(check)
            or check["kind"] not in latest
            or not _runs_everything(latest[check["kind"]])
        ):
            latest[check["kind"]] = check
    newest_test = latest["test"]["line"] if "test" in latest else 0
    newest_failure = {one["kind"]: one["line"] for one in state["checks"] if not one["ok"]}
    shown_edits: set[str] = set()
    for check in sorted(latest.values(), key=lambda check: -check["line"]):
        is_outdated = newest_failure.get(check["kind"], 0) > check["line"]
        if is_outdated or (check["kind"] == "build" and newest_test > check["line"]):
            # A test that passed later says that it builds too.
            continue
        names = _find_edited_since(state, check)
        verdict = f": {quote(check['verdict'])}" if check.get("verdict") else ""
        since = f"; edited since, not run again: {names}" if names else ""
        if names and names in shown_edits:
            since = "; not run since those edits"
        shown_edits.add(names)
        # The verdict of a check whose exit code is unknown speaks for itself.
        passed_or_said = "" if check["is_exit_hidden"] and verdict else " passed"
        text = (
            f"- {code(check['command'], 160)}{passed_or_said}{verdict}{since} {_check_ref(check)}"
        )
        yield Item(
            "now", "verdict", VERDICT_VALUE, check["line"], (text,),
            quote=f"{check['command']} {check.get('verdict', '')}", names=(check["command"],),
            is_prose=True,
        )  # fmt: skip


def _has_verdict(check: Check) -> bool:
    """Whether it is known that a check passed: a pipe hides its exit code."""
    if check["kind"] == "run" or check["verdict"].startswith(EMPTY_VERDICT):
        return False
    is_hidden = check["is_exit_hidden"] or ";" in check["command"]
    return bool(check["verdict"]) or not is_hidden


def _runs_everything(check: Check) -> bool:
    return any(map(runs_all_tests, split_commands(check["command"])))


def command_items(state: State) -> Iterator[Item]:
    """Commands that were run more than once or need an environment of their own, in the form that
    worked last, the newest first."""
    shell = [
        one
        for one in state["shell"]
        if len(one["text"]) <= MAX_COMMAND_CHARS
        and SCRATCH_SCRIPT not in one["text"]
        and (
            (one["runs"] > 1 and len(one["text"].split()) >= MIN_COMMAND_WORDS)
            or _sets_environment(one["text"])
        )
    ]
    for age, one in enumerate(reversed(shell)):
        value = COMMAND_VALUE - 14 * age / len(shell) + 2 * min(5, one["runs"])
        forms = tuple(f"- {code(one['text'], size)} {ref(one['line'])}" for size in (240, 100))
        yield Item(
            "commands", "shell", value, one["line"], forms, quote=one["text"],
            names=(one["text"],), is_prose=True,
        )  # fmt: skip
