"""The MCP server of a machine that has a team, asked by the SDK's own client."""

from __future__ import annotations

from typing import Any

from tests.process.test_mcp import ask_process
from tests.terminal import Terminal
from tests.unit.surfaces.test_mcp import call

from .colleagues import FOREIGN, THEIRS


def test_what_colleagues_sent_is_found_when_asked_for(project: str, member: Terminal) -> None:
    assert call(project, "recall", {"query": "obelisk"}) == (True, "Nothing found.")
    ok, text = call(project, "recall", {"query": "obelisk", "team": True})
    assert ok
    assert text.startswith(f"{THEIRS}:L1 prompt")
    assert "bin/obelisk.py" in text
    assert FOREIGN not in text
    assert "another machine" in text
    everywhere = {"query": "obelisk", "team": True, "all_projects": True}
    assert FOREIGN in call(project, "recall", everywhere)[1]


def test_a_colleague_s_session_is_asked_within_the_project(project: str, member: Terminal) -> None:
    asked: dict[str, Any] = {"query": "jitter", "team": True}
    assert call(project, "recall", {**asked, "session": THEIRS})[1].startswith(f"{THEIRS}:L2")
    ok, text = call(project, "recall", {**asked, "session": FOREIGN})
    assert not ok
    assert "in this project" in text
    ok, text = call(project, "recall", {**asked, "session": FOREIGN, "all_projects": True})
    assert ok
    assert text.startswith(f"{FOREIGN}:L2")
    ok, text = call(project, "recall", {"query": "jitter", "session": THEIRS})
    assert (ok, "team" in text) == (False, False), "nobody asked the team"


def test_a_colleague_s_ref_opens(project: str, member: Terminal) -> None:
    for asked in ({}, {"team": True}):
        ok, text = call(project, "show", {"ref": f"{THEIRS}:L1", **asked})
        assert ok
        assert text.startswith("the obelisk stands at bin/obelisk.py")
        assert "another machine" in text
        ok, text = call(project, "show", {"ref": f"{FOREIGN}:L1", **asked})
        assert not ok
        assert "in this project" in text
    assert call(project, "show", {"ref": f"{FOREIGN}:L1", "all_projects": True})[0]


def test_without_a_team_there_is_none_to_ask(project: str) -> None:
    for tool, given in (("recall", {"query": "jitter"}), ("show", {"ref": "L1"})):
        ok, text = call(project, tool, {**given, "team": True})
        assert not ok
        assert "no team is named" in text


def test_a_team_that_is_away_is_an_answer_and_tells_no_secret(
    project: str, seasoned: Terminal
) -> None:
    seasoned.set(HOLDFAST_DATABASE="postgresql://ada:hunter2-secret@127.0.0.1:1/team")
    ok, text = call(project, "recall", {"query": "jitter", "team": True})
    assert not ok
    assert "127.0.0.1:1" in text
    assert "hunter2" not in text
    assert call(project, "recall", {"query": "jitter"})[0], "here nothing has changed"


def test_a_real_server_process_asks_the_team(project: str, member: Terminal) -> None:
    asked = {"query": "obelisk", "team": True, "all_projects": True}
    result = ask_process(project, lambda client: client.call_tool("recall", asked))
    assert f"{THEIRS}:L1" in result.content[0].text
