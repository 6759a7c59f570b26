"""Build a Claude Code plugin: the hooks, slash commands such as /holdfast:recall, and a skill.

holdfast plugin build DIR
claude --plugin-dir DIR
claude plugin marketplace add DIR && claude plugin install holdfast@holdfast-local

It looks for `holdfast` on the PATH, so it can be given to others; where that is missing it does
nothing and says so. Where the settings register the hooks too, those of the plugin stay silent.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil

import holdfast
from holdfast.actions import settings_file
from holdfast.actions.client import client, numbers
from holdfast.errors import BadUsage
from holdfast.hosts import plugin
from holdfast.surfaces.cli.output import say


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("build",), help="write it")
    parser.add_argument("folder", metavar="DIR", help="a new folder, or an earlier build")
    parser.add_argument(
        "--client", metavar="VERSION", help="the oldest client it is for (default: the one here)"
    )


def run(args: argparse.Namespace) -> int:
    folder = os.path.abspath(args.folder)
    _check(folder)
    known = numbers(args.client or client(os.environ)[1])
    if args.client and known is None:
        raise BadUsage(f"{args.client} is no version", hint="--client 2.1.325")
    made = plugin.files(holdfast.__version__, plugin.hooks(known))
    for name, text in made.items():
        settings_file.write(os.path.join(folder, *name.split("/")), text)
    print(folder)
    say(f"{len(made)} files. Try it with: claude --plugin-dir {shlex.quote(folder)}")
    if shutil.which(plugin.PROGRAM) is None:
        say(f"`{plugin.PROGRAM}` is not on this PATH: where the plugin runs it must be.")
    return 0


def _check(folder: str) -> None:
    """Never write into somebody else's folder."""
    if not os.path.exists(folder) or (os.path.isdir(folder) and not os.listdir(folder)):
        return
    try:
        with open(os.path.join(folder, ".claude-plugin", "plugin.json"), encoding="utf-8") as file:
            ours = json.load(file).get("name") == plugin.NAME
    except (OSError, ValueError, AttributeError):
        ours = False
    if not ours:
        raise BadUsage(f"{folder} is not empty", hint="give a new folder, or an earlier build")
