"""The contract of `holdfast.store.protocols.Store`: sessions, marks, transactions, redaction."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from holdfast.errors import HoldfastError, StoreUnavailable
from holdfast.state.fold import new_state
from holdfast.store.protocols import Store
from tests.cases import report_case
from tests.contract.databases import Database
from tests.contract.store_samples import (
    CURSOR,
    LONE_SURROGATES,
    TOKEN,
    add_handoff,
    make_state,
    request_texts,
    save_session,
    send_brief,
)

# Sessions


def test_a_session_reads_back_as_it_was_saved(store: Store) -> None:
    state = make_state("fix the retry storm", "commit it", lines=42)
    assert save_session(store, state=state)
    assert store.session("s1") == {
        "id": "s1",
        "host": "claude-code",
        "project": "/srv/courier",
        "transcript": "/logs/s1.jsonl",
        "cursor": CURSOR,
        "state": state,
        "revision": 1,
        "first_line": 42,
        "started_at": 100.0,
        "seen_at": 100.0,
        "ended_at": None,
        "is_damaged": False,
    }


def test_a_session_without_a_read_transcript_has_no_cursor(store: Store) -> None:
    assert save_session(store, cursor=None)
    row = store.session("s1")
    assert row is not None
    assert row["cursor"] is None


def test_a_second_save_keeps_the_start_and_the_project_of_a_session(store: Store) -> None:
    save_session(store, state=make_state("one", lines=10), now=100.0)
    second: dict[str, Any] = {"project": "/elsewhere", "transcript": "/logs/moved.jsonl"}
    second |= {"cursor": {"offset": 9}, "state": make_state("one", "two", lines=20), "now": 200.0}
    assert save_session(store, revision=1, **second)
    row = store.session("s1")
    assert row is not None
    assert (row["revision"], row["seen_at"], request_texts(row["state"])) == (
        2, 200.0, ["one", "two"],
    )  # fmt: skip
    assert (row["transcript"], row["cursor"]) == ("/logs/moved.jsonl", {"offset": 9})
    assert (row["first_line"], row["started_at"], row["project"]) == (
        10, 100.0, "/srv/courier",
    )  # fmt: skip


def test_a_session_id_is_matched_exactly(store: Store) -> None:
    save_session(store, "s1")
    store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=1.0)
    store.add_snapshot("s1", "auto", make_state("go"), 1.0)
    for similar in ["s", "s10", "S1", "s1 ", " s1", "s%", "s_", "s*", "s1\0", ""]:
        with report_case(similar):
            assert store.session(similar) is None
            assert store.snapshots(similar) == []
            assert store.richest_snapshot(similar) is None
            assert store.compactions(similar) == []
            assert store.compaction(similar, 1) is None


def test_writes_to_one_session_do_not_change_one_with_a_similar_id(store: Store) -> None:
    for name in ("s1", "s10"):
        save_session(store, name, state=make_state(f"work of {name}"))
        store.open_compaction(name, 1, trigger="auto", snapshot=None, now=1.0)
    before = (store.session("s10"), store.compactions("s10"))
    assert save_session(store, "s1", revision=1, state=make_state("more"))
    store.add_snapshot("s1", "auto", make_state("more"), 2.0)
    store.note_summary("s1", 1, "a summary")
    send_brief(store, "a brief")
    store.note_receipt("s1", 1, "whole", 9)
    store.end_session("s1", 4.0)
    assert (store.session("s10"), store.compactions("s10")) == before
    assert store.snapshots("s10") == []


def test_a_save_with_an_old_revision_is_refused(store: Store, second_store: Store) -> None:
    save_session(store, state=make_state("one"))
    first, second = store.session("s1"), second_store.session("s1")
    assert first is not None
    assert second is not None
    assert save_session(store, revision=first["revision"], state=make_state("one", "two"))
    assert not save_session(
        second_store, revision=second["revision"], state=make_state("one", "three")
    )
    row = second_store.session("s1")
    assert row is not None
    assert request_texts(row["state"]) == ["one", "two"]
    # The second writer can load the session again and save on top of it.
    assert save_session(
        second_store, revision=row["revision"], state=make_state("one", "two", "three")
    )


def test_only_the_first_of_two_processes_adds_a_new_session(
    store: Store, second_store: Store
) -> None:
    assert save_session(store, state=make_state("first"))
    assert not save_session(second_store, state=make_state("second"))
    row = store.session("s1")
    assert row is not None
    assert (row["revision"], request_texts(row["state"])) == (1, ["first"])


def test_an_unknown_session_cannot_be_updated(store: Store) -> None:
    assert not save_session(store, revision=3)
    assert store.session("s1") is None


def test_an_ended_session_can_be_reopened(store: Store) -> None:
    save_session(store)
    store.end_session("s1", 300.0)
    ended = store.session("s1")
    assert ended is not None
    assert ended["ended_at"] == 300.0
    store.reopen_session("s1")
    reopened = store.session("s1")
    assert reopened is not None
    assert reopened["ended_at"] is None


def test_transcripts_are_listed_without_their_states(store: Store) -> None:
    for number, (session, project) in enumerate([("s1", "/a"), ("s2", "/ab"), ("s3", "/a")]):
        save_session(store, session, project=project, now=float(number))
    assert [row["id"] for row in store.transcripts("/a")] == ["s3", "s1"]
    assert [row["id"] for row in store.transcripts(None)] == ["s3", "s2", "s1"]
    assert store.transcripts("/b") == []
    assert store.transcripts("/ab") == [
        {
            "id": "s2",
            "host": "claude-code",
            "project": "/ab",
            "transcript": "/logs/s2.jsonl",
            "seen_at": 1.0,
            "ended_at": None,
        }
    ]


def test_sessions_are_listed_newest_first_and_by_exact_project(store: Store) -> None:
    for n, project in enumerate(["/srv/a", "/srv/ab", "/srv/a", "/srv/a/b"], 1):
        save_session(store, f"s{n}", project=project, now=float(n))
    assert [row["id"] for row in store.sessions("/srv/a")] == ["s3", "s1"]
    assert [row["id"] for row in store.sessions(None)] == ["s4", "s3", "s2", "s1"]
    assert [row["id"] for row in store.sessions(None, 2)] == ["s4", "s3"]
    assert [row["id"] for row in store.sessions("/srv/a", 1)] == ["s3"]
    assert store.sessions("/srv") == []


def test_each_save_stores_the_state_as_it_is_at_that_moment(store: Store) -> None:
    state = make_state("one")
    assert save_session(store, state=state)
    state["requests"].append({"text": "two", "line": 2, "at": ""})
    assert save_session(store, revision=1, state=state)
    row = store.session("s1")
    assert row is not None
    assert request_texts(row["state"]) == ["one", "two"]
    state["requests"].pop()
    assert request_texts(store.snapshot(store.add_snapshot("s1", "auto", state, 1.0))["state"]) == [
        "one"
    ]


# Hooks


def test_a_mark_is_stored_by_session_and_name(store: Store, second_store: Store) -> None:
    save_session(store)
    save_session(store, "s10")
    assert store.get_mark("s1", "commands") == {}
    value = {"babysit": {"active": True, "line": 7, "state": {"phase": LONE_SURROGATES}}}
    store.set_mark("s1", "commands", {"old": 1})
    store.set_mark("s1", "commands", value)
    assert second_store.get_mark("s1", "commands") == value
    assert second_store.get_mark("s1", "command") == second_store.get_mark("s10", "commands") == {}


def test_a_mark_of_an_unknown_session_is_refused(store: Store) -> None:
    with pytest.raises(HoldfastError):
        store.set_mark("unknown", "commands", {})


def test_every_run_of_a_hook_is_counted(store: Store, second_store: Store) -> None:
    store.record_hook("claude-code", "Stop", "s1", 31.5, 100.0)
    second_store.record_hook("claude-code", "Stop", "s2", 12.0, 200.0)
    store.record_hook("codex", "Stop", "s3", 8.0, 300.0)
    store.record_hook("claude-code", "PreCompact", "s1", 44.0, 150.0)
    assert store.hook_runs() == [
        hook_run("codex", "Stop", 1, 300.0, 8.0, "s3"),
        hook_run("claude-code", "Stop", 2, 200.0, 12.0, "s2"),
        hook_run("claude-code", "PreCompact", 1, 150.0, 44.0, "s1"),
    ]


def hook_run(
    host: str, event: str, times: int, at: float, milliseconds: float, session: str
) -> dict[str, Any]:
    return {
        "host": host,
        "event": event,
        "times": times,
        "last_at": at,
        "last_milliseconds": milliseconds,
        "last_session": session,
    }


# Transactions


def write_to_every_table(store: Store) -> None:
    save_session(store, revision=1, state=make_state("changed"))
    snapshot = store.add_snapshot("s1", "auto", make_state("changed"), 2.0)
    store.open_compaction("s1", 1, trigger="auto", snapshot=snapshot, now=2.0)
    store.note_summary("s1", 1, "what was done")
    store.end_session("s1", 3.0)
    store.record_hook("claude-code", "PreCompact", "s1", 1.0, 3.0)


def read_contents(store: Store) -> tuple[object, ...]:
    return (
        store.sessions(None), store.snapshots("s1"), store.compactions("s1"), store.hook_runs(),
    )  # fmt: skip


@pytest.mark.parametrize("end", ["close", "rollback"])
def test_without_a_commit_nothing_is_stored(store: Store, database: Database, end: str) -> None:
    save_session(store)
    before = read_contents(store)
    writer = database.open()
    writer.begin()
    write_to_every_table(writer)
    getattr(writer, end)()
    writer.close()
    assert read_contents(store) == before
    assert save_session(store, revision=1), "the write lock must be released"


def test_other_connections_see_a_transaction_only_after_its_commit(
    store: Store, second_store: Store
) -> None:
    save_session(store)
    before = read_contents(second_store)
    store.begin()
    write_to_every_table(store)
    assert read_contents(second_store) == before, "a reader must not see an open transaction"
    store.commit()
    assert read_contents(second_store) == read_contents(store) != before


def test_a_writer_that_cannot_get_the_lock_raises_store_unavailable(
    store: Store, database: Database
) -> None:
    save_session(store)
    store.begin()
    with closing(database.open(busy_seconds=0.05)) as waiting:
        with pytest.raises(StoreUnavailable):
            waiting.begin()
        with pytest.raises(StoreUnavailable):
            waiting.end_session("s1", 1.0)
        store.rollback()
        waiting.begin()
        waiting.end_session("s1", 2.0)
        waiting.commit()
    row = store.session("s1")
    assert row is not None
    assert row["ended_at"] == 2.0


# Redaction and encoding


def test_secrets_in_texts_of_hosts_and_callers_are_never_written_to_disk(
    store: Store, database: Database
) -> None:
    """A state contains none: transcript lines are redacted before they are folded."""
    save_session(store, state=make_state("deploy"))
    ident = store.add_snapshot("s1", "auto", make_state("deploy"), 1.0)
    store.open_compaction("s1", 1, trigger="auto", snapshot=ident, now=1.0)
    store.note_summary("s1", 1, f"The user's token is {TOKEN}.")
    send_brief(store, f"use {TOKEN}")
    store.set_mark("s1", "commands", {"deploy": {"with": TOKEN}})
    handoff = add_handoff(store, "a1", f"the token is {TOKEN}")
    assert b"token is [redacted" in database.read_raw_bytes(), "the other words must be stored"
    assert TOKEN.encode() not in database.read_raw_bytes()
    store.close()
    assert TOKEN.encode() not in database.read_raw_bytes()
    with closing(database.open()) as reopened:
        # The raw text of a handoff is compressed, so the raw file cannot show it.
        decompressed = str(reopened.handoff(handoff))
    assert "the token is [redacted" in decompressed
    assert TOKEN not in decompressed


def test_any_text_of_a_state_is_stored_unchanged(store: Store) -> None:
    texts = [
        LONE_SURROGATES,
        "nul \0 inside",
        "line\r\n\u2028end",
        "'; DROP TABLE sessions; --",
        "\\u0041",
    ]
    state = make_state(*texts, files={LONE_SURROGATES: {"line": 1, "reads": 1}})
    save_session(store, state=state)
    ident = store.add_snapshot("s1", "auto", state, 1.0)
    row = store.session("s1")
    assert row is not None
    assert row["state"] == state
    assert store.snapshot(ident)["state"] == state


def test_a_lone_surrogate_in_a_summary_is_replaced_with_a_question_mark(store: Store) -> None:
    save_session(store)
    store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=1.0)
    store.note_summary("s1", 1, LONE_SURROGATES)
    send_brief(store, LONE_SURROGATES)
    row = store.compaction("s1", 1)
    assert row is not None
    assert row["summary"] == row["brief"] == "half ? a pair ? and 日本語 \U0001f9ed é"


def test_a_session_id_with_a_lone_surrogate_is_found(store: Store) -> None:
    assert save_session(store, LONE_SURROGATES, project=LONE_SURROGATES)
    assert store.session(LONE_SURROGATES) is not None
    assert len(store.sessions(LONE_SURROGATES)) == 1


def test_a_state_of_another_version_keeps_its_fields(store: Store) -> None:
    """Missing fields are empty, unknown fields and the version number are kept."""
    older: Any = {"version": 0, "lines": 12, "goal": "from a fold that no longer exists"}
    newer: Any = {**make_state("go"), "version": 99, "telepathy": [1, 2.5, None, {"deep": True}]}
    assert save_session(store, "old", state=older)
    assert save_session(store, "new", state=newer)
    old, new = store.session("old"), store.session("new")
    assert old is not None
    assert new is not None
    assert old["state"] == {**new_state(), **older}
    assert new["state"] == newer


def test_a_large_state_is_stored_completely(store: Store) -> None:
    state = make_state(*(f"request {n} — {'x' * 2000}" for n in range(1000)))
    save_session(store, state=state)
    ident = store.add_snapshot("s1", "auto", state, 1.0)
    assert store.snapshot(ident)["state"] == state
