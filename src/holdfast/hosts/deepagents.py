"""deepagents-code: Claude Code's payloads. From its documentation and published code.

Its log has what was said and what tools answered, and no tool calls.
"""

from __future__ import annotations

import os

from holdfast.hosts import claude_code, dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.hosts.call import HookCall

NAME = "deepagents"
TITLE = "deepagents-code"
PROGRAM = "deepagents"
CHARACTERS = 9000
BYTES = 0
# Its log does not show what hooks inject, nor where it was compacted.
RECORDS_DELIVERY_SINCE: tuple[int, ...] = dialect.NEVER
NAMES_SUB_AGENTS_SINCE: tuple[int, ...] = (0,)
MANUAL_BRIEF_SINCE: tuple[int, ...] = (0,)
GUIDES_SUMMARY = False
WRITES_BOUNDARY = False
TELLS_FOLDER = False
RULES = ""
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
EMPTY = "{}\n"
SUPPORT = {
    "save": dialect.DOCUMENTED, "restore": dialect.DOCUMENTED, "summariser": "", "replace": "",
}  # fmt: skip
AFTER_INSTALL = dialect.UNTRIED

context = claude_code.context
message = claude_code.message


def recognises(payload: dict[str, Any]) -> bool:
    return dialect.is_claude_like(payload) and dialect.lies_in(payload, ".deepagents")


def call(payload: dict[str, Any]) -> HookCall:
    return dialect.called(payload, NAME)


def events_for(version: tuple[int, ...] | None) -> list[str]:
    return [*EVENTS]


def entry(event: str, command: str) -> dict[str, Any]:
    return dialect.nested(command, 15)


def settings_path(environ: Mapping[str, str], project: str | None, local: bool = False) -> str:
    folder = dialect.home(environ, ".deepagents") if project is None else f"{project}/.deepagents"
    return os.path.join(folder, "hooks.json")


def is_installed(environ: Mapping[str, str], cwd: str) -> bool:
    return dialect.is_registered(settings_path, environ, cwd)
