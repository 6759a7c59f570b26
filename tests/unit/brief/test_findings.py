"""Items of what was found out: lasting statements, workarounds, records, servers."""

from __future__ import annotations

from holdfast.brief import findings
from holdfast.brief.summary_overlap import SearchableSummary
from tests.unit.transcript_lines import Line, bash, call, reply, result, state_of, user

CAUSE = "The cap was 0 because `delay` was read before the settings were loaded."
REPORT = f"Great, this is done!\n\n**Root cause:** {CAUSE}\n- 33 tests pass\n\nShall I push?"
# Without a later message the report would be the last message, which has an item of its own.
AFTER = [user("ok"), reply("x")]


def find_statements(*lines: Line, summary: str = "") -> list[str]:
    searchable = SearchableSummary(summary) if summary else None
    return [item.quote for item in findings.statement_items(state_of(*lines), searchable)]


def test_a_statement_of_a_cause_is_quoted_without_what_surrounds_it() -> None:
    lines = [user("go"), reply(REPORT), *AFTER]
    (item,) = findings.statement_items(state_of(*lines), None)
    assert item.forms == (f"- “Root cause: {CAUSE}” (L2)",)


def test_a_finding_between_tool_calls_is_quoted() -> None:
    lines = [user("go"), reply(CAUSE), *bash("ls"), reply("Fixed."), *AFTER]
    assert find_statements(*lines) == [CAUSE]


def test_the_last_message_is_not_repeated() -> None:
    assert find_statements(user("go"), reply(REPORT), user("ok")) == []


def test_statements_that_do_not_stand_alone_are_left_out() -> None:
    for text in (
        "It fails because the lease in the queue expires too early.",
        "So this cannot work without the lock of the scheduler.",
        "The reasons, because you asked for them in this order:",
        "Because of the cap.",
        "All 33 tests of the worker pass again with the new cap.",
    ):
        assert find_statements(user("go"), reply(text + "\n" + "y" * 40), *AFTER) == [], text


def test_of_statements_about_the_same_name_only_the_newest_is_kept() -> None:
    older = "`worker.py` fails because the cap is read before the settings are loaded."
    newer = "`worker.py` fails because the lock of the scheduler is held, not the cap."
    lines = [user("go"), reply(older), user("sure?"), reply(newer), *AFTER]
    assert find_statements(*lines) == [newer]


def test_a_statement_that_names_nothing_is_kept_only_while_it_is_recent() -> None:
    statement = "Retries cannot be made slower without changing the schema of the table."
    lines = [user("go"), reply(statement), *AFTER]
    assert find_statements(*lines) == [statement]
    for number in range(findings.RECENT_TEXTS):
        lines += [reply(f"Step {number} of the plan was left for the next release."), user("ok")]
    assert statement not in find_statements(*lines, reply("x"))


def test_a_statement_that_the_summary_makes_is_left_out() -> None:
    lines = [user("go"), reply(REPORT), *AFTER]
    assert find_statements(*lines, summary=f"Found: {CAUSE}") == []
    assert find_statements(*lines, summary="Payments were worked on.") != []


def test_statements_in_other_scripts_are_taken_if_they_have_figures_or_code() -> None:
    lines = [
        user("go"),
        reply(
            "전체 테스트 2320개가 모두 통과했고 이제 새로운 버전의 릴리스 준비가 완료되었습니다."
        ),
        *AFTER,
    ]
    assert len(find_statements(*lines)) == 1


def test_rows_of_a_table_are_written_as_statements() -> None:
    table = "| Option | Cost |\n|---|---|\n| queue | 3 days, because it needs a lock |"
    assert findings.split_statements(table) == ["queue: 3 days, because it needs a lock"]


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
    (item,) = findings.record_items(state_of(*first, *second), None)
    assert item.line == 3


def test_a_commit_message_is_left_to_the_commit() -> None:
    subject = "Cap the delay at 300 seconds"
    made = bash(f"git commit -m '{subject}'", f"[main 1a2b3c4] {subject}")
    assert list(findings.record_items(state_of(*made), None)) == []


def test_the_message_of_a_refused_commit_is_shown_whole() -> None:
    message = "Cap the delay\n\nAt 300 s.\n\nConfidence: high"
    refused = bash(f"git commit -m '{message}'", "hook failed", ok=False)
    (item,) = findings.record_items(state_of(*refused), None)
    assert item.forms[0] == (
        "- commit message without a commit: “Cap the delay At 300 s. Confidence: high” (L1)"
    )


def test_the_task_that_was_looked_up_is_shown_while_it_is_recent() -> None:
    text = "Live status\n\nOutput: the file test/pane_list_test.exs must be written."
    shown = bash("bd show x-4", text)
    (item,) = findings.record_items(state_of(user("go"), *shown), None)
    assert item.forms[0].startswith("- `bd show x-4` says: “")
    assert "test/pane_list_test.exs must be written" in item.forms[0]
    later = [user(f"and now thing {n}") for n in range(findings.RECENT_TEXTS)]
    assert list(findings.record_items(state_of(*shown, *later), None)) == []


def test_a_running_server_is_shown() -> None:
    lines = [
        call("Bash", {"command": "npm run dev -- --port 4100"}),
        result("running", detail={"backgroundTaskId": "b1"}),
    ]
    (item,) = findings.server_items(state_of(*lines))
    assert item.forms[0] == "- running in the background: `npm run dev -- --port 4100` (L1)"


def test_a_remark_of_the_agent_about_itself_is_left_out_beside_a_summary() -> None:
    text = "I can't see in `worker.log` which of the 33 tests of the queue has failed."
    lines = [user("go"), reply(text), *AFTER]
    assert find_statements(*lines) == [text]
    assert find_statements(*lines, summary="Payments were worked on.") == []


def test_of_the_task_that_was_looked_up_its_lists_are_quoted() -> None:
    task = (
        "spotter-4 Live updates\n\nWhy: users do not see live data yet, which is a pity.\n\n"
        "Output files\n- `test/live/pane_test.exs` (new)\n- Burst events do not reload the page.\n"
    )
    lines = [user("go on with the next task"), *bash("bd show spotter-4", task)]
    (item,) = findings.record_items(state_of(*lines), None)
    assert item.forms[0] == (
        "- `bd show spotter-4` says: “`test/live/pane_test.exs` (new) "
        "Burst events do not reload the page.” (L2)"
    )
