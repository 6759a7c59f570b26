"""Commands that tell whether things work: their last outcome, and the error while it is open."""

from __future__ import annotations

from holdfast.foreign_json import told
from holdfast.state.rules.check_kinds import (
    base,
    is_all_tests,
    kind_of_one,
    looked_at,
    places,
    pointed,
    runs_same_files,
    runs_tests_of,
    same_check,
)
from holdfast.state.rules.check_output import ERROR_LINES, error_in, failed_tests, tells_failure
from holdfast.state.wording import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import Check, State
    from holdfast.transcript.model import Event

HANDLES = ("tool",)
TOOLS = ("Bash",)
MOST = 60
LONGEST_COMMAND = 500
ALIKE = 8

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
    simple, bare, sort = looked_at(command)
    if event["ok"]:
        _close(state, simple)
    checks = state["checks"]
    if event["ok"] and not sort and not any(_begin_alike(check, bare) for check in checks):
        return
    kept = keep(bare, LONGEST_COMMAND)
    known = next((n for n, check in enumerate(checks) if check["command"] == kept), None)
    sort = checks[known]["kind"] if known is not None else sort
    if not simple or (not sort and event["ok"]):
        return
    check = checks.pop(known) if known is not None else _new(kept, sort or "run")
    text = event.get("text", "")
    # A pipe hides the exit code; a linter without one may print what it mended.
    hidden = sort == "test" or (sort in ("lint", "build") and "|" in command)
    ok = event["ok"] and not (hidden and tells_failure(text))
    check["ok"], check["line"], check["runs"] = ok, event["line"], check["runs"] + 1
    check["call"] = event.get("call_line", 0)
    check["error"], check["where"] = ([], "") if ok else error_in(text)
    if ok and sort != "run":
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
    done = {tuple(map(base, words[:2])) for words in simple}
    state["checks"] = [
        check
        for check in state["checks"]
        if check["ok"] or check["kind"] != "run" or not _last(check["command"]) & done
    ]


def _settle(checks: list[Check], simple: list[list[str]], line: int) -> None:
    """A check that failed is settled when the same check passes, pointed at no less."""
    still_open = [check for check in checks if not check["ok"] and check["kind"] != "run"]
    if not still_open:
        return
    passed = [pointed(words) for words in simple if kind_of_one(words)]
    for check in still_open:
        failed = [pointed(words) for words in looked_at(check["command"])[0] if kind_of_one(words)]
        if any(_covers(one, other, check) for one in passed for other in failed[-1:]):
            check["ok"], check["error"], check["where"], check["line"] = True, [], "", line


def _covers(passed: list[str], failed: list[str], check: Check) -> bool:
    """Whether what passed is all that failed: the same or more, or just what went wrong."""
    if not same_check(passed, failed):
        if check["kind"] != "test" or kind_of_one(passed) != "test":
            return False
        everything = is_all_tests(passed) and runs_tests_of(passed, failed)
        return everything or runs_same_files(passed, failed)
    # A linter is run again on those files that it complained of.
    mended = check["kind"] == "lint" and set(passed) <= set(failed)
    error = check["error"]
    return mended or _is_wider(passed, failed, error) or _is_again(passed, failed, error)


def _is_wider(passed: list[str], failed: list[str], error: list[str]) -> bool:
    """Fewer words are more to do, unless they are places: of those there may be no fewer."""
    there = places(failed)
    folders = {word for word in passed[1:] if any(one.startswith(f"{word}/") for one in there)}
    here, wrong = places(passed) | folders, _mentioned(there, error)
    if not set(passed) - here <= set(failed) - there:
        return False
    found = all(any(_is_in(one, other) for other in here) for one in wrong)
    return not here or (bool(wrong) and found)


def _is_again(passed: list[str], failed: list[str], error: list[str]) -> bool:
    """The tests that failed, by their names, and all of them."""
    parts = {part for word in set(passed) - set(failed) for part in word.split("|") if part}
    named = failed_tests(error)
    chosen = all(any(part in name for name in named) for part in parts)
    return bool(named) and chosen and all(any(part in name for part in parts) for name in named)


def _mentioned(among: set[str], error: list[str]) -> set[str]:
    """Those that the error names, or all where it names none or may name more."""
    named = {place for place in among if any(place in line for line in error)}
    return named if named and len(error) < ERROR_LINES else among


def _is_in(place: str, other: str) -> bool:
    """The same place, seen from any folder, or one in it."""
    one, two = f"/{place.removeprefix('./')}", f"/{other.removeprefix('./').rstrip('/.')}"
    return one.endswith(two) or two.endswith(one) or one.startswith(f"{two}/")


def _last(command: str) -> set[tuple[str, ...]]:
    """What the last of several commands does: it is the one that failed, as a rule."""
    return {tuple(map(base, words[:2])) for words in looked_at(command)[0][-1:]}


def _has_outcome(event: Event) -> bool:
    """Neither refused, nor ended by hand, nor sent to the background."""
    if not event["ok"]:
        text = event.get("text", "")
        first, _, rest = text.partition("\n")
        return not (rest if first.startswith("Exit code ") else text).startswith(NEVER_RAN)
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
