"""Build a Claude Code plugin: the hooks, slash commands such as /holdfast:recall, and a skill.

holdfast plugin build DIR
claude --plugin-dir DIR
claude plugin marketplace add DIR && claude plugin install holdfast@holdfast-local

The plugin names this machine's Python, as `holdfast install` does. Having both does no harm: where
the settings register the hooks, those of the plugin stay silent.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys

import holdfast
from holdfast.actions import settings_file
from holdfast.actions.client import client
from holdfast.actions.install import Options, entries
from holdfast.errors import BadUsage
from holdfast.hosts import plugin
from holdfast.surfaces.cli.output import say


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("build",), help="write it")
    parser.add_argument("folder", metavar="DIR", help="a new folder, or an earlier build")


def run(args: argparse.Namespace) -> int:
    folder = os.path.abspath(args.folder)
    _check(folder)
    _, version = client(os.environ)
    program = f"{shlex.quote(sys.executable)} -m holdfast"
    made = plugin.files(holdfast.__version__, program, entries(version, Options(), "plugin"))
    for name, text in made.items():
        settings_file.write(os.path.join(folder, *name.split("/")), text)
    print(folder)
    say(f"{len(made)} files. Try it with: claude --plugin-dir {shlex.quote(folder)}")
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
