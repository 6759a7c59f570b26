"""Register the hooks in a host's settings file, such as Claude Code's settings.json.

Only events that the installed client knows are registered, each with the absolute path of this
Python. Everything else in the file stays as it is. Running it twice changes nothing. Other hosts
on this machine are offered as well; `holdfast hosts` lists them.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys

from holdfast import hosts, settings
from holdfast.cli.console import print_message
from holdfast.errors import InvalidInput, UnusableSettingsFile
from holdfast.hosts import claude_code, mcp_settings
from holdfast.hosts.base import Host
from holdfast.hosts.statusline_settings import runs_our_command
from holdfast.services.compaction import rules_file
from holdfast.services.install import atomic_file, host_survey, registration, undo_record
from holdfast.services.install import mcp as mcp_registration
from holdfast.services.install.client_version import find_client
from holdfast.services.sessions import current_folder, open_store

CLAUDE_CODE_OPTIONS = ("statusline", "guard_edits", "mcp", "local")


def arguments(parser: argparse.ArgumentParser) -> None:
    _add_shared_arguments(parser)
    parser.add_argument(
        "--statusline",
        action="store_true",
        help="also show the context gauge in the status line, next to one that you have",
    )
    parser.add_argument(
        "--guard-edits", action="store_true", help="also check the thresholds after each edit"
    )
    parser.add_argument(
        "--mcp", action="store_true", help="also register the MCP server (lookups as tools)"
    )


def _add_shared_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host",
        type=str.lower,
        choices=[*hosts.HOSTS],
        metavar="NAME",
        help=f"the host: {', '.join(hosts.HOSTS)} (default: {claude_code.NAME})",
    )
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--project", action="store_true", help="only in this folder's settings")
    scope.add_argument(
        "--local", action="store_true", help="only in this folder's .claude/settings.local.json"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the change, write nothing")


def run(args: argparse.Namespace) -> int:
    home = settings.find_home(os.environ)
    host = _find_host(args)
    if host is not claude_code:
        return _install_for(args, host, home)
    if not _is_claude_code_wanted(args, home):
        return _install_for_other_hosts(args, home)
    mcp = _plan_mcp(args, home) if args.mcp else None
    path, version = find_client(os.environ)
    options = registration.InstallOptions(statusline=args.statusline, guard_edits=args.guard_edits)
    change = registration.plan_install(_settings_path(args, host), version, home, options)
    if args.statusline and not runs_our_command(change.after or ""):
        print_message("The status line in that file is not a command, so it was left unchanged.")
    if args.dry_run:
        for planned in filter(None, (change, mcp)):
            _print_diff(planned)
        return 0
    if not change.is_needed:
        print_message(f"Already installed in {change.path}; nothing to do.")
    else:
        registration.install(change, home)
        _print_installed(args, change, path, version)
    if mcp is not None:
        registration.install(mcp, home)
        done = "Registered" if mcp.is_needed else "Already registered"
        print_message(f"{done} in {mcp.path}: the MCP server {mcp_settings.SERVER_NAME}.")
    for other in _offer_other_hosts(args):
        _install_for(args, other, home)
    return 0


class Uninstall:
    """Remove the hooks from a host's settings, and the MCP server if it is registered.

    If the file was not changed since the install, it becomes what it was before, byte for byte;
    otherwise exactly the entries of Holdfast are removed. Briefs that were written into a project
    as rules are removed too. What Holdfast saved is kept.
    """

    @staticmethod
    def arguments(parser: argparse.ArgumentParser) -> None:
        _add_shared_arguments(parser)

    @staticmethod
    def run(args: argparse.Namespace) -> int:
        home = settings.find_home(os.environ)
        host = _find_host(args)
        changes = [registration.plan_uninstall(_settings_path(args, host), home)]
        mcp = _mcp_settings_path(args) if host is claude_code else None
        if mcp and _is_mcp_registered(mcp):
            changes.append(registration.plan_uninstall(mcp, home, mcp_settings))
        elif mcp and not args.dry_run:
            # The entry was removed by other means, so there is nothing left to undo.
            undo_record.delete_record(home, mcp)
        # In reverse order of installation, so that the last change can remove empty folders.
        for change in reversed(changes):
            if args.dry_run:
                _print_diff(change)
                continue
            registration.uninstall(change, home)
            if change.is_needed:
                print_message(f"Removed from {change.path} ({change.note}).")
            else:
                print_message(f"Holdfast is not installed in {change.path}; nothing to do.")
        if host.RULES_FOLDER and not args.dry_run:
            _remove_rules_files(host, home)
        if not args.dry_run and any(change.is_needed for change in changes) and os.path.isdir(home):
            print_message(f"Saved states stay in {home}.")
        if not args.host:
            for other in host_survey.find_hosts_with_hooks(os.environ, current_folder(), home):
                if other is not claude_code:
                    command = f"holdfast uninstall --host {other.NAME}"
                    print_message(f"{other.TITLE} still has hooks: `{command}` removes them.")
        return 0


def _find_host(args: argparse.Namespace) -> Host:
    """Return the host of `--host`. Fails if an option is given that it does not support."""
    host = hosts.find_host(args.host or claude_code.NAME)
    assert host is not None
    for option in CLAUDE_CODE_OPTIONS if host is not claude_code else ():
        if getattr(args, option, False):
            flag = f"--{option.replace('_', '-')}"
            raise InvalidInput(f"{host.TITLE} does not support {flag}", hint="leave it out")
    return host


def _settings_path(args: argparse.Namespace, host: Host) -> str:
    project = current_folder() if args.project or args.local else None
    return os.path.abspath(host.settings_path(os.environ, project, args.local))


def _mcp_settings_path(args: argparse.Namespace) -> str | None:
    """Return the file that lists MCP servers; None with `--local`, for which there is no file."""
    if args.local:
        return None
    return os.path.abspath(
        mcp_settings.settings_path(os.environ, current_folder() if args.project else None)
    )


def _is_claude_code_wanted(args: argparse.Namespace, home: str) -> bool:
    """Return False if only other hosts are on this machine and no option asks for Claude Code."""
    if args.host or args.project or args.local or find_client(os.environ)[0]:
        return True
    if host_survey.has_own_settings(claude_code, os.environ, home):
        return True
    return not host_survey.find_other_hosts(os.environ, claude_code.NAME)


def _offer_other_hosts(args: argparse.Namespace) -> list[Host]:
    """Return the other hosts to install for: ask on a terminal, else only print the command."""
    if args.host or args.project or args.local or args.dry_run:
        return []
    accepted = []
    for host, version in host_survey.find_other_hosts(os.environ, claude_code.NAME):
        name = f"{host.TITLE} {version}".strip()
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            command = f"holdfast install --host {host.NAME}"
            print_message(f"{name} is installed: `{command}` registers the hooks.")
        elif _ask_yes_no(f"{name} is installed. Register the hooks with it? [Y/n] "):
            accepted.append(host)
    return accepted


def _ask_yes_no(question: str) -> bool:
    print(question, end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    # An empty string is the end of the input, not the Enter key.
    return bool(answer) and answer.strip().lower() in ("", "y", "yes")


def _install_for_other_hosts(args: argparse.Namespace, home: str) -> int:
    """Install for other hosts only: without Claude Code, its settings file is not created."""
    print_message(
        "Claude Code is not on this machine; `--host claude-code` registers the hooks anyway."
    )
    accepted = _offer_other_hosts(args)
    for host in accepted:
        _install_for(args, host, home)
    if accepted:
        return 0
    raise InvalidInput("No host was chosen", hint="name one, for example `--host codex`")


def _install_for(args: argparse.Namespace, host: Host, home: str) -> int:
    """Install for a host other than Claude Code, and print what the user has to do there."""
    path, version = find_client(os.environ, host)
    change = registration.plan_install(_settings_path(args, host), version, home, host=host)
    if args.dry_run:
        _print_diff(change)
        return 0
    if change.is_needed:
        registration.install(change, home)
        name = f"{host.TITLE} {version}".strip()
        print_message(f"Installed in {change.path} ({name}): {', '.join(change.events)}.")
        if not path:
            print_message(f"`{host.PROGRAM}` is not on the PATH: the hooks run once it is.")
        if args.project:
            print_message("The file names this machine's Python: do not share it.")
    else:
        print_message(f"Already installed in {change.path}; nothing to do.")
    print_message(host.AFTER_INSTALL)
    return 0


def _plan_mcp(args: argparse.Namespace, home: str) -> registration.SettingsChange:
    path = _mcp_settings_path(args)
    if path is None:
        raise InvalidInput(
            "--mcp cannot be combined with --local",
            hint="register it for all projects (no option), or with --project in .mcp.json",
        )
    return mcp_registration.plan_mcp_install(path, home)


def _print_installed(
    args: argparse.Namespace, change: registration.SettingsChange, path: str, version: str
) -> None:
    name = f"Claude Code {version}" if version else "the events of every Claude Code"
    print_message(f"Installed in {change.path} ({name}): {', '.join(change.events)}.")
    if not version:
        reason = f"{path} did not print its version" if path else "`claude` is not on the PATH"
        print_message(f"{reason}; run this again later to register every event.")
    if args.project:
        print_message("The file names this machine's Python. If you share it, use --local instead.")
    if not runs_our_command(change.after or ""):
        print_message("`holdfast install --statusline` adds the context gauge to the status line.")
    print_message(
        "It takes effect in the next session. `holdfast doctor --loop` tries the whole loop now."
    )


def _print_diff(change: registration.SettingsChange) -> None:
    """Print a change as a unified diff on stdout."""
    old = os.devnull if change.before is None else change.path
    new = os.devnull if change.after is None else change.path
    before, after = _split_lines(change.before), _split_lines(change.after)
    for line in difflib.unified_diff(before, after, old, new):
        sys.stdout.write(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    print_message("Nothing was written." if change.is_needed else "There is nothing to change.")


def _split_lines(text: str | None) -> list[str]:
    """Split at newlines only, as diff does; `splitlines` splits at more characters."""
    *complete, rest = (text or "").split("\n")
    return [f"{line}\n" for line in complete] + [rest] * bool(rest)


def _remove_rules_files(host: Host, home: str) -> None:
    """Remove briefs that were written into projects: without hooks they would stay forever."""
    if not os.path.isdir(home):
        return
    with open_store() as (store, _):
        for project, names in rules_file.find_leftover_rules_files(
            store, host, os.environ, current_folder()
        ):
            rules_file.remove_all_rules_files(project, host.RULES_FOLDER)
            briefs = "a brief" if len(names) == 1 else f"{len(names)} briefs"
            print_message(f"Removed from {os.path.join(project, host.RULES_FOLDER)}: {briefs}.")


def _is_mcp_registered(path: str) -> bool:
    """Return whether our MCP server is listed there; False if the file cannot be parsed."""
    try:
        servers = mcp_settings.parse_settings(atomic_file.read(path) or "", path)
    except UnusableSettingsFile:
        return False
    return bool(mcp_settings.find_our_entries(servers))
