"""The MCP server as a host starts it, used by the SDK's own client over real pipes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from holdfast.services.doctor.self_test import SelfTest
from tests.terminal import Terminal

ClientCall = Callable[[Client], Coroutine[Any, Any, Any]]


def run_client(folder: str | Path, use_client: ClientCall, **env: str) -> Any:
    """Start the server as a host does, and run a client over real pipes."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "holdfast", "mcp"],
        env={**os.environ, **env},
        cwd=str(folder),
    )

    async def session() -> Any:
        async with Client(parameters, read_timeout_seconds=60) as client:
            result = await use_client(client)
        # The pipes are closed a few loop iterations after the process ended; without this pause
        # that would happen in a later test.
        await asyncio.sleep(0.2)
        return result

    return asyncio.run(session())


def test_the_server_process_prints_only_the_protocol(
    demo_terminal: Terminal, self_test: SelfTest, tmp_path: Path
) -> None:
    project = self_test.demo.project_dir

    async def use_client(client: Client) -> list[Any]:
        assert client.server_info.name == "holdfast"
        hit = await client.call_tool("recall", {"query": "we tried a global lock"})
        miss = await client.call_tool("recall", {"query": "L99999"})
        return [hit.is_error, hit.content[0], miss.is_error, miss.content[0]]

    for folder, env in ((project, {}), (str(tmp_path), {"CLAUDE_PROJECT_DIR": project})):
        hit_failed, hit, miss_failed, error = run_client(folder, use_client, **env)
        assert (hit_failed, miss_failed) == (False, True)
        assert hit.text.startswith("L107 prompt ")
        assert "has no line L99999" in error.text
