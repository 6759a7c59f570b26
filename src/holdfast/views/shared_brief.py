"""What a caller saved and what the ledger knows of a session, as text within a budget."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from holdfast.brief import roles
from holdfast.views import saved_lines
from holdfast.views.fitting import READABLE, Section, fitted

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


EDITING = ("Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch")


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
    is_led: bool = False,
    is_part: bool = False,
) -> str:
    """`saved` is a caller's snapshot, `known` lines of the ledger by section, `is_led` whether it
    has the session's work, `is_part` whether it knows more than those.
    """
    # Some callers put all of it under one name.
    inner = saved.get("snapshot_data")
    saved = {**inner, **saved} if isinstance(inner, dict) else saved
    if is_led:
        saved = saved_lines.without_work(saved)
    order = dict.fromkeys((*FIRST[role], *HEADINGS))
    sections = [
        Section(
            f"## {HEADINGS[name]}",
            _first(chain(_known(known, name), saved_lines.lines(saved, name)), characters),
            is_prose=name == "summary",
            is_turned=name in saved_lines.GROWING,
        )
        for name in order
    ]
    told = [section for section in sections if section.lines]
    if not told:
        return ""
    title = f"# Restored Context - {TITLES[role]}" if titled else ""
    return fitted(title, told, tokens=tokens, characters=characters, is_part=is_part)


def of_ledger(
    request: str, agents: list[dict[str, Any]], actions: list[dict[str, Any]]
) -> dict[str, list[str]]:
    """What the ledger knows of a session beside its work, as a snapshot would tell it."""
    saved = {"agent_states": agents, "recent_actions": actions}
    edited = [path for one in actions if one["tool_name"] in EDITING for path in one["file_paths"]]
    return {
        "summary": [f"Working on: “{saved_lines.one_line(request)}”"] if request else [],
        "agents": [*saved_lines.lines(saved, "agents")],
        "actions": [*saved_lines.lines(saved, "actions")],
        "files": [f"- {saved_lines.one_line(str(path))}" for path in edited],
    }


def mail_lines(messages: Iterable[dict[str, Any]]) -> list[str]:
    """The most important first, as they come."""
    told = [
        row if row["topic"] or row["payload"] else {**row, "topic": row["message_type"]}
        for row in messages
    ]
    return [*saved_lines.lines({"recent_messages": told}, "messages")]


def _known(lines: dict[str, list[str]], section: str) -> Iterable[str]:
    return map(saved_lines.one_line, lines.get(section, ()))


def _first(lines: Iterable[str], characters: int) -> list[str]:
    """Each once, and no more than there can be room for: the rest is not even made."""
    some: dict[str, None] = {}
    size = 0
    for line in lines:
        if line not in some:
            some[line] = None
            size += min(len(line), READABLE) + 1
        if size > characters:
            break
    return list(some)
