"""Errors in the output of test runners and linters."""

from __future__ import annotations

import pytest

from holdfast.state.rules.check_parser import parse_error

PLAYWRIGHT = """\
  ✓   1 [chromium] › tests/share.spec.ts:12:3 › Sharing › 1.1 opens (2.1s)
  ✘   2 [chromium] › tests/share.spec.ts:41:3 › Sharing › 6.1 Alice revokes (10.0s)
  -   3 [chromium] › tests/share.spec.ts:88:3 › Sharing › 8.2 Self-sharing shows error

  1) [chromium] › tests/share.spec.ts:41:3 › Sharing › 6.1 Alice revokes

    Error: expect(received).toBe(expected) // Object.is equality

    Expected: 2
    Received: 0

    Error Context: test-results/share-chromium/error-context.md

  1 failed"""
EXUNIT = """\
  1) test renders the title (App.PageTest)
     test/app/page_test.exs:42
     ** (RuntimeError) the endpoint has no secret
     stacktrace:
       test/app/page_test.exs:47: (test)

12 tests, 1 failure"""
GO = """\
=== RUN   TestMerge
    merge_test.go:31: merging 3 parts
    merge_test.go:40: got 2 parts, want 3
    merge_test.go:44: cleaned up
--- FAIL: TestMerge (0.01s)
FAIL"""
GOLANGCI = """\
src/store.go:1: : # example.com/app/src [example.com/app/src.test]
src/store_test.go:30:19: undefined: plumbing.Signature (typecheck)"""
HOOK_OUTPUT_IN_ERROR = (
    "error: hook said: ['[CREDO]\\nChecking 3 files\\nerror: line is too long\\n']"
)


@pytest.mark.parametrize(
    ("output", "error", "where"),
    [
        (
            PLAYWRIGHT,
            [
                "1) [chromium] › tests/share.spec.ts:41:3 › Sharing › 6.1 Alice revokes",
                "Error: expect(received).toBe(expected) // Object.is equality",
                "Expected: 2",
                "Received: 0",
            ],
            "tests/share.spec.ts:41",
        ),
        (
            EXUNIT,
            [
                "1) test renders the title (App.PageTest)",
                "** (RuntimeError) the endpoint has no secret",
            ],
            "test/app/page_test.exs:42",
        ),
        (
            GO,
            [
                "--- FAIL: TestMerge (0.01s)",
                "merge_test.go:40: got 2 parts, want 3",
                "merge_test.go:31: merging 3 parts",
                "merge_test.go:44: cleaned up",
            ],
            "merge_test.go:40",
        ),
        (
            GOLANGCI,
            ["src/store_test.go:30:19: undefined: plumbing.Signature (typecheck)"],
            "src/store_test.go:30",
        ),
        (HOOK_OUTPUT_IN_ERROR, ["error: hook said: ['[CREDO]", "error: line is too long"], ""),
    ],
    ids=["playwright", "exunit", "go", "golangci", "hook output"],
)
def test_error_lines_contain_the_failure_and_not_the_stack_trace(
    output: str, error: list[str], where: str
) -> None:
    error_lines, location = parse_error(output)
    assert ([line for line in error_lines if line in error], location) == (error, where)
    assert not any("Error Context" in line or line.endswith("(test)") for line in error_lines)
    assert not any("shows error" in line or ": : #" in line for line in error_lines)


def test_empty_lines_of_an_error_are_dropped() -> None:
    output = "E   assert 1 == 2\nE   \nE     Left contains one more item"
    assert parse_error(output)[0] == ["E   assert 1 == 2", "E     Left contains one more item"]
