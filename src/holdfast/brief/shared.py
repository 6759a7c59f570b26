"""Renders what saved snapshots and the ledger know of a session, within a budget.

For callers of the API. A session with a transcript gets it below the brief of its transcript.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from holdfast.brief import roles
from holdfast.brief.fit_sections import READABLE_LINE_CHARS, Section, fit_sections
from holdfast.state.quoting import quote

TITLES = {
    "orchestrator": "Orchestration View",
    "developer": "Development View",
    "specialist": "Specialist View",
    "validator": "Validation View",
}
# The sections that come first for each role; the others follow in the order of HEADINGS.
SECTION_ORDER = {
    "orchestrator": ("summary", "waves", "subtasks", "agents"),
    "developer": ("summary", "subtasks", "files", "decisions"),
    "specialist": ("summary", "subtasks", "files"),
    "validator": ("summary", "decisions", "files", "actions"),
}
HEADINGS = {
    "summary": "Session Summary",
    "waves": "Wave Status",
    "subtasks": "Active Subtasks",
    "agents": "Agent Status",
    "decisions": "Key Decisions",
    "files": "Modified Files",
    "messages": "Recent Messages",
    "actions": "Recent Actions",
    "other": "Also Saved",
}


EDIT_TOOLS = ("Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch")
# The fields of a snapshot that belong to each section.
SECTION_FIELDS = {
    "summary": ("context_summary", "progress_summary"),
    "subtasks": ("active_tasks",),
    "agents": ("agent_states",),
    "decisions": ("key_decisions", "decisions"),
    "files": ("modified_files",),
    "messages": ("recent_messages",),
    "actions": ("recent_actions",),
}
# Lists that grow at their end; the others come as the API lists them, the newest first.
OLDEST_FIRST = ("decisions", "files")
SKIPPED_FIELDS = (
    "session_id", "trigger", "timestamp", "project_id", "hierarchy", "snapshot_data", "cwd",
)  # fmt: skip
# Where an object has its main text: the first of these keys that it has.
TEXT_KEYS = (
    "decision", "description", "name", "file_path", "path", "topic", "tool_name", "summary",
    "current_task", "task", "issue", "progress_summary",
)  # fmt: skip
# What is added to the main text: files, the payload of a message, the context of an agent, reasons.
DETAIL_KEYS = (
    "file_paths", "payload", "role_context", "text", "message", "rationale", "reason", "details",
    "blockers", "notes",
)  # fmt: skip
STATE_KEYS = ("status", "progress")
TIME_KEYS = ("timestamp", "created_at", "last_updated", "updated_at", "at")
CLOSED_STATUSES = ("completed", "failed", "cancelled")
SNAPSHOT_AGENT_TYPE = "compact-snapshot"
# An object with an id and one of these is a row of a ledger, not a task that a caller wrote down.
LEDGER_ROW_KEYS = frozenset({"task_id", "task_list_id", "request_id"})
# More than any host accepts; the rest of a longer text is not even read.
MAX_TEXT_CHARS = 20_000
# Values that are nested deeper are shown as “…”.
MAX_DEPTH = 8


def role_or_default(agent_type: str) -> str:
    """The role for an agent type; an unknown or empty type is a validator."""
    return roles.find_role(agent_type) or "validator"


def render_shared_brief(
    snapshot: dict[str, Any],
    ledger_lines: dict[str, list[str]],
    *,
    role: str,
    tokens: int,
    characters: int,
    has_title: bool = True,
    has_ledger_work: bool = False,
    is_partial: bool = False,
) -> str:
    """Render a caller's snapshot and the ledger's lines, given by section; empty if there are none.

    `has_ledger_work` says that the ledger has the session's tasks, so those of the snapshot are
    ignored. `is_partial` says that the ledger has more than these lines.
    """
    # Some callers save everything under `snapshot_data`.
    inner = snapshot.get("snapshot_data")
    snapshot = {**inner, **snapshot} if isinstance(inner, dict) else snapshot
    if has_ledger_work:
        snapshot = without_ledger_rows(snapshot)
    order = dict.fromkeys((*SECTION_ORDER[role], *HEADINGS))
    sections = [
        Section(
            f"## {HEADINGS[name]}",
            _take_distinct(
                chain(
                    _ledger_section(ledger_lines, name),
                    section_lines(snapshot, name),
                ),
                characters,
            ),
            is_prose=name == "summary",
            is_reversed=name in OLDEST_FIRST,
        )
        for name in order
    ]
    sections = [section for section in sections if section.lines]
    if not sections:
        return ""
    title = f"# Restored Context - {TITLES[role]}" if has_title else ""
    return fit_sections(
        title, sections, tokens=tokens, characters=characters, is_partial=is_partial
    )


def ledger_lines(
    request: str, agents: list[dict[str, Any]], actions: list[dict[str, Any]]
) -> dict[str, list[str]]:
    """The lines of a session's request, agents, actions and edited files, by section."""
    snapshot = {"agent_states": agents, "recent_actions": actions}
    edited = [
        path
        for action in actions
        if action["tool_name"] in EDIT_TOOLS
        for path in action["file_paths"]
    ]
    return {
        "summary": [f"Working on: {quote(request, MAX_TEXT_CHARS)}"] if request else [],
        "agents": [*section_lines(snapshot, "agents")],
        "actions": [*section_lines(snapshot, "actions")],
        "files": [f"- {to_one_line(str(path))}" for path in edited],
    }


