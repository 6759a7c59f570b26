"""The command line: data on stdout, words on stderr, errors explained once, here."""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import sys
from typing import Protocol

import holdfast
from holdfast import log, settings
from holdfast.errors import BadUsage, HoldfastError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# name -> (module under surfaces/cli, what it does)
COMMANDS = {
    "install": ("install", "register the hooks with Claude Code or another host"),
    "uninstall": ("uninstall", "take the hooks out again, without a trace"),
    "hosts": ("hosts", "which hosts are here, where it is installed, what works there"),
    "doctor": ("doctor", "what is installed, what fired, what failed silently"),
    "status": ("status", "this project's sessions: context fill, last save, compactions"),
    "brief": ("brief", "what would be restored now, or from any transcript"),
    "state": ("state", "everything that is known of a session"),
    "recover": ("recover", "fold transcripts from before Holdfast was installed"),
    "recall": ("recall", "look up words, or a line that a brief refers to"),
    "show": ("show", "the raw transcript line that a ref names"),
    "timeline": ("timeline", "a session as a person reads it: turns, edits, tests, commits"),
    "index": ("index", "how far the index for `recall` is; make it anew"),
    "snapshots": ("snapshots", "the saved states of a session"),
    "snapshot": ("snapshot", "show one saved state"),
    "compactions": ("compactions", "what was saved, summarised, put back and lost each time"),
    "diff": ("diff", "what became of a session between two snapshots"),
    "roles": ("roles", "the roles that a brief can be written for, and their templates"),
    "away": ("away", "before you leave: save, notes, and the line to compact with"),
    "commands": ("slash_commands", "active slash commands, and what a compaction keeps of each"),
    "command": ("slash_command", "start or stop a slash command by hand"),
    "note": ("note", "write something down in the session's notes"),
    "handoff": ("handoff", "what sub-agents handed on; check what one is about to"),
    "messages": ("messages", "what other agents said to this session's; say something to them"),
    "spend": ("spend", "what summaries of conversations have cost"),
    "plugin": ("plugin", "build a Claude Code plugin: hooks, slash commands, a skill"),
    "instructions": ("instructions", "the section in CLAUDE.md that guides the summariser"),
    "tokens": ("tokens", "how many tokens a text takes, and how models count"),
    "serve": ("serve", "the ledger over HTTP: projects, tasks, actions, messages, snapshots"),
    "sync": ("sync", "send what is new here to the team's store; fetch messages"),
    "gc": ("gc", "take away old snapshots, expired messages, agents long gone"),
    "token": ("token", "who may use the server from other machines"),
    "eval": ("eval", "how well briefs restore, measured on transcripts"),
    "mcp": ("mcp", "for hosts: the lookups as tools, over MCP on stdin and stdout"),
    "demo": ("demo", "see save → compact → restore on an example session"),
    "statusline": ("", "for hosts: one line for the status bar, payload on stdin"),
    "hook": ("", "for hosts: one hook payload on stdin"),
}


class Command(Protocol):
    def arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


class Help(argparse.RawDescriptionHelpFormatter):
    """As wide as the terminal. Asked by argparse, `shutil` would be loaded for every command."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 80
    except (OSError, ValueError):
        return 80


def main(argv: list[str]) -> int:
    """Run one command; returns the exit code."""
    _print_anything()
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except HoldfastError as problem:
        print(f"error: {problem}", file=sys.stderr)
        if problem.hint:
            print(f"hint: {problem.hint}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Somebody piped us into `head`: not worth a word.
        _write_no_more()
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as problem:
        if problem.errno not in NO_ROOM:
            return _bug(problem)
        _write_no_more()
        print(f"error: {problem.strerror}", file=sys.stderr)
        print("hint: make room on the disk, or write elsewhere", file=sys.stderr)
        return 1
    except Exception as problem:
        return _bug(problem)


def _write_no_more() -> None:
    """What is left would be written at the end, and fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_anything() -> None:
    """What a terminal cannot show, or half a character from a transcript, becomes a `?`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _run(argv: list[str]) -> int:
    name, rest = (argv[0], argv[1:]) if argv else ("help", [])
    if name in ("--version", "-V"):
        print(f"holdfast {holdfast.__version__}")
    elif name in ("-h", "--help", "help"):
        print(parser_of(rest[0]).format_help() if rest else usage(), end="")
    else:
        parser = parser_of(name)
        return command(name).run(parser.parse_args(rest))
    return 0


def command(name: str) -> Command:
    if not COMMANDS.get(name, ("",))[0]:
        import difflib

        near = difflib.get_close_matches(name, COMMANDS, 1)
        listed = "`holdfast --help` lists the commands"
        raise BadUsage(
            f"there is no command {name!r}",
            hint=f"did you mean `holdfast {near[0]}`? {listed}" if near else listed,
        )
    module: Command = importlib.import_module(f"holdfast.surfaces.cli.{COMMANDS[name][0]}")
    return module


def parser_of(name: str) -> argparse.ArgumentParser:
    """The argument parser of one command; docs/reference is made from these."""
    if name in COMMANDS and not COMMANDS[name][0]:
        return _for_hosts(name)
    module = command(name)
    parser = argparse.ArgumentParser(
        prog=f"holdfast {name}",
        description=(module.__doc__ or "").strip(),
        formatter_class=Help,
    )
    module.arguments(parser)
    return parser


def _for_hosts(name: str) -> argparse.ArgumentParser:
    """Hosts start it before any of this is loaded; people can still read what it is."""
    about = importlib.import_module(f"holdfast.surfaces.{name}").__doc__ or ""
    return argparse.ArgumentParser(
        usage=f"holdfast {name} < PAYLOAD",
        description=about.partition("\n\n")[0],
        formatter_class=Help,
        add_help=False,
    )


def usage() -> str:
    width = max(map(len, COMMANDS))
    listed = "".join(f"  {name:<{width}}  {what}\n" for name, (_, what) in COMMANDS.items())
    return (
        "Holdfast keeps a coding agent's working state through context compaction.\n\n"
        f"usage: holdfast COMMAND [OPTIONS]\n\n{listed}\n"
        "`holdfast COMMAND --help` explains one. HOLDFAST_HOME says where the store is.\n"
    )


def _bug(problem: Exception) -> int:
    import traceback

    path = settings.load(os.environ).log
    last = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}:{last.lineno}"
    log.note(path, f"bug: {type(problem).__name__}: {problem} at {where}", os.environ)
    print(f"error: {type(problem).__name__}: {problem} ({where})", file=sys.stderr)
    print(f"hint: this is a bug in Holdfast; {path} has the line to report", file=sys.stderr)
    return 3
