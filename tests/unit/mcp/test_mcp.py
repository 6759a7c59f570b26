"""The MCP server, called by the client of the MCP SDK."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.services.doctor.self_test import SelfTest
from holdfast.tokens.estimate import estimate_tokens
from tests.terminal import Terminal

if TYPE_CHECKING:
    from mcp import Client

    ClientCall = Callable[[Client], Coroutine[Any, Any, Any]]


def run_client(folder: str | Path, use_client: ClientCall) -> Any:
    """Run a client against a server whose current folder is this one."""
    # Importing the SDK takes a second, so only the test worker that needs it does.
    from mcp import Client

    from holdfast.mcp.server import make_server

    async def session() -> Any:
        async with Client(make_server()) as client:
            return await use_client(client)

    with contextlib.chdir(folder):
        return asyncio.run(session())


def call_tool(folder: str | Path, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    """Return whether the call succeeded, and the text of the answer."""

    async def use_client(client: Client) -> tuple[bool, str]:
        result = await client.call_tool(tool, arguments)
        (block,) = result.content
        return not result.is_error, getattr(block, "text", "")

    outcome: tuple[bool, str] = run_client(folder, use_client)
    return outcome


@pytest.fixture
def project(demo_terminal: Terminal, self_test: SelfTest) -> str:
    return self_test.demo.project_dir


def test_tool_descriptions_are_precise_and_short(project: str) -> None:
    tools = run_client(project, lambda client: client.list_tools()).tools
    assert {tool.name for tool in tools} == {
        "recall", "show", "state", "brief", "handoff", "note", "messages",
    }  # fmt: skip
    for tool in tools:
        assert tool.annotations.read_only_hint == (tool.name not in ("note", "messages"))
        assert not tool.annotations.destructive_hint
        assert len(tool.description) < 120
        for arguments in tool.input_schema["properties"].values():
            assert arguments["description"]
    schema = next(tool.input_schema for tool in tools if tool.name == "recall")
    assert schema["required"] == ["query"]
    assert "prompt" in json.dumps(schema["properties"]["kinds"])
    # The descriptions are part of every request to the model.
    descriptions = [tool.model_dump_json(exclude_none=True) for tool in tools]
    assert estimate_tokens("\n".join(descriptions)) < 2500


def test_recall_finds_words_and_refs_and_show_prints_raw_lines(project: str) -> None:
    ok, text = call_tool(project, "recall", {"query": "we tried a global lock"})
    assert ok
    assert text.startswith("L107 prompt ")
    ok, opened = call_tool(project, "recall", {"query": "L107"})
    assert "we tried a global lock in March" in opened
    ok, raw = call_tool(project, "show", {"ref": "L107"})
    assert json.loads(raw)["type"] == "user"
    ok, filtered = call_tool(
        project, "recall", {"query": "jitter", "kinds": ["reply"], "since": "900w"}
    )
    assert ok
    assert {line.split()[1] for line in filtered.splitlines() if line.startswith("L")} <= {"reply"}


def test_without_handoffs_the_list_is_empty_and_an_unknown_id_is_an_error(
    project: str, self_test: SelfTest
) -> None:
    ok, text = call_tool(project, "handoff", {})
    assert (ok, text) == (True, "Nothing found.")
    ok, text = call_tool(project, "handoff", {"id": "00000000"})
    assert not ok
    assert "holdfast handoff list" in text


def test_state_and_brief_can_be_read(project: str) -> None:
    _, text = call_tool(project, "state", {})
    assert "## Rules of the user" in text
    _, rules = call_tool(project, "state", {"section": "rules"})
    assert "Never touch anything under migrations/" in rules
    assert rules.count("## ") == 1
    _, brief = call_tool(project, "brief", {"max_tokens": 400})
    assert brief.startswith("# Where this session stands")
    assert len(brief) / 3.0 <= 400

    async def read(client: Client) -> str:
        listed = await client.list_resources()
        assert [str(resource.uri) for resource in listed.resources] == [
            "holdfast://brief", "holdfast://notes",
        ]  # fmt: skip
        (content,) = (await client.read_resource("holdfast://brief")).contents
        return getattr(content, "text", "")

    assert run_client(project, read).startswith("# Where this session stands")


def test_agents_send_each_other_messages_and_read_them_once(project: str) -> None:
    message = {"agent": "backend", "to": "frontend", "topic": "api", "text": "the route is /login"}
    assert call_tool(project, "messages", message) == (True, "Sent to frontend.")
    call_tool(project, "messages", {"agent": "backend", "text": "lunch"})
    ok, text = call_tool(project, "messages", {"agent": "frontend"})
    assert ok
    assert "backend [api]: the route is /login" in text
    assert "backend: lunch" in text
    assert call_tool(project, "messages", {"agent": "frontend"})[1] == "No new messages."
    assert "/login" in call_tool(project, "messages", {"agent": "frontend", "again": True})[1]
    assert "/login" not in call_tool(project, "messages", {"agent": "other"})[1]
    assert not call_tool(project, "messages", {"text": "  "})[0]


def test_an_agent_can_write_a_note_and_read_the_notes(project: str) -> None:
    async def read(client: Client) -> str:
        (content,) = (await client.read_resource("holdfast://notes")).contents
        return getattr(content, "text", "")

    assert "the cap is 30 s" not in run_client(project, read)
    token = "ghp_" + "a1B2" * 9
    ok, answer = call_tool(
        project, "note", {"text": f"the cap is 30 s, {token}", "kind": "decision"}
    )
    assert ok
    assert answer.startswith("Added to ")
    text = run_client(project, read)
    assert "**decision:** the cap is 30 s" in text
    assert token not in text
    assert "the cap is 30 s" in call_tool(project, "brief", {})[1]
    assert not call_tool(project, "note", {"text": "  "})[0]
    assert not call_tool(project, "note", {"text": "x", "kind": "order"})[0]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("recall", {"query": "jitter", "max_tokens": 120}),
        ("show", {"ref": "L1-200", "max_tokens": 120}),
        ("state", {"max_tokens": 120}),
    ],
)
def test_answers_stay_within_their_budget(
    project: str, tool: str, arguments: dict[str, Any]
) -> None:
    ok, text = call_tool(project, tool, arguments)
    assert ok
    assert 40 < estimate_tokens(text) <= 120


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("recall", {"query": " "}, "No search words were given"),
        ("recall", {"query": "L99999"}, "has no line L99999"),
        ("recall", {"query": "x", "since": "soon"}, "is not a time"),
        ("recall", {"query": "x", "session": "unknown"}, "session unknown"),
        ("show", {"ref": "words"}, "is not a ref"),
    ],
)
def test_errors_are_explained_to_the_model(
    project: str, tool: str, arguments: dict[str, Any], message: str
) -> None:
    ok, text = call_tool(project, tool, arguments)
    assert not ok
    assert message in text


@pytest.mark.parametrize("query", ['"', "a AND", "NEAR(", "🎉", "x" * 100_000])
def test_unusual_queries_do_not_fail(project: str, query: str) -> None:
    ok, text = call_tool(project, "recall", {"query": query})
    assert ok
    assert text


def test_other_projects_are_searched_only_on_request(
    project: str, tmp_path: Path, self_test: SelfTest
) -> None:
    other_project = tmp_path / "elsewhere"
    other_project.mkdir()
    session = self_test.demo.session_id
    assert call_tool(other_project, "recall", {"query": "global lock"}) == (True, "Nothing found.")
    ok, text = call_tool(other_project, "recall", {"query": "global lock", "session": session})
    assert not ok
    assert "all_projects" in text
    ok, text = call_tool(other_project, "recall", {"query": f"{session}:L107"})
    assert not ok
    for arguments in ({"query": "global lock"}, {"query": f"{session}:L107"}):
        ok, text = call_tool(other_project, "recall", {**arguments, "all_projects": True})
        assert "we tried a global lock" in text
    ok, text = call_tool(other_project, "brief", {})
    assert not ok


def test_a_resource_that_cannot_be_read_is_an_error(project: str, tmp_path: Path) -> None:
    async def read(client: Client) -> None:
        await client.read_resource("holdfast://brief")

    from mcp import MCPError

    with pytest.raises((MCPError, ExceptionGroup)):
        run_client(tmp_path, read)


def test_without_the_mcp_package_the_error_says_what_to_install(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "holdfast.mcp.server", raising=False)
    result = terminal.run("mcp")
    assert (result.code, result.out) == (1, "")
    assert "pip install 'holdfast[mcp]'" in result.err