def message_lines(messages: Iterable[dict[str, Any]]) -> list[str]:
    """The lines of messages, in the order given; one without topic and payload shows its type."""
    rows = [
        row if row["topic"] or row["payload"] else {**row, "topic": row["message_type"]}
        for row in messages
    ]
    return [*section_lines({"recent_messages": rows}, "messages")]


def _ledger_section(lines: dict[str, list[str]], section: str) -> Iterable[str]:
    return map(to_one_line, lines.get(section, ()))


def _take_distinct(lines: Iterable[str], max_chars: int) -> list[str]:
    """Each line once, up to `max_chars`; `lines` is lazy, so lines beyond that are never made."""
    distinct: dict[str, None] = {}
    size = 0
    for line in lines:
        if line not in distinct:
            distinct[line] = None
            size += min(len(line), READABLE_LINE_CHARS) + 1
        if size > max_chars:
            break
    return list(distinct)


def section_lines(snapshot: dict[str, Any], section: str) -> Iterator[str]:
    """The lines of a snapshot for one section, the newest first."""
    if section == "other":
        yield from _other_lines(snapshot)
        return
    for field in SECTION_FIELDS.get(section, ()):
        value = snapshot.get(field)
        # Some callers save a whole response of the API, which has the list under some key.
        if isinstance(value, dict):
            value = next((part for part in value.values() if isinstance(part, list)), [value])
        if isinstance(value, list):
            entries = _newest_first(value, section)
            if section in ("agents", "subtasks"):
                entries = [one for one in entries if not _is_unrelated(one, section, snapshot)]
            yield from (f"- {text}" for text in map(_render_value, entries) if text)
        elif text := _render_value(value):
            # A paragraph that begins with # would be a heading.
            yield f"\\{text}" if text.startswith("#") else text
    yield from _hierarchy_lines(snapshot.get("hierarchy"), section)


def without_ledger_rows(snapshot: dict[str, Any]) -> dict[str, Any]:
    """The snapshot without copies of ledger rows, which the ledger has in their current state."""
    kept = {name: value for name, value in snapshot.items() if name != "hierarchy"}
    for field in SECTION_FIELDS["subtasks"]:
        if isinstance(entries := kept.get(field), list):
            kept[field] = [entry for entry in entries if not _is_ledger_row(entry)]
    return kept


def _is_ledger_row(entry: Any) -> bool:
    return isinstance(entry, dict) and "id" in entry and not LEDGER_ROW_KEYS.isdisjoint(entry)


def _is_unrelated(entry: Any, section: str, snapshot: dict[str, Any]) -> bool:
    """Whether this is closed work, a snapshot in a list of agents, or from another session."""
    if not isinstance(entry, dict):
        return False
    session, entry_session = snapshot.get("session_id"), entry.get("session_id")
    if session and entry_session and session != entry_session:
        return True
    if section == "subtasks":
        return entry.get("status") in CLOSED_STATUSES
    return entry.get("agent_type") == SNAPSHOT_AGENT_TYPE


