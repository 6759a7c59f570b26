"""Hooks store the last message of a sub-agent as a handoff, which its parent's brief names."""

from __future__ import annotations

import json

from holdfast.tokens.estimate import estimate_tokens

from .hook_session import HookSession

AGENT_ID = "a2e10f439110c5e49"
LONG_MESSAGE = "\n".join(
    [
        "I searched for Queue.push with grep -rn.",
        "The caller that breaks is scripts/replay.py, which must pass keywords only.",
        *(f"- Routine remark number {n} about nothing in particular." for n in range(200)),
        "Decision: PROCEED.",
    ]
)


def stop_agent(session: HookSession, message: str, agent: str = AGENT_ID) -> None:
    result = session.run_hook(
        "SubagentStop", agent_id=agent, agent_type="Explore", last_assistant_message=message
    )
    assert result.is_silent


def test_a_sub_agent_that_stops_leaves_a_handoff_and_its_whole_message(
    session: HookSession,
) -> None:
    session.write(session.demo.before)
    stop_agent(session, LONG_MESSAGE)
    with session.open_store() as store:
        (row,) = store.handoffs("s1")
    assert (row["agent"], row["agent_type"], row["decision"]) == (AGENT_ID, "Explore", "PROCEED")
    assert row["task"] == "Find callers of Queue.push"
    assert row["raw"] == LONG_MESSAGE
    assert row["tokens_after"] <= 500 < row["tokens_before"]
    summary = row["content"]["context_summary"]
    assert estimate_tokens(summary) == row["tokens_after"]
    assert "scripts/replay.py" in summary
    assert "grep" not in summary
    assert session.read_log() == []


def test_the_parents_brief_names_the_handoff(session: HookSession) -> None:
    session.write(session.demo.before)
    stop_agent(session, "scripts/replay.py breaks on the first row. Decision: STOP.")
    with session.open_store() as store:
        (row,) = store.handoffs("s1")
    session.run_hook("PreCompact")
    brief = session.run_hook("SessionStart", source="compact").brief
    (line,) = [line for line in brief.splitlines() if "handoff show" in line]
    assert line.startswith("- handed on (`holdfast handoff show ID`): ")
    assert f"{row['id']} Find callers of Queue.push (L151)" in line


def test_the_agent_that_writes_the_summary_leaves_no_handoff(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("PreCompact")
    session.run_hook("SubagentStop", text=session.demo.summary)
    with session.open_store() as store:
        assert store.handoffs("s1") == []


def test_a_resumed_sub_agent_replaces_its_handoff(session: HookSession) -> None:
    session.write(session.demo.before)
    stop_agent(session, "Half of it.")
    stop_agent(
        session, json.dumps({"status": "done", "contextSummary": "All of it.", "decision": "go"})
    )
    stop_agent(session, "Another's.", agent="b1")
    with session.open_store() as store:
        other, row = store.handoffs("s1")
    assert (row["content"]["context_summary"], row["status"]) == ("All of it.", "complete")
    assert other["agent"] == "b1"


def test_a_sub_agent_without_a_message_leaves_no_handoff(session: HookSession) -> None:
    session.write(session.demo.before)
    stop_agent(session, " \n")
    stop_agent(session, "a message without an agent id", agent="")
    with session.open_store() as store:
        assert store.handoffs("s1") == []
    assert session.read_log() == []
