"""Where the work stands in git: the branch, the commits made, the pull requests."""

from __future__ import annotations

import pytest

from holdfast.state.rules.git import MOST
from tests.unit.transcript_lines import Line, bash, reply, state_of, user

COMMIT = 'git commit -m "Back off"'
OUTPUT = "[main 3f2c1ab] Back off\n 2 files changed, 9 insertions(+)"


@pytest.mark.parametrize(
    ("output", "commits"),
    [
        (OUTPUT, [("3f2c1ab", "Back off")]),
        ("[main (root-commit) 3f2c1ab] Begin", [("3f2c1ab", "Begin")]),
        ("[fix/retry-storm 3f2c1ab] Back off: [x] done", [("3f2c1ab", "Back off: [x] done")]),
        ("[detached HEAD 3f2c1ab] Back off", [("3f2c1ab", "Back off")]),
        (
            "lint… ok\n[main 3f2c1ab] One\n[main 4a3d2bc] Two",
            [("3f2c1ab", "One"), ("4a3d2bc", "Two")],
        ),
        (f"[main {'3f2c' * 10}] Back off", [("3f2c" * 10, "Back off")]),
        ("nothing to commit, working tree clean", []),
        ("[main 3f2c] Back off", []),
        ("[main xyzzy12] Back off", []),
        ("see [main 3f2c1ab] Back off", []),
        ("[3f2c1ab] Back off", []),
        ("[main 3f2c1ab]", []),
        ("", []),
    ],
)
def test_a_commit_is_known_by_what_git_says(output: str, commits: list[tuple[str, str]]) -> None:
    told = state_of(*bash(COMMIT, output))["commits"]
    assert [(commit["sha"], commit["subject"]) for commit in told] == commits
    assert {commit["line"] for commit in told} <= {2}


@pytest.mark.parametrize(
    "lines",
    [
        bash("git log", OUTPUT),
        bash("cat commit.txt", OUTPUT),
        [reply(OUTPUT)],
        [bash(COMMIT, OUTPUT)[1]],
        [{**line, "isSidechain": True} for line in bash(COMMIT, OUTPUT)],
    ],
)
def test_what_only_looks_like_a_commit_is_none(lines: list[Line]) -> None:
    assert state_of(*lines)["commits"] == []


@pytest.mark.parametrize(
    ("lines", "branch"),
    [
        ([], ""),
        ([user("go")], "main"),
        ([user("go"), reply("Done.", gitBranch="fix")], "fix"),
        ([user("go"), reply("Done.", gitBranch="")], "main"),
        ([user("go"), reply("Done.", gitBranch="fix", isSidechain=True)], "main"),
        ([user("go"), *bash("git switch -c fix && git commit", "[fix 3f2c1ab] Back off")], "fix"),
        ([user("go"), *bash(COMMIT, "[detached HEAD 3f2c1ab] Back off")], "main"),
        # The client goes on writing the branch that it saw at the start of the turn.
        ([*bash("git switch -c fix && git commit", "[fix 3f2c1ab] x"), reply("Done.")], "fix"),
        (
            [*bash("git switch -c fix && git commit", "[fix 3f2c1ab] x"), user("on", cwd="/srv")],
            "fix",
        ),
        (
            [
                *bash("git switch -c fix && git commit", "[fix 3f2c1ab] x"),
                user("on", gitBranch="fix"),
                user("back", gitBranch="main"),
            ],
            "main",
        ),
    ],
)
def test_the_branch_is_the_one_last_told(lines: list[Line], branch: str) -> None:
    assert state_of(*lines)["branch"] == branch


def pull_request(number: int) -> Line:
    return {"type": "pr-link", "prUrl": f"https://example.com/pull/{number}"}


def test_a_pull_request_is_told_once() -> None:
    told = state_of(pull_request(1), pull_request(2), pull_request(1), {"type": "pr-link"})
    assert told["pull_requests"] == [
        {"text": "https://example.com/pull/1", "line": 1},
        {"text": "https://example.com/pull/2", "line": 2},
    ]


def test_the_newest_commits_and_pull_requests_are_kept() -> None:
    lines = [line for n in range(MOST + 5) for line in bash(COMMIT, f"[main {n:07x}] commit {n}")]
    state = state_of(*lines, *(pull_request(n) for n in range(MOST + 5)))
    assert [len(state["commits"]), len(state["pull_requests"])] == [MOST, MOST]
    assert state["commits"][0]["subject"] == "commit 5"
    assert state["pull_requests"][-1]["text"].endswith(f"/{MOST + 4}")


def test_a_secret_in_a_subject_is_not_kept() -> None:
    token = "ghp_" + "a1B2" * 9
    (commit,) = state_of(*bash(COMMIT, f"[main 3f2c1ab] Use {token}"))["commits"]
    assert commit["subject"].startswith("Use [redacted:")
