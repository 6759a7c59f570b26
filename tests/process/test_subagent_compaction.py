"""A sub-agent that is compacted gets a brief of its own work, and its session's is not changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.demo import Line, append_lines
from holdfast.hosts import claude_code
from holdfast.tokens.estimate import utf16_units

from .compaction_lines import make_attachment, make_lines_after_compaction
from .hook_session import HookResult, HookSession

AGENT_ID = "a5cd1f0b2e3d4c5f6"
AGENT: dict[str, Any] = {"agent_id": AGENT_ID, "agent_type": "general-purpose"}
TASK = "Find out why the cache returns stale prices. Do not edit anything under vendor/."
SECOND_TASK = "Also measure how long a refresh takes."
EDITED_FILE = "src/price_cache.py"
TEST_COMMAND = "python3 -m unittest test_price_cache"
ERROR_LINE = "AssertionError: 12 != 15"
FINDING = "The root cause is that refresh() compares naive and aware times."
# Of the demo session: what the user forbade, and what only the session works on.
SESSION_RULE = "Never touch anything under migrations/"


def make_entry(kind: str, number: int, message: Line | None = None, **fields: Any) -> Line:
    """One line of a sub-agent's log, as Claude Code 2.1.325 writes it."""
    entry: Line = {
        "type": kind, "isSidechain": True, "agentId": AGENT_ID, "sessionId": "s1",
        "uuid": f"00000000-0000-4000-9000-{number:012d}", "cwd": "/srv/courier",
        "version": "2.1.325", "timestamp": f"2026-02-01T10:{number % 60:02d}:00.000Z", **fields,
    }  # fmt: skip
    return {**entry, "message": message} if message else entry


def make_prompt(number: int, text: str) -> Line:
    return make_entry("user", number, {"role": "user", "content": text})


def make_reply(number: int, *blocks: Line) -> Line:
    usage = {"input_tokens": 90_000, "output_tokens": 10}
    message = {"id": f"msg_{number}", "role": "assistant", "content": blocks, "usage": usage}
    return make_entry("assistant", number, message)


def make_call(
    number: int, tool: str, call: Line, result: str, *, failed: bool = False
) -> list[Line]:
    use = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": call}
    block = {
        "type": "tool_result", "tool_use_id": use["id"], "content": result, "is_error": failed,
    }  # fmt: skip
    answer = make_entry("user", number + 1, {"role": "user", "content": [block]})
    return [make_reply(number, use), answer]


def make_work() -> list[Line]:
    """The sub-agent's task, an edit, a failing test and what it found out."""
    edit = {"file_path": f"/srv/courier/{EDITED_FILE}", "old_string": "a", "new_string": "b"}
    return [
        make_prompt(1, TASK),
        *make_call(2, "Edit", edit, "The file was updated."),
        *make_call(4, "Bash", {"command": TEST_COMMAND}, f"Exit code 1\n{ERROR_LINE}", failed=True),
        make_reply(6, {"type": "text", "text": FINDING}),
    ]


def make_boundary(number: int) -> list[Line]:
    """What the client writes into the sub-agent's log after the hooks of its compaction."""
    metadata = {"trigger": "auto", "preTokens": 90_000}
    text = "This session is being continued from a previous conversation. The agent looked around."
    return [
        make_entry("system", number, subtype="compact_boundary", compactMetadata=metadata),
        make_entry(
            "user", number + 1, {"role": "user", "content": text}, isCompactSummary=True
        ),
    ]  # fmt: skip


def own_log(session: HookSession) -> Path:
    return session.root / session.session_id / "subagents" / f"agent-{AGENT_ID}.jsonl"


def write_own_log(session: HookSession, lines: list[Line]) -> None:
    own_log(session).parent.mkdir(parents=True, exist_ok=True)
    append_lines(own_log(session), lines)


