"""Slash commands and skills that were started: what they ask for may still hold."""

from __future__ import annotations

from holdfast.state.wording import keep, one_line, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("command", "tool")
TOOLS = ("Skill",)
MOST = 20
# The host's own commands do their work at once and leave no rules behind.
BUILT_IN = frozenset((
    "", "add-dir", "agents", "bug", "clear", "compact", "config", "context", "cost", "doctor",
    "exit", "export", "fast", "help", "hooks", "ide", "login", "logout", "mcp", "memory", "model",
    "permissions", "plan", "plugin", "quit", "rate-limit-options", "release-notes", "rename",
    "resume", "rewind", "skills", "stats", "status", "statusline", "tasks", "terminal-setup",
    "theme", "todos", "upgrade", "usage", "vim",
))  # fmt: skip


def typed(event: Event) -> str:
    """A command as the user typed it; the host's own are no request."""
    name = event["name"].lstrip("/")
    return "" if is_built_in(name) else f"/{name} {event.get('text', '')}".strip()


def is_built_in(name: str) -> bool:
    """The host's own, and ours: they look things up and leave no rules behind."""
    return name in BUILT_IN or name.startswith("holdfast:")


def apply(state: State, event: Event) -> None:
    line = event["line"]
    if event["kind"] == "command":
        name, given = event["name"].lstrip("/"), event.get("text", "")
    elif event["name"] == "Skill" and event["ok"]:
        name = plain(event["input"].get("skill")) or plain(event["input"].get("command"))
        given, line = plain(event["input"].get("args")), event.get("call_line") or line
    else:
        return
    if is_built_in(name):
        return
    name = keep(one_line(name, 100), 100)
    others = [command for command in state["commands"] if command["name"] != name]
    text = keep(one_line(given, 600), 300)
    others.append({"name": name, "text": text, "line": line, "at": event.get("at", "")})
    state["commands"] = others[-MOST:]
