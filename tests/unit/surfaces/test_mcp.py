"""The MCP server, asked by the SDK's own client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.actions.rehearse import Rehearsal
from holdfast.brief.tokens import estimate
from tests.terminal import Terminal

if TYPE_CHECKING:
    from mcp import Client

    Asked = Callable[[Client], Coroutine[Any, Any, Any]]


def ask(folder: str | Path, asked: Asked) -> Any:
    """Ask a server that runs in this folder."""
    # The SDK takes a second to import, which only the worker that runs these tests should pay.
    from mcp import Client

    from holdfast.surfaces.mcp.server import server

    async def session() -> Any:
        async with Client(server()) as client:
            return await asked(client)

    with contextlib.chdir(folder):
        return asyncio.run(session())


def call(folder: str | Path, tool: str, given: dict[str, Any]) -> tuple[bool, str]:
    """Whether it was an answer, and its text."""

    async def asked(client: Client) -> tuple[bool, str]:
        result = await client.call_tool(tool, given)
        (block,) = result.content
        return not result.is_error, getattr(block, "text", "")

    found: tuple[bool, str] = ask(folder, asked)
    return found


@pytest.fixture
def project(seasoned: Terminal, rehearsal: Rehearsal) -> str:
    return rehearsal.example.session.project_dir


def test_the_tools_are_told_precisely_and_shortly(project: str) -> None:
    tools = ask(project, lambda client: client.list_tools()).tools
    assert {tool.name for tool in tools} == {
        "recall", "show", "state", "brief", "handoff", "note", "messages",
    }  # fmt: skip
    for tool in tools:
        assert tool.annotations.read_only_hint == (tool.name not in ("note", "messages"))
        assert not tool.annotations.destructive_hint
        assert len(tool.description) < 120
        for given in tool.input_schema["properties"].values():
            assert given["description"]
    schema = next(tool.input_schema for tool in tools if tool.name == "recall")
    assert schema["required"] == ["query"]
    assert "prompt" in json.dumps(schema["properties"]["kinds"])
    # A model pays for this in every request.
    told = [tool.model_dump_json(exclude_none=True) for tool in tools]
    assert estimate("\n".join(told)) < 2500


def test_words_and_refs_are_looked_up(project: str) -> None:
    ok, text = call(project, "recall", {"query": "we tried a global lock"})
    assert ok
    assert text.startswith("L107 prompt ")
    ok, same = call(project, "recall", {"query": "L107"})
    assert "we tried a global lock in March" in same
    ok, raw = call(project, "show", {"ref": "L107"})
    assert json.loads(raw)["type"] == "user"
    ok, filtered = call(project, "recall", {"query": "jitter", "kinds": ["reply"], "since": "900w"})
    assert ok
    assert {line.split()[1] for line in filtered.splitlines() if line.startswith("L")} <= {"reply"}


def test_what_sub_agents_handed_on_can_be_asked_for(project: str, rehearsal: Rehearsal) -> None:
    ok, text = call(project, "handoff", {})
    assert (ok, text) == (True, "Nothing found.")
    ok, text = call(project, "handoff", {"id": "00000000"})
    assert not ok
    assert "holdfast handoff list" in text


def test_the_state_and_the_brief_are_there(project: str) -> None:
    _, text = call(project, "state", {})
    assert "## Rules of the user" in text
    _, rules = call(project, "state", {"section": "rules"})
    assert "Never touch anything under migrations/" in rules
    assert rules.count("## ") == 1
    _, brief = call(project, "brief", {"max_tokens": 400})
    assert brief.startswith("# This session")
    assert len(brief) / 3.0 <= 400

    async def read(client: Client) -> str:
        listed = await client.list_resources()
        assert [str(one.uri) for one in listed.resources] == [
            "holdfast://brief", "holdfast://notes",
        ]  # fmt: skip
        (content,) = (await client.read_resource("holdfast://brief")).contents
        return getattr(content, "text", "")

    assert ask(project, read).startswith("# Where this session stands")


def test_agents_leave_messages_for_each_other_and_read_them_once(project: str) -> None:
    sent = {"agent": "backend", "to": "frontend", "topic": "api", "text": "the route is /login"}
    assert call(project, "messages", sent) == (True, "Sent to frontend.")
    call(project, "messages", {"agent": "backend", "text": "lunch"})
    ok, text = call(project, "messages", {"agent": "frontend"})
    assert ok
    assert "backend [api]: the route is /login" in text
    assert "backend: lunch" in text
    assert call(project, "messages", {"agent": "frontend"})[1] == "No messages wait."
    assert "/login" in call(project, "messages", {"agent": "frontend", "again": True})[1]
    assert "/login" not in call(project, "messages", {"agent": "other"})[1]
    assert not call(project, "messages", {"text": "  "})[0]


def test_an_agent_can_write_a_note_and_read_the_notes(project: str) -> None:
    async def read(client: Client) -> str:
        (content,) = (await client.read_resource("holdfast://notes")).contents
        return getattr(content, "text", "")

    assert "the cap is 30 s" not in ask(project, read)
    token = "ghp_" + "a1B2" * 9
    ok, said = call(project, "note", {"text": f"the cap is 30 s, {token}", "kind": "decision"})
    assert ok
    assert said.startswith("Noted in ")
    text = ask(project, read)
    assert "**decision:** the cap is 30 s" in text
    assert token not in text
    assert "the cap is 30 s" in call(project, "brief", {})[1]
    assert not call(project, "note", {"text": "  "})[0]
    assert not call(project, "note", {"text": "x", "kind": "order"})[0]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("recall", {"query": "jitter", "max_tokens": 120}),
        ("show", {"ref": "L1-200", "max_tokens": 120}),
        ("state", {"max_tokens": 120}),
    ],
)
def test_answers_stay_within_their_budget(project: str, tool: str, given: dict[str, Any]) -> None:
    ok, text = call(project, tool, given)
    assert ok
    assert 40 < estimate(text) <= 120


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("recall", {"query": " "}, "nothing to look for"),
        ("recall", {"query": "L99999"}, "has no line L99999"),
        ("recall", {"query": "x", "since": "soon"}, "is no time"),
        ("recall", {"query": "x", "session": "nobody"}, "session nobody"),
        ("show", {"ref": "words"}, "is no ref"),
    ],
)
def test_what_is_wrong_is_explained_to_the_model(
    project: str, tool: str, given: dict[str, Any], told: str
) -> None:
    ok, text = call(project, tool, given)
    assert not ok
    assert told in text


@pytest.mark.parametrize("query", ['"', "a AND", "NEAR(", "🎉", "x" * 100_000])
def test_strange_queries_are_answered(project: str, query: str) -> None:
    ok, text = call(project, "recall", {"query": query})
    assert ok
    assert text


def test_another_project_is_found_only_when_asked_for(
    project: str, tmp_path: Path, rehearsal: Rehearsal
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    session = rehearsal.example.session.session_id
    assert call(elsewhere, "recall", {"query": "global lock"}) == (True, "Nothing found.")
    ok, text = call(elsewhere, "recall", {"query": "global lock", "session": session})
    assert not ok
    assert "all_projects" in text
    ok, text = call(elsewhere, "recall", {"query": f"{session}:L107"})
    assert not ok
    for given in ({"query": "global lock"}, {"query": f"{session}:L107"}):
        ok, text = call(elsewhere, "recall", {**given, "all_projects": True})
        assert "we tried a global lock" in text
    ok, text = call(elsewhere, "brief", {})
    assert not ok


def test_a_resource_that_cannot_be_read_is_told(project: str, tmp_path: Path) -> None:
    async def read(client: Client) -> None:
        await client.read_resource("holdfast://brief")

    from mcp import MCPError

    with pytest.raises((MCPError, ExceptionGroup)):
        ask(tmp_path, read)


def test_without_the_extra_it_says_what_to_install(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "holdfast.surfaces.mcp.server", raising=False)
    ran = terminal.run("mcp")
    assert (ran.code, ran.out) == (1, "")
    assert "pip install 'holdfast[mcp]'" in ran.err
