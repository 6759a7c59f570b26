"""Adds our MCP server to a file in Claude Code's format, and removes it.

The user's file is `.claude.json`, a project's is `.mcp.json`. Works on text only, like
`hook_settings`, and has the same functions.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from holdfast.errors import UnusableSettingsFile
from holdfast.hosts import hook_settings
from holdfast.hosts.hook_settings import BLANK
from holdfast.hosts.json_edit import Layout, Splice, child_spans, find_member, insert, remove

SERVERS_KEY, SERVER_NAME = "mcpServers", "holdfast"
# Without -P Python would import a folder of the project that is named holdfast.
ARGUMENTS = ["-P", "-m", "holdfast", "mcp"]


def settings_path(environ: Mapping[str, str], project: str | None) -> str:
    """Return the file that lists the MCP servers of the user, or of a project."""
    if project is not None:
        return os.path.join(project, ".mcp.json")
    home = environ.get("HOME") or os.path.expanduser("~")
    return os.path.join(environ.get("CLAUDE_CONFIG_DIR") or home, ".claude.json")


def server_entry(interpreter: str) -> dict[str, Any]:
    """Return the entry that starts our server with this Python."""
    return {"type": "stdio", "command": interpreter, "args": ARGUMENTS, "env": {}}


def parse_settings(text: str, path: str) -> dict[str, Any]:
    """Parse the file; raises UnusableSettingsFile with what is wrong in it."""
    settings = hook_settings.parse_settings(text, path)
    servers = settings.get(SERVERS_KEY, {})
    if not isinstance(servers, dict):
        raise UnusableSettingsFile(
            f'{path}: "{SERVERS_KEY}" is not an object', hint=hook_settings.REPAIR_HINT
        )
    if SERVER_NAME in servers and not _is_ours(servers[SERVER_NAME]):
        raise UnusableSettingsFile(
            f"{path} has another MCP server named {SERVER_NAME}", hint="rename that one first"
        )
    return settings


def _is_ours(server: Any) -> bool:
    arguments = server.get("args") if isinstance(server, dict) else None
    return isinstance(arguments, list) and arguments[-2:] == ARGUMENTS[-2:]


def find_our_entries(settings: dict[str, Any]) -> dict[str, Any]:
    """Return our server by its name, or {}."""
    servers = settings.get(SERVERS_KEY, {})
    return {SERVER_NAME: servers[SERVER_NAME]} if SERVER_NAME in servers else {}


def existing_containers(settings: dict[str, Any]) -> list[str]:
    """Return the containers that exist already: an uninstall must keep these."""
    return [SERVERS_KEY] if SERVERS_KEY in settings else []


def add_server(text: str, server: dict[str, Any]) -> tuple[str, list[Splice]]:
    """Return the text with our server added, and the splices that were applied in this order."""
    splices: list[Splice] = []
    if not text.strip(BLANK):
        splices.append(Splice(0, text, "{}\n"))
        text = splices[-1].apply(text)
    layout, top = Layout.of(text), text.index("{")
    servers = find_member(text, top, SERVERS_KEY)
    if servers is None:
        splices.append(insert(text, top, SERVERS_KEY, {SERVER_NAME: server}, 1, layout))
    else:
        splices.append(insert(text, servers.value, SERVER_NAME, server, 2, layout))
    return splices[-1].apply(text), splices


def remove_our_entries(text: str, keep: Collection[str] = ()) -> str:
    """Return the text without our server, also if other programs changed it since.

    If no other server is left, their container is removed too, unless `keep` names it.
    """
    top = text.find("{")
    members = child_spans(text, top)[0] if top >= 0 else []
    place = max((n for n, span in enumerate(members) if span.key == SERVERS_KEY), default=-1)
    if place < 0:
        return text
    servers = members[place].value
    entries, _ = child_spans(text, servers)
    ours = [number for number, span in enumerate(entries) if span.key == SERVER_NAME]
    if not ours:
        return text
    if len(ours) == len(entries) == 1 and SERVERS_KEY not in keep:
        return remove(text, top, place).apply(text)
    return remove_our_entries(remove(text, servers, ours[-1]).apply(text), [*keep, SERVERS_KEY])
