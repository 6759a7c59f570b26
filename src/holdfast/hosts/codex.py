"""Codex: its hook payloads, what it lets through to the model, and where its hooks are listed.

It speaks Claude Code's dialect with fields of its own. A hook that nobody has trusted is skipped
without a word: `codex_trust.py` looks for that.
"""

from __future__ import annotations

import os

from holdfast.hosts import claude_code, dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.hosts.call import HookCall

NAME = "codex"
TITLE = "Codex"
PROGRAM = "codex"
# The client counts four bytes as a token and cuts the middle out above 2,500.
BYTES = 9900
CHARACTERS = 9500
# Every version with hooks writes down what they inject, and names the agent in a sub-agent's.
RECORDS_DELIVERY_SINCE: tuple[int, ...] = (0,)
NAMES_SUB_AGENTS_SINCE: tuple[int, ...] = (0,)
MANUAL_BRIEF_SINCE: tuple[int, ...] = (0,)
# What a hook prints before a compaction goes nowhere.
GUIDES_SUMMARY = False
EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
)
# Seconds. The end of a session gets one by default, and three at most.
TIMEOUTS = {"SessionEnd": 3}
WRITES_BOUNDARY = True
TELLS_FOLDER = True
RULES = ""
EMPTY = "{}\n"
SUPPORT = {"save": "real client", "restore": "real client", "summariser": "", "replace": ""}
AFTER_INSTALL = (
    "Codex skips hooks that nobody has trusted, without a word: start `codex` and trust these in "
    "the review that it shows, or with /hooks. `holdfast doctor` says whether that was done."
)
# In the name of every log, and in no other host's.
ROLLOUT = "rollout-"


def recognises(payload: dict[str, Any]) -> bool:
    """Most payloads name the turn; those of a session as a whole are told by its log."""
    if not isinstance(payload.get("hook_event_name"), str):
        return False
    path = payload.get("transcript_path")
    return "turn_id" in payload or (isinstance(path, str) and ROLLOUT in os.path.basename(path))


def call(payload: dict[str, Any]) -> HookCall:
    """The same fields as Claude Code's, and no summary: that stands in the log."""
    return dialect.called(payload, NAME)


context = claude_code.context
message = claude_code.message


def events_for(version: tuple[int, ...] | None) -> list[str]:
    """The events to register: all versions with these hooks know them."""
    return [*EVENTS]


def entry(event: str, command: str) -> dict[str, Any]:
    return dialect.nested(command, TIMEOUTS.get(event, 15))


def settings_path(environ: Mapping[str, str], project: str | None, local: bool = False) -> str:
    """The list of hooks of the user, or of a project; there is none for one person in one."""
    if project is not None:
        return os.path.join(project, ".codex", "hooks.json")
    return os.path.join(folder(environ), "hooks.json")


def folder(environ: Mapping[str, str]) -> str:
    """Where the client keeps its settings, lists and logs."""
    home = environ.get("HOME") or os.path.expanduser("~")
    return environ.get("CODEX_HOME") or os.path.join(home, ".codex")


def is_installed(environ: Mapping[str, str], cwd: str) -> bool:
    return dialect.is_registered(settings_path, environ, cwd)
