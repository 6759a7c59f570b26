"""The state of the repository: branch, commits, uncommitted files, pull requests."""

from __future__ import annotations

import pytest

from holdfast.state.rules.git import MAX_COMMITS, MAX_UNCOMMITTED_FILES
from tests.unit.transcript_lines import Line, bash, reply, state_of, user

COMMIT = 'git commit -m "Back off"'
OUTPUT = "[main 3f2c1ab] Back off\n 2 files changed, 9 insertions(+)"


def test_a_commit_is_read_from_gits_output() -> None:
    cases = [
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
    ]
    for output, expected in cases:
        commits = state_of(*bash(COMMIT, output))["commits"]
        assert [(commit["sha"], commit["subject"]) for commit in commits] == expected, output
        assert {commit["line"] for commit in commits} <= {2}, output


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
def test_output_that_only_resembles_a_commit_is_ignored(lines: list[Line]) -> None:
    assert state_of(*lines)["commits"] == []


def test_the_branch_is_the_last_one_logged() -> None:
    cases = [
        ([], ""),
        ([user("go")], "main"),
        ([user("go"), reply("Done.", gitBranch="fix")], "fix"),
        ([user("go"), reply("Done.", gitBranch="")], "main"),
        ([user("go"), reply("Done.", gitBranch="fix", isSidechain=True)], "main"),
        ([user("go"), *bash("git switch -c fix && git commit", "[fix 3f2c1ab] Back off")], "fix"),
        ([user("go"), *bash(COMMIT, "[detached HEAD 3f2c1ab] Back off")], "main"),
        # The client keeps logging the branch that it saw at the start of the turn.
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
    ]
    for lines, branch in cases:
        assert state_of(*lines)["branch"] == branch, lines


def pull_request(number: int) -> Line:
    return {"type": "pr-link", "prUrl": f"https://example.com/pull/{number}"}


def test_a_pull_request_is_kept_once() -> None:
    state = state_of(pull_request(1), pull_request(2), pull_request(1), {"type": "pr-link"})
    assert state["pull_requests"] == [
        {"text": "https://example.com/pull/1", "line": 1},
        {"text": "https://example.com/pull/2", "line": 2},
    ]


def test_the_newest_commits_and_pull_requests_are_kept() -> None:
    lines = [
        line for n in range(MAX_COMMITS + 5) for line in bash(COMMIT, f"[main {n:07x}] commit {n}")
    ]
    state = state_of(*lines, *(pull_request(n) for n in range(MAX_COMMITS + 5)))
    assert [len(state["commits"]), len(state["pull_requests"])] == [MAX_COMMITS, MAX_COMMITS]
    assert state["commits"][0]["subject"] == "commit 5"
    assert state["pull_requests"][-1]["text"].endswith(f"/{MAX_COMMITS + 4}")


def test_a_secret_in_a_commit_subject_is_redacted() -> None:
    token = "ghp_" + "a1B2" * 9
    (commit,) = state_of(*bash(COMMIT, f"[main 3f2c1ab] Use {token}"))["commits"]
    assert commit["subject"].startswith("Use [redacted:")


SHORT_STATUS = " M src/a.py\nA  src/b.py\n?? notes.md\nR  old.py -> new.py\nMM c.py\n D gone.py\n"
LONG_STATUS = """On branch fix
Your branch is up to date with 'origin/fix'.

Changes to be committed:
  (use "git restore --staged <file>..." to unstage)
\tnew file:   src/b.py
\trenamed:    old.py -> new.py

Changes not staged for commit:
  (use "git add <file>..." to update what will be committed)
\tmodified:   src/a.py
\tdeleted:    gone.py

Untracked files:
  (use "git add <file>..." to include in what will be committed)
\tnotes.md

no changes added to commit
"""
CLEAN_STATUS = "On branch main\nnothing to commit, working tree clean\n"


def test_uncommitted_files_are_those_of_the_last_git_status() -> None:
    cases = [
        (
            "git status --short",
            SHORT_STATUS,
            ["src/a.py", "src/b.py", "notes.md", "new.py", "c.py", "gone.py"],
        ),
        ("git status", LONG_STATUS, ["src/b.py", "new.py", "src/a.py", "gone.py", "notes.md"]),
        ("git status", CLEAN_STATUS, []),
        ("git status -sb", "## main...origin/main\n M a.py\n", ["a.py"]),
        ("git status -sb", "## main...origin/main\n", []),
        ("git status -s", ' M "with space.py"\n', ["with space.py"]),
        ("git add -A && git status -s", "M  a.py", ["a.py"]),
        ("git status --porcelain", "", []),
    ]
    for command, output, files in cases:
        assert state_of(*bash(command, output))["dirty"] == {"files": files, "line": 2}, (
            command,
            output,
        )


