"""Take the hooks out of a host's settings, and the MCP server if it is registered.

If nobody changed the file since the install it becomes what it was, byte for byte; otherwise
exactly our entries are removed. Briefs that were written into a project as rules go too. What
Holdfast saved stays where it is.
"""

from __future__ import annotations

import argparse
import os

from holdfast import settings
from holdfast.actions import host_survey, install_record, rules_file, settings_file
from holdfast.actions import install as action
from holdfast.errors import SettingsFileUnusable
from holdfast.hosts import claude_code, mcp_settings
from holdfast.hosts.base import Host
from holdfast.surfaces.cli.host_choice import add_host, chosen, path_of
from holdfast.surfaces.cli.install import add_scope, mcp_path_of, show
from holdfast.surfaces.cli.output import say
from holdfast.surfaces.cli.sessions import here, open_store


def arguments(parser: argparse.ArgumentParser) -> None:
    add_host(parser)
    add_scope(parser)
    parser.add_argument("--dry-run", action="store_true", help="show the change, write nothing")


def run(args: argparse.Namespace) -> int:
    home = settings.home(os.environ)
    host = chosen(args)
    changes = [action.plan_uninstall(path_of(args, host), home)]
    mcp = mcp_path_of(args) if host is claude_code else None
    if mcp and _is_registered(mcp):
        changes.append(action.plan_uninstall(mcp, home, mcp_settings))
    elif mcp and not args.dry_run:
        # Somebody else took it out: then there is nothing left to undo.
        install_record.forget(home, mcp)
    # The other way round than they came, so that the last one takes the folders along.
    for change in reversed(changes):
        if args.dry_run:
            show(change)
            continue
        action.uninstall(change, home)
        if change.is_needed:
            say(f"Taken out of {change.path} ({change.note}).")
        else:
            say(f"Holdfast is not installed in {change.path}; nothing to do.")
    if host.RULES and not args.dry_run:
        _take_rules_away(host, home)
    if not args.dry_run and any(change.is_needed for change in changes) and os.path.isdir(home):
        say(f"Saved states stay in {home}.")
    if not args.host:
        for other in host_survey.with_hooks(os.environ, here(), home):
            if other is not claude_code:
                say(f"{other.TITLE} still has hooks: `holdfast uninstall --host {other.NAME}`.")
    return 0


def _take_rules_away(host: Host, home: str) -> None:
    """Briefs that were written into projects, where nobody would take them away any more."""
    if not os.path.isdir(home):
        return
    with open_store() as (store, _):
        for project, found in rules_file.left_over(store, host, os.environ, here()):
            rules_file.take_all_away(project, host.RULES)
            briefs = "a brief" if len(found) == 1 else f"{len(found)} briefs"
            say(f"Taken out of {os.path.join(project, host.RULES)}: {briefs}.")


def _is_registered(path: str) -> bool:
    """Whether our MCP server is listed there; whatever else is wrong with that file is not ours."""
    try:
        listed = mcp_settings.parse(settings_file.read(path) or "", path)
    except SettingsFileUnusable:
        return False
    return bool(mcp_settings.registered(listed))
