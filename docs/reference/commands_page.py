"""The page of commands: every command's help, at a width of its own."""

from __future__ import annotations

import argparse

from docs.reference.markdown import titled
from holdfast.surfaces import cli

WIDTH = 88


def page() -> str:
    parts = [
        titled("Commands"),
        "Data goes to stdout, words about it to stderr. Exit codes: 0 done, 1 an explained "
        "error\n(or nothing found), 2 an option that does not exist, 3 a bug. Hooks always exit "
        "0.\n",
        f"```text\n{cli.usage()}```\n",
    ]
    for name in cli.COMMANDS:
        parser = cli.parser_of(name)
        # The terminal's width must not show in the page.
        parser.formatter_class = _fixed_width
        parts.append(f"## holdfast {name}\n\n```text\n{parser.format_help()}```\n")
    return "\n".join(parts)


def _fixed_width(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, width=WIDTH)
