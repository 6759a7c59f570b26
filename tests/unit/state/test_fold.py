"""The fold is pure: splitting a log changes no result, and the given state is not modified."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.demo import append_lines
from holdfast.state.fold import fold, new_state
from holdfast.state.types import ContextUsage, State
from holdfast.transcript.decoder import decode
from tests.unit.state.folding import (
    BRIEF,
    commands,
    decode_and_fold_in_pieces,
    fold_in_pieces,
    generate_splits,
    outputs,
    paths,
    texts,
    to_json,
)
from tests.unit.transcript_lines import (
    ROOT,
    Line,
    attachment,
    bash,
    boundary,
    call,
    numbered,
    reply,
    result,
    state_of,
    summary,
    usage_line,
    user,
)


def test_splitting_the_demo_anywhere_gives_the_same_state(compacted: list[Line]) -> None:
    lines = numbered(compacted)
    events = list(decode(lines))
    folded_whole = to_json(fold(new_state(), events))
    for cuts in generate_splits(len(events), 25):
        assert to_json(fold_in_pieces(events, cuts)) == folded_whole
    for cuts in generate_splits(len(lines), 25):
        assert to_json(decode_and_fold_in_pieces(lines, cuts)) == folded_whole


call_ids = st.sampled_from(["t1", "t2", "t3"])
statuses = st.sampled_from(["pending", "in_progress", "completed", "deleted"])
todos = st.lists(st.fixed_dictionaries({"content": texts, "status": statuses}), max_size=4)
calls = st.one_of(
    st.tuples(st.just("Bash"), st.fixed_dictionaries({"command": commands})),
    st.tuples(
        st.sampled_from(["Read", "Edit", "Write"]), st.fixed_dictionaries({"file_path": paths})
    ),
    st.tuples(st.just("TodoWrite"), st.fixed_dictionaries({"todos": todos})),
    st.tuples(st.just("TaskCreate"), st.fixed_dictionaries({"subject": texts})),
    st.tuples(
        st.just("TaskUpdate"),
        st.fixed_dictionaries({"taskId": st.sampled_from(["1", "2"]), "status": statuses}),
    ),
    st.tuples(st.just("Agent"), st.fixed_dictionaries({"description": texts})),
)
details = st.sampled_from([None, "Error", {"type": "create"}, {"status": "async_launched"}])
any_line = st.one_of(
    st.builds(user, texts),
    st.builds(reply, texts),
    st.builds(lambda tool_call, ident: call(tool_call[0], tool_call[1], ident), calls, call_ids),
    st.builds(
        lambda content, ok, detail, ident: result(content, ok=ok, detail=detail, call_id=ident),
        outputs,
        st.booleans(),
        details,
        call_ids,
    ),
    st.builds(usage_line, st.integers(0, 300_000)),
    st.builds(lambda after: boundary(trigger="auto", postTokens=after), st.integers(0, 9)),
    st.builds(summary),
    st.builds(
        lambda content: attachment("hook_success", hookEvent="Stop", content=content),
        st.sampled_from([BRIEF, "", "other"]),
    ),
    st.just(b"not JSON"),
    st.builds(lambda number: {"type": "pr-link", "prUrl": f"/pull/{number}"}, st.integers(1, 3)),
)
place_changes = st.sampled_from([{}, {}, {"gitBranch": "fix"}, {"cwd": f"{ROOT}/src"}])
lines_in_places = st.builds(
    lambda line, change: line if isinstance(line, bytes) else {**line, **change},
    any_line,
    place_changes,
)
sessions = st.lists(lines_in_places, max_size=25)


@settings(deadline=None)
@given(lines=sessions, cuts=st.lists(st.integers(0, 60), max_size=4).map(sorted))
@example(lines=[user("go"), user("")], cuts=[1])
@example(lines=[*bash("git commit", "[fix 3f2c1ab] Subject"), reply("Done.")], cuts=[2])
def test_splitting_any_session_anywhere_gives_the_same_state(
    lines: list[Any], cuts: list[int]
) -> None:
    log = numbered(lines)
    events = list(decode(log))
    folded_whole = to_json(fold(new_state(), events))
    assert to_json(fold_in_pieces(events, [min(cut, len(events)) for cut in cuts])) == folded_whole
    assert (
        to_json(decode_and_fold_in_pieces(log, [min(cut, len(log)) for cut in cuts]))
        == folded_whole
    )


@settings(deadline=None)
@given(
    lines=sessions,
    agent_lines=st.lists(st.tuples(st.integers(0, 25), lines_in_places), max_size=15),
)
def test_lines_of_a_sub_agent_never_change_the_state_of_the_session(
    lines: list[Any], agent_lines: list[tuple[int, Any]]
) -> None:
    all_lines: list[Any] = list(lines)
    for position, line in agent_lines:
        if isinstance(line, dict) and line["type"] != "pr-link":
            all_lines.insert(position, {**line, "isSidechain": True, "agentId": "a91b"})
    log = numbered(all_lines)
    main = [
        (number, raw_line)
        for (number, raw_line), line in zip(log, all_lines, strict=True)
        if not (isinstance(line, dict) and line.get("isSidechain"))
    ]
    with_agent, without = fold(new_state(), decode(log)), fold(new_state(), decode(main))
    with_agent["lines"] = without["lines"]
    with_agent["agent_calls"] = {}
    for state in (with_agent, without):
        for agent in state["agents"]:
            agent["files"], agent["result"] = {}, ""
    assert to_json(with_agent) == to_json(without)


def test_a_result_in_a_sub_agent_does_not_complete_a_call_of_the_session() -> None:
    lines = [call("Bash", {"command": "make test"}), result("1 failed", ok=False, isSidechain=True)]
    assert list(state_of(*lines)["calls"]) == ["toolu_1"]
    assert not state_of(*lines)["checks"]
    assert state_of(*lines, result("1 failed", ok=False))["checks"]


def test_the_same_log_gives_the_same_stored_state_in_every_process(
    compacted: list[Line], tmp_path: Path
) -> None:
    transcript = tmp_path / "session.jsonl"
    append_lines(transcript, compacted)
    program = (
        "import json, sys\n"
        "from holdfast.state.fold import fold, new_state\n"
        "from holdfast.transcript.decoder import decode\n"
        "from holdfast.transcript.reader import read_lines\n"
        "print(json.dumps(fold(new_state(), decode(read_lines(sys.argv[1])))))\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program, str(transcript)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1] == to_json(state_of(*compacted)) + "\n"


def test_fold_does_not_change_the_given_state(compacted: list[Line]) -> None:
    events = list(decode(numbered(compacted)))
    half = fold(new_state(), events[: len(events) // 2])
    state, rest = copy.deepcopy(half), copy.deepcopy(events[len(events) // 2 :])
    assert to_json(fold(half, rest)) != to_json(half)
    assert to_json(half) == to_json(state)
    assert rest == events[len(events) // 2 :]


def test_a_new_state_has_every_part_and_all_are_empty() -> None:
    state = new_state()
    assert state.keys() == State.__annotations__.keys()
    assert state["usage"].keys() == ContextUsage.__annotations__.keys()
    filled = {name: value for name, value in state.items() if value and name != "version"}
    assert filled == {"usage": state["usage"]}
    assert {name: value for name, value in state["usage"].items() if value} == {"window": 200_000}


def test_states_share_no_mutable_values() -> None:
    first = fold(new_state(), decode(numbered([user("Never push.")])))
    second = fold(first, [])
    second["rules"][0]["superseded"] = 9
    second["place"]["cwd"] = "/tmp"
    assert first["rules"][0]["superseded"] == 0
    assert first["place"]["cwd"] == ROOT
    assert new_state()["requests"] == []


def test_a_call_is_joined_with_a_result_many_lines_later() -> None:
    edit = {"file_path": "a.py", "new_string": "x"}
    lines = [call("Edit", edit, "t1"), call("Edit", edit, "t2"), boundary(), summary(), reply("x")]
    state = state_of(*lines, result(call_id="t2"), result(call_id="t1"))
    assert state["files"]["a.py"]["edits"] == 2
    assert state["calls"] == {}


def test_an_edit_without_a_result_counts_as_unknown_after_a_compaction() -> None:
    state = state_of(call("Edit", {"file_path": "a.py"}), boundary(), summary())
    assert state["files"] == {"a.py": {"line": 1, "unknown": 1}}
    assert state["calls"]["toolu_1"]["line"] == 1


def test_a_result_without_a_call_changes_nothing() -> None:
    assert state_of(result("[main 3f2c1ab] x", ok=False))["checks"] == []


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
def test_the_root_stays_the_folder_in_which_the_session_began(
    lines: list[Line], place: dict[str, str]
) -> None:
    folded = state_of(*lines)["place"]
    assert {name: folded[name] for name in place} == place
