"""Which host an install or uninstall is about, and the file that this means."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from holdfast import hosts
from holdfast.actions import host_survey
from holdfast.actions.client import client
from holdfast.errors import BadUsage
from holdfast.hosts import claude_code
from holdfast.surfaces.cli.output import say
from holdfast.surfaces.cli.sessions import here

if TYPE_CHECKING:
    from holdfast.hosts.base import Host

FOR_CLAUDE_CODE = ("statusline", "guard_edits", "mcp", "local")


def add_host(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host",
        type=str.lower,
        choices=[*hosts.HOSTS],
        metavar="NAME",
        help=f"the host: {', '.join(hosts.HOSTS)} (default: {claude_code.NAME})",
    )


def chosen(args: argparse.Namespace) -> Host:
    """The host that is meant; options that it has nothing for are an error."""
    host = hosts.named(args.host or claude_code.NAME)
    assert host is not None
    for option in FOR_CLAUDE_CODE if host is not claude_code else ():
        if getattr(args, option, False):
            words = f"--{option.replace('_', '-')}"
            raise BadUsage(f"{host.TITLE} has nothing for {words}", hint="leave it out")
    return host


def path_of(args: argparse.Namespace, host: Host) -> str:
    project = here() if args.project or args.local else None
    return os.path.abspath(host.settings_path(os.environ, project, args.local))


def is_meant(args: argparse.Namespace, home: str) -> bool:
    """Whether to install for Claude Code: not where only other hosts are, and nobody named it."""
    if args.host or args.project or args.local or client(os.environ)[0]:
        return True
    if host_survey.is_set_up(claude_code, os.environ, home):
        return True
    return not host_survey.others(os.environ, claude_code.NAME)


def offered(args: argparse.Namespace) -> list[Host]:
    """Other hosts on this machine: a person is asked for each, a program is told of them."""
    if args.host or args.project or args.local or args.dry_run:
        return []
    wanted = []
    for host, version in host_survey.others(os.environ, claude_code.NAME):
        name = f"{host.TITLE} {version}".strip()
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            say(f"{name} is here: `holdfast install --host {host.NAME}` registers the hooks.")
        elif _agrees(f"{name} is here. Register the hooks with it? [Y/n] "):
            wanted.append(host)
    return wanted


def _agrees(question: str) -> bool:
    print(question, end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    # Without so much as a line break the input has ended, and nobody has agreed.
    return bool(answer) and answer.strip().lower() in ("", "y", "yes")
