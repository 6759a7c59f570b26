"""Slash commands and skills that were started: their instructions may still apply."""

from __future__ import annotations

from holdfast.state.text import one_line, redact_and_clip, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.types import State
    from holdfast.transcript.types import Event

HANDLES = ("command", "tool")
TOOLS = ("Skill",)
MAX_COMMANDS = 20
# The host's own commands act at once and leave no instructions behind.
BUILT_IN = frozenset((
    "", "add-dir", "agents", "bug", "clear", "compact", "config", "context", "cost", "doctor",
    "exit", "export", "fast", "help", "hooks", "ide", "login", "logout", "mcp", "memory", "model",
    "permissions", "plan", "plugin", "quit", "rate-limit-options", "release-notes", "rename",
    "resume", "rewind", "skills", "stats", "status", "statusline", "tasks", "terminal-setup",
    "theme", "todos", "upgrade", "usage", "vim",
))  # fmt: skip


def render_command(event: Event) -> str:
    """Return a command as the user typed it, or "" for a built-in one, which is no request."""
    name = event["name"].lstrip("/")
    return "" if is_built_in(name) else f"/{name} {event.get('text', '')}".strip()


def is_built_in(name: str) -> bool:
    """Whether a command is the host's or ours: those leave no instructions behind."""
    return name in BUILT_IN or name.startswith("holdfast:")


def apply(state: State, event: Event) -> None:
    line = event["line"]
    if event["kind"] == "command":
        name, arguments = event["name"].lstrip("/"), event.get("text", "")
    elif event["name"] == "Skill" and event["ok"]:
        name = to_text(event["input"].get("skill")) or to_text(event["input"].get("command"))
        arguments, line = to_text(event["input"].get("args")), event.get("call_line") or line
    else:
        return
    if is_built_in(name):
        return
    name = redact_and_clip(one_line(name, 100), 100)
    commands = [command for command in state["commands"] if command["name"] != name]
    text = redact_and_clip(one_line(arguments, 600), 300)
    commands.append({"name": name, "text": text, "line": line, "at": event.get("at", "")})
    state["commands"] = commands[-MAX_COMMANDS:]
