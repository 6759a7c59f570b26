"""Register our MCP server with a host; installing and undoing it works as for the hooks."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace

from holdfast.actions import settings_file
from holdfast.actions.install import Change, plan_uninstall
from holdfast.errors import HoldfastError
from holdfast.hosts import mcp_settings


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
    clean, folders = before, tuple(settings_file.missing_folders(path))
    if present:
        without = plan_uninstall(path, home, mcp_settings)
        clean, folders = without.after, without.folders
    containers = mcp_settings.containers(mcp_settings.parse(clean or "", path))
    after, splices = mcp_settings.add(clean or "", server)
    mcp_settings.parse(after, path)
    return replace(
        plan,
        after=after,
        clean=clean,
        splices=tuple(splices),
        containers=tuple(containers),
        folders=folders,
    )
