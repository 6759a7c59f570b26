"""What callers save before a compaction, in whatever shape, as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

# What snapshots call these things.
FIELDS = {
    "summary": ("context_summary", "progress_summary"),
    "subtasks": ("active_tasks",),
    "agents": ("agent_states",),
    "decisions": ("key_decisions", "decisions"),
    "files": ("modified_files",),
    "messages": ("recent_messages",),
    "actions": ("recent_actions",),
}
# Lists that grow at their end; others come as the API lists them, the newest first.
GROWING = ("decisions", "files")
SKIPPED = ("session_id", "trigger", "timestamp", "project_id", "hierarchy", "snapshot_data", "cwd")
WORDS = (
    "decision", "description", "name", "file_path", "path", "topic", "tool_name", "summary",
    "current_task", "task", "issue", "progress_summary",
)  # fmt: skip
# What belongs to it: which files, what a message says, what an agent knows, why.
MORE = (
    "file_paths", "payload", "role_context", "text", "message", "rationale", "reason", "details",
    "blockers", "notes",
)  # fmt: skip
STATE = ("status", "progress")
TIMES = ("timestamp", "created_at", "last_updated", "updated_at", "at")
OVER = ("completed", "failed", "cancelled")
SNAPSHOT = "compact-snapshot"
# What tells a row of a ledger from a task that a caller wrote down.
PARENTS = frozenset({"task_id", "task_list_id", "request_id"})
# More than any host takes: of what is longer, the rest need not even be read.
LONGEST = 20_000
# Nobody reads in one line what lies deeper.
DEEPEST = 8


def lines(saved: dict[str, Any], section: str) -> Iterator[str]:
    """What a snapshot says for a section of the brief, the newest first."""
    if section == "other":
        yield from _others(saved)
        return
    for field in FIELDS.get(section, ()):
        value = saved.get(field)
        # Some callers save a whole answer of the API, in which the list has a name of its own.
        if isinstance(value, dict):
            value = next((one for one in value.values() if isinstance(one, list)), [value])
        if isinstance(value, list):
            some = _newest_first(value, section)
            if section in ("agents", "subtasks"):
                some = [one for one in some if not _is_beside(one, section, saved)]
            yield from (f"- {words}" for words in map(_words, some) if words)
        elif words := _words(value):
            yield words
    yield from _of_tree(saved.get("hierarchy"), section)


def without_work(saved: dict[str, Any]) -> dict[str, Any]:
    """What was saved, without the rows of a ledger that tells them itself, as they are now."""
    kept = {name: value for name, value in saved.items() if name != "hierarchy"}
    for field in FIELDS["subtasks"]:
        if isinstance(listed := kept.get(field), list):
            kept[field] = [one for one in listed if not _is_row(one)]
    return kept


def _is_row(one: Any) -> bool:
    return isinstance(one, dict) and "id" in one and not PARENTS.isdisjoint(one)


def _is_beside(one: Any, section: str, saved: dict[str, Any]) -> bool:
    """Work that is over, a snapshot in a list of agents, or anything of another session."""
    if not isinstance(one, dict):
        return False
    session, whose = saved.get("session_id"), one.get("session_id")
    if session and whose and session != whose:
        return True
    return one.get("status") in OVER if section == "subtasks" else one.get("agent_type") == SNAPSHOT


def _others(saved: dict[str, Any]) -> Iterator[str]:
    known = {field for fields in FIELDS.values() for field in fields}
    for name, value in saved.items():
        if name not in known and name not in SKIPPED and (words := _free(value)):
            yield f"- {one_line(name)}: {words}"


def _newest_first(items: list[Any], section: str) -> Iterable[Any]:
    """By their own times, if they have any."""
    first, last = (_when(one) for one in (items[0], items[-1])) if items else ("", "")
    grows = first < last if first and last and first != last else section in GROWING
    return reversed(items) if grows else items


def _when(one: Any) -> str:
    told = (one.get(name) for name in TIMES) if isinstance(one, dict) else ()
    return next((value for value in told if isinstance(value, str)), "")


def _of_tree(tree: Any, section: str) -> Iterator[str]:
    """What is open in a tree of work that a caller saved, for sessions the ledger does not know."""
    for request in reversed(_open(tree, "requests")):
        if section == "summary" and (prompt := _words(request.get("prompt"))):
            yield f"Working on: “{prompt}”"
        for task in _open(request, "tasks"):
            number = task.get("wave_number")
            if section == "waves" and isinstance(number, int) and (words := _words(task)):
                yield f"- Wave {number}: {words}"
            if section == "subtasks":
                yield from (
                    f"- {words}" for one in _open(task, "subtasks") if (words := _words(one))
                )


def _open(parent: Any, name: str) -> list[dict[str, Any]]:
    some = parent.get(name) if isinstance(parent, dict) else None
    listed = some if isinstance(some, list) else []
    return [one for one in listed if isinstance(one, dict) and one.get("status") not in OVER]


def _words(value: Any, deep: int = 0) -> str:
    """A saved thing in one line."""
    if isinstance(value, str):
        return one_line(value)
    if deep == DEEPEST and isinstance(value, dict | list):
        return "…" if value else ""
    if isinstance(value, dict):
        return _named(value, deep + 1) or _pairs(value, deep + 1)
    if isinstance(value, list):
        return _joined(_words(one, deep + 1) for one in value)
    return "" if value is None or isinstance(value, bool) else one_line(str(value))


def _named(value: dict[str, Any], deep: int) -> str:
    """One that has a name, or says who it is."""
    told = [next((_words(value[name], deep) for name in WORDS if value.get(name)), "")]
    told += [(_free if name == "payload" else _words)(value.get(name), deep) for name in MORE]
    named = value.get("agent_type") if value.get("description") else value.get("agent_id")
    who = _words(named or value.get("agent_type") or value.get("from_agent_id"), deep)
    state = ", ".join(filter(None, (_words(value.get(name), deep) for name in STATE)))
    said = ": ".join(dict.fromkeys(filter(None, (who, *told))))
    return f"{said} ({state})" if said and state else said


def _free(value: Any, deep: int = 0) -> str:
    """What has a shape of its own: all of it, by its names where it has several."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict) and len(value) > 1 and deep < DEEPEST:
        return _pairs(value, deep + 1)
    return _words(value, deep)


def _pairs(value: dict[str, Any], deep: int) -> str:
    told = ((name, _free(one, deep)) for name, one in value.items())
    return _joined(f"{one_line(name)}: {words}" for name, words in told if words)


def _joined(parts: Iterable[str]) -> str:
    """With commas, as far as anybody could ever be told."""
    some, size = [], 0
    for part in filter(None, parts):
        some.append(part)
        size += len(part)
        if size > LONGEST:
            break
    return ", ".join(some)


def one_line(text: str) -> str:
    """Nobody's text makes lines, or headings, of its own."""
    return " ".join(text[:LONGEST].split())
