"""Commands that tell whether things work: their last outcome, and the error while it is open."""

from __future__ import annotations

import re

from holdfast.state.wording import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import Check, State
    from holdfast.transcript.model import Event

HANDLES = ("tool",)
MOST = 60
LONGEST_COMMAND = 500
ERROR_LINES, LONGEST_ERROR = 6, 300

KINDS = (
    (
        "test",
        r"\b(pytest|unittest|tox|nox|ctest|jest|vitest|mocha|rspec|phpunit|playwright|nextest)\b"
        r"|\b(go|cargo|npm|yarn|pnpm|bun|deno|mix|mvn|gradlew?|dotnet|swift|make|just|mise|rake)"
        r"\b[^|;&]*\btest",
    ),
    (
        "lint",
        r"\b(ruff|eslint|mypy|pyright|flake8|pylint|golangci-lint|clippy|shellcheck|biome|tsc)\b"
        r"|\bgo vet\b|\b(prettier|black|gofmt|cargo fmt|mix format)\b.*(--check|-l\b)",
    ),
    ("build", r"\b(go|cargo|npm run|yarn|pnpm|bun run|docker|mvn|make|mix)\b[^|;&]*"
     r"\b(build|compile|package)\b"),
)  # fmt: skip
# A pipe hides the exit code, so what test runners say counts too.
FAILED = (
    r"\b[1-9]\d* (failed|failing|failures?|errors?)\b|^FAILED\b|^FAIL\b|^--- FAIL|^E   "
    r"|panicked at|^Traceback \(most recent"
)
# What a test runner says of a failure itself, then whatever else looks like an error.
VERDICT = (
    r"^E   |^FAILED |^FAIL\b|^--- FAIL|^_{3,} .+ _{3,}$|^\s*(✗|✕|×) |panicked at"
    r"|^error(\[\w+\])?:"
)
TELLING = r"error\b|exception\b|\bpanic\b|\bfail"
PLACE = r"((?:[\w.@-]+/)*[\w.@-]+\.\w{1,5}):(\d+)"


def apply(state: State, event: Event) -> None:
    if event["name"] != "Bash":
        return
    command = core(str(event["input"].get("command") or ""))
    kind = _kind(command)
    if not command or (not kind and event["ok"] and not _known(state, command)):
        return
    text = event.get("text", "")
    ok = event["ok"] and not (kind == "test" and re.search(FAILED, text, re.MULTILINE))
    check = _known(state, command)
    if check is None:
        check = {"command": keep(command, LONGEST_COMMAND), "kind": kind or "run", "runs": 0,
                 "ok": True, "line": 0, "error": [], "where": ""}  # fmt: skip
    else:
        state["checks"].remove(check)
    state["checks"].append(check)
    check["ok"], check["line"], check["runs"] = ok, event["line"], check["runs"] + 1
    check["error"], check["where"] = ([], "") if ok else _error(text)
    del state["checks"][:-MOST]


def core(command: str) -> str:
    """The command without going to a folder first and without shortening its output after."""
    command = re.sub(r"^\s*cd\s+\S+\s*(&&|;)\s*", "", command.strip())
    command = re.sub(r"\s*(2>&1\s*)?\|\s*(tail|head)\b[^|]*$", "", command)
    return re.sub(r"\s*2>&1\s*$", "", command).strip()


def _kind(command: str) -> str:
    return next((kind for kind, pattern in KINDS if re.search(pattern, command)), "")


def _known(state: State, command: str) -> Check | None:
    kept = keep(command, LONGEST_COMMAND)
    return next((check for check in state["checks"] if check["command"] == kept), None)


def _error(text: str) -> tuple[list[str], str]:
    """The lines that say what is wrong, verbatim, and where."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(VERDICT, line)]
    telling = telling or [line for line in lines if re.search(TELLING, line, re.IGNORECASE)]
    chosen = telling or [line for line in lines if not line.startswith("Exit code")] or lines
    kept = list(dict.fromkeys(keep(line.strip(), LONGEST_ERROR) for line in chosen))[:ERROR_LINES]
    spot = re.search(PLACE, "\n".join(telling or lines)) or re.search(PLACE, text)
    return kept, spot.group(0) if spot else ""
