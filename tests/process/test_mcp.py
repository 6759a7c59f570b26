"""The MCP server as a host starts it, asked by the SDK's own client over real pipes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from holdfast.actions.rehearse import Rehearsal
from tests.terminal import Terminal

Asked = Callable[[Client], Coroutine[Any, Any, Any]]


def ask_process(folder: str | Path, asked: Asked, **env: str) -> Any:
    """Start the server as a host does, and ask it over real pipes."""
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "holdfast", "mcp"],
        env={**os.environ, **env},
        cwd=str(folder),
    )

    async def session() -> Any:
        async with Client(started, read_timeout_seconds=60) as client:
            answer = await asked(client)
        # Its pipes are closed some turns of the loop after it has ended, or else in a later test.
        await asyncio.sleep(0.2)
        return answer

    return asyncio.run(session())


def test_a_process_of_its_own_speaks_the_protocol_and_nothing_else(
    seasoned: Terminal, rehearsal: Rehearsal, tmp_path: Path
) -> None:
    project = rehearsal.example.session.project_dir

    async def asked(client: Client) -> list[Any]:
        assert client.server_info.name == "holdfast"
        words = await client.call_tool("recall", {"query": "we tried a global lock"})
        wrong = await client.call_tool("recall", {"query": "L99999"})
        return [words.is_error, words.content[0], wrong.is_error, wrong.content[0]]

    for folder, env in ((project, {}), (str(tmp_path), {"CLAUDE_PROJECT_DIR": project})):
        failed, found, is_wrong, told = ask_process(folder, asked, **env)
        assert (failed, is_wrong) == (False, True)
        assert found.text.startswith("L107 prompt ")
        assert "has no line L99999" in told.text
