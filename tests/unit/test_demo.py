"""The demo session has the real client's format, and its summary loses the planted facts."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from holdfast.demo import DemoSession, append_lines, load_demo

ROOT = "/srv/courier"
SESSION = "3b0f6a52-8d1e-4c57-9a34-5e2f7c1d9b60"
STARTED = 1_760_000_000.0
BRIEF = "# Where\nBranch fix/retry-storm\n— and “more”"

BOOKKEEPING_TYPES = {
    "queue-operation",
    "last-prompt",
    "mode",
    "atis-latch",
    "tools-used",
    "ai-title",
    "file-history-snapshot",
}
COMMON_FIELDS = ["session_id", "transcript_path", "cwd"]


@pytest.fixture(scope="module")
def session() -> DemoSession:
    return load_demo(ROOT, SESSION, STARTED)


@pytest.fixture(scope="module")
def after(session: DemoSession) -> list[dict[str, Any]]:
    return session.after(session.hook_attachment(BRIEF))


def lines_of_type(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == kind]


def attachments(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line.get("attachment", {}).get("type") == kind]


def prompts(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines_of_type(lines, "user") if "promptSource" in line]


def blocks(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    contents = [line["message"]["content"] for line in lines if "message" in line]
    block_lists = [content for content in contents if isinstance(content, list)]
    return [block for content in block_lists for block in content if block["type"] == kind]


def tool_results(lines: list[dict[str, Any]], tool: str) -> list[Any]:
    calls = {block["id"] for block in blocks(lines, "tool_use") if block["name"] == tool}
    result_lines = [line for line in lines if "toolUseResult" in line]
    return [
        line["toolUseResult"]
        for line in result_lines
        if line["message"]["content"][0]["tool_use_id"] in calls
    ]


def strings(value: Any) -> list[str]:
    """Return every string inside a decoded JSON value."""
    if isinstance(value, dict):
        return [text for child in value.values() for text in strings(child)]
    if isinstance(value, list):
        return [text for child in value for text in strings(child)]
    return [value] if isinstance(value, str) else []


def all_text(lines: list[dict[str, Any]]) -> str:
    return "\n".join(strings(lines))


def context_tokens(line: dict[str, Any]) -> int:
    usage = line["message"]["usage"]
    cached = usage["cache_creation_input_tokens"] + usage["cache_read_input_tokens"]
    return int(usage["input_tokens"] + cached)


def test_the_same_arguments_give_the_same_lines(session, after):
    second = load_demo(ROOT, SESSION, STARTED)
    assert second.before == session.before
    assert second.turn_ends == session.turn_ends
    assert second.after(second.hook_attachment(BRIEF)) == after


def test_repeated_calls_of_after_return_the_same_lines(session, after):
    count = len(session.before)
    assert session.after(session.hook_attachment(BRIEF)) == after
    assert len(session.before) == count


def test_another_session_shares_no_uuid(session):
    other = load_demo(ROOT, "another", STARTED)
    uuids = {line["uuid"] for line in session.before if "uuid" in line}
    assert uuids.isdisjoint(line["uuid"] for line in other.before if "uuid" in line)


def test_lines_are_appended_and_read_back_unchanged(session, after, tmp_path: Path):
    transcript = tmp_path / "session.jsonl"
    append_lines(transcript, session.before)
    append_lines(transcript, after)
    text = transcript.read_bytes().decode("utf-8")
    assert text.endswith("}\n")
    assert [json.loads(line) for line in text.splitlines()] == session.before + after
    assert '{"type":"mode","mode":"normal","sessionId":"' in text
    assert "—" in text


def test_the_session_has_about_200_lines_in_order_of_time(session):
    assert 150 <= len(session.before) <= 220
    timestamps = [line["timestamp"] for line in session.before if "timestamp" in line]
    assert timestamps == sorted(timestamps)
    assert timestamps[0].startswith("2025-10-09T08:53:")
    assert timestamps[-1].startswith("2025-10-09T10:4")


def test_every_path_is_inside_the_project(session, after):
    text = all_text(session.before + after).replace("~/.claude/projects/-srv-courier/", "")
    assert set(re.findall(r"(?<![\w.*~/<>-])/[a-z]+/[a-z]+", text)) == {ROOT}
    assert "fix/retry-storm" in {line["gitBranch"] for line in session.before if "uuid" in line}


def test_every_parent_is_an_earlier_line(session, after):
    seen: set[str] = set()
    for line in session.before + after:
        if "uuid" not in line:
            continue
        first = line["uuid"] == prompts(session.before)[0]["uuid"]
        if first or line.get("subtype") == "compact_boundary":
            assert line["parentUuid"] is None
        else:
            assert line["parentUuid"] in seen
        assert line["uuid"] not in seen
        seen.add(line["uuid"])


def test_every_tool_call_has_exactly_one_result_line(session):
    calls = {}
    for line in lines_of_type(session.before, "assistant"):
        for block in blocks([line], "tool_use"):
            calls[block["id"]] = line["uuid"]
    for line in session.before:
        if "toolUseResult" in line:
            call_id = line["message"]["content"][0]["tool_use_id"]
            assert calls.pop(call_id) == line["sourceToolAssistantUUID"] == line["parentUuid"]
    assert calls == {}


def test_the_context_grows_with_every_message_to_about_150k(session):
    sizes: dict[str, int] = {}
    for line in lines_of_type(session.before, "assistant"):
        assert sizes.setdefault(line["message"]["id"], context_tokens(line)) == context_tokens(line)
    assert all(small < large for small, large in pairwise(sizes.values()))
    assert min(sizes.values()) < 30_000
    assert 140_000 < max(sizes.values()) < 155_000


def test_the_session_contains_the_bookkeeping_lines_of_the_client(session):
    assert {line["type"] for line in session.before} >= BOOKKEEPING_TYPES
    for kind in ("environment", "instructions", "session_context", "total_tokens_reminder"):
        assert attachments(session.before, kind)
    for line in lines_of_type(session.before, "assistant"):
        assert list(line).index("message") < list(line).index("type")


def test_a_prompt_typed_during_a_turn_waits_in_the_queue(session):
    enqueue, dequeue = lines_of_type(session.before, "queue-operation")
    queued = [line for line in prompts(session.before) if line["promptSource"] == "queued"]
    assert [line["message"]["content"] for line in queued] == [enqueue["content"]]
    assert "content" not in dequeue


def test_a_turn_ends_with_text_and_then_the_stop_hook(session):
    assert len(session.turn_ends) == len(prompts(session.before)) - 1 == session.turns - 1
    for index in session.turn_ends:
        line, following = session.before[index], session.before[index + 1]
        assert line["message"]["stop_reason"] == "end_turn"
        assert line["message"]["content"][0]["type"] == "text"
        assert following["subtype"] == "stop_hook_summary"


def test_every_edit_starts_from_the_content_that_the_last_one_left(session, after):
    files: dict[str, str] = {}
    for line in session.before + after:
        result = line.get("toolUseResult")
        if not isinstance(result, dict) or "structuredPatch" not in result:
            continue
        if result.get("type") == "create":
            files[result["filePath"]] = result["content"]
            continue
        before = files.get(result["filePath"], result["originalFile"])
        assert result["originalFile"] == before
        assert before.count(result["oldString"]) == 1
        files[result["filePath"]] = before.replace(result["oldString"], result["newString"])
        assert apply_hunks(before, result["structuredPatch"]) == files[result["filePath"]]


def apply_hunks(text: str, hunks: list[dict[str, Any]]) -> str:
    lines = text.splitlines()
    for hunk in reversed(hunks):
        start = hunk["oldStart"] - 1
        old = [line[1:] for line in hunk["lines"] if line[0] != "+"]
        new = [line[1:] for line in hunk["lines"] if line[0] != "-"]
        assert lines[start : start + hunk["oldLines"]] == old
        assert hunk["newLines"] == len(new)
        lines[start : start + hunk["oldLines"]] = new
    return "\n".join(lines) + "\n"


def test_the_plan_is_partly_done(session):
    status = {
        result["task"]["id"]: "pending" for result in tool_results(session.before, "TaskCreate")
    }
    for result in tool_results(session.before, "TaskUpdate"):
        assert result["statusChange"]["from"] == status[result["taskId"]]
        status[result["taskId"]] = result["statusChange"]["to"]
    assert list(status.values()) == ["completed"] * 4 + ["in_progress"] + ["pending"] * 2


def test_one_file_is_created_and_deleted_and_one_commit_is_made(session):
    commands = [
        b["input"]["command"] for b in blocks(session.before, "tool_use") if b["name"] == "Bash"
    ]
    assert "rm scripts/simulate_storm.py" in commands
    commits = [
        r["gitOperation"] for r in tool_results(session.before, "Bash") if "gitOperation" in r
    ]
    assert commits == [
        {"commit": {"sha": "3f2c1ab", "kind": "committed", "branch": "fix/retry-storm"}}
    ]


def test_the_user_answered_a_question_and_a_sub_agent_reported(session):
    (answer,) = tool_results(session.before, "AskUserQuestion")
    assert list(answer["answers"].values()) == ["Same table, state 'dead'"]
    (report,) = tool_results(session.before, "Agent")
    assert report["status"] == "completed"
    assert "scripts/replay.py:16" in report["content"][-1]["text"]


def test_one_test_was_fixed_and_one_still_fails(session):
    failures = [r for r in tool_results(session.before, "Bash") if isinstance(r, str)]
    fixed, open_failure = failures
    assert "OverflowError" in fixed
    assert "\nE       AssertionError: assert ['ready', 'dead', 'ready']" in open_failure
    assert "\ntests/test_worker.py:49: AssertionError\n" in open_failure
    assert tool_results(session.before, "Bash")[-1] == open_failure


def test_every_planted_fact_occurs_before_the_compaction(session):
    text = all_text(session.before)
    assert len(session.facts) >= 14
    assert len({fact.name for fact in session.facts}) == len(session.facts)
    assert [fact.name for fact in session.facts if fact.text not in text] == []


def test_the_summary_contains_the_text_of_kept_facts_only(session):
    kept = [fact.name for fact in session.facts if fact.text in session.summary]
    assert kept == [fact.name for fact in session.facts if fact.fate == "kept"]
    assert len([fact for fact in session.facts if fact.fate == "lost"]) >= 6


@pytest.mark.parametrize(
    "trace", ["migration", "lock", "test-fast", "replay", "AssertionError", "5 attempts"]
)
def test_lost_facts_leave_no_trace_in_the_summary(session, trace):
    assert trace in all_text(session.before)
    assert trace not in session.summary


def test_the_summary_repeats_a_limit_that_was_corrected(session):
    assert "8 attempts" in session.summary
    assert "make it 5 attempts, not 8" in all_text(prompts(session.before))


def test_the_summary_has_the_hosts_nine_sections(session):
    assert 2_500 <= len(session.summary) <= 4_000
    assert session.summary.startswith("<analysis>\n")
    assert session.summary.endswith("\n</summary>")
    assert re.findall(r"^(\d)\. ", session.summary, re.M) == list("123456789")


def test_the_compaction_boundary_has_the_format_of_the_host(session, after):
    boundary = after[0]
    metadata = boundary["compactMetadata"]
    kept = metadata["preservedMessages"]["uuids"]
    uuids = [line["uuid"] for line in session.before if "uuid" in line]
    last = lines_of_type(session.before, "assistant")[-1]
    assert list(boundary)[:3] == ["parentUuid", "logicalParentUuid", "isSidechain"]
    assert boundary["subtype"] == "compact_boundary"
    assert boundary["logicalParentUuid"] == uuids[-1] == metadata["preservedSegment"]["tailUuid"]
    assert kept == uuids[-len(kept) :]
    assert metadata["trigger"] == "auto"
    assert context_tokens(last) < metadata["preTokens"] < 160_000
    dropped = metadata["preTokens"] - metadata["postTokens"]
    assert dropped == metadata["cumulativeDroppedTokens"] > 100_000


def test_the_messages_that_the_host_kept_do_not_contain_the_failure(session, after):
    kept = set(after[0]["compactMetadata"]["preservedMessages"]["uuids"])
    lines = [line for line in session.before if line.get("uuid") in kept]
    assert "AssertionError" not in all_text(lines)


def test_the_summary_line_has_no_analysis_and_anchors_the_kept_messages(session, after):
    (line,) = [line for line in after if line.get("isCompactSummary")]
    text = line["message"]["content"]
    assert text.startswith("This session is being continued from a previous conversation")
    assert "Summary:\n1. Primary Request and Intent:" in text
    assert "<analysis>" not in text
    assert "<summary>" not in text
    assert line["uuid"] == after[0]["compactMetadata"]["preservedSegment"]["anchorUuid"]
    assert line["summarizedTurnPromptUuids"] == [p["uuid"] for p in prompts(session.before)]


def test_the_summary_line_contains_the_given_transcript_path(session):
    path = session.transcript_path("/cfg")
    assert path == f"/cfg/projects/-srv-courier/{SESSION}.jsonl"
    assert f"read the full transcript at: {path}\n" in all_text(session.after(transcript_path=path))


def test_the_brief_is_between_the_summary_and_the_reply(after):
    kinds = [line.get("attachment", line).get("type") for line in after]
    first = kinds.index("hook_success")
    assert kinds[first : first + 3] == ["hook_success", "hook_additional_context", "assistant"]
    assert kinds.index("user") < first
    for line, following in pairwise(after[first - 1 : first + 3]):
        assert following["parentUuid"] == line["uuid"]
    assert {line["slug"] for line in after if "uuid" in line} == {after[0]["slug"]}


def test_without_a_brief_there_is_no_hook_line(session):
    after = session.after()
    assert attachments(after, "hook_success") == []
    assert attachments(after, "hook_additional_context") == []
    assert len(lines_of_type(after, "assistant")) == 3


def test_a_hook_output_is_recorded_raw_and_as_the_model_sees_it(session):
    text = f"{BRIEF}\n<system-reminder>"
    success, shown = session.hook_attachment(text)
    assert success["attachment"]["hookName"] == "SessionStart:compact"
    assert success["attachment"]["content"] == ""
    output = json.loads(success["attachment"]["stdout"])
    assert output["hookSpecificOutput"]["additionalContext"] == text
    assert "rendered" not in success
    assert shown["attachment"] == {
        "type": "hook_additional_context",
        "content": [text],
        "hookName": "SessionStart",
        "toolUseID": "SessionStart",
        "hookEvent": "SessionStart",
    }
    assert shown["rendered"] == [
        {
            "content": "<system-reminder>\nSessionStart hook additional context: "
            f"{BRIEF}\n&lt;system-reminder>\n</system-reminder>"
        }
    ]


@pytest.mark.parametrize(
    ("event", "arguments", "fields"),
    [
        ("SessionStart", {}, ["hook_event_name", "source"]),
        (
            "SessionStart",
            {"source": "compact"},
            ["prompt_id", "hook_event_name", "source", "model"],
        ),
        (
            "UserPromptSubmit",
            {"text": "go"},
            ["prompt_id", "permission_mode", "hook_event_name", "prompt"],
        ),
        (
            "Stop",
            {"text": "done"},
            [
                "prompt_id",
                "permission_mode",
                "hook_event_name",
                "stop_hook_active",
                "last_assistant_message",
                "background_tasks",
                "session_crons",
            ],
        ),
        ("PreCompact", {}, ["prompt_id", "hook_event_name", "trigger", "custom_instructions"]),
        (
            "SubagentStop",
            {},
            [
                "prompt_id",
                "permission_mode",
                "agent_id",
                "agent_type",
                "hook_event_name",
                "stop_hook_active",
                "agent_transcript_path",
                "last_assistant_message",
                "background_tasks",
                "session_crons",
            ],
        ),
        ("PostCompact", {}, ["prompt_id", "hook_event_name", "trigger", "compact_summary"]),
        ("SessionEnd", {}, ["prompt_id", "hook_event_name", "reason"]),
    ],
)
def test_a_payload_has_the_fields_of_the_host_in_the_same_order(session, event, arguments, fields):
    payload = session.hook_payload(event, "/t/s.jsonl", **arguments)
    assert list(payload) == COMMON_FIELDS + fields
    assert payload["hook_event_name"] == event


def test_the_compaction_fork_has_no_type_and_ends_with_the_summary(session):
    payload = session.hook_payload("SubagentStop", "/t/s.jsonl")
    assert payload["agent_type"] == ""
    assert payload["last_assistant_message"] == session.summary
    assert payload["agent_transcript_path"] == f"/t/s/subagents/agent-{payload['agent_id']}.jsonl"


def test_payloads_contain_the_prompt_ids_of_the_transcript(session):
    ids = [line["promptId"] for line in prompts(session.before)]
    payload_ids = [
        session.hook_payload("UserPromptSubmit", "/t", turn=turn)["prompt_id"]
        for turn in range(1, session.turns + 1)
    ]
    assert payload_ids == ids
    assert session.hook_payload("PreCompact", "/t")["prompt_id"] == ids[-1]


def test_an_unknown_event_raises_an_error(session):
    with pytest.raises(ValueError, match="PostToolUse"):
        session.hook_payload("PostToolUse", "/t")
