"""What sub-agents say last is kept by real hooks, and their parent's brief says where."""

from __future__ import annotations

import json

from holdfast.tokens.estimate import estimate_tokens

from .scene import Scene

AGENT = "a2e10f439110c5e49"
LONG = "\n".join(
    [
        "I searched for Queue.push with grep -rn.",
        "The caller that breaks is scripts/replay.py, which must pass keywords only.",
        *(f"- Routine remark number {n} about nothing in particular." for n in range(200)),
        "Decision: PROCEED.",
    ]
)


def stop(scene: Scene, text: str, agent: str = AGENT, kind: str = "Explore") -> None:
    fired = scene.fire("SubagentStop", agent_id=agent, agent_type=kind, last_assistant_message=text)
    assert fired.is_silent


def test_a_sub_agent_that_stops_leaves_a_handoff_and_its_whole_message(scene: Scene) -> None:
    scene.write(scene.demo.before)
    stop(scene, LONG)
    with scene.store() as store:
        (row,) = store.handoffs("s1")
    assert (row["agent"], row["agent_type"], row["decision"]) == (AGENT, "Explore", "PROCEED")
    assert row["task"] == "Find callers of Queue.push"
    assert row["raw"] == LONG
    assert row["tokens_after"] <= 500 < row["tokens_before"]
    summary = row["content"]["context_summary"]
    assert estimate_tokens(summary) == row["tokens_after"]
    assert "scripts/replay.py" in summary
    assert "grep" not in summary
    assert scene.log() == []


def test_the_parents_brief_names_the_handoff(scene: Scene) -> None:
    scene.write(scene.demo.before)
    stop(scene, "scripts/replay.py breaks on the first row. Decision: STOP.")
    with scene.store() as store:
        (row,) = store.handoffs("s1")
    scene.fire("PreCompact")
    brief = scene.fire("SessionStart", source="compact").brief
    (line,) = [line for line in brief.splitlines() if "handoff show" in line]
    assert line.startswith("- handed on (`holdfast handoff show ID`): ")
    assert f"{row['id']} Find callers of Queue.push (L151)" in line


def test_the_fork_that_compacts_is_not_a_sub_agent(scene: Scene) -> None:
    scene.write(scene.demo.before)
    scene.fire("PreCompact")
    scene.fire("SubagentStop", text=scene.demo.summary)
    with scene.store() as store:
        assert store.handoffs("s1") == []


def test_a_resumed_sub_agent_replaces_its_handoff(scene: Scene) -> None:
    scene.write(scene.demo.before)
    stop(scene, "Half of it.")
    stop(scene, json.dumps({"status": "done", "contextSummary": "All of it.", "decision": "go"}))
    stop(scene, "Another's.", agent="b1")
    with scene.store() as store:
        other, row = store.handoffs("s1")
    assert (row["content"]["context_summary"], row["status"]) == ("All of it.", "complete")
    assert other["agent"] == "b1"


def test_a_sub_agent_without_a_message_leaves_no_handoff(scene: Scene) -> None:
    scene.write(scene.demo.before)
    stop(scene, " \n")
    stop(scene, "words without a name", agent="")
    with scene.store() as store:
        assert store.handoffs("s1") == []
    assert scene.log() == []
