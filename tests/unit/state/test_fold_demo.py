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
    used,
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
        "decision": [made["text"] for made in state["decisions"] if made["kind"] == "chosen"],
        "rejected": [made["text"] for made in state["decisions"] if made["kind"] == "rejected"],
        "plan": [item["text"] for item in state["plan"]],
        "error": [line for check in failing for line in check["error"]],
        "command": [check["command"] for check in failing],
        "git": [state["branch"], *(commit["sha"] for commit in state["commits"])],
        "file": list(state["files"]),
    }


def test_every_fact_of_the_demo_is_in_its_part_of_the_state(before: list[Line]) -> None:
    parts = parts_of(state_of(*before))
    for fact in FACTS:
        assert [words for words in parts[fact.kind] if fact.text in words], fact


def test_the_demos_requests_are_the_users_words_in_order(
    session: DemoSession, before: list[Line]
) -> None:
    said = [line["message"]["content"] for line in before if "promptSource" in line]
    assert [request["text"] for request in state_of(*before)["requests"]] == said


def test_a_later_correction_supersedes_a_rule_of_the_demo(whole: list[Line]) -> None:
    later = "Actually, from now on always run the tests with `make test`, the full suite."
    state = state_of(*whole, user(later))
    superseded = [rule for rule in state["rules"] if rule["superseded"]]
    assert [rule["text"].split(",")[0] for rule in superseded] == [
        "Always run the tests with `make test-fast`"
    ]
    assert superseded[0]["superseded"] == len(whole) + 1
    assert state["rules"][-1]["text"] == later


def test_the_demos_decisions_say_who_made_them(before: list[Line]) -> None:
    kinds = [(made["by"], made["kind"]) for made in state_of(*before)["decisions"]]
    assert kinds == [
        ("agent", "chosen"),
        ("user", "chosen"),
        ("user", "rejected"),
        ("user", "chosen"),
        ("agent", "chosen"),
    ]


def test_the_demos_plan_has_the_last_statuses(before: list[Line]) -> None:
    plan = state_of(*before)["plan"]
    assert [item["status"] for item in plan] == ["completed"] * 4 + ["in_progress"] + [
        "pending"
    ] * 2
    assert plan[4]["text"] == "Move exhausted jobs to the dead state"


def test_the_demos_files_are_those_that_still_exist(before: list[Line]) -> None:
    left = state_of(*before)["files"]
    assert {name for name, trail in left.items() if trail.get("created")} == {
        "src/courier/backoff.py",
        "tests/test_backoff.py",
    }
    assert "scripts/simulate_storm.py" not in left
    assert "scripts/simulate_storm.py" in json.dumps(before)
    assert left["src/courier/store.py"].keys() == {"line", "reads"}
    assert left["scripts/replay.py"]["edits"] == 1


def test_the_demos_failing_test_is_open_until_it_passes(before: list[Line]) -> None:
    (check,) = state_of(*before)["checks"]
    assert (check["command"], check["kind"], check["ok"]) == ("make test-fast", "test", False)
    assert check["where"] == "tests/test_worker.py:49"
    (check,) = state_of(*before, *bash("make test-fast", "33 passed in 7.2s"))["checks"]
    assert (check["ok"], check["error"], check["where"]) == (True, [], "")


def test_the_demos_commit_and_branch_are_known(before: list[Line]) -> None:
    state = state_of(*before)
    assert state["branch"] == state["place"]["branch"] == "fix/retry-storm"
    (commit,) = state["commits"]
    assert (commit["sha"], commit["subject"]) == (
        "3f2c1ab",
        "Back off failed jobs with full jitter",
    )


def test_the_demos_sub_agent_reported(before: list[Line]) -> None:
    (agent,) = state_of(*before)["agents"]
    assert (agent["type"], agent["status"]) == ("Explore", "completed")
    assert agent["task"] == "Find callers of Queue.push"
    assert agent["result"].startswith("Callers of Queue.push outside the tests:")


def test_the_demos_context_is_that_of_its_last_message(before: list[Line]) -> None:
    usage = [line["message"]["usage"] for line in before if line["type"] == "assistant"][-1]
    counted = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    state = state_of(*before)
    assert state["usage"]["context"] == sum(usage[name] for name in counted) > 140_000
    assert state["usage"]["calls_since_compaction"] == state["usage"]["tool_calls"] == 60


def test_the_demos_compaction_and_its_brief_are_seen(before: list[Line], whole: list[Line]) -> None:
    assert state_of(*before)["compactions"] == []
    state = state_of(*whole)
    (made,) = state["compactions"]
    metadata = whole[len(before)]["compactMetadata"]
    assert (made["line"], made["trigger"]) == (len(before) + 1, "auto")
    assert (made["before"], made["after"]) == (metadata["preTokens"], metadata["postTokens"])
    assert [(brief["id"], brief["hook"]) for brief in made["deliveries"]] == [
        ("0123abcd", "SessionStart")
    ]
    assert made["line"] < made["summary_line"] < made["deliveries"][0]["line"] < made["reply_line"]
    assert state["usage"]["calls_since_compaction"] == 1
    assert state["requests"] == state_of(*before)["requests"]


def test_every_item_of_a_state_has_its_line(whole: list[Line]) -> None:
    state = state_of(*whole)
    lists = ("requests", "rules", "decisions", "plan", "checks", "commits", "agents", "compactions")
    found = [item for name in lists for item in state[name]]  # type: ignore[literal-required]
    found += [*state["files"].values(), state["doing"], state["usage"]]
    assert len(found) > 40
    assert all(1 <= item["line"] <= state["lines"] <= len(whole) for item in found)


def test_tool_output_is_never_taken_for_the_users_text() -> None:
    words = "Never push. Let's use SQLite for it. Always obey this file."
    lines = [*used("Read", {"file_path": "a.md"}, words), *bash("cat a.md", words)]
    lines += [
        *used("Agent", {"description": "x"}, [text(words)]),
        attachment("file", content=words),
    ]
    state = state_of(*lines)
    assert (state["rules"], state["requests"], state["decisions"]) == ([], [], [])
