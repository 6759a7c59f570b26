"""Parses responses as models really give them: JSON within prose, other field names, missing
fields, or only prose."""

from __future__ import annotations

from holdfast.fast_json import loads
from holdfast.handoff.sentences import PROCESS, split_report
from holdfast.handoff.shorten import MAX_TOKENS
from holdfast.tokens.estimate import estimate_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

DECISIONS = ("PROCEED", "STOP", "CLARIFY")
FIELDS = (
    "task_id", "phase", "status", "decision", "findings", "files_changed", "context_summary",
    "tokens_used", "issues",
)  # fmt: skip
FIELD_ALIASES = {
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
DECISION_ALIASES = {
    "GO": "PROCEED", "CONTINUE": "PROCEED", "OK": "PROCEED", "APPROVED": "PROCEED",
    "YES": "PROCEED", "HALT": "STOP", "ABORT": "STOP", "REJECT": "STOP", "BLOCKED": "STOP",
    "NO": "STOP", "ASK": "CLARIFY", "QUESTION": "CLARIFY", "NEEDS_CLARIFICATION": "CLARIFY",
}  # fmt: skip
STATUS_ALIASES = {
    "complete": "complete", "completed": "complete", "done": "complete", "success": "complete",
    "succeeded": "complete", "ok": "complete", "partial": "partial", "in_progress": "partial",
    "incomplete": "partial", "failed": "failed", "failure": "failed", "error": "failed",
    "blocked": "blocked",
}  # fmt: skip
MAX_OBJECTS = 50


def parse_response(raw: str) -> tuple[dict[str, Any], list[str]]:
    """Return all fields of a handoff, empty where the response has none, and the problems found."""
    response = _find_handoff(raw)
    problems: list[str] = []
    if response is None:
        problems.append("no JSON object with the fields of a handoff: the words count")
        response = {"context_summary": raw.strip()}
    values = {_normalize_key(key): value for key, value in response.items()}
    fields = {
        "task_id": _text(values, "task_id", problems),
        "phase": _text(values, "phase", problems),
        "status": _status(values, problems),
        "decision": _decision(values, raw, problems),
        "findings": values.get("findings"),
        "files_changed": _texts(values, "files_changed", problems),
        "context_summary": _summary(values, problems),
        "tokens_used": _number(values, problems),
        "issues": _texts(values, "issues", problems),
    }
    return fields, [*problems, *check_summary(str(fields["context_summary"]))]


def check_summary(summary: str) -> list[str]:
    """Return the problems of a summary: it is empty, too long, or says how things were found."""
    if not summary.strip():
        return ["context_summary is empty"]
    problems = []
    size = estimate_tokens(summary)
    if size > MAX_TOKENS:
        problems.append(f"context_summary has {size} tokens, {MAX_TOKENS} are allowed")
    process = [
        sentence.text
        for sentence in split_report(summary)
        if sentence.kind == PROCESS and len(sentence.text) > 20
    ]
    if process:
        problems.append(f"context_summary tells how it was found: “{process[0][:80]}”")
    return problems


def _find_handoff(raw: str) -> dict[str, Any] | None:
    """Return the JSON object with the most fields of a handoff; None if there is none."""
    best, most_fields = None, 1
    for value in find_json_objects(raw):
        count = sum(_normalize_key(key) in FIELDS for key in value)
        if count > most_fields or (
            count == most_fields == 1 and "context_summary" in map(_normalize_key, value)
        ):
            best, most_fields = value, count
    return best


def find_json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects in a text; at most MAX_OBJECTS braces are tried."""
    start, tried = text.find("{"), 0
    while start >= 0 and tried < MAX_OBJECTS:
        end = _find_end(text, start)
        tried += 1
        try:
            value = loads(text[start:end]) if end else None
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            yield value
            start = text.find("{", end)
        else:
            start = text.find("{", start + 1)


def _find_end(text: str, start: int) -> int:
    """Return the index after the object that begins at `start`; 0 if it is not closed."""
    depth, quoted, escaped = 0, False, False
    for at in range(start, len(text)):
        char = text[at]
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "{}":
            depth += 1 if char == "{" else -1
            if not depth:
                return at + 1
    return 0


def _normalize_key(key: object) -> str:
    """Return the field name of a key: `context_summary` for `contextSummary` and `summary`."""
    snake = "".join(f"_{char.lower()}" if char.isupper() else char for char in str(key))
    name = snake.replace("-", "_").replace(" ", "_").strip("_").replace("__", "_")
    return FIELD_ALIASES.get(name, name)


def _text(values: dict[str, Any], name: str, problems: list[str]) -> str:
    value = values.get(name)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    if value is not None:
        problems.append(f"{name} is {type(value).__name__}, not text")
    return ""


def _summary(values: dict[str, Any], problems: list[str]) -> str:
    """Return the context summary; if it is missing, all texts in the findings."""
    summary = _text(values, "context_summary", problems)
    if summary.strip() or not values.get("findings"):
        return summary
    problems.append("context_summary is missing; the findings are taken for it")
    return "\n".join(_leaves(values["findings"]))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)


def _texts(values: dict[str, Any], name: str, problems: list[str]) -> list[str]:
    value = values.get(name)
    if value is None:
        return []
    parts = [value] if isinstance(value, str | dict) else value
    if not isinstance(parts, list):
        problems.append(f"{name} is {type(value).__name__}, not a list")
        return []
    texts = [_item_text(part) for part in parts]
    return [text for text in texts if text]


def _item_text(part: Any) -> str:
    """Return the text of a list item; models also give objects that have it under some key."""
    if isinstance(part, dict):
        part = next((text for text in part.values() if isinstance(text, str)), "")
    return part if isinstance(part, str) else ""


def _number(values: dict[str, Any], problems: list[str]) -> int:
    value = values.get("tokens_used")
    if isinstance(value, str) and value.replace(",", "").isdigit():
        value = int(value.replace(",", ""))
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return int(value)
    if value is not None:
        problems.append("tokens_used is no number")
    return 0


def _status(values: dict[str, Any], problems: list[str]) -> str:
    word = _text(values, "status", problems).strip().lower().replace(" ", "_")
    if word and word not in STATUS_ALIASES:
        problems.append(f"status {word[:40]!r} is not known")
    elif not word:
        problems.append("status is missing")
    return STATUS_ALIASES.get(word, "")


def _decision(values: dict[str, Any], raw: str, problems: list[str]) -> str:
    word = _text(values, "decision", problems).strip().upper().replace(" ", "_")
    word = DECISION_ALIASES.get(word, word)
    if not word:
        # In prose a decision stands out by its capital letters.
        decisions = [
            token for token in raw.replace("*", " ").replace(".", " ").split() if token in DECISIONS
        ]
        word = decisions[-1] if decisions else ""
    if not word:
        problems.append("decision is missing")
    elif word not in DECISIONS:
        problems.append(f"decision {word[:40]!r} is none of {', '.join(DECISIONS)}")
    return word if word in DECISIONS else ""
