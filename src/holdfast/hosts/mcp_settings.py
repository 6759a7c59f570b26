"""Register and remove our MCP server in a file of Claude Code's shape.

The user's is `.claude.json`, a project's is `.mcp.json`. Works on text only, as `hook_settings`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from holdfast.errors import SettingsFileUnusable
from holdfast.hosts import hook_settings
from holdfast.hosts.hook_settings import BLANK
from holdfast.hosts.json_text import Layout, Splice, insert, member, remove, spans

SERVERS, NAME = "mcpServers", "holdfast"
# Without -P a folder of the project that is called holdfast would be started in our place.
ARGUMENTS = ["-P", "-m", "holdfast", "mcp"]


def path(environ: Mapping[str, str], project: str | None) -> str:
    """The file that lists the MCP servers of the user, or of a project."""
    if project is not None:
        return os.path.join(project, ".mcp.json")
    home = environ.get("HOME") or os.path.expanduser("~")
    return os.path.join(environ.get("CLAUDE_CONFIG_DIR") or home, ".claude.json")


def entry(interpreter: str) -> dict[str, Any]:
    return {"type": "stdio", "command": interpreter, "args": ARGUMENTS, "env": {}}


def parse(text: str, path: str) -> dict[str, Any]:
    """The settings, or an error that says what is wrong with the file."""
    settings = hook_settings.parse(text, path)
    servers = settings.get(SERVERS, {})
    if not isinstance(servers, dict):
        raise SettingsFileUnusable(f'{path}: "{SERVERS}" is not an object', hint=hook_settings.HINT)
    if NAME in servers and not _is_ours(servers[NAME]):
        raise SettingsFileUnusable(
            f"{path} has another MCP server of the name {NAME}", hint="rename that one first"
        )
    return settings


def _is_ours(server: Any) -> bool:
    arguments = server.get("args") if isinstance(server, dict) else None
    return isinstance(arguments, list) and arguments[-2:] == ARGUMENTS[-2:]


def registered(settings: dict[str, Any]) -> dict[str, Any]:
    """Our server by its name, if it is there."""
    servers = settings.get(SERVERS, {})
    return {NAME: servers[NAME]} if NAME in servers else {}


def containers(settings: dict[str, Any]) -> list[str]:
    """What an uninstall must leave."""
    return [SERVERS] if SERVERS in settings else []


def add(text: str, server: dict[str, Any]) -> tuple[str, list[Splice]]:
    """The text with our server, and the splices that lead there."""
    done: list[Splice] = []
    if not text.strip(BLANK):
        done.append(Splice(0, text, "{}\n"))
        text = done[-1].apply(text)
    layout, top = Layout.of(text), text.index("{")
    servers = member(text, top, SERVERS)
    if servers is None:
        done.append(insert(text, top, SERVERS, {NAME: server}, 1, layout))
    else:
        done.append(insert(text, servers.value, NAME, server, 2, layout))
    return done[-1].apply(text), done


def take_out(text: str, keep: Collection[str] = ()) -> str:
    """The text without our server, whoever else changed it meanwhile."""
    top = text.find("{")
    members = spans(text, top)[0] if top >= 0 else []
    place = max((n for n, span in enumerate(members) if span.key == SERVERS), default=-1)
    if place < 0:
        return text
    servers = members[place].value
    listed, _ = spans(text, servers)
    ours = [number for number, span in enumerate(listed) if span.key == NAME]
    if not ours:
        return text
    if len(ours) == len(listed) == 1 and SERVERS not in keep:
        return remove(text, top, place).apply(text)
    return take_out(remove(text, servers, ours[-1]).apply(text), [*keep, SERVERS])
