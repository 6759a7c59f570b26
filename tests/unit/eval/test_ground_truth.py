"""The facts at a cut that the scorer expects: instructions, plan items, failures, branch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.eval.failures import (
    classify_command,
    find_check_runs,
    find_error_lines,
    find_last_unresolved,
    quotes_error,
)
from holdfast.eval.instructions import find_instructions, normalize, split_sentences
from holdfast.eval.session import Session, load_session
from holdfast.eval.todos import is_about, read_todos
from tests.unit.eval.transcript import (
    Line,
    bash,
    bash_failed,
    call,
    line,
    prompt,
    reply,
    session_file,
)

MakeSession = Callable[..., Session]


@pytest.fixture
def make_session(tmp_path: Path) -> MakeSession:
    def make(*steps: list[Line]) -> Session:
        return load_session(session_file(tmp_path, *steps))

    return make


# Instructions of the user


def test_only_prose_of_the_user_is_split_into_sentences() -> None:
    text = (
        "Please keep the API stable. Is that fine?\n- never touch the migrations folder\n"
        "-> keep it in one file, please\n"
        "```\nyou must always run this\n```\n[12:01:33] ERROR at=3 x=9 12ms 0x33 {}"
    )
    assert list(split_sentences(text)) == [
        "Please keep the API stable.",
        "never touch the migrations folder",
        "keep it in one file, please",
    ]


def test_instructions_are_classified_by_cue_words(make_session: MakeSession) -> None:
    cases = [
        ("Never push to the main branch.", True, True),
        ("please don't rename that file", True, True),
        ("It should not write to stdout.", True, True),
        ("Use the queue instead of a second thread.", True, True),
        ("Make sure the tests pass before you commit.", True, False),
        ("Always use tabs in the makefile.", True, False),
        ("The parser reads a file and returns nodes.", False, False),
        ("I don't know where that comes from.", False, False),
        ("Should we keep the old format around?", False, False),
    ]
    for text, constraint, prohibition in cases:
        (instruction,) = find_instructions(make_session(prompt(text)).pieces)
        assert (instruction.constraint, instruction.prohibition) == (constraint, prohibition), text


def test_a_retracted_instruction_is_left_out(make_session: MakeSession) -> None:
    steps = (
        prompt("Always format generated code with prettier."),
        prompt("Never touch the lockfile by hand."),
        prompt("Actually forget prettier, leave generated code without any format."),
    )
    kept = [instruction.text for instruction in find_instructions(make_session(*steps).pieces)]
    assert "Always format generated code with prettier." not in kept
    assert "Never touch the lockfile by hand." in kept


def test_text_that_the_user_did_not_type_is_no_instruction(make_session: MakeSession) -> None:
    steps = (
        prompt("Implement the following plan:\n\nYou must always do this."),
        prompt("Operation stopped by hook: You must exit and run this instead."),
        [line("user", "You must always do that.", isMeta=True)],
        prompt("<command-name>/compact</command-name> always keep it"),
        reply("You should always do this."),
    )
    assert find_instructions(make_session(*steps).pieces) == []


def test_quotes_and_white_space_are_normalized() -> None:
    assert normalize("don’t  “do”\nthat.") == normalize('don\'t "do" that')


# The plan


def test_an_item_has_its_last_status(make_session: MakeSession) -> None:
    def write_todos(**status: str) -> list[Line]:
        todos = [{"content": text, "status": state} for text, state in status.items()]
        return call("TodoWrite", {"todos": todos})

    todos = read_todos(
        make_session(
            write_todos(one="pending", two="pending"),
            write_todos(one="completed", two="in_progress"),
        ).pieces
    )
    assert (todos.open, todos.done) == (("two",), ("one",))


def test_task_updates_are_matched_by_task_number(make_session: MakeSession) -> None:
    steps = (
        call("TaskCreate", {"subject": "Write the parser"}, text="Task #1 created successfully"),
        call("TaskCreate", {"subject": "Test the parser"}, text="Task #2 created successfully"),
        call("TaskUpdate", {"taskId": "1", "status": "completed"}),
        call("TaskUpdate", {"taskId": "2", "subject": "Test it all", "status": "in_progress"}),
    )
    todos = read_todos(make_session(*steps).pieces)
    assert (todos.open, todos.done) == (("Test it all",), ("Write the parser",))


def test_a_task_list_updates_the_status_of_all_tasks(make_session: MakeSession) -> None:
    steps = (
        call("TaskCreate", {"subject": "Write the parser"}, text="Task #1 created successfully"),
        call("TaskCreate", {"subject": "Test the parser"}, text="Task #2 created successfully"),
        call("TaskList", {}, text=(
            "#1 [completed] Write the parser\n#2 [pending] Test the parser [blocked by #3]\n"
            "#3 [in_progress] Review"
        )),
    )  # fmt: skip
    todos = read_todos(make_session(*steps).pieces)
    assert (todos.open, todos.done) == (("Test the parser", "Review"), ("Write the parser",))


def test_a_line_matches_an_item_if_it_has_most_of_its_words_and_few_others() -> None:
    item = "Add retries to the upload client"
    assert is_about("- pending: add retries to the upload client (L12)", item)
    assert not is_about("- pending: add a button", item)
    assert not is_about(f"add retries to the upload client {' '.join(map(str, range(40)))}", item)


# Checks and errors


def test_commands_are_classified_as_checks() -> None:
    cases = [
        ("uv run pytest tests/unit -q", "test"),
        ("mise run test:ci", "test"),
        ("cargo clippy --all", "lint"),
        ("go build ./...", "build"),
        ("make check", "all"),
        ("git add tests/test_x.py", ""),
        ("ls tests/", ""),
        ("python tool.py", ""),
    ]
    for command, kind in cases:
        assert classify_command(command) == kind, command


def failed(command: str, output: str) -> list[Line]:
    return call("Bash", {"command": command}, "Error", text=f"Exit code 1\n{output}", is_error=True)


def test_a_failure_is_unresolved_until_the_same_check_passes(make_session: MakeSession) -> None:
    broken = failed("pytest tests/a.py", "E   ValueError: no such key")
    other_check = bash("pytest tests/b.py", stdout="1 passed")
    same_check = bash("pytest tests/a.py | tail -3", stdout="1 passed")
    all_checks = bash("make check", stdout="all good")
    unresolved = find_last_unresolved(find_check_runs(make_session(broken, other_check).pieces))
    assert unresolved is not None
    assert unresolved.command == "pytest tests/a.py"
    assert find_last_unresolved(find_check_runs(make_session(broken, same_check).pieces)) is None
    assert find_last_unresolved(find_check_runs(make_session(broken, all_checks).pieces)) is None


def test_a_failure_behind_a_pipe_is_recognised_by_its_output(make_session: MakeSession) -> None:
    passed = bash("cargo test | tail", stdout="test result: ok. 7 passed; 0 failed")
    failed_in_pipe = bash(
        "go test ./... | tail", stdout="--- FAIL: TestX\n    x_test.go:3: unexpected EOF"
    )
    assert [run.ok for run in find_check_runs(make_session(passed, failed_in_pipe).pieces)] == [
        True,
        False,
    ]


def test_a_command_that_the_user_rejected_is_no_check_run(make_session: MakeSession) -> None:
    refused = call(
        "Bash", {"command": "make test"}, text="The user doesn't want to proceed", is_error=True
    )
    assert find_check_runs(make_session(refused, bash_failed("ls nowhere")).pieces) == []


def test_the_most_specific_error_lines_are_found_and_matched() -> None:
    output = (
        "Exit code 1\n--- FAIL: TestX (0.0s)\nx.go:12:3: undefined: cpkg\nmake: *** [test] Error 1"
    )
    assert find_error_lines(output) == ["x.go:12:3: undefined: cpkg"]
    assert find_error_lines("--- FAIL: TestX (0.0s)") == ["--- FAIL: TestX (0.0s)"]
    assert quotes_error("- fails: x.go:12:3: undefined: cpkg", "x.go:12:3: undefined: cpkg")
    assert quotes_error("- fails at x.go:12:3\n undefined: cpkg", "x.go:12:3: undefined: cpkg")
    assert not quotes_error("- fails at x.go:12:3", "x.go:12:3: undefined: cpkg")


# The branch


def test_the_branch_is_the_last_one_logged_before_a_line(make_session: MakeSession) -> None:
    session = make_session(
        [line("user", "a", gitBranch="main"), line("user", "b", gitBranch="fix"), line("user", "c")]
    )
    assert [session.branch_at(number) for number in (1, 2, 3, 9)] == ["", "main", "fix", "fix"]
