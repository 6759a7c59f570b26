"""The MCP server with a team database, called by the SDK's own client."""

from __future__ import annotations

from typing import Any

from tests.process.test_mcp import run_client
from tests.terminal import Terminal
from tests.unit.mcp.test_mcp import call_tool

from .colleagues import FOREIGN, THEIRS


def test_what_colleagues_sent_is_found_with_the_team_option(project: str, member: Terminal) -> None:
    assert call_tool(project, "recall", {"query": "obelisk"}) == (True, "Nothing found.")
    ok, text = call_tool(project, "recall", {"query": "obelisk", "team": True})
    assert ok
    assert text.startswith(f"{THEIRS}:L1 prompt")
    assert "bin/obelisk.py" in text
    assert FOREIGN not in text
    assert "another machine" in text
    everywhere = {"query": "obelisk", "team": True, "all_projects": True}
    assert FOREIGN in call_tool(project, "recall", everywhere)[1]


def test_a_colleague_s_session_is_searched_within_the_project(
    project: str, member: Terminal
) -> None:
    arguments: dict[str, Any] = {"query": "jitter", "team": True}
    assert call_tool(project, "recall", {**arguments, "session": THEIRS})[1].startswith(
        f"{THEIRS}:L2"
    )
    ok, text = call_tool(project, "recall", {**arguments, "session": FOREIGN})
    assert not ok
    assert "in this project" in text
    ok, text = call_tool(project, "recall", {**arguments, "session": FOREIGN, "all_projects": True})
    assert ok
    assert text.startswith(f"{FOREIGN}:L2")
    ok, text = call_tool(project, "recall", {"query": "jitter", "session": THEIRS})
    assert (ok, "team" in text) == (False, False), "the team is not searched"


def test_a_colleague_s_ref_opens(project: str, member: Terminal) -> None:
    for arguments in ({}, {"team": True}):
        ok, text = call_tool(project, "show", {"ref": f"{THEIRS}:L1", **arguments})
        assert ok
        assert text.startswith("the obelisk stands at bin/obelisk.py")
        assert "another machine" in text
        ok, text = call_tool(project, "show", {"ref": f"{FOREIGN}:L1", **arguments})
        assert not ok
        assert "in this project" in text
    assert call_tool(project, "show", {"ref": f"{FOREIGN}:L1", "all_projects": True})[0]


def test_the_team_option_without_a_team_is_an_error(project: str) -> None:
    for tool, given in (("recall", {"query": "jitter"}), ("show", {"ref": "L1"})):
        ok, text = call_tool(project, tool, {**given, "team": True})
        assert not ok
        assert "No team database is configured" in text


def test_an_unreachable_team_is_an_error_without_secrets(project: str, seasoned: Terminal) -> None:
    seasoned.set(HOLDFAST_DATABASE="postgresql://ada:hunter2-secret@127.0.0.1:1/team")
    ok, text = call_tool(project, "recall", {"query": "jitter", "team": True})
    assert not ok
    assert "127.0.0.1:1" in text
    assert "hunter2" not in text
    assert call_tool(project, "recall", {"query": "jitter"})[0], "here nothing has changed"


def test_a_real_server_process_searches_the_team(project: str, member: Terminal) -> None:
    arguments = {"query": "obelisk", "team": True, "all_projects": True}
    result = run_client(project, lambda client: client.call_tool("recall", arguments))
    assert f"{THEIRS}:L1" in result.content[0].text
