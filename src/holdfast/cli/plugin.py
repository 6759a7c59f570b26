"""Build a Claude Code plugin with the hooks, slash commands such as /holdfast:recall, and a skill.

holdfast plugin build DIR
claude --plugin-dir DIR
claude plugin marketplace add DIR && claude plugin install holdfast@holdfast-local

The plugin runs `holdfast` from the PATH, so it can be shared; without it, the hooks only print a
message. If the settings register the hooks too, those of the plugin do nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil

import holdfast
from holdfast.cli.console import print_message
from holdfast.errors import InvalidInput
from holdfast.hosts import plugin
from holdfast.services.install import atomic_file
from holdfast.services.install.client_version import find_client, parse_version


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("build",), help="write the plugin")
    parser.add_argument("folder", metavar="DIR", help="a new or empty folder, or an earlier build")
    parser.add_argument(
        "--client", metavar="VERSION", help="oldest client to support (default: the installed one)"
    )


def run(args: argparse.Namespace) -> int:
    folder = os.path.abspath(args.folder)
    _check_folder(folder)
    version = parse_version(args.client or find_client(os.environ)[1])
    if args.client and version is None:
        raise InvalidInput(f"{args.client!r} is not a version", hint="--client 2.1.325")
    files = plugin.build_files(holdfast.__version__, plugin.build_hooks(version))
    for name, text in files.items():
        atomic_file.write(os.path.join(folder, *name.split("/")), text)
    print(folder)
    print_message(f"{len(files)} files. Try it with: claude --plugin-dir {shlex.quote(folder)}")
    if shutil.which(plugin.PROGRAM) is None:
        print_message(
            f"`{plugin.PROGRAM}` is not on the PATH of this shell; the plugin needs it there."
        )
    return 0


def _check_folder(folder: str) -> None:
    """Fail if the folder contains anything but an earlier build."""
    if not os.path.exists(folder) or (os.path.isdir(folder) and not os.listdir(folder)):
        return
    try:
        with open(os.path.join(folder, ".claude-plugin", "plugin.json"), encoding="utf-8") as file:
            is_ours = json.load(file).get("name") == plugin.NAME
    except (OSError, ValueError, AttributeError):
        is_ours = False
    if not is_ours:
        raise InvalidInput(f"{folder} is not empty", hint="give a new folder, or an earlier build")