@pytest.mark.parametrize(
    "lines",
    [
        bash("git status", "fatal: not a git repository", ok=False),
        bash("cat status.txt", SHORT_STATUS),
        bash("git log", SHORT_STATUS),
        [{**line, "isSidechain": True} for line in bash("git status -s", SHORT_STATUS)],
        [reply(SHORT_STATUS)],
    ],
)
def test_output_of_other_commands_is_no_git_status(lines: list[Line]) -> None:
    assert state_of(*lines)["dirty"] is None


def test_a_later_status_replaces_an_earlier_one() -> None:
    lines = [*bash("git status -s", SHORT_STATUS), *bash("git status", CLEAN_STATUS)]
    assert state_of(*lines)["dirty"] == {"files": [], "line": 4}


def test_a_commit_clears_the_uncommitted_files_and_a_failed_one_does_not() -> None:
    dirty_status = bash("git status -s", " M a.py")
    assert state_of(*dirty_status, *bash(COMMIT, OUTPUT))["dirty"] is None
    assert state_of(*dirty_status, *bash(COMMIT, "hook failed", ok=False))["dirty"] is not None
    commit_and_status = bash(
        "git commit -qam x && git commit -m y && git status", f"{OUTPUT}\n{CLEAN_STATUS}"
    )
    assert state_of(*dirty_status, *commit_and_status)["dirty"] == {"files": [], "line": 4}


def test_uncommitted_files_are_bounded() -> None:
    output = "".join(f" M {number}.py\n" for number in range(MAX_UNCOMMITTED_FILES + 5))
    dirty = state_of(*bash("git status -s", output))["dirty"]
    assert dirty is not None
    assert len(dirty["files"]) == MAX_UNCOMMITTED_FILES


def test_switching_sets_the_branch() -> None:
    cases = [
        ("git switch -c fix", "Switched to a new branch 'fix'", "fix"),
        ("git checkout fix", "Switched to branch 'fix'\nYour branch is behind.", "fix"),
        ("git checkout -B fix", "Switched to and reset branch 'fix'", "fix"),
        ("git checkout main", "Already on 'main'", "main"),
        ("git checkout a.py", "Updated 1 path from the index", "main"),
        ("git switch fix", "fatal: invalid reference: fix", "main"),
        ("git status", "On branch fix\nnothing to commit, working tree clean", "fix"),
        ("git status -sb", "## fix...origin/fix [ahead 1]\n M a.py", "fix"),
        ("git status -sb", "## No commits yet on fix\n?? a.py", "fix"),
        ("git status -sb", "## HEAD (no branch)\n M a.py", "main"),
        ("echo switch", "Switched to branch 'fix'", "main"),
    ]
    for command, output, branch in cases:
        assert state_of(user("go"), *bash(command, output))["branch"] == branch, (command, output)


def hashes(*steps: list[Line]) -> list[tuple[str, str]]:
    commits = state_of(*(line for step in steps for line in step))["commits"]
    return [(commit["sha"], commit["subject"]) for commit in commits]


def test_an_amended_commit_replaces_the_one_before() -> None:
    amended = bash("git commit --amend --no-edit", "[main 4a3d2bc] Back off")
    assert hashes(bash(COMMIT, OUTPUT), amended) == [("4a3d2bc", "Back off")]


def test_a_rebase_changes_the_hashes_of_commits_that_were_not_pushed() -> None:
    pushed = [*bash(COMMIT, OUTPUT), *bash("git push", "main -> main")]
    later = bash('git commit -m "Jitter"', "[main 5b4e3cd] Jitter")
    rebase = bash("git pull --rebase", "Rebasing (1/1)\rSuccessfully rebased and updated main.")
    assert hashes(pushed, later, rebase) == [("3f2c1ab", "Back off"), ("", "Jitter")]
    log = bash("git log --oneline -1", "6c5f4de Jitter")
    assert hashes(pushed, later, rebase, log) == [("3f2c1ab", "Back off"), ("6c5f4de", "Jitter")]


def test_a_reset_takes_commits_back() -> None:
    second = bash('git commit -m "Jitter"', "[main 5b4e3cd] Jitter")
    for command, expected in (
        ("git reset --soft HEAD~1", [("3f2c1ab", "Back off")]),
        ("git reset HEAD^", [("3f2c1ab", "Back off")]),
        ("git reset --hard HEAD~2", []),
        ("git reset HEAD a.py", [("3f2c1ab", "Back off"), ("5b4e3cd", "Jitter")]),
    ):
        assert hashes(bash(COMMIT, OUTPUT), second, bash(command)) == expected, command
