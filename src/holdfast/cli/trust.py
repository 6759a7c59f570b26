"""Show the settings and brief templates of this project, and trust them.

A cloned repository may contain a `.holdfast` folder. Its settings.json and its briefs/*.md are
ignored until you trust them, and again after any change to them. Even then they can neither rename
the title of a brief or the headings of rules and notes, nor take your rules out of it.

  holdfast trust            show them, and ask
  holdfast trust --yes      trust them without asking
  holdfast trust --remove   trust them no longer
"""

from __future__ import annotations

import argparse
import os
import sys
import unicodedata
from typing import Any

from holdfast import settings, trust
from holdfast.cli.console import print_json, print_message, strip_control_chars
from holdfast.errors import InvalidInput
from holdfast.services.projects import find_project
from holdfast.services.sessions import current_folder


def arguments(parser: argparse.ArgumentParser) -> None:
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--yes", action="store_true", help="trust them without asking")
    choice.add_argument("--remove", action="store_true", help="trust them no longer")
    parser.add_argument("--json", action="store_true", help="print JSON, and change nothing")


def run(args: argparse.Namespace) -> int:
    home, folders = settings.find_home(os.environ), _list_folders()
    if args.json:
        if args.yes or args.remove:
            raise InvalidInput("--json changes nothing", hint="leave out --yes and --remove")
        print_json([_describe(home, folder) for folder in folders])
        return 0
    if args.remove:
        removed = [folder for folder in folders if trust.distrust(home, folder)]
        for folder in removed or folders[:1]:
            state = "is no longer trusted" if removed else "was not trusted"
            print_message(f"{os.path.join(folder, trust.FOLDER)} {state}.")
        return 0
    waiting = [
        folder
        for folder in folders
        if trust.list_files(folder) and not trust.is_trusted(home, folder)
    ]
    if not waiting:
        _print_nothing_to_do(home, folders)
        return 0
    shown = {folder: trust.read_files(folder) for folder in waiting}
    for files in shown.values():
        for path, content in files:
            sys.stdout.write(f"{strip_control_chars(path)}\n{_render(content)}\n")
    sys.stdout.flush()
    if not args.yes and not _ask():
        print_message("Nothing was trusted, so none of it is in force.")
        return 0 if sys.stdin.isatty() else 1
    for folder, files in shown.items():
        # What was shown, even if the files have changed since.
        trust.trust(home, folder, files)
        print_message(f"{os.path.join(folder, trust.FOLDER)} is trusted as it was shown.")
    return 0


def _list_folders() -> list[str]:
    """Return the folders whose `.holdfast` counts here: the project's and the current one."""
    return [*dict.fromkeys((find_project(current_folder()), os.path.realpath(current_folder())))]


def _describe(home: str, folder: str) -> dict[str, Any]:
    return {
        "folder": os.path.join(folder, trust.FOLDER),
        "files": trust.list_files(folder),
        "trusted": bool(trust.list_files(folder)) and trust.is_trusted(home, folder),
    }


def _print_nothing_to_do(home: str, folders: list[str]) -> None:
    trusted = [folder for folder in folders if trust.list_files(folder)]
    for folder in trusted:
        print_message(f"{os.path.join(folder, trust.FOLDER)} is trusted already.")
    if not trusted:
        print_message("This project has no settings or templates for Holdfast.")


def _render(content: bytes) -> str:
    """Return the text of a file, each line indented, with signs that would be invisible or reorder
    it as their codes.
    """
    text = strip_control_chars(content.decode("utf-8", "backslashreplace"))
    visible = "".join(
        f"\\u{ord(char):04x}" if unicodedata.category(char) == "Cf" else char for char in text
    )
    return "".join(f"    {line}\n" for line in visible.splitlines())


def _ask() -> bool:
    """Ask on a terminal; elsewhere the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        print_message("Without a terminal nothing is asked; `holdfast trust --yes` trusts them.")
        return False
    print("Use these settings and templates from now on? [y/N] ", end="", file=sys.stderr)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
