"""Checks: their kind, their outcome and their errors."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.state.rules.check_parser import (
    FAILURE_PATTERN,
    MAX_ERROR_CHARS,
    MAX_ERROR_LINES,
    reports_failure,
)
from holdfast.state.rules.checks import MAX_CHECKS, MAX_COMMAND_CHARS
from holdfast.state.types import Check
from tests.unit.transcript_lines import Line, bash, state_of, tool_use

PYTEST = """\
============================= test session starts ==============================
collected 33 items

tests/test_worker.py ...F                                                [100%]

=================================== FAILURES ===================================
____________________ test_exhausted_job_is_marked_dead_once ____________________

>       assert store.saved("a") == ["ready", "dead"]
E       AssertionError: assert ['ready', 'dead', 'ready'] == ['ready', 'dead']

tests/test_worker.py:49: AssertionError
=========================== short test summary info ============================
FAILED tests/test_worker.py::test_exhausted_job_is_marked_dead_once
1 failed, 32 passed in 6.91s"""
GO = """\
--- FAIL: TestRetry (0.00s)
    retry_test.go:27: got 3, want 2
FAIL
FAIL\texample.com/app/retry\t0.004s"""
RUST = """\
error[E0308]: mismatched types
  --> src/worker.rs:12:9
   |
error: could not compile `courier` due to 1 previous error"""
TSC = "src/app.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'."


def checks(*steps: list[Line]) -> list[Check]:
    return state_of(*(line for step in steps for line in step))["checks"]


def single_check(*steps: list[Line]) -> Check:
    (check,) = checks(*steps)
    return check


def test_a_check_is_classified_by_its_command() -> None:
    cases = [
        ("pytest -q", "test"),
        ("python -m pytest tests/unit", "test"),
        (".venv/bin/pytest", "test"),
        ("make test-fast", "test"),
        ("npm test", "test"),
        ("npm run test:unit", "test"),
        ("go test ./...", "test"),
        ("cargo nextest run", "test"),
        ("npx vitest run", "test"),
        ("COVERAGE=1 tox -e py311", "test"),
        ("cd app && go test ./...", "test"),
        ("make build && make test", "build"),
        ("ruff check .", "lint"),
        ("mypy src", "lint"),
        ("npx tsc --noEmit", "lint"),
        ("go vet ./...", "lint"),
        ("black --check src", "lint"),
        ("gofmt -l .", "lint"),
        ("mix format --check-formatted", "lint"),
        ("cargo clippy -- -D warnings", "lint"),
        ("cargo build --release", "build"),
        ("npm run build", "build"),
        ("docker build .", "build"),
    ]
    for command, kind in cases:
        check = single_check(bash(command, "fine"))
        assert (check["kind"], check["ok"], check["runs"]) == (kind, True, 1), command


def test_other_successful_commands_are_no_checks() -> None:
    cases = [
        "ls tests",
        "cat tests/test_worker.py",
        "git commit -m 'Test it'",
        "git add tests/pytest.ini",
        "grep -rn pytest .",
        "echo run pytest",
        "black src",
        "pip install pytest",
        "latest=1",
        "cp a b",
        "",
    ]
    for command in cases:
        assert checks(bash(command, "1 failed")) == [], command


def test_any_failed_command_is_kept_until_it_succeeds() -> None:
    failed = bash("./deploy.sh", "Exit code 1\nno such host", ok=False)
    assert single_check(failed) == {
        "command": "./deploy.sh",
        "kind": "run",
        "ok": False,
        "line": 2,
        "call": 1,
        "runs": 1,
        "error": ["no such host"],
        "where": "",
        "verdict": "",
        "is_exit_hidden": False,
    }
    assert checks(failed, bash("./deploy.sh", "done")) == []


def test_the_same_command_with_other_arguments_resolves_a_failed_run() -> None:
    failed = bash("git commit -m 'Fix it'", "Exit code 1\nhook failed", ok=False)
    assert checks(failed, bash("git add a.py && git commit -m 'Mend it'", "[main 1234567] x")) == []
    assert len(checks(failed, bash("git status", "clean"))) == 1


GO_FAILED = "--- FAIL: TestLease (0.05s)\n--- FAIL: TestRetry_Twice (0.01s)\nFAIL\tapp/queue"
PYTEST_FAILED = "FAILED tests/test_a.py::test_lease - assert 1 == 2\n1 failed"


def test_a_failure_is_resolved_when_the_failed_part_passes() -> None:
    cases = [
        ("go test ./queue/", GO_FAILED, 'go test ./queue/ -run "TestLease|TestRetry"', True),
        ("go test ./queue/", GO_FAILED, "go test ./queue/ -run TestLease", False),
        ("go test ./queue/", GO_FAILED, "go test ./other/ -run 'TestLease|TestRetry'", False),
        ("go test -run TestLease ./queue/", GO_FAILED, "go test ./queue/", True),
        ("go test -run TestLease ./queue/", GO_FAILED, "go vet ./queue/", False),
        ("pytest tests", PYTEST_FAILED, "pytest tests/test_a.py::test_lease", True),
        ("pytest tests", PYTEST_FAILED, "pytest tests/test_a.py::test_retry", False),
        ("pytest tests", "Exit code 1\nboom", "pytest tests/test_a.py", False),
        ("pytest tests/test_a.py", PYTEST_FAILED, "pytest", True),
        ("uv run pytest tests/test_a.py", PYTEST_FAILED, "python -m pytest tests/test_a.py", True),
        ("pytest tests/test_a.py tests/test_b.py", "1 failed", "pytest tests/test_b.py", False),
        ("go build ./cmd/...", "error: x", "go build ./...", True),
        ("go test ./queue/", GO_FAILED, "mise run test", True),
        ("go test ./queue/", GO_FAILED, "mise run fmt && mise run test:ci", True),
        ("go test ./queue/", GO_FAILED, "mise run test:integration", False),
        ("go test ./queue/", GO_FAILED, "npm test queue", False),
        ("go test ./queue/", GO_FAILED, "make test", True),
        ("pytest tests/test_a.py", PYTEST_FAILED, "npm test", False),
        ("pytest tests/test_a.py", PYTEST_FAILED, "cargo test", False),
        ("pytest tests/test_a.py", PYTEST_FAILED, "tox", True),
        ("make test", PYTEST_FAILED, "npm test", False),
        ("npx vitest run src/a.test.ts", "1 failed", "npm test", True),
        ("npx vitest run src/a.test.ts", "1 failed", "pnpm run test", True),
        ("npx vitest run src/a.test.ts", "1 failed", "npx playwright test", False),
        ("npx jest a", "1 failed", "yarn jest", True),
        ("mise run test:bats -- t/a.bats", "not ok 1 a", "t/bats/bin/bats t/a.bats", True),
        ("mise run test:bats -- t/a.bats", "not ok 1 a", "t/bats/bin/bats t/b.bats", False),
        ("mise run test:bats -- t/a.bats", "not ok 1 a", "bats t/a.bats --filter one", False),
        ("npm test -- src/a.test.ts", "1 failed", "npx vitest run src/a.test.ts", True),
        ("npm test -- src/a.test.ts src/b.test.ts", "1 failed", "npx jest src/a.test.ts", False),
        ("pytest tests/test_a.py", PYTEST_FAILED, "ruff check tests/test_a.py", False),
        ("go build ./cmd/...", "error: x", "mise run test", False),
        ("go build ./cmd/...", "error: x", "go build ./other/...", False),
        ("ruff format --check src/a.py src/b.py", "error: src/b.py", "ruff format src/b.py", True),
        ("ruff format --check src/a.py src/b.py", "error: x", "ruff format src/c.py", False),
        ("ruff check src/a.py", "error: x", "ruff check src", True),
        ("rtk bun run test", "error: unrecognized subcommand 'bun'", "bun run test", True),
    ]
    for failed, output, passed, resolved in cases:
        first, second = checks(bash(failed, output, ok=False), bash(passed, "fine"))
        assert (first["ok"], second["ok"]) == (resolved, True), (failed, output, passed)
        assert (first["error"] == []) == resolved, (failed, output, passed)


def test_an_incomplete_list_of_failures_is_not_resolved_by_name() -> None:
    output = "\n".join(f"--- FAIL: TestLease{number} (0.0s)" for number in range(9))
    failed = bash("go test ./queue/", output, ok=False)
    first, _ = checks(failed, bash("go test ./queue/ -run TestLease", "ok"))
    assert not first["ok"]


@pytest.mark.parametrize(
    "command",
    [
        "docker pull app:latest",
        "npm install left-pad@latest",
        'docker exec -i db psql -c "SELECT id FROM tests"',
    ],
)
def test_commands_with_latest_or_quoted_text_are_no_tests(command: str) -> None:
    assert checks(bash(command, "fine")) == []


def test_an_interrupted_command_has_no_outcome() -> None:
    text = "Exit code 137\n[Request interrupted by user for tool use]\n=== RUN TestLease"
    assert checks(bash("go test ./...", text, ok=False)) == []


def test_a_commit_message_about_tests_is_no_test() -> None:
    message = "git commit -m \"$(cat <<'EOF'\nRun make test in CI\npytest too\nEOF\n)\""
    assert checks(bash(message, "[main 1234567] Run make test in CI")) == []


def test_a_check_is_the_same_check_with_cd_head_or_tail() -> None:
    cases = [
        ("cd app && make test", "make test"),
        ("cd app; make test", "make test"),
        ("make test 2>&1", "make test"),
        ("make test | tail -5", "make test"),
        ("make test 2>&1 | tail -n 20", "make test"),
        ("make test 2>&1 | head -50 | tail -5", "make test"),
        ("  cd app &&  make test 2>&1|tail ", "make test"),
        ("make test | grep -c FAIL", "make test | grep -c FAIL"),
    ]
    for command, core in cases:
        assert single_check(bash(command, "fine"), bash(core, "fine"))["command"] == core, command


def test_a_test_run_fails_by_its_exit_code_or_by_its_output() -> None:
    cases = [
        ("33 passed in 6.91s", True, True),
        ("Exit code 1\nboom", False, False),
        # The exit code of a test run in a pipe is lost.
        (PYTEST, True, False),
        (GO, True, False),
        ("thread 'main' panicked at src/worker.rs:3", True, False),
        ("Traceback (most recent call last):", True, False),
        ("Tests: 2 failed, 3 passed", True, False),
        ("3 failing", True, False),
        ("2 errors in 0.1s", True, False),
        ("E   assert 1 == 2", True, False),
        ("0 failed, 33 passed, 0 errors", True, True),
        ("ok: FAILED is a word here", True, True),
        ("test_failure_is_reported PASSED", True, True),
        ("", True, True),
    ]
    for output, ok, passed in cases:
        assert single_check(bash("make test", output, ok=ok))["ok"] == passed, (output, ok)


@given(
    st.lists(
        st.sampled_from(
            ("1 failed", "0 failed", "2 errors", "x1 failed", "10 failing", "FAIL", "FAILED a",
             "--- FAIL: a", "E   a", "E  ", "panicked at", "Traceback (most recent", "Traceback",
             "error: a", "error[E1]: a", "no error: a", "[build failed]", "ERROR task failed",
             "failures", " ", "\n", "\n", "\r", "fine")
        ),
        max_size=12,
    )
)  # fmt: skip
def test_searching_only_lines_with_hints_finds_the_same_failures(parts: list[str]) -> None:
    text = "".join(parts)
    assert reports_failure(text) == (re.search(FAILURE_PATTERN, text, re.MULTILINE) is not None)


def test_a_linter_fails_by_its_exit_code_only() -> None:
    assert single_check(bash("ruff check . --exit-zero", "Found 3 errors."))["ok"]


def test_a_failure_keeps_its_error_lines_and_location() -> None:
    cases = [
        (
            PYTEST,
            [
                "test_exhausted_job_is_marked_dead_once",
                "E       AssertionError: assert ['ready', 'dead', 'ready'] == ['ready', 'dead']",
                "FAILED tests/test_worker.py::test_exhausted_job_is_marked_dead_once",
                "tests/test_worker.py:49: AssertionError",
            ],
            "tests/test_worker.py:49",
        ),
        (
            GO,
            [
                "--- FAIL: TestRetry (0.00s)",
                "retry_test.go:27: got 3, want 2",
                "FAIL\texample.com/app/retry\t0.004s",
            ],
            "retry_test.go:27",
        ),
        (
            RUST,
            [
                "error[E0308]: mismatched types",
                "error: could not compile `courier` due to 1 previous error",
            ],
            "src/worker.rs:12",
        ),
        (TSC, [TSC], ""),
        (
            "12:01 WARN app: Error reading key\nsuite: line 3: parallel: command not found",
            ["suite: line 3: parallel: command not found"],
            "",
        ),
        ("12:01 WARN app: Error reading key", ["12:01 WARN app: Error reading key"], ""),
        ("Exit code 2\nmake: no rule", ["make: no rule"], ""),
        ("Exit code 2", ["Exit code 2"], ""),
        ("", [], ""),
        (
            "Error: in /srv/app/a.py:3 and b.py:4",
            ["Error: in /srv/app/a.py:3 and b.py:4"],
            "a.py:3",
        ),
        ("see http://localhost:3000 at 10:30", ["see http://localhost:3000 at 10:30"], ""),
    ]
    for output, error, where in cases:
        check = single_check(bash("make test", output, ok=False))
        assert check["error"] == error, (output, where)
        assert check["where"].endswith(where), (output, error)
        assert bool(check["where"]) == bool(where), (output, error)


def test_a_later_pass_clears_the_error() -> None:
    failing_run, passing_run = bash("make test | tail", PYTEST), bash("make test", "33 passed")
    check = single_check(passing_run, failing_run)
    assert (check["ok"], check["where"]) == (False, "tests/test_worker.py:49")
    check = single_check(passing_run, failing_run, passing_run)
    assert check == {
        "command": "make test",
        "kind": "test",
        "ok": True,
        "line": 6,
        "call": 5,
        "runs": 3,
        "error": [],
        "where": "",
        "verdict": "33 passed",
        "is_exit_hidden": False,
    }


def test_the_verdict_is_the_line_that_sums_up_the_output() -> None:
    cases = [
        (
            "pytest -q",
            "....\n==== 1657 passed, 4 warnings in 3.21s ====",
            "1657 passed, 4 warnings in 3.21s",
        ),
        ("ruff check .", "All checks passed!", "All checks passed!"),
        (
            "mix credo --strict",
            "lib/a.ex:1\n29 mods/funs, found no issues.",
            "29 mods/funs, found no issues.",
        ),
        ("go test ./...", "ok  \tapp/queue\t0.5s", "ok  \tapp/queue\t0.5s"),
        ("tsc --noEmit", "", ""),
        ("eslint .", "12 | const ok = 1", ""),
    ]
    for command, output, verdict in cases:
        assert single_check(bash(command, output))["verdict"] == verdict, command


DENIED_OUTPUT = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. …)"
)


@pytest.mark.parametrize(
    "text",
    [
        DENIED_OUTPUT,
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "<tool_use_error>InputValidationError: Bash failed</tool_use_error>",
        "[Request interrupted by user for tool use]",
        "Permission to use Bash with command make test has been denied.",
    ],
)
def test_a_command_that_was_never_run_has_not_failed(text: str) -> None:
    assert checks(bash("make test", text, ok=False)) == []
    passed = single_check(bash("make test", "33 passed"), bash("make test", text, ok=False))
    assert (passed["ok"], passed["runs"], passed["line"]) == (True, 1, 2)


def test_a_command_sent_to_the_background_has_not_passed() -> None:
    text = "Command running in background with ID: b1"
    started = bash("make test", text, detail={"stdout": "", "backgroundTaskId": "b1"})
    assert checks(started) == []
    assert not single_check(bash("make test", PYTEST), started)["ok"]


@pytest.mark.parametrize(
    "lines",
    [
        tool_use("Read", {"file_path": "pytest"}, "1 failed", ok=False),
        tool_use("Bash", {}, "1 failed", ok=False),
        tool_use("Bash", {"command": None}, "1 failed", ok=False),
        [bash("make test")[0]],
        [bash("make test", "1 failed", ok=False)[1]],
    ],
)
def test_calls_without_a_command_or_an_outcome_are_no_checks(lines: list[Line]) -> None:
    assert checks(lines) == []


def test_errors_and_commands_are_clipped() -> None:
    output = "\n".join(f"E   error {n} " + "x" * 2 * MAX_ERROR_CHARS for n in range(20))
    check = single_check(bash("make test " + "x" * 2 * MAX_COMMAND_CHARS, output))
    assert len(check["command"]) == MAX_COMMAND_CHARS
    assert len(check["error"]) == MAX_ERROR_LINES
    assert {len(line) for line in check["error"]} == {MAX_ERROR_CHARS}


def test_a_clipped_command_is_recognised_when_it_is_run_again() -> None:
    long = "make test " + "x" * 2 * MAX_COMMAND_CHARS
    assert single_check(bash(long, "fine"), bash(long, "fine"))["runs"] == 2


def test_checks_are_ordered_by_last_run_and_the_oldest_are_dropped() -> None:
    steps = [bash(f"make test{n}", "fine") for n in range(MAX_CHECKS + 1)]
    commands = [check["command"] for check in checks(*steps, bash("make test1", "fine"))]
    assert len(commands) == MAX_CHECKS
    assert (commands[0], commands[-1]) == ("make test2", "make test1")


def test_secrets_in_commands_and_errors_are_redacted() -> None:
    token = "ghp_" + "a1B2" * 9
    check = single_check(bash(f"make test TOKEN={token}", f"error: bad {token}", ok=False))
    assert token not in str(check)


@pytest.mark.parametrize(
    "output",
    [
        "a" * 200_000,
        "a/" * 100_000,
        "a." * 100_000,
        "error a/b" * 20_000,
        "1" * 200_000,
        "_" * 200_000,
    ],
    ids=lambda output: output[:9],
)
def test_huge_output_is_searched_quickly(output: str) -> None:
    lines: list[Any] = bash("make test", output, ok=False)
    started = time.perf_counter()
    single_check(lines)
    assert time.perf_counter() - started < 1


def test_the_location_of_a_go_failure_is_not_taken_from_log_lines() -> None:
    output = (
        "    hooks.go:196: Hook output: INFO saved\n"
        '    rewind_test.go:441: after rewind: got "2", want "1"\n'
        "--- FAIL: TestRewind (0.1s)\nFAIL\n"
    )
    (check,) = state_of(*bash("go test ./...", output, ok=False))["checks"]
    assert check["where"] == "rewind_test.go:441"


def test_colours_and_lone_file_names_are_left_out_of_errors() -> None:
    output = (
        "a/test-failed-1.png\n\x1b[31mlogin fails: no such user\x1b[0m\n\x1b[1A\x1b[2K  1 failed\n"
    )
    (check,) = state_of(*bash("pnpm test", output, ok=False))["checks"]
    assert check["error"] == ["login fails: no such user", "1 failed"]


def test_a_run_whose_filter_is_missing_has_no_outcome() -> None:
    failed = bash("make build", "error: no such header a.h", ok=False)
    unknown = bash(
        "make build 2>&1 | grep error || echo done", "done\nzsh: command not found: grep"
    )
    assert single_check(failed, unknown)["ok"] is False


def test_a_pipe_hides_the_exit_code() -> None:
    for command, is_hidden in (("pytest -q", False), ("pytest -q 2>&1 | tail -5", True)):
        assert single_check(bash(command, "33 passed"))["is_exit_hidden"] is is_hidden, command
