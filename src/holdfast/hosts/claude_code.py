"""Claude Code: its hook payloads, what it lets through to the model, and its events by version."""

from __future__ import annotations

import os

from holdfast.hosts.call import HookCall
from holdfast.quick_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "claude-code"
TITLE = "Claude Code"
# The client cuts at exactly 10,000 UTF-16 units and then shows a 2 KB preview instead.
CHARACTERS = 9500
BYTES = 0
PROGRAM = "claude"
RECORDS_DELIVERY_SINCE: tuple[int, ...] = (2, 1, 150)
# 2.0.14 writes it down, and then goes on from the boundary without it.
MANUAL_BRIEF_SINCE: tuple[int, ...] = (2, 1, 50)
NAMES_SUB_AGENTS_SINCE: tuple[int, ...] = (2, 1, 325)

# One event name that an old client does not know silently disables every hook of the file,
# so only those seen to work with a version are registered for it.
EVENTS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("SessionStart", (0,)),
    ("UserPromptSubmit", (0,)),
    ("Stop", (0,)),
    ("SubagentStop", (0,)),
    ("PreCompact", (0,)),
    ("SessionEnd", (0,)),
    ("PostCompact", (2, 1, 197)),
    ("SubagentStart", (2, 1, 197)),
    ("UserPromptExpansion", (2, 1, 197)),
)
TIMEOUT = 15
WRITES_BOUNDARY = True
TELLS_FOLDER = True
RULES = ""
EMPTY = "{}\n"
GUIDES_SUMMARY = True
SUPPORT = {
    "save": "real client", "restore": "real client", "summariser": "real client", "replace": "",
}  # fmt: skip
AFTER_INSTALL = "It works from the next session on."
# What only other hosts' payloads have.
FOREIGN = frozenset(("turn_id", "conversation_id", "timestamp", "sessionId"))
FOREIGN_LOGS = ("/rollout-", "/.factory/", "/.deepagents/", "/.copilot/")
# What stands in every command of ours.
OURS = "holdfast.surfaces.hook"
LARGEST_SETTINGS = 4 << 20
AFTER_TOOL = "PostToolUse"
# Registered only where somebody asked for it: a process for each edit is not free.
EDITING_TOOLS = "Edit|MultiEdit|Write|NotebookEdit"
# What gets on within a turn: rare, so a process each costs little, and none that anybody waits for.
STEPS = "TodoWrite|TaskUpdate|ExitPlanMode|AskUserQuestion"
COMMITS = {"if": "Bash(*git*commit*)"}
STEPS_SINCE: tuple[int, ...] = (2, 1, 197)


def recognises(payload: dict[str, Any]) -> bool:
    """Its dialect, and nothing that only other hosts send."""
    if not isinstance(payload.get("hook_event_name"), str):
        return False
    path = payload.get("transcript_path")
    theirs = isinstance(path, str) and any(mark in path for mark in FOREIGN_LOGS)
    return isinstance(payload.get("session_id"), str) and not (theirs or FOREIGN & payload.keys())


def call(payload: dict[str, Any]) -> HookCall:
    """A payload as a call; a field of the wrong type is as good as none."""

    def text(name: str) -> str:
        value = payload.get(name)
        return value if isinstance(value, str) else ""

    event = text("hook_event_name")
    # A compaction is made by a forked agent without a type; what it says last is the summary.
    fork = event == "SubagentStop" and payload.get("agent_type") == ""
    return HookCall(
        host=NAME,
        event=event,
        session=text("session_id"),
        transcript=text("transcript_path"),
        cwd=text("cwd"),
        source=text("source") or text("reason"),
        trigger=text("trigger"),
        summary=text("last_assistant_message") if fork else text("compact_summary"),
        agent="" if fork else text("agent_id"),
        agent_type=text("agent_type"),
        command=text("command_name") if text("expansion_type") == "slash_command" else "",
        last_message=text("last_assistant_message"),
        prompt=text("prompt"),
        tool=text("tool_name"),
        is_compaction_fork=fork,
    )


def context(event: str, text: str, notice: str = "") -> str:
    """JSON, because plain text that starts with `{` would be taken for JSON."""
    out: dict[str, Any] = {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": text}
    }
    return dumps({**out, "systemMessage": notice} if notice else out)


def message(text: str) -> str:
    return dumps({"systemMessage": text})


def events_for(version: tuple[int, ...] | None) -> list[str]:
    """The events to register; an unknown version gets only what every version knows."""
    known = version or (0,)
    return [event for event, since in EVENTS if known >= since]


def entry(event: str, command: str) -> dict[str, Any]:
    """Without a timeout of its own the end of a session has the host's 1.5 s, and keeps them."""
    hook: dict[str, Any] = {"type": "command", "command": command}
    return {"hooks": [hook if event == "SessionEnd" else {**hook, "timeout": TIMEOUT}]}


def tool_entries(
    command: str, version: tuple[int, ...] | None, *, edits: bool
) -> list[dict[str, Any]]:
    """What is registered for tools: for steps and commits in the background, for edits if asked."""
    hook: dict[str, Any] = {"type": "command", "command": command, "timeout": TIMEOUT}
    found = [{"matcher": EDITING_TOOLS, "hooks": [hook]}] if edits else []
    if (version or (0,)) >= STEPS_SINCE:
        aside = {**hook, "async": True}
        found.append({"matcher": STEPS, "hooks": [aside]})
        found.append({"matcher": "Bash", "hooks": [{**aside, **COMMITS}]})
    return found


def settings_path(environ: Mapping[str, str], project: str | None, local: bool = False) -> str:
    """The settings file of the user, or of a project."""
    if project is not None:
        return os.path.join(project, ".claude", "settings.local.json" if local else "settings.json")
    folder = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), ".claude"
    )
    return os.path.join(folder, "settings.json")


def is_installed(environ: Mapping[str, str], cwd: str) -> bool:
    """Whether the settings of the user or of the project register our hooks."""
    project = environ.get("CLAUDE_PROJECT_DIR") or cwd
    paths = [settings_path(environ, None)]
    if project:
        paths += [settings_path(environ, project, local) for local in (False, True)]
    return any(names_us(path) for path in paths)


def names_us(path: str) -> bool:
    """Whether a file of settings has a command of ours in it."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return OURS in file.read(LARGEST_SETTINGS)
    except OSError:
        return False
