"""Cursor: a conversation instead of a session, and no hook that speaks to the model.

Its prompt hook lets nothing through. What `sessionStart` and `postToolUse` say it is documented
to show, and reported not to; so the brief becomes a file of rules, which it shows in every
conversation of the project. From its documentation.
"""

from __future__ import annotations

import os

from holdfast.hosts import dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.hosts.call import HookCall

NAME = "cursor"
TITLE = "Cursor"
PROGRAM = "cursor-agent"
CHARACTERS = 9000
BYTES = 0
# Its log does not show what hooks inject, nor where it was compacted.
RECORDS_DELIVERY_SINCE: tuple[int, ...] = dialect.NEVER
NAMES_SUB_AGENTS_SINCE: tuple[int, ...] = (0,)
MANUAL_BRIEF_SINCE: tuple[int, ...] = (0,)
GUIDES_SUMMARY = False
WRITES_BOUNDARY = False
TELLS_FOLDER = False
RULES = ".cursor/rules/holdfast"
OURS = {
    "sessionStart": "SessionStart", "stop": "Stop", "preCompact": "PreCompact",
    "sessionEnd": "SessionEnd",
}  # fmt: skip
EVENTS = (*OURS,)
EMPTY = '{"version": 1}\n'
SUPPORT = {
    "save": dialect.DOCUMENTED, "restore": dialect.DOCUMENTED, "summariser": "", "replace": "",
}  # fmt: skip
AFTER_INSTALL = (
    f"{dialect.UNTRIED} At a compaction the brief is written to {RULES} of the project, "
    "which git ignores, and taken away when the conversation ends."
)


def context(event: str, text: str, notice: str = "") -> str:
    """Nothing that a hook prints is sure to reach the model."""
    return ""


def message(text: str) -> str:
    """What a hook says when a turn ends would be taken for the person's next prompt."""
    return ""


def recognises(payload: dict[str, Any]) -> bool:
    return isinstance(payload.get("conversation_id"), str) and "hook_event_name" in payload


def call(payload: dict[str, Any]) -> HookCall:
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    known = {"session_id": payload.get("conversation_id"), "cwd": first}
    return dialect.called({**payload, **known}, NAME, OURS)


def events_for(version: tuple[int, ...] | None) -> list[str]:
    return [*EVENTS]


def entry(event: str, command: str) -> dict[str, Any]:
    return {"command": command}


def settings_path(environ: Mapping[str, str], project: str | None, local: bool = False) -> str:
    folder = dialect.home(environ, ".cursor") if project is None else f"{project}/.cursor"
    return os.path.join(folder, "hooks.json")


def is_installed(environ: Mapping[str, str], cwd: str) -> bool:
    return dialect.is_registered(settings_path, environ, cwd)
