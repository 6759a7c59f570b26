"""The closing texts of turns, and the findings between tool calls."""

from __future__ import annotations

from holdfast.state.rules.reports import MAX_FINDINGS, MAX_REPORT_CHARS, MAX_REPORTS
from tests.unit.transcript_lines import bash, boundary, reply, state_of, user

REPORT = (
    "The retry was broken: the cap was read before the settings were loaded. Fixed in worker.py."
)


def test_the_last_text_before_a_message_of_the_user_is_a_report() -> None:
    state = state_of(user("fix it"), reply("Let me look."), *bash("ls"), reply(REPORT), user("ok"))
    assert state["reports"] == [{"text": REPORT, "line": 5}]


def test_a_turn_that_has_not_ended_has_no_report() -> None:
    assert state_of(user("fix it"), reply(REPORT))["reports"] == []


def test_a_compaction_ends_a_turn() -> None:
    state = state_of(user("fix it"), reply(REPORT), boundary(trigger="auto"), reply("Going on."))
    assert state["reports"] == [{"text": REPORT, "line": 2}]


def test_a_short_closing_text_is_no_report() -> None:
    assert state_of(user("fix it"), reply("Done."), user("ok"))["reports"] == []


def test_two_messages_in_a_row_keep_a_report_once() -> None:
    state = state_of(user("fix it"), reply(REPORT), user("ok"), user("and push"))
    assert len(state["reports"]) == 1


def test_the_newest_reports_are_kept_and_long_ones_are_cut() -> None:
    lines = [user("go")]
    for number in range(MAX_REPORTS + 2):
        lines += [reply(f"Report {number}: " + "it works. " * 500), user("ok")]
    reports = state_of(*lines)["reports"]
    assert len(reports) == MAX_REPORTS
    assert reports[0]["text"].startswith("Report 2:")
    assert max(len(report["text"]) for report in reports) == MAX_REPORT_CHARS


def test_a_secret_in_a_report_is_redacted() -> None:
    token = "ghp_" + "a1B2" * 9
    state = state_of(user("go"), reply(f"{REPORT} The token is {token}."), user("ok"))
    assert token not in state["reports"][0]["text"]


def test_a_sentence_that_states_a_cause_is_a_finding() -> None:
    text = "Let me see. The test fails because the fixture has no uuid. Next I fix it."
    findings = state_of(user("go"), reply(text), *bash("ls"))["findings"]
    assert findings == [{"text": "The test fails because the fixture has no uuid.", "line": 2}]


def test_announcements_and_questions_are_no_findings() -> None:
    for text in (
        "Let me check why it fails because of the cap.",
        "Is it because the fixture has no uuid?",
        "Here is what I found about the bug:",
        "Running the tests of the worker again.",
    ):
        assert state_of(user("go"), reply(text))["findings"] == [], text


def test_findings_that_a_report_contains_are_not_kept_twice() -> None:
    state = state_of(user("go"), reply(f"{REPORT} It failed because of the cap."), user("ok"))
    assert state["findings"] == []


def test_the_newest_findings_are_kept() -> None:
    lines = [user("go")]
    for number in range(MAX_FINDINGS + 3):
        lines.append(reply(f"Case {number} fails because the fixture is empty."))
    findings = state_of(*lines)["findings"]
    assert len(findings) == MAX_FINDINGS
    assert findings[0]["text"].startswith("Case 3 ")