def _other_lines(snapshot: dict[str, Any]) -> Iterator[str]:
    """The fields that belong to no section."""
    known = {field for fields in SECTION_FIELDS.values() for field in fields}
    for name, value in snapshot.items():
        if name not in known and name not in SKIPPED_FIELDS and (text := _render_free_form(value)):
            yield f"- {to_one_line(name)}: {text}"


def _newest_first(entries: list[Any], section: str) -> Iterable[Any]:
    """Ordered by the entries' own times if they have any, else by what the section usually is."""
    first, last = (_get_time(one) for one in (entries[0], entries[-1])) if entries else ("", "")
    is_oldest_first = first < last if first and last and first != last else section in OLDEST_FIRST
    return reversed(entries) if is_oldest_first else entries


def _get_time(entry: Any) -> str:
    times = (entry.get(name) for name in TIME_KEYS) if isinstance(entry, dict) else ()
    return next((time for time in times if isinstance(time, str)), "")


def _hierarchy_lines(hierarchy: Any, section: str) -> Iterator[str]:
    """What is open in a hierarchy of work that a caller saved, for sessions that the ledger does
    not know."""
    for request in reversed(_open_children(hierarchy, "requests")):
        if section == "summary" and (prompt := _render_value(request.get("prompt"))):
            yield f"Working on: {quote(prompt, MAX_TEXT_CHARS)}"
        for task in _open_children(request, "tasks"):
            number = task.get("wave_number")
            if section == "waves" and isinstance(number, int) and (text := _render_value(task)):
                yield f"- Wave {number}: {text}"
            if section == "subtasks":
                yield from (
                    f"- {text}"
                    for subtask in _open_children(task, "subtasks")
                    if (text := _render_value(subtask))
                )


def _open_children(parent: Any, name: str) -> list[dict[str, Any]]:
    value = parent.get(name) if isinstance(parent, dict) else None
    children = value if isinstance(value, list) else []
    return [
        child
        for child in children
        if isinstance(child, dict) and child.get("status") not in CLOSED_STATUSES
    ]


def _render_value(value: Any, depth: int = 0) -> str:
    """Any saved value in one line; empty for None and booleans."""
    if isinstance(value, str):
        return to_one_line(value)
    if depth == MAX_DEPTH and isinstance(value, dict | list):
        return "…" if value else ""
    if isinstance(value, dict):
        return _render_named(value, depth + 1) or _render_pairs(value, depth + 1)
    if isinstance(value, list):
        return _join_bounded(_render_value(part, depth + 1) for part in value)
    return "" if value is None or isinstance(value, bool) else to_one_line(str(value))


def _render_named(value: dict[str, Any], depth: int) -> str:
    """An object that has a main text or an agent: both, its details and its state; else nothing."""
    texts = [next((_render_value(value[key], depth) for key in TEXT_KEYS if value.get(key)), "")]
    texts += [
        (_render_free_form if key == "payload" else _render_value)(value.get(key), depth)
        for key in DETAIL_KEYS
    ]
    preferred = value.get("agent_type") if value.get("description") else value.get("agent_id")
    agent = _render_value(preferred or value.get("agent_type") or value.get("from_agent_id"), depth)
    state = ", ".join(filter(None, (_render_value(value.get(key), depth) for key in STATE_KEYS)))
    text = ": ".join(dict.fromkeys(filter(None, (agent, *texts))))
    return f"{text} ({state})" if text and state else text


def _render_free_form(value: Any, depth: int = 0) -> str:
    """All of a value of unknown shape; an object with several keys as `key: value` pairs."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict) and len(value) > 1 and depth < MAX_DEPTH:
        return _render_pairs(value, depth + 1)
    return _render_value(value, depth)


def _render_pairs(value: dict[str, Any], depth: int) -> str:
    pairs = ((name, _render_free_form(part, depth)) for name, part in value.items())
    return _join_bounded(f"{to_one_line(name)}: {text}" for name, text in pairs if text)


def _join_bounded(parts: Iterable[str]) -> str:
    """The parts joined by commas, up to about MAX_TEXT_CHARS."""
    joined, size = [], 0
    for part in filter(None, parts):
        joined.append(part)
        size += len(part)
        if size > MAX_TEXT_CHARS:
            break
    return ", ".join(joined)


def to_one_line(text: str) -> str:
    """The text without line breaks, so that a caller's text cannot add lines or headings."""
    return " ".join(text[:MAX_TEXT_CHARS].split())
