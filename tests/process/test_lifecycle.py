"""The hooks of a session from its start to its end, in the order in which the host runs them."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.demo import Line
from holdfast.services.install.registration import hook_command
from holdfast.store import codec

from .compaction_lines import (
    make_attachment,
    make_lines_after_compaction,
    make_undamaged_brief,
    normalize_brief,
    save_before_compaction,
    truncate_transcript,
    with_new_uuids,
)
from .hook_session import HookResult, HookSession

# A whole session


def test_a_session_is_read_saved_and_restored(session: HookSession) -> None:
    demo = session.demo
    assert session.run_hook("SessionStart", source="startup").is_silent
    start = 0
    for turn, end in enumerate(demo.turn_ends, 1):
        session.write(demo.before[start : end + 1])
        start = end + 1
        assert session.run_hook("Stop", turn=turn).is_silent
        assert session.read_row()["state"] == session.fold_transcript(), f"after turn {turn}"
    session.write(demo.before[start:])

    precompact = session.run_hook("PreCompact", trigger="auto")
    assert precompact.exit_code == 0
    assert "Never touch anything under migrations/" in precompact.stdout
    # The host puts this output into the prompt for the summary, so it has to be plain text.
    assert not precompact.stdout.startswith("{")
    saved_state = session.fold_transcript()

    assert session.run_hook("SubagentStop", text=demo.summary).is_silent
    brief = session.run_hook("SessionStart", source="compact").brief
    restored = brief + demo.summary
    assert [fact.name for fact in demo.facts if fact.text not in restored] == []
    assert session.run_hook("PostCompact", text=demo.summary).is_silent

    session.write(make_lines_after_compaction(session, make_attachment(session, brief)))
    assert session.run_hook("Stop").is_silent
    (row,) = session.list_compactions()
    assert (row["ordinal"], row["trigger_name"], row["receipt"]) == (1, "auto", "whole")
    assert (row["summary"], row["brief"]) == (demo.summary, brief)
    assert row["delivered_by"] == "SessionStart"
    with session.open_store() as store:
        (snapshot,) = store.snapshots("s1")
    assert (snapshot["id"], snapshot["state"]) == (row["snapshot"], saved_state)
    assert session.read_row()["state"] == session.fold_transcript()
    assert session.read_log() == []


def test_a_session_first_read_at_its_compaction_is_restored_like_any_other(
    session: HookSession,
) -> None:
    session.write(session.demo.before)
    session.run_hook("PreCompact")
    brief = session.run_hook("SessionStart", source="compact").brief
    read_earlier = HookSession(root=session.root, session_id="read-earlier")
    read_earlier.write(read_earlier.demo.before[:100])
    read_earlier.run_hook("Stop")
    read_earlier.write(read_earlier.demo.before[100:])
    read_earlier.run_hook("PreCompact")
    expected = read_earlier.run_hook("SessionStart", source="compact").brief
    assert normalize_brief(brief) == normalize_brief(expected)


def test_the_brief_does_not_repeat_the_summary(session: HookSession) -> None:
    save_before_compaction(session)
    brief_without_summary = session.run_hook("SessionStart", source="compact").brief
    other = HookSession(root=session.root, session_id="s2")
    brief = other.run_until_compacted().brief
    kept = [fact.text for fact in session.demo.facts if fact.fate == "kept"]
    lost = [fact.text for fact in session.demo.facts if fact.fate == "lost"]
    assert [text for text in lost if text not in brief] == []
    assert [text for text in kept if text in brief_without_summary and text not in brief] != []


def compact_twice(session: HookSession) -> tuple[str, str]:
    """Compact the session twice; return both briefs."""
    first = session.run_until_compacted().brief
    session.write(make_lines_after_compaction(session, make_attachment(session, first)))
    session.run_hook("Stop")
    session.run_hook("PreCompact", trigger="manual")
    session.run_hook("SubagentStop", text="The second summary.")
    second = session.run_hook("SessionStart", source="compact").brief
    lines = make_lines_after_compaction(session, make_attachment(session, second))
    session.write(with_new_uuids(lines))
    session.run_hook("Stop")
    return first, second


def test_every_compaction_has_its_own_snapshot_brief_and_receipt(session: HookSession) -> None:
    first, second = compact_twice(session)
    one, two = session.list_compactions()
    assert (one["ordinal"], one["receipt"], one["brief"]) == (1, "whole", first)
    assert (two["ordinal"], two["receipt"], two["brief"]) == (2, "whole", second)
    assert (two["trigger_name"], two["summary"]) == ("manual", "The second summary.")
    assert one["snapshot"] != two["snapshot"]


def test_a_receipt_is_kept_when_its_brief_is_deleted(session: HookSession) -> None:
    session.home.mkdir(parents=True)
    (session.home / "settings.json").write_text('{"keep_compactions": 1}')
    compact_twice(session)
    one, two = session.list_compactions()
    assert (one["brief"], one["receipt"], two["receipt"]) == (None, "whole", "whole")


def test_a_compaction_that_is_retried_is_recorded_once(session: HookSession) -> None:
    save_before_compaction(session)
    session.run_hook("PreCompact")
    brief = session.run_hook("SessionStart", source="compact").brief
    session.write(make_lines_after_compaction(session, make_attachment(session, brief)))
    session.run_hook("Stop")
    assert session.list_receipts() == ["whole"]
    with session.open_store() as store:
        assert len(store.snapshots("s1")) == 2


@pytest.mark.parametrize("summary", ["the first summary", None])
def test_a_summary_is_never_stored_with_an_earlier_compaction(
    session: HookSession, summary: str | None
) -> None:
    """PreCompact does not run for the second compaction, so its summary belongs to no row."""
    save_before_compaction(session)
    if summary:
        session.run_hook("SubagentStop", text=summary)
    brief = session.run_hook("SessionStart", source="compact").brief
    session.write(make_lines_after_compaction(session, make_attachment(session, brief)))
    session.run_hook("Stop")
    session.run_hook("SubagentStop", text="the second summary")
    session.run_hook("PostCompact", text="the second summary")
    assert session.list_compactions()[0]["summary"] == summary


def test_the_message_of_a_sub_agent_is_not_stored_as_a_summary(session: HookSession) -> None:
    save_before_compaction(session)
    session.run_hook("SubagentStop", text="I searched.", agent_type="Explore", agent_id="a1")
    assert session.list_compactions()[0]["summary"] is None


def test_without_guidance_a_compaction_is_still_saved(session: HookSession) -> None:
    session.write(session.demo.before)
    payload = session.make_payload("PreCompact")
    assert session.send_payload(payload, environ={"HOLDFAST_GUIDANCE": "off"}).is_silent
    with session.open_store() as store:
        assert len(store.snapshots("s1")) == 1


def test_the_brief_names_a_command_that_the_agent_can_run(session: HookSession) -> None:
    """A folder named holdfast in the PATH is not a command."""
    save_before_compaction(session)
    payload = session.make_payload("SessionStart", source="compact")
    program = session.root / "bin" / "holdfast"
    program.mkdir(parents=True)
    brief = session.send_payload(payload, environ={"PATH": str(program.parent)}).brief
    assert f"`{sys.executable} -P -m holdfast recall" in brief
    program.rmdir()
    program.touch(mode=0o755)
    brief = session.send_payload(payload, environ={"PATH": str(program.parent)}).brief
    assert "`holdfast recall" in brief


# Sub-agents


def test_the_compaction_of_a_sub_agent_is_not_recorded_for_the_session(
    session: HookSession,
) -> None:
    session.write(session.demo.before)
    agent_fields: dict[str, Any] = {"agent_id": "a5cd1f0b2", "agent_type": "Explore"}
    assert session.run_hook("PreCompact", **agent_fields).is_silent
    session.run_hook("SessionStart", source="compact", **agent_fields)
    assert session.run_hook("PostCompact", text="The agent's summary.", **agent_fields).is_silent
    assert session.list_compactions() == []
    with session.open_store() as store:
        assert store.snapshots("s1") == []


@pytest.mark.parametrize("last_type", ["assistant", "tool_use", "tool_result"])
def test_a_compaction_without_an_agent_id_gets_a_brief_whatever_the_last_line_is(
    session: HookSession, last_type: str
) -> None:
    """Clients before 2.1.325 send no agent id, and may compact after any line."""
    lines = [{**line, "version": "2.1.197"} for line in session.demo.before]
    while last_type not in list_block_types(lines[-1]):
        lines.pop()
    session.write(lines)
    session.run_hook("PreCompact", trigger="auto")
    brief = session.run_hook("SessionStart", source="compact").brief
    assert "Never touch anything under migrations/" in brief
    assert [row["brief"] for row in session.list_compactions()] == [brief]


def list_block_types(line: Line) -> set[str]:
    """The types of the content blocks; `assistant` for a reply that has only text."""
    content = line.get("message", {}).get("content", ())
    blocks = content if isinstance(content, list) else [{"type": line["type"]}]
    types = {block["type"] for block in blocks}
    return {"assistant"} if line["type"] == "assistant" and types == {"text"} else types


def test_the_compaction_of_a_sub_agent_does_not_change_that_of_the_session(
    session: HookSession,
) -> None:
    session.run_until_compacted()
    before = session.list_compactions()
    agent_fields: dict[str, Any] = {"agent_id": "a5cd1f0b2", "agent_type": "Explore"}
    session.run_hook("PreCompact", **agent_fields)
    session.run_hook("SessionStart", source="compact", **agent_fields)
    session.run_hook("PostCompact", text="The agent's summary.", **agent_fields)
    assert session.list_compactions() == before


# Damaged transcripts and stored states


def delete_transcript(session: HookSession) -> None:
    session.transcript.unlink()


def empty_transcript(session: HookSession) -> None:
    session.transcript.write_bytes(b"")


def replace_with_folder(session: HookSession) -> None:
    session.transcript.unlink()
    session.transcript.mkdir()


@pytest.mark.parametrize(
    "damage", [delete_transcript, empty_transcript, truncate_transcript, replace_with_folder]
)
def test_the_brief_is_complete_if_the_transcript_is_damaged_after_saving(
    session: HookSession, damage: Callable[[HookSession], None]
) -> None:
    save_before_compaction(session)
    damage(session)
    brief = session.run_hook("SessionStart", source="compact").brief
    assert normalize_brief(brief) == make_undamaged_brief(session)


def test_a_later_snapshot_with_less_content_does_not_replace_the_brief(
    session: HookSession,
) -> None:
    save_before_compaction(session)
    truncate_transcript(session)
    session.run_hook("PreCompact")
    brief = session.run_hook("SessionStart", source="compact").brief
    assert normalize_brief(brief) == make_undamaged_brief(session)


def test_a_state_of_an_older_version_is_folded_again(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")
    with closing(sqlite3.connect(session.database)) as store, store:
        # As it was saved before there was a checksum.
        store.execute("UPDATE sessions SET cursor = json_remove(cursor, '$.checksum')")
        store.execute("UPDATE sessions SET state = ?", ['{"version":1,"lines":3}'])
    assert session.run_hook("Stop").is_silent
    assert session.read_row()["state"] == session.fold_transcript()
    assert session.read_log() == []


def test_an_unreadable_state_is_folded_again(session: HookSession) -> None:
    session.write(session.demo.before)
    session.run_hook("Stop")
    with closing(sqlite3.connect(session.database)) as store, store:
        store.execute("UPDATE sessions SET state = substr(state, 1, 500)")
    assert session.run_hook("Stop").is_silent
    assert session.read_row()["state"] == session.fold_transcript()


def test_a_snapshot_of_an_older_version_still_yields_a_brief(session: HookSession) -> None:
    """After an upgrade without the transcript, the old snapshot is the only source."""
    save_before_compaction(session)
    with session.open_store() as store:
        (snapshot,) = store.snapshots("s1")
    old_state: dict[str, Any] = {**snapshot["state"], "version": 0}
    del old_state["pull_requests"], old_state["agents"]
    blob = codec.compress(json.dumps(old_state))
    with closing(sqlite3.connect(session.database)) as store_file, store_file:
        store_file.execute("UPDATE snapshots SET state = ?", [blob])
        store_file.execute("UPDATE sessions SET state = ?", [json.dumps(old_state)])
    delete_transcript(session)
    brief = session.run_hook("SessionStart", source="compact").brief
    assert "Never touch anything under migrations/" in brief


# Start and end


@pytest.mark.parametrize("source", ["startup", "clear", "resume"])
def test_a_session_that_starts_or_continues_gets_no_brief(
    session: HookSession, source: str
) -> None:
    assert session.run_hook("SessionStart", source=source).is_silent, "a new session"
    session.write(session.demo.before)
    assert session.run_hook("SessionStart", source=source).is_silent, "a session with lines"
    brief = session.run_until_compacted().brief
    session.write(make_lines_after_compaction(session, make_attachment(session, brief)))
    assert session.run_hook("SessionStart", source=source).is_silent, "a compacted session"
    assert session.read_log() == []


def test_session_end_is_recorded_and_cleared_when_the_session_is_resumed(
    session: HookSession,
) -> None:
    session.run_hook("SessionStart", source="startup")
    session.write(session.demo.before)
    assert session.read_row()["ended_at"] is None
    assert session.run_hook("SessionEnd", reason="logout").is_silent
    row = session.read_row()
    assert row["ended_at"] is not None
    assert row["state"] == session.fold_transcript()
    session.run_hook("SessionStart", source="resume")
    assert session.read_row()["ended_at"] is None


def test_every_hook_run_is_counted(session: HookSession) -> None:
    brief = session.run_until_compacted().brief
    session.write(make_lines_after_compaction(session, make_attachment(session, brief)))
    session.run_hook("PostCompact")
    session.run_hook("UserPromptSubmit", text="go on")
    session.run_hook("SessionEnd")
    with session.open_store() as store:
        runs = {row["event"]: row["times"] for row in store.hook_runs()}
    assert runs == {
        "SessionStart": 2,
        "Stop": 1,
        "PreCompact": 1,
        "SubagentStop": 1,
        "PostCompact": 1,
        "UserPromptSubmit": 1,
        "SessionEnd": 1,
    }


# Hooks of the plugin


def run_plugin_hook(session: HookSession, event: str, **fields: Any) -> HookResult:
    command = hook_command(arguments='"plugin"')
    payload = session.make_payload(event, **fields)
    return session.send_payload(payload, command=command, environ={"HOME": str(session.root)})


def test_a_hook_of_the_plugin_saves_and_restores(session: HookSession) -> None:
    session.write(session.demo.before)
    assert run_plugin_hook(session, "PreCompact").stdout
    assert (
        "Never touch anything" in run_plugin_hook(session, "SessionStart", source="compact").brief
    )


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
@pytest.mark.parametrize("level", ["user", "project"])
def test_hooks_of_the_plugin_do_nothing_if_the_settings_have_the_hooks(
    session: HookSession, level: str, name: str
) -> None:
    folder = session.root if level == "user" else Path(session.demo.project_dir)
    (folder / ".claude").mkdir(parents=True, exist_ok=True)
    hook = {"hooks": [{"type": "command", "command": hook_command()}]}
    (folder / ".claude" / name).write_text(json.dumps({"hooks": {"Stop": [hook]}}))
    session.write(session.demo.before)
    # No client reads a local settings file in the user's folder.
    is_ignored = level == "user" and name == "settings.local.json"
    assert run_plugin_hook(session, "PreCompact").is_silent != is_ignored
    assert run_plugin_hook(session, "SessionStart", source="compact").is_silent != is_ignored
