"""Register our MCP server with a host; installing and undoing it works as for the hooks."""

from __future__ import annotations

import importlib.util
import sys

from holdfast.actions import settings_file
from holdfast.actions.install import Change, with_entries
from holdfast.errors import HoldfastError
from holdfast.hosts import mcp_settings
from holdfast.hosts.json_text import Splice


class ExtraMissing(HoldfastError):
    """The MCP server needs a package that is not installed."""

    hint = "pip install 'holdfast[mcp]'"


def plan_install(path: str, home: str) -> Change:
    """What registering the server would do; nothing is written."""
    if importlib.util.find_spec("mcp") is None:
        raise ExtraMissing("mcp")
    before = settings_file.read(path)
    present = mcp_settings.registered(mcp_settings.parse(before or "", path))
    server = mcp_settings.entry(sys.executable)
    plan = Change(path=path, before=before, after=before, events=(mcp_settings.NAME,))
    if present == {mcp_settings.NAME: server}:
        return plan

    def added(text: str) -> tuple[str, list[Splice]]:
        return mcp_settings.add(text, server)

    return with_entries(plan, home, mcp_settings, added, again=bool(present))
