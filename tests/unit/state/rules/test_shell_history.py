"""Commands that worked, workarounds, texts for the record, and running servers."""

from __future__ import annotations

from holdfast.state.rules.shell_history import MAX_COMMANDS, find_record_texts
from tests.unit.transcript_lines import Line, bash, call, result, state_of, tool_use, user


def commands(*steps: list[Line]) -> list[str]:
    return [one["text"] for one in state_of(*(line for step in steps for line in step))["shell"]]


def test_a_command_is_kept_in_the_form_in_which_it_last_worked() -> None:
    first, second = bash("docker compose up -d db"), bash("docker compose up -d db cache")
    assert commands(first, second) == ["docker compose up -d db cache"]


def test_commands_that_only_look_at_something_are_not_kept() -> None:
    for command in (
        "ls -la",
        "cat a.py | head -20",
        "git status --short",
        "cd src && pwd",
        "wc -l x",
    ):
        assert commands(bash(command), bash(command)) == [], command


def test_a_search_counts_how_often_it_was_made() -> None:
    state = state_of(
        *bash('grep "DEV OTP" /tmp/a.log'), *bash('grep "DEV OTP" /tmp/b.log | tail -1')
    )
    (search,) = state["shell"]
    assert (search["text"], search["runs"]) == ('grep "DEV OTP" /tmp/b.log', 2)


def test_checks_and_failed_commands_are_not_listed_among_the_commands() -> None:
    assert commands(bash("pytest -q", "1 passed")) == []
    assert commands(bash("./deploy.sh", "no such host", ok=False)) == []


def test_the_least_used_commands_are_dropped_first() -> None:
    often = bash("./often.sh run")
    steps = [bash(f"./tool{number} start") for number in range(MAX_COMMANDS + 5)]
    kept = commands(often, often, *steps)
    assert len(kept) == MAX_COMMANDS
    assert "./often.sh run" in kept


def test_a_failed_command_and_the_variant_that_worked_are_a_workaround() -> None:
    failed = bash("cargo build", "Exit code 127\nzsh: command not found: cargo", ok=False)
    worked = bash('export PATH="$HOME/.cargo/bin:$PATH" && cargo build')
    (workaround,) = state_of(*failed, *worked)["workarounds"]
    assert workaround["failed"] == "cargo build"
    assert workaround["error"] == "zsh: command not found: cargo"
    assert workaround["text"] == 'export PATH="$HOME/.cargo/bin:$PATH" && cargo build'
    assert (workaround["failed_line"], workaround["line"]) == (1, 3)


def test_a_command_that_works_after_an_edit_is_no_workaround() -> None:
    failed = bash("cargo build", "error[E0277]", ok=False)
    edit = tool_use("Edit", {"file_path": "a.rs", "old_string": "x", "new_string": "y"})
    assert state_of(*failed, *edit, *bash("cargo build --release"))["workarounds"] == []


def test_the_same_command_again_and_another_program_are_no_workarounds() -> None:
    failed = bash("./deploy.sh staging", "timeout", ok=False)
    assert state_of(*failed, *bash("./deploy.sh staging"))["workarounds"] == []
    assert state_of(*failed, *bash("docker run staging"))["workarounds"] == []


def test_a_refused_command_is_no_failure() -> None:
    refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected"
    refused = bash("rm -rf build", refusal, ok=False)
    assert state_of(*refused, *bash("rm -r build"))["workarounds"] == []


def test_texts_for_the_record_are_found() -> None:
    cases = [
        ("bd close x-1 --reason 'Both views share it now'", ["Both views share it now"]),
        ('bd close x-1 --reason="Both views share it now"', ["Both views share it now"]),
        ('gh pr create --title "Cap it" --body "At 300 s"', ["Cap it", "At 300 s"]),
        ("git commit -m \"$(cat <<'EOF'\nCap it\n\nAt 300 s.\nEOF\n)\"", ["Cap it\n\nAt 300 s."]),
        ("ls -m", []),
        ("echo done", []),
    ]
    for command, texts in cases:
        assert find_record_texts(command) == texts, command


def test_the_text_of_a_commit_that_was_refused_is_kept() -> None:
    commit = "git commit -m 'Cap the delay at 300 s\n\nRejected: a cap per job'"
    (record,) = state_of(*bash(commit, "hook failed", ok=False))["records"]
    assert record["text"].endswith("Rejected: a cap per job")
    assert record["head"] == "git commit"


def test_a_command_in_the_background_runs_until_it_is_stopped() -> None:
    started = [
        call("Bash", {"command": "npm run dev -- --port 4100", "run_in_background": True}),
        result("running", detail={"backgroundTaskId": "b1"}),
    ]
    (server,) = state_of(*started)["servers"]
    assert (server["text"], server["line"]) == ("npm run dev -- --port 4100", 1)
    assert state_of(*started, *tool_use("KillShell", {"shell_id": "b1"}))["servers"] == []
    ended = "<status>completed</status>\n<output>bye</output>"
    assert state_of(*started, *tool_use("BashOutput", {"bash_id": "b1"}, ended))["servers"] == []
    assert state_of(*started, *tool_use("BashOutput", {"bash_id": "b1"}, "up"))["servers"] != []
    notice = (
        "<task-notification><task-id>b1</task-id><status>completed</status></task-notification>"
    )
    assert state_of(*started, user(notice))["servers"] == []


def test_a_secret_in_a_command_is_redacted() -> None:
    token = "ghp_" + "a1B2" * 9
    (kept,) = commands(bash(f"curl -H 'Authorization: {token}' https://example.com"))
    assert token not in kept


def test_looking_at_an_issue_is_not_listed_among_the_commands() -> None:
    for command in ("gh pr view 158 --json title", "gh pr diff 162", "bd list --status open"):
        assert commands(bash(command), bash(command)) == [], command


def test_commands_with_sudo_are_dropped_once_it_asks_for_a_password() -> None:
    refused = "sudo: a terminal is required\nsudo: a password is required"
    assert commands(bash("sudo make install"), bash("sudo ./run & sleep 3", refused)) == []
