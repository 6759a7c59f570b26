"""Register Holdfast's MCP server with a host. It is installed and removed as the hooks are."""

from __future__ import annotations

import importlib.util
import sys

from holdfast.errors import HoldfastError
from holdfast.hosts import mcp_settings
from holdfast.hosts.json_edit import Splice
from holdfast.services.install import atomic_file
from holdfast.services.install.registration import SettingsChange, add_entries


class ExtraMissing(HoldfastError):
    """The MCP server needs a package that is not installed."""

    hint = "pip install 'holdfast[mcp]'"


def plan_mcp_install(path: str, home: str) -> SettingsChange:
    """Return what registering the server would change; writes nothing.

    Raises ExtraMissing if the `mcp` package is not installed.
    """
    if importlib.util.find_spec("mcp") is None:
        raise ExtraMissing("mcp")
    before = atomic_file.read(path)
    present = mcp_settings.find_our_entries(mcp_settings.parse_settings(before or "", path))
    server = mcp_settings.server_entry(sys.executable)
    plan = SettingsChange(
        path=path, before=before, after=before, events=(mcp_settings.SERVER_NAME,)
    )
    if present == {mcp_settings.SERVER_NAME: server}:
        return plan

    def add(text: str) -> tuple[str, list[Splice]]:
        return mcp_settings.add_server(text, server)

    return add_entries(plan, home, mcp_settings, add, again=bool(present))
