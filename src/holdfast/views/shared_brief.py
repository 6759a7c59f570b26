"""What a caller saved and what the ledger knows of a session, as text within a budget."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from holdfast.brief import roles
from holdfast.brief.tokens import NEWEST, Estimator, units

TITLES = {
    "orchestrator": "Orchestration View",
    "developer": "Development View",
    "specialist": "Specialist View",
    "validator": "Validation View",
}
# Which sections come first for whom; the others follow in this order.
FIRST = {
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
SKIPPED = ("session_id", "trigger", "timestamp", "project_id", "hierarchy", "snapshot_data", "cwd")
WORDS = (
    "decision", "description", "name", "file_path", "path", "topic", "tool_name", "summary",
    "current_task", "task", "issue", "progress_summary",
)  # fmt: skip
# What belongs to it: which files, what a message says, what an agent knows.
MORE = ("file_paths", "payload", "role_context", "text", "message")
OVER = ("completed", "failed", "cancelled")
LONGEST, MOST = 300, 20
CUT = "*[Brief truncated due to token limit]*"


def role_of(agent_type: str) -> str:
    """The role that a name stands for; whoever is not known checks what others did."""
    return roles.of_agent(agent_type) or "validator"


def render(
    saved: dict[str, Any],
    known: dict[str, list[str]],
    *,
    role: str,
    tokens: int,
    characters: int,
    titled: bool = True,
) -> str:
    """`saved` is a caller's snapshot, `known` lines of the ledger by section."""
    # Some callers put all of it under one name.
    inner = saved.get("snapshot_data")
    saved = {**inner, **saved} if isinstance(inner, dict) else saved
    order = dict.fromkeys((*FIRST[role], *HEADINGS))
    sections = {name: _first(chain(known.get(name, ()), _saved(saved, name))) for name in order}
    if not any(sections.values()):
        return ""
    lines = [f"# Restored Context - {TITLES[role]}"] if titled else []
    for name, some in sections.items():
        lines += ["", f"## {HEADINGS[name]}", *some] if some else []
    return _within(lines, tokens, characters)


def _first(lines: Iterable[str]) -> list[str]:
    """Each once, and no more than are shown: the rest is not even made."""
    some: dict[str, None] = {}
    for line in lines:
        some[line] = None
        if len(some) == MOST:
            break
    return list(some)


def _saved(saved: dict[str, Any], section: str) -> Iterable[str]:
    if section == "other":
        known = {field for fields in FIELDS.values() for field in fields}
        for name, value in saved.items():
            if name not in known and name not in SKIPPED and _words(value):
                yield f"- {_short(name)}: {_words(value)}"
        return
    for field in FIELDS.get(section, ()):
        value = saved.get(field)
        # Some callers save a whole answer of the API, in which the list has a name of its own.
        if isinstance(value, dict):
            value = next((one for one in value.values() if isinstance(one, list)), [value])
        if isinstance(value, list):
            yield from (f"- {words}" for one in value if (words := _words(one)))
        elif words := _words(value):
            yield words
    yield from _of_tree(saved.get("hierarchy"), section)


def _of_tree(tree: Any, section: str) -> Iterable[str]:
    """What is open in a tree of work that a caller saved, for sessions the ledger does not know."""
    for request in _open(tree, "requests"):
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


def _words(value: Any) -> str:
    """A saved thing in one line."""
    if isinstance(value, dict):
        told = [next((_words(value[name]) for name in WORDS if value.get(name)), "")]
        told += [_words(value.get(name)) for name in MORE]
        named = value.get("agent_type") if value.get("description") else value.get("agent_id")
        who = _words(named or value.get("agent_type") or value.get("from_agent_id"))
        state = ", ".join(
            filter(None, (_words(value.get(name)) for name in ("status", "progress")))
        )
        said = _short(": ".join(dict.fromkeys(filter(None, (who, *told)))))
        return f"{said} ({state})" if said and state else said
    if isinstance(value, list):
        return _short(", ".join(filter(None, map(_words, value[:MOST]))))
    return "" if value is None or isinstance(value, bool) else _short(str(value))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _within(lines: list[str], tokens: int, characters: int) -> str:
    """As many lines as there is room for, from the top; never more."""
    cost = Estimator(*NEWEST).cost

    def fits(text: str) -> bool:
        return cost(text) <= tokens and units(text) <= characters

    whole = "\n".join(lines)
    if fits(whole):
        return whole
    least, most = 0, len(lines)
    while least < most:
        middle = (least + most + 1) // 2
        text = "\n".join([*lines[:middle], "", CUT])
        least, most = (middle, most) if fits(text) else (least, middle - 1)
    kept = lines[:least]
    # A heading with nothing below it says nothing.
    while kept and (not kept[-1] or kept[-1].startswith("#")):
        kept.pop()
    return "\n".join([*kept, "", CUT]) if kept else ""
