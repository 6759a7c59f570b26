"""Items of checks and commands."""

from __future__ import annotations

from holdfast.brief import checks
from tests.unit.transcript_lines import ROOT, Line, bash, state_of, tool_use, user


def edit(path: str) -> list[Line]:
    return tool_use("Edit", {"file_path": f"{ROOT}/{path}", "old_string": "x", "new_string": "y"})


def render_verdicts(*lines: Line) -> list[str]:
    return [item.forms[0] for item in checks.verdict_items(state_of(*lines))]


def test_a_verdict_names_the_files_that_were_edited_since() -> None:
    passed = bash("pytest -q", "33 passed in 1.2s")
    assert render_verdicts(*passed) == ["- `pytest -q` passed: “33 passed in 1.2s” (L1 L2)"]
    assert render_verdicts(*passed, *edit("a.py")) == [
        "- `pytest -q` passed: “33 passed in 1.2s” (L1 L2); edited since, not run again: a.py"
    ]


def test_only_the_last_verdict_of_each_kind_is_shown_and_a_run_of_all_tests_wins() -> None:
    every, one = bash("pytest", "33 passed"), bash("pytest tests/test_a.py", "2 passed")
    lint = bash("ruff check .", "All checks passed!")
    texts = render_verdicts(*every, *lint, *one)
    assert [text.split("`")[1] for text in texts] == ["ruff check .", "pytest"]


def test_a_pipe_without_a_verdict_proves_nothing() -> None:
    assert render_verdicts(*bash("cargo build | grep Finished", "")) == []
    assert render_verdicts(*bash("cargo build --quiet", "")) != []


def test_a_failure_is_gone_when_its_tests_pass_by_name_with_another_runner() -> None:
    failed = bash("mise run test:ci", "--- FAIL: TestShadow_Commit (1.1s)", ok=False)
    passed = bash("go test ./cli -run TestShadow_Commit -v", "ok  \tcli\t2.9s")
    assert list(checks.failing_check_items(state_of(*failed, *passed))) == []
    assert list(checks.failing_check_items(state_of(*failed))) != []


def test_an_old_failure_of_a_command_that_is_no_check_is_not_shown() -> None:
    failed = bash("./deploy.sh staging", "no such host", ok=False)
    assert list(checks.failing_check_items(state_of(user("deploy it"), *failed))) != []
    assert list(checks.failing_check_items(state_of(*failed, user("now the docs")))) == []


def test_commands_that_were_repeated_or_set_an_environment_are_shown() -> None:
    repeated = bash("docker compose up -d db")
    once = bash("docker compose logs db")
    environment = bash("RUST_LOG=debug ./target/app --once")
    items = checks.command_items(state_of(*repeated, *repeated, *once, *environment))
    assert [item.quote for item in items] == [
        "RUST_LOG=debug ./target/app --once", "docker compose up -d db",
    ]  # fmt: skip
