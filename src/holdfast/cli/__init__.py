"""The command line: data goes to stdout, messages to stderr, errors are reported in `main`."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import io
import os
import sys
from typing import Protocol

import holdfast
from holdfast import diagnostics, settings
from holdfast.cli.console import RedactedStream
from holdfast.errors import HoldfastError, InvalidInput
from holdfast.store import sqlite_migrations

DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Command -> (where it is defined, what it does). A command is a module of this package, or a class
# in one (`module:Class`). Commands without a module are started by hosts, see `__main__.py`.
COMMANDS = {
    "install": ("install", "register the hooks with Claude Code or another host"),
    "uninstall": ("install:Uninstall", "remove the hooks and restore the settings file"),
    "hosts": ("hosts", "list coding agents: found, installed, what is supported"),
    "doctor": ("doctor", "check the installation, the hooks and the delivery of briefs"),
    "status": ("status", "list sessions: context used, last save, compactions"),
    "brief": ("brief", "show what would be restored now, or from any transcript"),
    "state": ("state", "show everything that is known about a session"),
    "recover": ("recover", "import transcripts from before Holdfast was installed"),
    "recall": ("recall", "search sessions and notes, or open a line that a brief refers to"),
    "show": ("show", "print the raw transcript line of a ref"),
    "timeline": ("timeline", "show a session's turns, edits, tests, commits and compactions"),
    "index": ("index", "show or rebuild the search index of `recall`"),
    "snapshots": ("snapshots", "list the saved states of a session"),
    "snapshot": ("snapshots:Show", "show one saved state"),
    "compactions": (
        "compactions",
        "show what each compaction saved, summarized, restored and lost",
    ),
    "diff": ("diff", "compare two snapshots of a session"),
    "trust": ("trust", "show and trust this project's settings and brief templates"),
    "roles": ("roles", "list the roles that a brief can be written for, and their templates"),
    "away": ("step_away", "save before you leave, and print a line to compact with"),
    "commands": ("slash_commands", "list active slash commands and what a compaction keeps"),
    "command": ("slash_commands:StartOrStop", "mark a slash command as active or finished"),
    "note": ("note", "add an entry to the session's notes"),
    "handoff": ("handoff", "list, show or check the handoffs of sub-agents"),
    "messages": ("messages", "read messages from other agents, or send one"),
    "spend": ("spend", "show what summaries of conversations have cost"),
    "plugin": ("plugin", "build a Claude Code plugin with hooks, slash commands and a skill"),
    "instructions": ("instructions", "edit the section of CLAUDE.md that guides the summarizer"),
    "tokens": ("tokens", "estimate the tokens of a text; calibrate the estimates"),
    "open": ("open_page", "open the page in the browser; start the server if need be"),
    "serve": ("serve", "run the HTTP server: projects, tasks, actions, messages, snapshots"),
    "sync": ("sync", "push new data to the team's database and fetch messages"),
    "gc": ("gc", "delete old snapshots, expired messages and inactive agents"),
    "token": ("token", "manage access tokens for the HTTP server"),
    "eval": ("eval", "measure how well briefs restore, on your transcripts"),
    "mcp": ("mcp", "for hosts: run the MCP server on stdin and stdout"),
    "demo": ("demo", "show save → compact → restore on an example session"),
    "statusline": ("", "for hosts: print one line for the status bar, payload on stdin"),
    "hook": ("", "for hosts: handle one hook payload on stdin"),
}


class Command(Protocol):
    """What a command's module or class has; its docstring is the help text."""

    def arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal; argparse would import `shutil` to find that out."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_terminal_columns() - 2)


def _terminal_columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 80
    except (OSError, ValueError):
        return 80


