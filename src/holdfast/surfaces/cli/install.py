"""Register the hooks in a host's settings: Claude Code's settings.json, Codex's hooks.json.

Only events that the installed client knows are registered, each with this Python's absolute
path. Everything else in the file stays as it is. Doing it twice changes nothing. Other hosts on
this machine are offered; `holdfast hosts` lists them.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys

from holdfast import settings
from holdfast.actions import install as action
from holdfast.actions import install_mcp
from holdfast.actions.client import client
from holdfast.errors import BadUsage
from holdfast.hosts import claude_code, mcp_settings
from holdfast.hosts.base import Host
from holdfast.hosts.statusline_settings import OURS
from holdfast.surfaces.cli.host_choice import add_host, chosen, is_meant, offered, path_of
from holdfast.surfaces.cli.output import say
from holdfast.surfaces.cli.sessions import here


def arguments(parser: argparse.ArgumentParser) -> None:
    add_host(parser)
    add_scope(parser)
    parser.add_argument(
        "--statusline", action="store_true", help="the gauge too, around a status line you have"
    )
    parser.add_argument(
        "--guard-edits", action="store_true", help="watch the thresholds after each edit as well"
    )
    parser.add_argument(
        "--mcp", action="store_true", help="also register the MCP server, for lookups as tools"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the change, write nothing")


def add_scope(parser: argparse.ArgumentParser) -> None:
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--project", action="store_true", help="this folder's settings only")
    scope.add_argument(
        "--local", action="store_true", help="this folder's .claude/settings.local.json only"
    )


def mcp_path_of(args: argparse.Namespace) -> str | None:
    """Where the MCP server is listed; there is no file for one person in one project."""
    if args.local:
        return None
    return os.path.abspath(mcp_settings.path(os.environ, here() if args.project else None))


def run(args: argparse.Namespace) -> int:
    home = settings.home(os.environ)
    host = chosen(args)
    if host is not claude_code:
        return _elsewhere(args, host, home)
    if not is_meant(args, home):
        return _only_elsewhere(args, home)
    mcp = _mcp(args, home) if args.mcp else None
    path, version = client(os.environ)
    asked = action.Options(statusline=args.statusline, guard_edits=args.guard_edits)
    change = action.plan_install(path_of(args, host), version, home, asked)
    if args.statusline and OURS not in (change.after or ""):
        say("The status line in that file is not a command, so it was left alone.")
    if args.dry_run:
        for planned in filter(None, (change, mcp)):
            show(planned)
        return 0
    if not change.is_needed:
        say(f"Already installed in {change.path}; nothing to do.")
    else:
        action.install(change, home)
        _told(args, change, path, version)
    if mcp is not None:
        action.install(mcp, home)
        done = "Registered" if mcp.is_needed else "Already registered"
        say(f"{done} in {mcp.path}: the MCP server {mcp_settings.NAME}.")
    for other in offered(args):
        _elsewhere(args, other, home)
    return 0


def _only_elsewhere(args: argparse.Namespace, home: str) -> int:
    """Claude Code is not here and others are: its settings are not made for nobody."""
    say(
        "Claude Code is not on this machine; `--host claude-code` registers the hooks all the same."
    )
    wanted = offered(args)
    for other in wanted:
        _elsewhere(args, other, home)
    if wanted:
        return 0
    raise BadUsage("no host was chosen", hint="name one, for example `--host codex`")


def _elsewhere(args: argparse.Namespace, host: Host, home: str) -> int:
    """The same for any other host: its hooks, and what a person must do there."""
    path, version = client(os.environ, host)
    change = action.plan_install(path_of(args, host), version, home, host=host)
    if args.dry_run:
        show(change)
        return 0
    if change.is_needed:
        action.install(change, home)
        found = f"{host.TITLE} {version}".strip()
        say(f"Installed in {change.path} ({found}): {', '.join(change.events)}.")
        if not path:
            say(f"`{host.PROGRAM}` is not on the PATH: nothing runs them until it is here.")
        if args.project:
            say("It names this machine's Python: do not share the file.")
    else:
        say(f"Already installed in {change.path}; nothing to do.")
    say(host.AFTER_INSTALL)
    return 0


def _mcp(args: argparse.Namespace, home: str) -> action.Change:
    path = mcp_path_of(args)
    if path is None:
        raise BadUsage(
            "--mcp does not go with --local",
            hint="register it for all projects (no option), or with --project in .mcp.json",
        )
    return install_mcp.plan_install(path, home)


def _told(args: argparse.Namespace, change: action.Change, path: str, version: str) -> None:
    found = f"Claude Code {version}" if version else "the events of every Claude Code"
    say(f"Installed in {change.path} ({found}): {', '.join(change.events)}.")
    if not version:
        looked = f"{path} did not tell its version" if path else "`claude` is not on the PATH"
        say(f"{looked}; when that has changed, run this again to get every event.")
    if args.project:
        say("It names this machine's Python: where the file is shared, --local is for you alone.")
    if OURS not in (change.after or ""):
        say("`holdfast install --statusline` adds the gauge to the status bar.")
    say("It works from the next session on. `holdfast doctor --loop` tries the whole loop now.")


def show(change: action.Change) -> None:
    """The change as a diff on stdout."""
    old = os.devnull if change.before is None else change.path
    new = os.devnull if change.after is None else change.path
    for line in difflib.unified_diff(_lines(change.before), _lines(change.after), old, new):
        sys.stdout.write(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    say("Nothing was written." if change.is_needed else "There is nothing to change.")


def _lines(text: str | None) -> list[str]:
    """Lines as diff counts them; `splitlines` knows more line ends than that."""
    *whole, rest = (text or "").split("\n")
    return [f"{line}\n" for line in whole] + [rest] * bool(rest)
