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
        "- `pytest -q` passed: “33 passed in 1.2s”; edited since, not run again: a.py (L1 L2)"
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


def test_a_verdict_after_a_pipe_is_not_called_passed() -> None:
    lines = bash("mix credo --strict | tail -3", "885 mods/funs, found 5 suggestions.")
    assert render_verdicts(*lines) == [
        "- `mix credo --strict`: “885 mods/funs, found 5 suggestions.” (L1 L2)"
    ]


def test_a_build_that_a_later_test_run_implies_is_left_out() -> None:
    build, test = bash("cargo build"), bash("cargo test", "test result: ok. 9 passed; 0 failed")
    assert [text.split("`")[1] for text in render_verdicts(*build, *test)] == ["cargo test"]
    assert len(render_verdicts(*test, *build)) == 2


def test_a_pass_that_a_newer_failure_overtook_is_left_out() -> None:
    passed = bash("cargo build --quiet")
    failed = bash("cargo build --release", "error[E0277]: no such trait", ok=False)
    assert render_verdicts(*passed, *failed) == []


def test_a_failing_check_names_the_files_that_were_edited_since() -> None:
    failed = bash("make test", "E   assert 3 == 4\nmake: *** [Makefile:2: test] Error 1", ok=False)
    (item,) = checks.failing_check_items(state_of(*failed, *edit("a.py")))
    assert item.forms[0] == (
        "- `make test` fails (edited since, not run again: a.py) (L1 L2)\n  `E   assert 3 == 4`"
    )


def test_of_the_same_check_with_other_options_only_the_newest_failure_is_shown() -> None:
    first = bash("cargo build --release", "error[E0433]: failed to resolve", ok=False)
    second = bash("cargo build --release --quiet", "error[E0277]: no such trait", ok=False)
    (item,) = checks.failing_check_items(state_of(*first, *second))
    assert "E0277" in item.forms[0]
