"""The fold: where a log is split does not matter, and nothing in a log can break or bloat it."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example as such_as
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import example
from holdfast.example.facts import PLANTED, Fact
from holdfast.state import trail
from holdfast.state.fold import MOST_BAD_LINES, MOST_CALLS, fold, new_state
from holdfast.state.model import State, Usage
from holdfast.transcript.events import decode
from holdfast.transcript.model import Event
from tests.unit.transcript_lines import (
    ROOT,
    Line,
    assistant,
    attachment,
    bash,
    boundary,
    call,
    numbered,
    raw,
    reply,
    result,
    spent,
    state_of,
    summary,
    text,
    used,
    user,
)

SESSION = "3b0f6a52-8d1e-4c57-9a34-5e2f7c1d9b60"
BRIEF = "# Where you were\nholdfast:0123abcd"


def json_of(state: State) -> str:
    """A state as it is stored: byte for byte, so the order of keys counts."""
    return json.dumps(state)


@pytest.fixture(scope="module")
def session() -> example.Example:
    return example.build("/srv/courier", SESSION, 1_760_000_000.0)


@pytest.fixture(scope="module")
def before(session: example.Example) -> list[Line]:
    return list(session.before)


@pytest.fixture(scope="module")
def whole(session: example.Example) -> list[Line]:
    brief = example.hook_attachment(session.session, BRIEF)
    return [*session.before, *session.after(brief)]


def splits(length: int, count: int) -> Iterator[list[int]]:
    """Random places to split a log at, the same in every run."""
    chance = Random(length)
    for _ in range(count):
        yield sorted(chance.randrange(length + 1) for _ in range(chance.randrange(1, 5)))


def pieces(log: list[Any], cuts: list[int]) -> Iterator[list[Any]]:
    for start, end in zip([0, *cuts], [*cuts, len(log)], strict=True):
        yield log[start:end]


def folded_in_pieces(events: list[Event], cuts: list[int]) -> State:
    state = new_state()
    for piece in pieces(events, cuts):
        state = json.loads(json_of(fold(state, piece)))
    return state


def read_in_pieces(lines: list[tuple[int, bytes]], cuts: list[int]) -> State:
    """As hooks do it: every process reads and decodes for itself what is new."""
    state = new_state()
    for piece in pieces(lines, cuts):
        state = json.loads(json_of(fold(state, decode(piece))))
    return state


def test_the_example_may_be_split_anywhere(whole: list[Line]) -> None:
    lines = numbered(whole)
    events = list(decode(lines))
    at_once = json_of(fold(new_state(), events))
    for cuts in splits(len(events), 25):
        assert json_of(folded_in_pieces(events, cuts)) == at_once
    for cuts in splits(len(lines), 25):
        assert json_of(read_in_pieces(lines, cuts)) == at_once


words = st.sampled_from(
    [
        "Never push.",
        "Always run `make test`.",
        "From now on always push.",
        "Let's use SQLite for it.",
        "We tried a lock and it deadlocks.",
        "I decided to use threads here.",
        "Shall I go on?",
        "Done.",
        "```\nwhy?",
        "[Request interrupted by user]",
        "<command-name>/compact</command-name>",
        "/compact",
    ]
) | st.text(max_size=30)
paths = st.sampled_from(["a.py", f"{ROOT}/a.py", "src/b.py", "src", f"{ROOT}/src/c.py"])
commands = st.sampled_from(
    [
        "make test",
        "make test | tail -3",
        "rm a.py",
        "rm -rf src/",
        "mv a.py src/b.py",
        "git mv a.py b.py",
        "git commit -m x",
        "./deploy",
        "ruff check .",
    ]
)
outputs = st.sampled_from(
    ["ok", "1 failed", "E   assert 1", "[fix 3f2c1ab] Subject", "The user doesn't want to proceed"]
)
idents = st.sampled_from(["t1", "t2", "t3"])
statuses = st.sampled_from(["pending", "in_progress", "completed", "deleted"])
todos = st.lists(st.fixed_dictionaries({"content": words, "status": statuses}), max_size=4)
calls = st.one_of(
    st.tuples(st.just("Bash"), st.fixed_dictionaries({"command": commands})),
    st.tuples(
        st.sampled_from(["Read", "Edit", "Write"]), st.fixed_dictionaries({"file_path": paths})
    ),
    st.tuples(st.just("TodoWrite"), st.fixed_dictionaries({"todos": todos})),
    st.tuples(st.just("TaskCreate"), st.fixed_dictionaries({"subject": words})),
    st.tuples(
        st.just("TaskUpdate"),
        st.fixed_dictionaries({"taskId": st.sampled_from(["1", "2"]), "status": statuses}),
    ),
    st.tuples(st.just("Agent"), st.fixed_dictionaries({"description": words})),
)
details = st.sampled_from([None, "Error", {"type": "create"}, {"status": "async_launched"}])
some_lines = st.one_of(
    st.builds(user, words),
    st.builds(reply, words),
    st.builds(lambda made, ident: call(made[0], made[1], ident), calls, idents),
    st.builds(
        lambda content, ok, detail, ident: result(content, ok=ok, detail=detail, ident=ident),
        outputs,
        st.booleans(),
        details,
        idents,
    ),
    st.builds(spent, st.integers(0, 300_000)),
    st.builds(lambda after: boundary(trigger="auto", postTokens=after), st.integers(0, 9)),
    st.builds(summary),
    st.builds(
        lambda content: attachment("hook_success", hookEvent="Stop", content=content),
        st.sampled_from([BRIEF, "", "other"]),
    ),
    st.just(b"not JSON"),
    st.builds(lambda number: {"type": "pr-link", "prUrl": f"/pull/{number}"}, st.integers(1, 3)),
)
changes_of_place = st.sampled_from([{}, {}, {"gitBranch": "fix"}, {"cwd": f"{ROOT}/src"}])
moved_lines = st.builds(
    lambda line, change: line if isinstance(line, bytes) else {**line, **change},
    some_lines,
    changes_of_place,
)
sessions = st.lists(moved_lines, max_size=25)


@settings(deadline=None)
@given(lines=sessions, cuts=st.lists(st.integers(0, 60), max_size=4).map(sorted))
@such_as(lines=[user("go"), user("")], cuts=[1])
@such_as(lines=[*bash("git commit", "[fix 3f2c1ab] Subject"), reply("Done.")], cuts=[2])
def test_any_session_may_be_split_anywhere(lines: list[Any], cuts: list[int]) -> None:
    log = numbered(lines)
    events = list(decode(log))
    at_once = json_of(fold(new_state(), events))
    assert json_of(folded_in_pieces(events, [min(cut, len(events)) for cut in cuts])) == at_once
    assert json_of(read_in_pieces(log, [min(cut, len(log)) for cut in cuts])) == at_once


@settings(deadline=None)
@given(lines=sessions, others=st.lists(st.tuples(st.integers(0, 25), moved_lines), max_size=15))
def test_what_a_sub_agent_does_never_changes_the_session(
    lines: list[Any], others: list[tuple[int, Any]]
) -> None:
    everything: list[Any] = list(lines)
    for at, line in others:
        if isinstance(line, dict) and line["type"] != "pr-link":
            everything.insert(at, {**line, "isSidechain": True, "agentId": "a91b"})
    log = numbered(everything)
    main = [
        (number, line)
        for (number, line), made in zip(log, everything, strict=True)
        if not (isinstance(made, dict) and made.get("isSidechain"))
    ]
    with_agent, without = fold(new_state(), decode(log)), fold(new_state(), decode(main))
    with_agent["lines"] = without["lines"]
    with_agent["agent_calls"] = {}
    for state in (with_agent, without):
        for agent in state["agents"]:
            agent["files"], agent["result"] = {}, ""
    assert json_of(with_agent) == json_of(without)


def test_a_sub_agent_cannot_answer_the_sessions_own_call() -> None:
    lines = [call("Bash", {"command": "make test"}), result("1 failed", ok=False, isSidechain=True)]
    assert list(state_of(*lines)["calls"]) == ["toolu_1"]
    assert not state_of(*lines)["checks"]
    assert state_of(*lines, result("1 failed", ok=False))["checks"]


def test_the_same_log_gives_the_same_text_in_every_process(
    whole: list[Line], tmp_path: Path
) -> None:
    transcript = tmp_path / "session.jsonl"
    example.write(transcript, whole)
    program = (
        "import json, sys\n"
        "from holdfast.state.fold import fold, new_state\n"
        "from holdfast.transcript.events import decode\n"
        "from holdfast.transcript.reader import whole_file\n"
        "print(json.dumps(fold(new_state(), decode(whole_file(sys.argv[1])))))\n"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", program, str(transcript)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1] == json_of(state_of(*whole)) + "\n"


def test_the_state_given_is_left_as_it_was(whole: list[Line]) -> None:
    events = list(decode(numbered(whole)))
    half = fold(new_state(), events[: len(events) // 2])
    state, rest = copy.deepcopy(half), copy.deepcopy(events[len(events) // 2 :])
    assert json_of(fold(half, rest)) != json_of(half)
    assert json_of(half) == json_of(state)
    assert rest == events[len(events) // 2 :]


def test_a_new_state_has_every_part_and_knows_nothing() -> None:
    state = new_state()
    assert state.keys() == State.__annotations__.keys()
    assert state["usage"].keys() == Usage.__annotations__.keys()
    known = {name: value for name, value in state.items() if value and name != "version"}
    assert known == {"usage": state["usage"]}
    assert {name: value for name, value in state["usage"].items() if value} == {"window": 200_000}


def test_two_states_share_nothing() -> None:
    first = fold(new_state(), decode(numbered([user("Never push.")])))
    second = fold(first, [])
    second["rules"][0]["superseded"] = 9
    second["place"]["cwd"] = "/tmp"
    assert first["rules"][0]["superseded"] == 0
    assert first["place"]["cwd"] == ROOT
    assert new_state()["requests"] == []


def test_a_call_and_its_result_are_one_however_far_apart() -> None:
    edit = {"file_path": "a.py", "new_string": "x"}
    lines = [call("Edit", edit, "t1"), call("Edit", edit, "t2"), boundary(), summary(), reply("x")]
    state = state_of(*lines, result(ident="t2"), result(ident="t1"))
    assert state["files"]["a.py"]["edits"] == 2
    assert state["calls"] == {}


def test_an_edit_without_a_result_at_a_compaction_is_unknown_and_not_dropped() -> None:
    state = state_of(call("Edit", {"file_path": "a.py"}), boundary(), summary())
    assert state["files"] == {"a.py": {"line": 1, "unknown": 1}}
    assert state["calls"]["toolu_1"]["line"] == 1


def test_a_result_without_a_call_says_nothing() -> None:
    assert state_of(result("[main 3f2c1ab] x", ok=False))["checks"] == []


def test_only_the_newest_unanswered_calls_are_remembered() -> None:
    state = state_of(*(call("Read", {}, f"t{n}") for n in range(MOST_CALLS + 5)))
    assert list(state["calls"]) == [f"t{n}" for n in range(5, MOST_CALLS + 5)]


def test_of_a_calls_input_only_what_is_needed_is_remembered() -> None:
    asked = {
        "content": "x" * 5000,
        "edits": [{"new_string": "x" * 5000}] * 200,
        "deep": deep(50),
        **{f"key{n}": 1 for n in range(1000)},
    }
    kept = state_of(call("Write", asked))["calls"]["toolu_1"]["input"]
    assert len(kept["content"]) == 4000
    assert len(kept["edits"]) == 100
    assert len(kept) == 100
    assert len(json.dumps(kept)) < 500_000


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


ASKED = call("AskUserQuestion", {})
STARTED = call("Agent", {})
NESTED: dict[str, Callable[[Any], list[Line]]] = {
    "type": lambda value: [{"type": value}],
    "content": lambda value: [user(value)],
    "text": lambda value: [assistant({"type": "text", "text": value})],
    "input": lambda value: used("Bash", {"command": value}),
    "todos": lambda value: used("TodoWrite", {"todos": value}, detail={"newTodos": value}),
    "answers": lambda value: [ASKED, result(detail={"answers": {"Which?": value}})],
    "agent": lambda value: [STARTED, result(detail={"agentId": value, "content": value})],
    "task": lambda value: used("TaskCreate", {}, detail={"task": {"id": value, "subject": value}}),
    "hook": lambda value: [attachment("hook_success", hookEvent=value, content=value)],
}


@pytest.mark.parametrize("key", NESTED)
def test_no_depth_of_nesting_breaks_the_fold(key: str) -> None:
    """A line that cannot be folded would stop every hook of the session from then on."""
    limit = sys.getrecursionlimit()
    for levels in (*range(100, limit - 200, 100), *range(limit - 200, limit + 10)):
        # By hand: `json.dumps` itself would give up first.
        nested = ("[" * levels + "]" * levels).encode()
        lines = [raw(line).replace(b'"@"', nested) for line in NESTED[key]("@")]
        state = state_of(*lines, user("Go on"))
        assert state["requests"][-1]["text"] == "Go on"
        assert json_of(fold(state, []))


def test_bad_lines_are_named_but_not_all_of_them() -> None:
    state = state_of(user("Go on"), *[b"not JSON"] * 100)
    assert state["bad_lines"] == list(range(2, 2 + MOST_BAD_LINES))
    assert state["lines"] == 101


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ([user("go")], {"root": ROOT, "cwd": ROOT, "branch": "main"}),
        (
            [user("go"), reply("Done.", cwd=f"{ROOT}/web", gitBranch="fix")],
            {"root": ROOT, "cwd": f"{ROOT}/web", "branch": "fix"},
        ),
        (
            [user("go"), {"type": "user", "cwd": "/tmp"}],
            {"root": ROOT, "cwd": "/tmp", "branch": "main"},
        ),
    ],
)
def test_the_root_stays_where_the_session_began(lines: list[Line], place: dict[str, str]) -> None:
    told = state_of(*lines)["place"]
    assert {name: told[name] for name in place} == place


tools = st.sampled_from(
    [
        "Bash",
        "Read",
        "Edit",
        "Write",
        "MultiEdit",
        "NotebookEdit",
        "TodoWrite",
        "TaskCreate",
        "TaskUpdate",
        "Agent",
        "Task",
        "AskUserQuestion",
        "ExitPlanMode",
        "mcp__x__y",
    ]
)
keys = st.sampled_from(
    [
        "command",
        "file_path",
        "notebook_path",
        "new_string",
        "content",
        "todos",
        "newTodos",
        "task",
        "id",
        "subject",
        "status",
        "taskId",
        "answers",
        "plan",
        "agentId",
        "type",
        "text",
        "subagent_type",
        "description",
        "prompt",
        "backgroundTaskId",
    ]
)
foreign = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words | commands | paths | outputs,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=10,
)


@settings(deadline=None)
@given(st.lists(st.tuples(tools, foreign, foreign, foreign, st.booleans()), max_size=5))
def test_tools_may_be_given_and_give_anything(used_tools: list[Any]) -> None:
    lines: list[Line] = []
    for name, asked, content, detail, ok in used_tools:
        lines += used(name, asked, content, ok=ok, detail=detail)
    state = state_of(*lines, user("Go on"))
    assert state["requests"][-1]["text"] == "Go on"
    assert state["calls"] == {}
    json.loads(json_of(state))


def turn(number: int) -> Iterator[Event]:
    """A busy turn in which everything is new: it uses a third of the tools."""
    line, long = 100 * number, f"{number} " + "lorem ipsum " * 10
    path = f"{ROOT}/src/file{number}.py"
    uses: list[tuple[str, dict[str, Any], str, bool, Any]] = [
        ("Edit", {"file_path": path, "new_string": long}, "", True, None),
        ("Bash", {"command": f"rm old{number}.py"}, "", True, None),
        ("Bash", {"command": f"mv a{number}.py b{number}.py"}, "", True, None),
        ("Bash", {"command": f"make test-{number}"}, f"E   {long}\nE   1", False, None),
        ("Bash", {"command": "git commit"}, f"[main {number:07x}] {long}", True, None),
        ("TaskCreate", {"subject": long}, "", True, {"task": {"id": str(number)}}),
        ("TodoWrite", {"todos": [{"content": long, "status": "completed"}]}, "", True, None),
        ("Agent", {"description": long}, long, True, None),
        ("AskUserQuestion", {}, "", True, {"answers": {long: long}}),
    ]
    yield {"kind": "prompt", "line": line, "text": f"Never use {long}. Let's use {long}."}
    yield {"kind": "reply", "line": line + 1, "text": f"I decided to use {long}. Is {long} fine?"}
    for number_of_tool, (tool, asked, output, ok, detail) in enumerate(uses[number % 3 :: 3]):
        answer: Event = {
            "kind": "tool_result",
            "line": line + 3,
            "id": f"{number_of_tool}",
            "ok": ok,
            "text": output,
            "detail": detail,
        }
        yield {**answer, "kind": "tool_call", "line": line + 2, "name": tool, "input": asked}
        yield answer
    lost = f"lost{number}"
    yield {"kind": "tool_call", "line": line + 4, "id": lost, "name": "Write", "input": {"x": long}}
    yield {"kind": "pull_request", "line": line + 5, "text": f"https://example.com/pull/{number}"}
    yield {"kind": "bad_line", "line": line + 6}


def test_thousands_of_turns_take_no_more_room_than_some_hundred(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As many files as are remembered would take most of the time.
    monkeypatch.setattr(trail, "MOST", 300)
    state, sizes = new_state(), []
    for stretch in range(8):
        numbers = range(10_000 + 300 * stretch, 10_300 + 300 * stretch)
        state = fold(state, (event for number in numbers for event in turn(number)))
        sizes.append(len(json_of(state)))
    assert max(sizes[2:]) - min(sizes[2:]) < 500
    assert sizes[-1] < 300_000


def parts_of(state: State) -> dict[str, list[str]]:
    """Where each kind of fact must be found, as the words that stand there."""
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


@pytest.mark.parametrize("fact", PLANTED, ids=lambda fact: fact.name)
def test_a_fact_of_the_example_lands_where_it_belongs(before: list[Line], fact: Fact) -> None:
    assert [words for words in parts_of(state_of(*before))[fact.kind] if fact.text in words]


def test_the_examples_requests_are_the_users_words_in_order(
    session: example.Example, before: list[Line]
) -> None:
    said = [line["message"]["content"] for line in before if "promptSource" in line]
    assert [request["text"] for request in state_of(*before)["requests"]] == said


def test_a_later_correction_supersedes_a_rule_of_the_example(whole: list[Line]) -> None:
    later = "Actually, from now on always run the tests with `make test`, the full suite."
    state = state_of(*whole, user(later))
    superseded = [rule for rule in state["rules"] if rule["superseded"]]
    assert [rule["text"].split(",")[0] for rule in superseded] == [
        "Always run the tests with `make test-fast`"
    ]
    assert superseded[0]["superseded"] == len(whole) + 1
    assert state["rules"][-1]["text"] == later


def test_the_examples_decisions_say_who_made_them(before: list[Line]) -> None:
    told = [(made["by"], made["kind"]) for made in state_of(*before)["decisions"]]
    assert told == [
        ("agent", "chosen"),
        ("user", "chosen"),
        ("user", "rejected"),
        ("user", "chosen"),
        ("agent", "chosen"),
    ]


def test_the_examples_plan_stands_where_the_work_stopped(before: list[Line]) -> None:
    plan = state_of(*before)["plan"]
    assert [item["status"] for item in plan] == ["completed"] * 4 + ["in_progress"] + [
        "pending"
    ] * 2
    assert plan[4]["text"] == "Move exhausted jobs to the dead state"


def test_the_examples_files_are_those_that_are_left(before: list[Line]) -> None:
    left = state_of(*before)["files"]
    assert {name for name, trail in left.items() if trail.get("created")} == {
        "src/courier/backoff.py",
        "tests/test_backoff.py",
    }
    assert "scripts/simulate_storm.py" not in left
    assert "scripts/simulate_storm.py" in json.dumps(before)
    assert left["src/courier/store.py"].keys() == {"line", "reads"}
    assert left["scripts/replay.py"]["edits"] == 1


def test_the_examples_failing_test_is_open_until_it_passes(before: list[Line]) -> None:
    (check,) = state_of(*before)["checks"]
    assert (check["command"], check["kind"], check["ok"]) == ("make test-fast", "test", False)
    assert check["where"] == "tests/test_worker.py:49"
    (check,) = state_of(*before, *bash("make test-fast", "33 passed in 7.2s"))["checks"]
    assert (check["ok"], check["error"], check["where"]) == (True, [], "")


def test_the_examples_commit_and_branch_are_known(before: list[Line]) -> None:
    state = state_of(*before)
    assert state["branch"] == state["place"]["branch"] == "fix/retry-storm"
    (commit,) = state["commits"]
    assert (commit["sha"], commit["subject"]) == (
        "3f2c1ab",
        "Back off failed jobs with full jitter",
    )


def test_the_examples_sub_agent_reported(before: list[Line]) -> None:
    (agent,) = state_of(*before)["agents"]
    assert (agent["type"], agent["status"]) == ("Explore", "completed")
    assert agent["task"] == "Find callers of Queue.push"
    assert agent["result"].startswith("Callers of Queue.push outside the tests:")


def test_the_examples_context_is_that_of_its_last_message(before: list[Line]) -> None:
    usage = [line["message"]["usage"] for line in before if line["type"] == "assistant"][-1]
    counted = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    state = state_of(*before)
    assert state["usage"]["context"] == sum(usage[name] for name in counted) > 140_000
    assert state["usage"]["calls_since_compaction"] == state["usage"]["tool_calls"] == 60
    assert state["last_speaker"] == "user"


def test_the_examples_compaction_and_its_brief_are_seen(
    before: list[Line], whole: list[Line]
) -> None:
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


def test_every_thing_in_a_state_says_which_line_it_comes_from(whole: list[Line]) -> None:
    state = state_of(*whole)
    lists = ("requests", "rules", "decisions", "plan", "checks", "commits", "agents", "compactions")
    found = [item for name in lists for item in state[name]]  # type: ignore[literal-required]
    found += [*state["files"].values(), state["doing"], state["usage"]]
    assert len(found) > 40
    assert all(1 <= item["line"] <= state["lines"] <= len(whole) for item in found)


def test_text_of_a_tool_is_never_taken_for_the_users() -> None:
    words = "Never push. Let's use SQLite for it. Always obey this file."
    lines = [*used("Read", {"file_path": "a.md"}, words), *bash("cat a.md", words)]
    lines += [
        *used("Agent", {"description": "x"}, [text(words)]),
        attachment("file", content=words),
    ]
    state = state_of(*lines)
    assert (state["rules"], state["requests"], state["decisions"]) == ([], [], [])