def main(argv: list[str]) -> int:
    """Run one command and return the exit code: 0, 1 for an error, 3 for a bug in Holdfast."""
    _replace_unprintable()
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = RedactedStream(sys.stdout), RedactedStream(sys.stderr, by_line=True)
    previous_report = sqlite_migrations.report
    sqlite_migrations.report = lambda message: print(f"note: {message}", file=sys.stderr)
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
        # The reader of our pipe has ended, for example `head`.
        _discard_output()
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as problem:
        if problem.errno not in DISK_FULL_ERRORS:
            return _report_bug(problem)
        _discard_output()
        print(f"error: {problem.strerror}", file=sys.stderr)
        print("hint: make room on the disk, or write elsewhere", file=sys.stderr)
        return 1
    except Exception as problem:
        return _report_bug(problem)
    finally:
        # A program that calls `main` goes on afterwards, and so do the tests.
        sqlite_migrations.report = previous_report
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
            sys.stdout.flush()
        sys.stdout, sys.stderr = streams


def _discard_output() -> None:
    """Discard buffered output: writing it at exit would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _replace_unprintable() -> None:
    """Print `?` for what a terminal cannot encode, or for a lone surrogate of a transcript."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _run(argv: list[str]) -> int:
    name, rest = (argv[0], argv[1:]) if argv else ("help", [])
    if name in ("--version", "-V"):
        print(f"holdfast {holdfast.__version__}")
    elif name in ("-h", "--help", "help"):
        print(make_parser(rest[0]).format_help() if rest else render_usage(), end="")
    else:
        parser = make_parser(name)
        return load_command(name).run(parser.parse_args(rest))
    return 0


def load_command(name: str) -> Command:
    """Import a command. Fails with a suggestion if there is none of that name."""
    place = COMMANDS.get(name, ("",))[0]
    if not place:
        import difflib

        similar = difflib.get_close_matches(name, COMMANDS, 1)
        listed = "`holdfast --help` lists the commands"
        raise InvalidInput(
            f"There is no command {name!r}",
            hint=f"did you mean `holdfast {similar[0]}`? {listed}" if similar else listed,
        )
    module_name, _, class_name = place.partition(":")
    module = importlib.import_module(f"holdfast.cli.{module_name}")
    command: Command = getattr(module, class_name) if class_name else module
    return command


def make_parser(name: str) -> argparse.ArgumentParser:
    """Return the argument parser of one command. docs/reference is generated from these."""
    if name in COMMANDS and not COMMANDS[name][0]:
        return _make_host_parser(name)
    command = load_command(name)
    lines = (command.__doc__ or "").strip().splitlines()
    parser = argparse.ArgumentParser(
        prog=f"holdfast {name}",
        # The docstring of a class is indented.
        description="\n".join(line.removeprefix("    ") for line in lines),
        formatter_class=HelpFormatter,
    )
    command.arguments(parser)
    return parser


HOST_COMMAND_MODULES = {"hook": "hooks.main", "statusline": "statusline.main"}


def _make_host_parser(name: str) -> argparse.ArgumentParser:
    """Return a parser for help only: `__main__.py` runs these commands without this module."""
    about = importlib.import_module(f"holdfast.{HOST_COMMAND_MODULES[name]}").__doc__ or ""
    return argparse.ArgumentParser(
        usage=f"holdfast {name} < PAYLOAD",
        description=about.partition("\n\n")[0],
        formatter_class=HelpFormatter,
        add_help=False,
    )


def render_usage() -> str:
    """Return the text of `holdfast --help`."""
    width = max(map(len, COMMANDS))
    listed = "".join(f"  {name:<{width}}  {text}\n" for name, (_, text) in COMMANDS.items())
    return (
        "Holdfast keeps a coding agent's working state through context compaction.\n\n"
        f"usage: holdfast COMMAND [OPTIONS]\n\n{listed}\n"
        "`holdfast COMMAND --help` explains a command. HOLDFAST_HOME is the folder of the store.\n"
    )


def _report_bug(problem: Exception) -> int:
    """Write an unexpected exception to the log and to stderr; return the exit code."""
    import traceback

    path = settings.load(os.environ).log
    last = traceback.extract_tb(problem.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}:{last.lineno}"
    diagnostics.log(path, f"bug: {type(problem).__name__}: {problem} at {where}", os.environ)
    print(f"error: {type(problem).__name__}: {problem} ({where})", file=sys.stderr)
    print(f"hint: this is a bug in Holdfast; {path} has the line to report", file=sys.stderr)
    return 3
