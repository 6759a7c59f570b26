"""A response as models really give it: JSON in prose, other names, half of the fields, or words."""

from __future__ import annotations

from holdfast.brief.tokens import estimate
from holdfast.handoff.compact import MOST_TOKENS
from holdfast.handoff.units import PROCESS, units
from holdfast.quick_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

DECISIONS = ("PROCEED", "STOP", "CLARIFY")
FIELDS = (
    "task_id", "phase", "status", "decision", "findings", "files_changed", "context_summary",
    "tokens_used", "issues",
)  # fmt: skip
ALIASES = {
    "summary": "context_summary",
    "result": "context_summary",
    "context": "context_summary",
    "files": "files_changed",
    "changed_files": "files_changed",
    "files_modified": "files_changed",
    "modified_files": "files_changed",
    "errors": "issues",
    "problems": "issues",
    "tokens": "tokens_used",
    "id": "task_id",
    "state": "status",
    "recommendation": "decision",
}
MEANT = {
    "GO": "PROCEED", "CONTINUE": "PROCEED", "OK": "PROCEED", "APPROVED": "PROCEED",
    "YES": "PROCEED", "HALT": "STOP", "ABORT": "STOP", "REJECT": "STOP", "BLOCKED": "STOP",
    "NO": "STOP", "ASK": "CLARIFY", "QUESTION": "CLARIFY", "NEEDS_CLARIFICATION": "CLARIFY",
}  # fmt: skip
STATUSES = {
    "complete": "complete", "completed": "complete", "done": "complete", "success": "complete",
    "succeeded": "complete", "ok": "complete", "partial": "partial", "in_progress": "partial",
    "incomplete": "partial", "failed": "failed", "failure": "failed", "error": "failed",
    "blocked": "blocked",
}  # fmt: skip
MOST_OBJECTS = 50


def read(raw: str) -> tuple[dict[str, Any], list[str]]:
    """Every field, empty where nothing was said, and what is wrong with the response."""
    given = _object(raw)
    problems: list[str] = []
    if given is None:
        problems.append("no JSON object with the fields of a handoff: the words count")
        given = {"context_summary": raw.strip()}
    named = {_name(key): value for key, value in given.items()}
    read = {
        "task_id": _text(named, "task_id", problems),
        "phase": _text(named, "phase", problems),
        "status": _status(named, problems),
        "decision": _decision(named, raw, problems),
        "findings": named.get("findings"),
        "files_changed": _texts(named, "files_changed", problems),
        "context_summary": _summary(named, problems),
        "tokens_used": _number(named, problems),
        "issues": _texts(named, "issues", problems),
    }
    return read, [*problems, *of_summary(str(read["context_summary"]))]


def of_summary(summary: str) -> list[str]:
    """What is wrong with a summary: nothing in it, too much of it, or how it was found."""
    if not summary.strip():
        return ["context_summary is empty"]
    problems = []
    size = estimate(summary)
    if size > MOST_TOKENS:
        problems.append(f"context_summary has {size} tokens, {MOST_TOKENS} are allowed")
    process = [unit.text for unit in units(summary) if unit.kind == PROCESS and len(unit.text) > 20]
    if process:
        problems.append(f"context_summary tells how it was found: “{process[0][:80]}”")
    return problems


def _object(raw: str) -> dict[str, Any] | None:
    """The object with the most fields of a handoff."""
    best, most = None, 1
    for value in objects(raw):
        known = sum(_name(key) in FIELDS for key in value)
        if known > most or (known == most == 1 and "context_summary" in map(_name, value)):
            best, most = value, known
    return best


def objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, outermost only."""
    at, found = text.find("{"), 0
    while at >= 0 and found < MOST_OBJECTS:
        end = _end(text, at)
        found += 1
        try:
            value = loads(text[at:end]) if end else None
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            yield value
            at = text.find("{", end)
        else:
            at = text.find("{", at + 1)


def _end(text: str, start: int) -> int:
    """Where the object that begins here ends; 0 if it never does."""
    depth, quoted, escaped = 0, False, False
    for at in range(start, len(text)):
        sign = text[at]
        if quoted:
            quoted = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            quoted = True
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if not depth:
                return at + 1
    return 0


def _name(key: object) -> str:
    """`contextSummary` and `context-summary` are `context_summary`."""
    snake = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in str(key))
    name = snake.replace("-", "_").replace(" ", "_").strip("_").replace("__", "_")
    return ALIASES.get(name, name)


def _text(named: dict[str, Any], name: str, problems: list[str]) -> str:
    value = named.get(name)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    if value is not None:
        problems.append(f"{name} is {type(value).__name__}, not text")
    return ""


def _summary(named: dict[str, Any], problems: list[str]) -> str:
    """What is to be handed on; without it, whatever texts the findings hold."""
    said = _text(named, "context_summary", problems)
    if said.strip() or not named.get("findings"):
        return said
    problems.append("context_summary is missing; the findings are taken for it")
    return "\n".join(_leaves(named["findings"]))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)


def _texts(named: dict[str, Any], name: str, problems: list[str]) -> list[str]:
    value = named.get(name)
    if value is None:
        return []
    parts = [value] if isinstance(value, str | dict) else value
    if not isinstance(parts, list):
        problems.append(f"{name} is {type(value).__name__}, not a list")
        return []
    told = [_told(part) for part in parts]
    return [text for text in told if text]


def _told(part: Any) -> str:
    """An item; models also give objects with the text under some name."""
    if isinstance(part, dict):
        part = next((text for text in part.values() if isinstance(text, str)), "")
    return part if isinstance(part, str) else ""


def _number(named: dict[str, Any], problems: list[str]) -> int:
    value = named.get("tokens_used")
    if isinstance(value, str) and value.replace(",", "").isdigit():
        value = int(value.replace(",", ""))
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return int(value)
    if value is not None:
        problems.append("tokens_used is no number")
    return 0


def _status(named: dict[str, Any], problems: list[str]) -> str:
    said = _text(named, "status", problems).strip().lower().replace(" ", "_")
    if said and said not in STATUSES:
        problems.append(f"status {said[:40]!r} is not known")
    elif not said:
        problems.append("status is missing")
    return STATUSES.get(said, "")


def _decision(named: dict[str, Any], raw: str, problems: list[str]) -> str:
    said = _text(named, "decision", problems).strip().upper().replace(" ", "_")
    said = MEANT.get(said, said)
    if not said:
        # In prose a decision stands out by its capitals.
        found = [
            word for word in raw.replace("*", " ").replace(".", " ").split() if word in DECISIONS
        ]
        said = found[-1] if found else ""
    if not said:
        problems.append("decision is missing")
    elif said not in DECISIONS:
        problems.append(f"decision {said[:40]!r} is none of {', '.join(DECISIONS)}")
    return said if said in DECISIONS else ""
