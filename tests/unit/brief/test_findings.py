"""Items of what was found out: reports, findings, workarounds, records, servers."""

from __future__ import annotations

from holdfast.brief import findings
from holdfast.brief.summary_overlap import SearchableSummary
from tests.unit.transcript_lines import Line, bash, call, reply, result, state_of, user

REPORT = (
    "Great, this is done!\n\n"
    "**Root cause:** the cap was read before the settings were loaded, so `delay` was 0.\n"
    "- `worker.py` now reads the cap when a job starts\n"
    "- 33 tests pass\n\n"
    "Shall I push?"
)


def render_reports(*lines: Line, summary: str = "") -> list[str]:
    searchable = SearchableSummary(summary) if summary else None
    return [item.forms[0] for item in findings.report_items(state_of(*lines), searchable)]


def test_a_report_is_quoted_without_greetings_and_answered_questions() -> None:
    (text,) = render_reports(user("go"), reply(REPORT), user("yes"), reply("Pushed."))
    assert text == (
        "- “Root cause: the cap was read before the settings were loaded, so `delay` was 0. "
        "`worker.py` now reads the cap when a job starts 33 tests pass” (L2)"
    )


def test_the_last_message_is_not_repeated_as_a_report() -> None:
    assert render_reports(user("go"), reply(REPORT), user("yes")) == []


def test_statements_that_the_summary_makes_are_left_out_of_a_report() -> None:
    summary = "The root cause: the cap was read before the settings were loaded, so `delay` was 0."
    (text,) = render_reports(user("go"), reply(REPORT), user("yes"), reply("Ok."), summary=summary)
    assert "Root cause" not in text
    assert "33 tests pass" in text


def test_a_shorter_form_keeps_the_more_important_statements() -> None:
    text = "I went through the folder. " * 3 + "It fails because the lease in `queue.py` expires."
    (item,) = findings.report_items(state_of(user("go"), reply(text), user("ok"), reply("x")), None)
    assert "because the lease in `queue.py` expires" in item.forms[-1]


def test_rows_of_a_table_are_written_as_statements() -> None:
    table = (
        "The options that I compared:\n\n| Option | Cost |\n|---|---|\n| queue | 3 days of work |"
    )
    (text,) = render_reports(user("go"), reply(table), user("ok"), reply("x"))
    assert "queue: 3 days of work" in text
    assert "|" not in text


def test_a_workaround_names_the_failed_and_the_working_command() -> None:
    failed = bash("cargo build", "zsh: command not found: cargo", ok=False)
    worked = bash("export PATH=~/.cargo/bin:$PATH && cargo build")
    (item,) = findings.workaround_items(state_of(*failed, *worked))
    assert item.forms[0] == (
        "- `cargo build` failed (“zsh: command not found: cargo”); this worked: "
        "`export PATH=~/.cargo/bin:$PATH && cargo build` (L1 L3)"
    )


def test_the_same_text_for_the_record_is_shown_once() -> None:
    first = bash("bd close a-1 --reason 'Both views share the component now'")
    second = bash("bd close a-2 --reason 'Both views share the component now, again'")
    (item,) = findings.record_items(state_of(*first, *second))
    assert item.line == 3


def test_a_commit_message_is_left_to_the_commit() -> None:
    made = bash(
        "git commit -m 'Cap the delay at 300 seconds'",
        "[main 1a2b3c4] Cap the delay at 300 seconds",
    )
    assert list(findings.record_items(state_of(*made))) == []


def test_a_running_server_is_shown() -> None:
    lines = [
        call("Bash", {"command": "npm run dev -- --port 4100"}),
        result("running", detail={"backgroundTaskId": "b1"}),
    ]
    (item,) = findings.server_items(state_of(*lines))
    assert item.forms[0] == "- running in the background: `npm run dev -- --port 4100` (L1)"


def test_a_finding_that_a_report_contains_is_dropped() -> None:
    lines = [user("go"), reply("It fails because the lease expires too early."), *bash("ls"),
             reply("Fixed. It fails because the lease expires too early. It is 30 s now."),
             user("ok"), reply("x")]  # fmt: skip
    state = state_of(*lines)
    items = [*findings.report_items(state, None), *findings.finding_items(state)]
    assert [item.kind for item in findings.drop_repeated(items)] == ["report"]
