"""Claude Code: its hook payloads and output, its events by version, and its settings files."""

from __future__ import annotations

import os

from holdfast.fast_json import dumps
from holdfast.hosts import hook_entries
from holdfast.hosts.hook_event import HookEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "claude-code"
TITLE = "Claude Code"
# Above exactly 10,000 UTF-16 units the client passes on a 2 KB preview instead.
MAX_BRIEF_UNITS = 9500
MAX_BRIEF_BYTES = 0
PROGRAM = "claude"
TRANSCRIPT_SHOWS_CONTEXT_SINCE: tuple[int, ...] = (2, 1, 150)
# 2.0.14 writes the brief into its transcript, but leaves it out of the conversation.
MANUAL_BRIEF_SINCE: tuple[int, ...] = (2, 1, 50)

# One event name that an old client does not know silently disables every hook of the file, so
# each event is registered only with versions that are known to support it.
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
HOOK_TIMEOUT_SECONDS = 15
TRANSCRIPT_MARKS_COMPACTION = True
TRANSCRIPT_NAMES_CWD = True
RULES_FOLDER = ""
EMPTY_SETTINGS = "{}\n"
HAS_SUMMARIZER_GUIDANCE = True
SUPPORT = {
    "save": "real client", "restore": "real client", "summariser": "real client", "replace": "",
}  # fmt: skip
AFTER_INSTALL = "The hooks run from the next session on."
# Fields and paths that appear only in payloads of other hosts.
OTHER_HOSTS_FIELDS = frozenset(("turn_id", "conversation_id", "timestamp", "sessionId"))
OTHER_HOSTS_TRANSCRIPT_PATHS = ("/rollout-", "/.factory/", "/.deepagents/", "/.copilot/")
TOOL_EVENT = "PostToolUse"
# Registered only with --guard-edits, because it starts a process after each edit.
EDITING_TOOLS = "Edit|MultiEdit|Write|NotebookEdit"
# Tools that show progress within a turn. They are rare, and their hooks run in the background.
PROGRESS_TOOLS = "TodoWrite|TaskUpdate|ExitPlanMode|AskUserQuestion"
GIT_COMMIT_FILTER = {"if": "Bash(*git*commit*)"}
PROGRESS_TOOLS_SINCE: tuple[int, ...] = (2, 1, 197)


def recognizes(payload: dict[str, Any]) -> bool:
    """Return whether the payload has its fields, and none that only other hosts send."""
    if not isinstance(payload.get("hook_event_name"), str):
        return False
    path = payload.get("transcript_path")
    if isinstance(path, str) and any(part in path for part in OTHER_HOSTS_TRANSCRIPT_PATHS):
        return False
    return isinstance(payload.get("session_id"), str) and not OTHER_HOSTS_FIELDS & payload.keys()


def parse_payload(payload: dict[str, Any]) -> HookEvent:
    """Translate a payload; a field of the wrong type counts as missing."""

    def text(name: str) -> str:
        value = payload.get(name)
        return value if isinstance(value, str) else ""

    event = text("hook_event_name")
    # A forked agent without a type writes the summary; its last message is the summary.
    fork = event == "SubagentStop" and payload.get("agent_type") == ""
    return HookEvent(
        host=NAME,
        name=event,
        session_id=text("session_id"),
        transcript_path=text("transcript_path"),
        cwd=text("cwd"),
        source=text("source") or text("reason"),
        trigger=text("trigger"),
        summary=text("last_assistant_message") if fork else text("compact_summary"),
        agent_id="" if fork else text("agent_id"),
        agent_type=text("agent_type"),
        agent_transcript_path=text("agent_transcript_path"),
        slash_command=text("command_name") if text("expansion_type") == "slash_command" else "",
        last_message=text("last_assistant_message"),
        prompt=text("prompt"),
        tool_name=text("tool_name"),
        is_compaction_fork=fork,
    )


def render_context(event: str, text: str, notice: str = "") -> str:
    """Render JSON, because the client would parse plain text that starts with `{`."""
    out: dict[str, Any] = {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": text}
    }
    return dumps({**out, "systemMessage": notice} if notice else out)


def render_user_message(text: str) -> str:
    """Render a message that the user sees and the model does not."""
    return dumps({"systemMessage": text})


def events_for(version: tuple[int, ...] | None) -> list[str]:
    """Return the events to register; for an unknown version, those that every version knows."""
    known = version or (0,)
    return [event for event, since in EVENTS if known >= since]


def hook_entry(event: str, command: str) -> dict[str, Any]:
    """Return the entry for an event. SessionEnd keeps the host's own limit of 1.5 s."""
    hook: dict[str, Any] = {"type": "command", "command": command}
    return {"hooks": [hook if event == "SessionEnd" else {**hook, "timeout": HOOK_TIMEOUT_SECONDS}]}


def tool_entries(
    command: str, version: tuple[int, ...] | None, *, edits: bool
) -> list[dict[str, Any]]:
    """Return the entries for PostToolUse: for edits if wanted, for progress as async."""
    hook: dict[str, Any] = {"type": "command", "command": command, "timeout": HOOK_TIMEOUT_SECONDS}
    entries = [{"matcher": EDITING_TOOLS, "hooks": [hook]}] if edits else []
    if (version or (0,)) >= PROGRESS_TOOLS_SINCE:
        background_hook = {**hook, "async": True}
        entries.append({"matcher": PROGRESS_TOOLS, "hooks": [background_hook]})
        entries.append({"matcher": "Bash", "hooks": [{**background_hook, **GIT_COMMIT_FILTER}]})
    return entries


def settings_path(environ: Mapping[str, str], project: str | None, local: bool = False) -> str:
    """Return the settings file of the user, or of a project (`local`: not shared by git)."""
    if project is not None:
        return os.path.join(project, ".claude", "settings.local.json" if local else "settings.json")
    folder = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), ".claude"
    )
    return os.path.join(folder, "settings.json")


def is_installed(environ: Mapping[str, str], cwd: str) -> bool:
    """Return whether the settings of the user or of the project register our hooks."""
    project = environ.get("CLAUDE_PROJECT_DIR") or cwd
    paths = [settings_path(environ, None)]
    if project:
        paths += [settings_path(environ, project, local) for local in (False, True)]
    return any(hook_entries.registers_our_hooks(path) for path in paths)
