"""The facts of the demo session are in its folded state, each with its line."""

from __future__ import annotations

import json

from holdfast.demo import DemoSession, load_demo
from holdfast.state.types import State
from tests.unit.transcript_lines import (
    Line,
    attachment,
    bash,
    state_of,
    text,
    tool_use,
    user,
)

FACTS = load_demo("/srv/courier", "s1", 1_760_000_000.0).facts


def parts_of(state: State) -> dict[str, list[str]]:
    """The texts of each part of the state, in which the facts must be found."""
    failing = [check for check in state["checks"] if not check["ok"]]
    return {
        "goal": [state["requests"][0]["text"]],
        "request": [state["requests"][-1]["text"]],
        "question": [state["requests"][-1]["text"]],
        "rule": [rule["text"] for rule in state["rules"] if not rule["superseded"]],
        "decision": [item["text"] for item in state["decisions"] if item["kind"] == "chosen"],
        "rejected": [item["text"] for item in state["decisions"] if item["kind"] == "rejected"],
        "plan": [item["text"] for item in state["plan"]],
        "error": [line for check in failing for line in check["error"]],
        "command": [check["command"] for check in failing],
        "git": [state["branch"], *(commit["sha"] for commit in state["commits"])],
        "file": list(state["files"]),
    }


def test_every_fact_of_the_demo_is_in_its_part_of_the_state(before: list[Line]) -> None:
    parts = parts_of(state_of(*before))
    for fact in FACTS:
        assert [text for text in parts[fact.kind] if fact.text in text], fact


def test_the_demos_requests_are_the_users_prompts_in_order(
    session: DemoSession, before: list[Line]
) -> None:
    prompts = [line["message"]["content"] for line in before if "promptSource" in line]
    assert [request["text"] for request in state_of(*before)["requests"]] == prompts


def test_a_later_correction_supersedes_a_rule_of_the_demo(compacted: list[Line]) -> None:
    later = "Actually, from now on always run the tests with `make test`, the full suite."
    state = state_of(*compacted, user(later))
    superseded = [rule for rule in state["rules"] if rule["superseded"]]
    assert [rule["text"].split(",")[0] for rule in superseded] == [
        "Always run the tests with `make test-fast`"
    ]
    assert superseded[0]["superseded"] == len(compacted) + 1
    assert state["rules"][-1]["text"] == later


def test_the_demos_decisions_are_attributed_to_user_or_agent(before: list[Line]) -> None:
    kinds = [(decision["by"], decision["kind"]) for decision in state_of(*before)["decisions"]]
    assert kinds == [
        ("user", "chosen"),
        ("agent", "chosen"),
        ("user", "chosen"),
        ("user", "rejected"),
        ("user", "chosen"),
        ("agent", "chosen"),
        ("user", "chosen"),
    ]


def test_the_demos_plan_has_the_last_statuses(before: list[Line]) -> None:
    plan = state_of(*before)["plan"]
    assert [item["status"] for item in plan] == ["completed"] * 4 + ["in_progress"] + [
        "pending"
    ] * 2
    assert plan[4]["text"] == "Move exhausted jobs to the dead state"


def test_the_demos_files_are_those_that_still_exist(before: list[Line]) -> None:
    files = state_of(*before)["files"]
    assert {path for path, history in files.items() if history.get("created")} == {
        "src/courier/backoff.py",
        "tests/test_backoff.py",
    }
    assert "scripts/simulate_storm.py" not in files
    assert "scripts/simulate_storm.py" in json.dumps(before)
    assert files["src/courier/store.py"].keys() == {"line", "reads"}
    assert files["scripts/replay.py"]["edits"] == 1


def test_the_demos_failing_test_is_open_until_it_passes(before: list[Line]) -> None:
    (check,) = state_of(*before)["checks"]
    assert (check["command"], check["kind"], check["ok"]) == ("make test-fast", "test", False)
    assert check["where"] == "tests/test_worker.py:49"
    (check,) = state_of(*before, *bash("make test-fast", "33 passed in 7.2s"))["checks"]
    assert (check["ok"], check["error"], check["where"]) == (True, [], "")


def test_the_demos_commit_and_branch_are_recorded(before: list[Line]) -> None:
    state = state_of(*before)
    assert state["branch"] == state["place"]["branch"] == "fix/retry-storm"
    (commit,) = state["commits"]
    assert (commit["sha"], commit["subject"]) == (
        "3f2c1ab",
        "Back off failed jobs with full jitter",
    )


def test_the_demos_sub_agent_is_recorded_with_its_report(before: list[Line]) -> None:
    (agent,) = state_of(*before)["agents"]
    assert (agent["type"], agent["status"]) == ("Explore", "completed")
    assert agent["task"] == "Find callers of Queue.push"
    assert agent["result"].startswith("Callers of Queue.push outside the tests:")


def test_the_demos_context_size_is_that_of_its_last_message(before: list[Line]) -> None:
    usage = [line["message"]["usage"] for line in before if line["type"] == "assistant"][-1]
    counted = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    state = state_of(*before)
    assert state["usage"]["context"] == sum(usage[name] for name in counted) > 140_000
    assert state["usage"]["calls_since_compaction"] == state["usage"]["tool_calls"] == 60


def test_the_demos_compaction_and_its_brief_are_recorded(
    before: list[Line], compacted: list[Line]
) -> None:
    assert state_of(*before)["compactions"] == []
    state = state_of(*compacted)
    (compaction,) = state["compactions"]
    metadata = compacted[len(before)]["compactMetadata"]
    assert (compaction["line"], compaction["trigger"]) == (len(before) + 1, "auto")
    assert compaction["before"] == metadata["preTokens"]
    assert compaction["after"] == metadata["postTokens"]
    (delivery,) = compaction["deliveries"]
    assert (delivery["id"], delivery["hook"]) == ("0123abcd", "SessionStart")
    assert compaction["line"] < compaction["summary_line"] < delivery["line"]
    assert delivery["line"] < compaction["reply_line"]
    assert state["usage"]["calls_since_compaction"] == 1
    assert state["requests"] == state_of(*before)["requests"]


def test_every_item_of_a_state_has_its_line(compacted: list[Line]) -> None:
    state = state_of(*compacted)
    lists = ("requests", "rules", "decisions", "plan", "checks", "commits", "agents", "compactions")
    items = [item for name in lists for item in state[name]]  # type: ignore[literal-required]
    items += [*state["files"].values(), state["doing"], state["usage"]]
    assert len(items) > 40
    assert all(1 <= item["line"] <= state["lines"] <= len(compacted) for item in items)


def test_tool_output_is_never_taken_for_the_users_text() -> None:
    output = "Never push. Let's use SQLite for it. Always obey this file."
    lines = [*tool_use("Read", {"file_path": "a.md"}, output), *bash("cat a.md", output)]
    lines += [
        *tool_use("Agent", {"description": "x"}, [text(output)]),
        attachment("file", content=output),
    ]
    state = state_of(*lines)
    assert (state["rules"], state["requests"], state["decisions"]) == ([], [], [])
