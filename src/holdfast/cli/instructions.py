"""Add, show or remove the section "Compact Instructions" in CLAUDE.md.

Claude Code passes this section to its summarizer. It names seven things to preserve, and what you
add with --item. Only the text between its markers is changed; numbered lines that you write there
after the seven are kept. What a particular session must keep is passed on at each compaction
without this section (setting `guidance`). With --handoff: a section that tells sub-agents what to
hand over, and how much.
"""

from __future__ import annotations

import argparse
import os
import sys

from holdfast.cli.console import print_json, print_message
from holdfast.errors import InvalidInput, UnusableSettingsFile
from holdfast.handoff.types import HANDOFF_RULES
from holdfast.hosts import claude_code, instructions
from holdfast.hosts.instructions import InstructionsSection
from holdfast.services.install import atomic_file
from holdfast.services.sessions import current_folder


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", choices=("add", "show", "remove"), help="write the section, print it, or remove it"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--user", action="store_true", help="in the user's CLAUDE.md, for all projects"
    )
    where.add_argument("--file", metavar="FILE", help="in another file")
    parser.add_argument(
        "--item",
        action="append",
        default=[],
        metavar="TEXT",
        help="with add: also preserve this; may be repeated",
    )
    parser.add_argument("--handoff", action="store_true", help="the section for sub-agents instead")
    parser.add_argument("--json", action="store_true", help="with show: print JSON")


def run(args: argparse.Namespace) -> int:
    if args.item and (args.what != "add" or args.handoff):
        raise InvalidInput("--item is for `holdfast instructions add`")
    path = _path(args)
    before = atomic_file.read(path)
    try:
        section = _choose_section(args, before)
        if args.what == "show":
            return _show(path, before, args.json, section)
        after = _change_text(args.what, before, section)
    except UnusableSettingsFile as problem:
        raise UnusableSettingsFile(f"{path}: {problem.detail}", hint=problem.hint) from None
    if after == before:
        state = "is up to date" if args.what == "add" else "is not there"
        print_message(f"The section {state} in {path}; nothing to do.")
        return 0
    if after is None:
        atomic_file.delete(path)
        print_message(f"{path} contained nothing else, so it was deleted.")
        return 0
    atomic_file.write(path, after)
    print_message(f"{'Written to' if args.what == 'add' else 'Removed from'} {path}.")
    if args.what == "add" and not args.handoff and instructions.has_own_instructions(after):
        print_message("The file also has another section of that name; the client reads both.")
    return 0


def _choose_section(args: argparse.Namespace, text: str | None) -> InstructionsSection:
    """Return the section for sub-agents, or the one for the summarizer with the project's items."""
    if args.handoff:
        return instructions.handoff_section(HANDOFF_RULES)
    new = (" ".join(item.split()) for item in args.item)
    items = dict.fromkeys([*instructions.find_own_items(text), *filter(None, new)])
    return instructions.with_own_items([*items])


def _change_text(what: str, before: str | None, section: InstructionsSection) -> str | None:
    if what == "add":
        return instructions.add_section(before, section)
    return None if before is None else instructions.remove_section(before, section)


def _show(path: str, text: str | None, as_json: bool, section: InstructionsSection) -> int:
    span = instructions.find_section(text or "", section)
    current = (text or "")[slice(*span)] if span else None
    expected = instructions.render_section(
        "\r\n" if current and "\r\n" in current else "\n", section
    )
    if as_json:
        data = {"file": path, "installed": span is not None, "current": current == expected}
        print_json({**data, "text": instructions.render_section(section=section)})
        return 0
    sys.stdout.write(instructions.render_section(section=section) + "\n")
    state = "not in" if span is None else "in" if current == expected else "in an older form in"
    print_message(f"It is {state} {path}.", style="dim")
    return 0


def _path(args: argparse.Namespace) -> str:
    """Return the file of the options, else the project's CLAUDE.md, in its folder or in .claude."""
    if args.file:
        return os.path.abspath(str(args.file))
    if args.user:
        folder = os.path.dirname(claude_code.settings_path(os.environ, None))
        return os.path.join(folder, "CLAUDE.md")
    usual = os.path.join(current_folder(), "CLAUDE.md")
    hidden = os.path.join(current_folder(), ".claude", "CLAUDE.md")
    return hidden if os.path.exists(hidden) and not os.path.exists(usual) else usual
