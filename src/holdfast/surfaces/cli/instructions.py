"""Keep a section "Compact Instructions" in CLAUDE.md, which Claude Code gives its summariser.
With --handoff a section that tells sub-agents what to hand on, and how much.

It names seven things to preserve and five not to waste room on, so that summary and brief
complement each other. Only the section between its markers is ever touched. What this session in
particular must keep is told at each compaction; that needs no section (setting `guidance`).
"""

from __future__ import annotations

import argparse
import os
import sys

from holdfast.actions import settings_file
from holdfast.errors import SettingsFileUnusable
from holdfast.handoff.model import RULES
from holdfast.hosts import claude_code, instructions
from holdfast.hosts.instructions import Section
from holdfast.surfaces.cli.output import print_json, say
from holdfast.surfaces.cli.sessions import here


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", choices=("add", "show", "remove"), help="write it, print it, or take it out"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="the user's CLAUDE.md, for all projects")
    where.add_argument("--file", metavar="FILE", help="another file")
    parser.add_argument("--handoff", action="store_true", help="the section for sub-agents instead")
    parser.add_argument("--json", action="store_true", help="with show: for programs")


def run(args: argparse.Namespace) -> int:
    path = _path(args)
    of = instructions.handoff(RULES) if args.handoff else instructions.COMPACT
    before = settings_file.read(path)
    try:
        if args.what == "show":
            return _show(path, before, args.json, of)
        after = _changed(args.what, before, of)
    except SettingsFileUnusable as problem:
        raise SettingsFileUnusable(f"{path}: {problem.detail}", hint=problem.hint) from None
    if after == before:
        there = "is as it should be" if args.what == "add" else "is not there"
        say(f"The section {there} in {path}; nothing to do.")
        return 0
    if after is None:
        settings_file.delete(path)
        say(f"{path} held nothing else, so it is gone.")
        return 0
    settings_file.write(path, after)
    say(f"{'Written to' if args.what == 'add' else 'Taken out of'} {path}.")
    if args.what == "add" and not args.handoff and instructions.has_its_own(after):
        say("The file has a section of that name of its own as well; the client reads both.")
    return 0


def _changed(what: str, before: str | None, of: Section) -> str | None:
    if what == "add":
        return instructions.add(before, of)
    return None if before is None else instructions.remove(before, of)


def _show(path: str, text: str | None, as_json: bool, of: Section) -> int:
    span = instructions.find(text or "", of)
    current = (text or "")[slice(*span)] if span else None
    wanted = instructions.section("\r\n" if current and "\r\n" in current else "\n", of)
    if as_json:
        told = {"file": path, "installed": span is not None, "current": current == wanted}
        print_json({**told, "text": instructions.section(of=of)})
        return 0
    sys.stdout.write(instructions.section(of=of) + "\n")
    state = "not in" if span is None else "in" if current == wanted else "in an older form in"
    say(f"It is {state} {path}.", style="dim")
    return 0


def _path(args: argparse.Namespace) -> str:
    """The file given; else the user's; else the project's, wherever it keeps it."""
    if args.file:
        return os.path.abspath(str(args.file))
    if args.user:
        folder = os.path.dirname(claude_code.settings_path(os.environ, None))
        return os.path.join(folder, "CLAUDE.md")
    usual = os.path.join(here(), "CLAUDE.md")
    hidden = os.path.join(here(), ".claude", "CLAUDE.md")
    return hidden if os.path.exists(hidden) and not os.path.exists(usual) else usual
