"""The MCP server with a team database, called by the SDK's own client."""

from __future__ import annotations

from typing import Any

from tests.process.test_mcp import run_client
from tests.terminal import Terminal
from tests.unit.mcp.test_mcp import call_tool

from .colleagues import COLLEAGUE_SESSION, OTHER_PROJECT_SESSION


def test_colleagues_sessions_are_found_with_the_team_option(project: str, member: Terminal) -> None:
    assert call_tool(project, "recall", {"query": "obelisk"}) == (True, "Nothing found.")
    ok, text = call_tool(project, "recall", {"query": "obelisk", "team": True})
    assert ok
    assert text.startswith(f"{COLLEAGUE_SESSION}:L1 prompt")
    assert "bin/obelisk.py" in text
    assert OTHER_PROJECT_SESSION not in text
    assert "another machine" in text
    everywhere = {"query": "obelisk", "team": True, "all_projects": True}
    assert OTHER_PROJECT_SESSION in call_tool(project, "recall", everywhere)[1]


def test_a_colleagues_session_is_found_only_within_the_project(
    project: str, member: Terminal
) -> None:
    arguments: dict[str, Any] = {"query": "jitter", "team": True}
    assert call_tool(project, "recall", {**arguments, "session": COLLEAGUE_SESSION})[1].startswith(
        f"{COLLEAGUE_SESSION}:L2"
    )
    ok, text = call_tool(project, "recall", {**arguments, "session": OTHER_PROJECT_SESSION})
    assert not ok
    assert "in this project" in text
    ok, text = call_tool(
        project, "recall", {**arguments, "session": OTHER_PROJECT_SESSION, "all_projects": True}
    )
    assert ok
    assert text.startswith(f"{OTHER_PROJECT_SESSION}:L2")
    ok, text = call_tool(project, "recall", {"query": "jitter", "session": COLLEAGUE_SESSION})
    assert (ok, "team" in text) == (False, False), "the team must not be searched"


def test_a_reference_to_a_colleagues_session_is_shown(project: str, member: Terminal) -> None:
    for arguments in ({}, {"team": True}):
        ok, text = call_tool(project, "show", {"ref": f"{COLLEAGUE_SESSION}:L1", **arguments})
        assert ok
        assert text.startswith("the obelisk is in bin/obelisk.py")
        assert "another machine" in text
        ok, text = call_tool(project, "show", {"ref": f"{OTHER_PROJECT_SESSION}:L1", **arguments})
        assert not ok
        assert "in this project" in text
    assert call_tool(project, "show", {"ref": f"{OTHER_PROJECT_SESSION}:L1", "all_projects": True})[
        0
    ]


def test_the_team_option_without_a_team_is_an_error(project: str) -> None:
    for tool, arguments in (("recall", {"query": "jitter"}), ("show", {"ref": "L1"})):
        ok, text = call_tool(project, tool, {**arguments, "team": True})
        assert not ok
        assert "No team database is configured" in text


def test_an_unreachable_team_is_an_error_without_secrets(
    project: str, demo_terminal: Terminal
) -> None:
    demo_terminal.set_env(HOLDFAST_DATABASE="postgresql://ada:hunter2-secret@127.0.0.1:1/team")
    ok, text = call_tool(project, "recall", {"query": "jitter", "team": True})
    assert not ok
    assert "127.0.0.1:1" in text
    assert "hunter2" not in text
    assert call_tool(project, "recall", {"query": "jitter"})[0], "the local search must still work"


def test_a_real_server_process_searches_the_team(project: str, member: Terminal) -> None:
    arguments = {"query": "obelisk", "team": True, "all_projects": True}
    result = run_client(project, lambda client: client.call_tool("recall", arguments))
    assert f"{COLLEAGUE_SESSION}:L1" in result.content[0].text