def compact_subagent(session: HookSession, *, summary: str = "", **fields: Any) -> HookResult:
    """Run the hooks in the client's order; return the result of SessionStart."""
    assert session.run_hook("PreCompact", **AGENT).is_silent
    if summary:
        # The fork that writes the summary has an id and no type; it names no sub-agent.
        fork = {"agent_id": "a0f0f0f0f0f0f0f0f", "agent_type": ""}
        assert session.run_hook("SubagentStop", text=summary, **fork).is_silent
    payload = session.make_payload("SessionStart", source="compact", **AGENT)
    result = session.send_payload({**payload, **fields})
    assert session.run_hook("PostCompact", text=summary or "It looked.", **AGENT).is_silent
    return result


def read_stored(session: HookSession) -> tuple[Any, ...]:
    """Everything that the store has about the session's compactions and state."""
    with session.open_store() as store:
        row = store.session(session.session_id)
        assert row is not None
        rows, snapshots = store.compactions("s1"), store.snapshots("s1")
        return row["state"], rows, [snapshot["id"] for snapshot in snapshots]


def test_a_sub_agent_gets_its_task_files_findings_and_open_ends(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")
    write_own_log(session, make_work())
    brief = compact_subagent(session).brief
    assert brief.startswith("# Where this task stands (holdfast:")
    for text in (TASK, EDITED_FILE, TEST_COMMAND, ERROR_LINE, FINDING):
        assert text in brief
    assert utf16_units(brief) <= claude_code.MAX_BRIEF_UNITS
    assert session.read_log() == []


def test_the_brief_has_the_rules_of_the_session_and_nothing_else_of_it(
    session: HookSession,
) -> None:
    of_session = session.run_until_compacted().brief
    session.write(make_lines_after_compaction(session, make_attachment(session, of_session)))
    session.run_hook("Stop")
    write_own_log(session, make_work())
    brief = compact_subagent(session).brief
    work, title, rules = brief.partition("The user set these rules for the session")
    assert title
    assert SESSION_RULE in rules
    state = session.read_row()["state"]
    words = [request["text"] for request in state["requests"]]
    assert words
    names = [*state["files"], *(check["command"] for check in state["checks"]), *words]
    assert [name for name in names if name in work] == []


def test_the_brief_says_how_to_look_up_lines_of_the_sub_agents_own_log(
    session: HookSession,
) -> None:
    session.write(session.demo.before)
    write_own_log(session, make_work())
    assert f"recall --transcript {own_log(session)} L12`" in compact_subagent(session).brief


def test_the_session_is_not_changed_by_the_compaction_of_its_sub_agent(
    session: HookSession,
) -> None:
    of_session = session.run_until_compacted().brief
    session.write(make_lines_after_compaction(session, make_attachment(session, of_session)))
    session.run_hook("Stop")
    before = read_stored(session)
    assert session.list_receipts() == ["whole"]
    write_own_log(session, make_work())
    assert compact_subagent(session, summary="The agent's summary.").brief
    write_own_log(session, make_boundary(20))
    session.run_hook("Stop")
    assert read_stored(session) == before
    assert session.run_hook("UserPromptSubmit", text="go on").is_silent


def test_what_the_summary_of_the_sub_agent_says_is_not_repeated(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")
    write_own_log(session, make_work())
    first = compact_subagent(session).brief
    second = compact_subagent(session, summary=f"It found: {FINDING}").brief
    assert FINDING in first
    assert FINDING not in second
    assert session.list_compactions() == []


def test_a_summary_that_may_be_of_the_session_or_of_a_sub_agent_is_kept_for_neither(
    session: HookSession,
) -> None:
    session.write(session.demo.before)
    session.run_hook("PreCompact")
    write_own_log(session, make_work())
    assert FINDING in compact_subagent(session, summary=FINDING).brief
    assert [row["summary"] for row in session.list_compactions()] == [None]
    session.run_hook("PostCompact", text=session.demo.summary)
    assert [row["summary"] for row in session.list_compactions()] == [session.demo.summary]


@pytest.mark.parametrize("is_written", [False, True], ids=["unwritten", "written"])
def test_the_second_compaction_of_a_sub_agent_gets_a_brief_too(
    session: HookSession, is_written: bool
) -> None:
    session.write(session.demo.before)
    write_own_log(session, [*make_work(), *(make_boundary(20) if is_written else [])])
    first = compact_subagent(session).brief
    write_own_log(session, [] if is_written else make_boundary(20))
    write_own_log(session, [make_reply(30, {"type": "text", "text": "I go on."})])
    write_own_log(session, [make_prompt(31, SECOND_TASK)])
    write_own_log(session, make_boundary(40) if is_written else [])
    second = compact_subagent(session).brief
    assert "After compaction 1," in first
    assert "After compaction 2," in second
    assert TASK in second
    assert SECOND_TASK in second


def test_two_sub_agents_get_the_brief_of_their_own_work(session: HookSession) -> None:
    session.write(session.demo.before)
    write_own_log(session, make_work())
    other = {"agent_id": "a111", "agent_type": "Explore"}
    other_log = own_log(session).with_name("agent-a111.jsonl")
    append_lines(other_log, [{**make_prompt(1, SECOND_TASK), "agentId": "a111"}])
    session.run_hook("PreCompact", **other)
    brief = session.run_hook("SessionStart", source="compact", **other).brief
    assert SECOND_TASK in brief
    assert TASK not in brief
    assert TASK in compact_subagent(session).brief


def test_the_payload_may_name_the_log_of_the_sub_agent(session: HookSession) -> None:
    session.write(session.demo.before)
    elsewhere = session.root / "elsewhere.jsonl"
    append_lines(elsewhere, make_work())
    result = compact_subagent(session, agent_transcript_path=str(elsewhere))
    assert TASK in result.brief


def test_a_log_of_the_sub_agent_in_place_of_the_sessions_is_not_read_as_the_sessions(
    session: HookSession,
) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")
    before = read_stored(session)
    write_own_log(session, make_work())
    result = compact_subagent(session, transcript_path=str(own_log(session)))
    assert TASK in result.brief
    assert SESSION_RULE in result.brief
    assert read_stored(session) == before
    assert session.read_row()["transcript"] == str(session.transcript)


def test_without_a_log_the_sub_agent_gets_the_rules_only(session: HookSession) -> None:
    session.write(session.demo.before)
    brief = compact_subagent(session).brief
    assert brief.startswith("The user set these rules for the session")
    assert SESSION_RULE in brief
    assert "holdfast:" not in brief
    (line,) = session.read_log()
    assert f"sub-agent {AGENT_ID}: no brief, because its log is missing" in line


def test_a_template_for_its_type_applies_to_a_sub_agent(session: HookSession) -> None:
    session.write(session.demo.before)
    write_own_log(session, make_work())
    session.home.joinpath("briefs").mkdir(parents=True)
    template = "# Where the survey stands\nfor: general-purpose\n## Surveyed {asked}\n"
    session.home.joinpath("briefs", "survey.md").write_text(template, encoding="utf-8")
    brief = compact_subagent(session).brief
    assert brief.startswith("# Where the survey stands (holdfast:")
    assert "## Surveyed" in brief or TASK in brief


@pytest.mark.parametrize("source", ["startup", "resume"])
def test_a_sub_agent_that_starts_gets_no_brief(session: HookSession, source: str) -> None:
    session.write(session.demo.before)
    write_own_log(session, make_work())
    assert session.run_hook("SessionStart", source=source, **AGENT).is_silent


def test_secrets_in_the_log_of_a_sub_agent_are_not_in_its_brief(session: HookSession) -> None:
    session.write(session.demo.before)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    write_own_log(session, [make_prompt(1, f"Use the token {secret} to read the prices.")])
    brief = compact_subagent(session, summary=f"It used {secret}.").brief
    assert "to read the prices" in brief
    assert secret not in brief
    assert secret not in json.dumps(read_stored(session))
