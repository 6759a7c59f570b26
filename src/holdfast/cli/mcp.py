"""For hosts: run an MCP server on stdin and stdout, with tools for lookups, notes and handoffs.

`holdfast install --mcp` registers it. It needs the extra `mcp`: pip install 'holdfast[mcp]'.
"""

from __future__ import annotations

import argparse

from holdfast.services.install.mcp import ExtraMissing


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: everything comes over the protocol."""


def run(args: argparse.Namespace) -> int:
    try:
        from holdfast.mcp.server import main
    except ModuleNotFoundError as problem:
        if (problem.name or "").startswith("holdfast"):
            raise
        raise ExtraMissing(problem.name or "mcp") from None
    main()
    return 0
