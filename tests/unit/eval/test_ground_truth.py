"""What the scorer holds to be true at a cut: sentences, plan items, failures, branches."""

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
    replied,
    said,
    session_file,
)

Made = Callable[..., Session]


@pytest.fixture
def session(tmp_path: Path) -> Made:
    def made(*steps: list[Line]) -> Session:
        return load_session(session_file(tmp_path, *steps))

    return made


# -- what the user said


def test_only_a_person_s_prose_is_a_sentence() -> None:
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


def test_instructions_are_known_by_their_cues(session: Made) -> None:
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
        (one,) = find_instructions(session(said(text)).pieces)
        assert (one.constraint, one.prohibition) == (constraint, prohibition), text


def test_what_the_user_took_back_no_longer_counts(session: Made) -> None:
    steps = (
        said("Always format generated code with prettier."),
        said("Never touch the lockfile by hand."),
        said("Actually forget prettier, leave generated code without any format."),
    )
    kept = [one.text for one in find_instructions(session(*steps).pieces)]
    assert "Always format generated code with prettier." not in kept
    assert "Never touch the lockfile by hand." in kept


def test_what_no_person_typed_is_not_the_user_s(session: Made) -> None:
    steps = (
        said("Implement the following plan:\n\nYou must always do this."),
        said("Operation stopped by hook: You must exit and run this instead."),
        [line("user", "You must always do that.", isMeta=True)],
        said("<command-name>/compact</command-name> always keep it"),
        replied("You should always do this."),
    )
    assert find_instructions(session(*steps).pieces) == []


def test_quotes_and_white_space_have_one_spelling() -> None:
    assert normalize("don’t  “do”\nthat.") == normalize('don\'t "do" that')


# -- the plan


def test_the_last_status_of_an_item_counts(session: Made) -> None:
    def wrote(**status: str) -> list[Line]:
        listed = [{"content": text, "status": state} for text, state in status.items()]
        return call("TodoWrite", {"todos": listed})

    found = read_todos(
        session(
            wrote(one="pending", two="pending"), wrote(one="completed", two="in_progress")
        ).pieces
    )
    assert (found.open, found.done) == (("two",), ("one",))


def test_tasks_are_followed_by_their_number(session: Made) -> None:
    steps = (
        call("TaskCreate", {"subject": "Write the parser"}, text="Task #1 created successfully"),
        call("TaskCreate", {"subject": "Test the parser"}, text="Task #2 created successfully"),
        call("TaskUpdate", {"taskId": "1", "status": "completed"}),
        call("TaskUpdate", {"taskId": "2", "subject": "Test it all", "status": "in_progress"}),
    )
    found = read_todos(session(*steps).pieces)
    assert (found.open, found.done) == (("Test it all",), ("Write the parser",))


def test_a_list_that_the_agent_asks_for_tells_what_others_have_done(session: Made) -> None:
    steps = (
        call("TaskCreate", {"subject": "Write the parser"}, text="Task #1 created successfully"),
        call("TaskCreate", {"subject": "Test the parser"}, text="Task #2 created successfully"),
        call("TaskList", {}, text=(
            "#1 [completed] Write the parser\n#2 [pending] Test the parser [blocked by #3]\n"
            "#3 [in_progress] Review"
        )),
    )  # fmt: skip
    found = read_todos(session(*steps).pieces)
    assert (found.open, found.done) == (("Test the parser", "Review"), ("Write the parser",))


def test_a_line_is_about_an_item_if_it_holds_most_of_its_words_and_little_else() -> None:
    item = "Add retries to the upload client"
    assert is_about("- pending: add retries to the upload client (L12)", item)
    assert not is_about("- pending: add a button", item)
    assert not is_about(f"add retries to the upload client {' '.join(map(str, range(40)))}", item)


# -- checks and errors


def test_checks_are_known_by_their_words() -> None:
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


def test_the_last_failure_stands_until_a_run_puts_it_right(session: Made) -> None:
    broken = failed("pytest tests/a.py", "E   ValueError: no such key")
    other = bash("pytest tests/b.py", stdout="1 passed")
    again = bash("pytest tests/a.py | tail -3", stdout="1 passed")
    whole = bash("make check", stdout="all good")
    unresolved = find_last_unresolved(find_check_runs(session(broken, other).pieces))
    assert unresolved is not None
    assert unresolved.command == "pytest tests/a.py"
    assert find_last_unresolved(find_check_runs(session(broken, again).pieces)) is None
    assert find_last_unresolved(find_check_runs(session(broken, whole).pieces)) is None


def test_a_failure_behind_a_pipe_is_seen_in_its_output(session: Made) -> None:
    passed = bash("cargo test | tail", stdout="test result: ok. 7 passed; 0 failed")
    hidden = bash("go test ./... | tail", stdout="--- FAIL: TestX\n    x_test.go:3: unexpected EOF")
    assert [run.ok for run in find_check_runs(session(passed, hidden).pieces)] == [True, False]


def test_what_was_refused_did_not_run(session: Made) -> None:
    refused = call(
        "Bash", {"command": "make test"}, text="The user doesn't want to proceed", is_error=True
    )
    assert find_check_runs(session(refused, bash_failed("ls nowhere")).pieces) == []


def test_a_signature_says_what_is_wrong() -> None:
    output = (
        "Exit code 1\n--- FAIL: TestX (0.0s)\nx.go:12:3: undefined: cpkg\nmake: *** [test] Error 1"
    )
    assert find_error_lines(output) == ["x.go:12:3: undefined: cpkg"]
    assert find_error_lines("--- FAIL: TestX (0.0s)") == ["--- FAIL: TestX (0.0s)"]
    assert quotes_error("- fails: x.go:12:3: undefined: cpkg", "x.go:12:3: undefined: cpkg")
    assert quotes_error("- fails at x.go:12:3\n undefined: cpkg", "x.go:12:3: undefined: cpkg")
    assert not quotes_error("- fails at x.go:12:3", "x.go:12:3: undefined: cpkg")


# -- the branch


def test_the_branch_is_the_last_one_that_the_host_wrote_down(session: Made) -> None:
    found = session(
        [line("user", "a", gitBranch="main"), line("user", "b", gitBranch="fix"), line("user", "c")]
    )
    assert [found.branch_at(number) for number in (1, 2, 3, 9)] == ["", "main", "fix", "fix"]
