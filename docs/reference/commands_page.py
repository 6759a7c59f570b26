"""Generates the page of commands: the help text of every command."""

from __future__ import annotations

import argparse

from docs.reference.markdown import render_title
from holdfast import cli

WIDTH_CHARS = 88


def build_page() -> str:
    """Return the page as Markdown."""
    parts = [
        render_title("Commands"),
        "Data goes to stdout, messages go to stderr. Exit codes: 0 success, 1 an error with a "
        "message\n(or nothing found), 2 an unknown option, 3 a bug. Hooks always exit 0.\n",
        f"```text\n{cli.render_usage()}```\n",
    ]
    for name in cli.COMMANDS:
        parser = cli.make_parser(name)
        # The page must not depend on the width of the terminal.
        parser.formatter_class = _make_formatter
        parts.append(f"## holdfast {name}\n\n```text\n{parser.format_help()}```\n")
    return "\n".join(parts)


def _make_formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, width=WIDTH_CHARS)
