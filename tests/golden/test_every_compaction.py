"""A brief is delivered after every compaction, whatever the log ends in at that moment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.hosts import claude_code, codex
from tests.process.hook_session import HookSession

from .compaction_replay import CompactionReplay, find_boundaries, read_log
from .corpus import each_session
from .test_file_trail import SESSIONS

# Some clients write the boundary before the hook that asks for the brief, some after it.
before_or_after_the_boundary = pytest.mark.parametrize(
    "is_written", [False, True], ids=["boundary-unwritten", "boundary-written"]
)


@before_or_after_the_boundary
@pytest.mark.parametrize("path", each_session(SESSIONS))
def test_every_compaction_of_a_real_session_gets_a_brief(
    path: Path, is_written: bool, tmp_path: Path
) -> None:
    lines = read_log(path)
    boundaries = find_boundaries(lines)
    if not boundaries:
        pytest.skip("this session was never compacted")
    host = codex if "codex" in path.name else claude_code
    session = HookSession(root=tmp_path, session_id=path.name.removesuffix(".jsonl.gz")[-36:])
    CompactionReplay(session=session, host=host).replay(lines, boundaries, is_written=is_written)


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
def test_the_corpus_has_sessions_with_several_compactions() -> None:
    """Without them the test above could not fail at a second compaction."""
    counts = [len(find_boundaries(read_log(path))) for path in SESSIONS]
    assert sum(counts) >= 40
    assert max(counts) >= 3


# The last lines that a log can have when the client compacts.

CALL_ID = "toolu_01lastcall"


def make_line(kind: str, number: int, **fields: Any) -> dict[str, Any]:
    """One line of Claude Code's log, with the keys that every message has."""
    return {
        "type": kind, "uuid": f"00000000-0000-4000-8000-{number:012d}", "isSidechain": False,
        "version": "2.1.39", "timestamp": f"2026-02-01T10:00:{number % 60:02d}.000Z", **fields,
    }  # fmt: skip


def make_assistant_line(number: int, block: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 160_000, "output_tokens": 10}
    message = {"id": f"msg_{number}", "role": "assistant", "content": [block], "usage": usage}
    return make_line("assistant", number, message=message)


def make_tool_call(number: int) -> dict[str, Any]:
    call = {"file_path": "src/retry.py", "old_string": "1.0", "new_string": "2.0"}
    block = {"type": "tool_use", "id": CALL_ID, "name": "Edit", "input": call}
    return make_assistant_line(number, block)


def make_tool_result(number: int) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": CALL_ID, "content": "The file was updated."}
    return make_line("user", number, message={"role": "user", "content": [block]})


def make_hook_progress(number: int) -> dict[str, Any]:
    data = {"type": "hook_progress", "hookEvent": "PostToolUse", "hookName": "PostToolUse:Edit"}
    return make_line("progress", number, data=data, toolUseID=CALL_ID, parentToolUseID=CALL_ID)


def make_assistant_text(number: int) -> dict[str, Any]:
    return make_assistant_line(number, {"type": "text", "text": "Next I run the tests."})


def make_queued_prompt(number: int) -> dict[str, Any]:
    return {
        "type": "queue-operation", "operation": "enqueue", "sessionId": "s1",
        "timestamp": f"2026-02-01T10:00:{number % 60:02d}.000Z", "content": "Run the tests too.",
    }  # fmt: skip


LAST_LINES = {
    "a tool call without a result": [make_tool_call],
    "a tool result": [make_tool_call, make_tool_result],
    "a progress line of a hook": [make_tool_call, make_tool_result, make_hook_progress],
    "a progress line before the result": [make_tool_call, make_hook_progress],
    "assistant text": [make_tool_call, make_tool_result, make_assistant_text],
    "a queued prompt": [make_tool_call, make_tool_result, make_queued_prompt],
    "a queued prompt during a call": [make_tool_call, make_queued_prompt],
}
RULE = "Never touch the migrations folder."


def make_log(last_lines: list[Any], first_number: int) -> list[bytes]:
    """A prompt with a rule, one answer, and then these lines."""
    prompt = {"role": "user", "content": f"Make the retry back off. {RULE}"}
    entries = [
        make_line("user", first_number, message=prompt),
        make_assistant_text(first_number + 1),
        *(make(first_number + 2 + index) for index, make in enumerate(last_lines)),
    ]
    return [json.dumps(entry).encode() + b"\n" for entry in entries]


def make_boundary(number: int) -> list[bytes]:
    """The boundary and the summary; the last message was never written, as in real logs."""
    boundary = make_line(
        "system", number, subtype="compact_boundary", parentUuid=None,
        logicalParentUuid="00000000-0000-4000-8000-unwritten000",
        compactMetadata={"trigger": "auto", "preTokens": 160_000},
    )  # fmt: skip
    content = "This session is being continued from a previous conversation. It was about retries."
    summary = make_line(
        "user", number + 1, isCompactSummary=True, message={"role": "user", "content": content}
    )
    return [json.dumps(entry).encode() + b"\n" for entry in (boundary, summary)]


@before_or_after_the_boundary
@pytest.mark.parametrize("last_lines", LAST_LINES.values(), ids=LAST_LINES)
def test_a_compaction_gets_a_brief_whatever_the_log_ends_in(
    session: HookSession, last_lines: list[Any], is_written: bool
) -> None:
    replay = CompactionReplay(session=session)
    brief = replay.compact(make_log(last_lines, 1), make_boundary(90), is_written=is_written)
    assert RULE in brief
    assert "Make the retry back off." in brief
    # The same end of the log at the next compaction, after more work.
    second = replay.compact(make_log(last_lines, 100), make_boundary(190), is_written=is_written)
    assert RULE in second
    assert [row["brief"] for row in session.list_compactions()] == [brief, second]


@before_or_after_the_boundary
def test_a_compaction_right_after_another_gets_a_brief_too(
    session: HookSession, is_written: bool
) -> None:
    """Nothing but the summary and the answer to it is between them."""
    replay = CompactionReplay(session=session)
    first = replay.compact(make_log([make_tool_call], 1), make_boundary(90), is_written=is_written)
    answer = json.dumps(make_assistant_text(95)).encode() + b"\n"
    second = replay.compact([answer], make_boundary(100), is_written=is_written)
    assert RULE in first
    assert RULE in second
    assert [row["brief"] for row in session.list_compactions()] == [first, second]


@pytest.mark.parametrize("event", ["PreCompact", "SessionStart"])
def test_the_log_is_read_in_full_at_the_first_hook_of_a_session(
    session: HookSession, event: str
) -> None:
    """Holdfast was installed during the session: no hook ran before its compaction."""
    replay = CompactionReplay(session=session)
    replay.append(make_log([make_tool_call], 1))
    if event == "PreCompact":
        replay.run_hook("PreCompact", trigger="auto")
    assert RULE in replay.run_hook("SessionStart", source="compact").brief
