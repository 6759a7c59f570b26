"""What every store must do, on each database (`holdfast.store.protocols.Store`)."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from holdfast.errors import HoldfastError, StoreUnavailable
from holdfast.state.fold import new_state
from holdfast.store.protocols import Store
from tests.cases import case
from tests.contract.databases import Database
from tests.contract.stored import CURSOR, LONE, TOKEN, a_state, hand_on, requests, save, send

# Sessions


def test_a_session_reads_back_as_it_was_saved(store: Store) -> None:
    state = a_state("fix the retry storm", "commit it", lines=42)
    assert save(store, state=state)
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
    }


def test_a_session_whose_transcript_was_never_read_has_no_cursor(store: Store) -> None:
    assert save(store, cursor=None)
    found = store.session("s1")
    assert found is not None
    assert found["cursor"] is None


def test_saving_again_moves_the_session_on_but_not_its_beginning(store: Store) -> None:
    save(store, state=a_state("one", lines=10), now=100.0)
    later: dict[str, Any] = {"project": "/elsewhere", "transcript": "/logs/moved.jsonl"}
    later |= {"cursor": {"offset": 9}, "state": a_state("one", "two", lines=20), "now": 200.0}
    assert save(store, revision=1, **later)
    found = store.session("s1")
    assert found is not None
    assert (found["revision"], found["seen_at"], requests(found["state"])) == (
        2, 200.0, ["one", "two"],
    )  # fmt: skip
    assert (found["transcript"], found["cursor"]) == ("/logs/moved.jsonl", {"offset": 9})
    assert (found["first_line"], found["started_at"], found["project"]) == (
        10, 100.0, "/srv/courier",
    )  # fmt: skip


def test_a_session_id_is_matched_exactly(store: Store) -> None:
    save(store, "s1")
    store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=1.0)
    store.add_snapshot("s1", "auto", a_state("go"), 1.0)
    for almost in ["s", "s10", "S1", "s1 ", " s1", "s%", "s_", "s*", "s1\0", ""]:
        with case(almost):
            assert store.session(almost) is None
            assert store.snapshots(almost) == []
            assert store.richest_snapshot(almost) is None
            assert store.compactions(almost) == []
            assert store.compaction(almost, 1) is None


def test_what_is_written_to_one_session_leaves_its_namesakes_alone(store: Store) -> None:
    for name in ("s1", "s10"):
        save(store, name, state=a_state(f"work of {name}"))
        store.open_compaction(name, 1, trigger="auto", snapshot=None, now=1.0)
    untouched = (store.session("s10"), store.compactions("s10"))
    assert save(store, "s1", revision=1, state=a_state("more"))
    store.add_snapshot("s1", "auto", a_state("more"), 2.0)
    store.note_summary("s1", 1, "a summary")
    send(store, "a brief")
    store.note_receipt("s1", 1, "whole", 9)
    store.end_session("s1", 4.0)
    assert (store.session("s10"), store.compactions("s10")) == untouched
    assert store.snapshots("s10") == []


def test_the_second_of_two_writers_is_told_and_overwrites_nothing(
    store: Store, other: Store
) -> None:
    save(store, state=a_state("one"))
    mine, theirs = store.session("s1"), other.session("s1")
    assert mine is not None
    assert theirs is not None
    assert save(store, revision=mine["revision"], state=a_state("one", "two"))
    assert not save(other, revision=theirs["revision"], state=a_state("one", "three"))
    found = other.session("s1")
    assert found is not None
    assert requests(found["state"]) == ["one", "two"]
    # What it could not save it can fold again on top of what is there.
    assert save(other, revision=found["revision"], state=a_state("one", "two", "three"))


def test_of_two_processes_that_meet_a_new_session_one_adds_it(store: Store, other: Store) -> None:
    assert save(store, state=a_state("first"))
    assert not save(other, state=a_state("second"))
    found = store.session("s1")
    assert found is not None
    assert (found["revision"], requests(found["state"])) == (1, ["first"])


def test_a_session_nobody_added_cannot_be_moved_on(store: Store) -> None:
    assert not save(store, revision=3)
    assert store.session("s1") is None


def test_a_session_ends_and_is_opened_again(store: Store) -> None:
    save(store)
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
        save(store, session, project=project, now=float(number))
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
        save(store, f"s{n}", project=project, now=float(n))
    assert [row["id"] for row in store.sessions("/srv/a")] == ["s3", "s1"]
    assert [row["id"] for row in store.sessions(None)] == ["s4", "s3", "s2", "s1"]
    assert [row["id"] for row in store.sessions(None, 2)] == ["s4", "s3"]
    assert [row["id"] for row in store.sessions("/srv/a", 1)] == ["s3"]
    assert store.sessions("/srv") == []


def test_a_state_is_saved_as_it_is_at_that_moment(store: Store) -> None:
    state = a_state("one")
    assert save(store, state=state)
    state["requests"].append({"text": "two", "line": 2, "at": ""})
    assert save(store, revision=1, state=state)
    found = store.session("s1")
    assert found is not None
    assert requests(found["state"]) == ["one", "two"]
    state["requests"].pop()
    assert requests(store.snapshot(store.add_snapshot("s1", "auto", state, 1.0))["state"]) == [
        "one"
    ]


# Hooks


def test_a_mark_is_kept_by_session_and_name(store: Store, other: Store) -> None:
    save(store)
    save(store, "s10")
    assert store.mark("s1", "commands") == {}
    value = {"babysit": {"active": True, "line": 7, "state": {"phase": LONE}}}
    store.set_mark("s1", "commands", {"old": 1})
    store.set_mark("s1", "commands", value)
    assert other.mark("s1", "commands") == value
    assert other.mark("s1", "command") == other.mark("s10", "commands") == {}


def test_a_mark_of_a_session_that_is_not_there_is_refused(store: Store) -> None:
    with pytest.raises(HoldfastError):
        store.set_mark("nobody", "commands", {})


def test_every_firing_of_a_hook_is_counted(store: Store, other: Store) -> None:
    store.record_hook("claude-code", "Stop", "s1", 31.5, 100.0)
    other.record_hook("claude-code", "Stop", "s2", 12.0, 200.0)
    store.record_hook("codex", "Stop", "s3", 8.0, 300.0)
    store.record_hook("claude-code", "PreCompact", "s1", 44.0, 150.0)
    assert store.hook_runs() == [
        seen("codex", "Stop", 1, 300.0, 8.0, "s3"),
        seen("claude-code", "Stop", 2, 200.0, 12.0, "s2"),
        seen("claude-code", "PreCompact", 1, 150.0, 44.0, "s1"),
    ]


def seen(
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


def everything(store: Store) -> None:
    save(store, revision=1, state=a_state("changed"))
    snapshot = store.add_snapshot("s1", "auto", a_state("changed"), 2.0)
    store.open_compaction("s1", 1, trigger="auto", snapshot=snapshot, now=2.0)
    store.note_summary("s1", 1, "what was done")
    store.end_session("s1", 3.0)
    store.record_hook("claude-code", "PreCompact", "s1", 1.0, 3.0)


def contents(store: Store) -> tuple[object, ...]:
    return (
        store.sessions(None), store.snapshots("s1"), store.compactions("s1"), store.hook_runs(),
    )  # fmt: skip


@pytest.mark.parametrize("end", ["close", "rollback"])
def test_without_a_commit_nothing_happened(store: Store, database: Database, end: str) -> None:
    save(store)
    before = contents(store)
    writer = database.open()
    writer.begin()
    everything(writer)
    getattr(writer, end)()
    writer.close()
    assert contents(store) == before
    assert save(store, revision=1), "the write lock is free again"


def test_a_commit_happens_all_at_once(store: Store, other: Store) -> None:
    save(store)
    before = contents(other)
    store.begin()
    everything(store)
    assert contents(other) == before, "a reader neither waits nor sees half of it"
    store.commit()
    assert contents(other) == contents(store) != before


def test_a_writer_that_waits_in_vain_is_told_that_the_store_is_unavailable(
    store: Store, database: Database
) -> None:
    save(store)
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
    found = store.session("s1")
    assert found is not None
    assert found["ended_at"] == 2.0


# What must not get in, and what must not get lost


def test_secrets_never_reach_the_disk(store: Store, database: Database) -> None:
    secret = a_state(f"deploy with {TOKEN}", files={f"/keys/{TOKEN}": {"line": 1, "reads": 1}})
    save(store, state=secret)
    save(store, revision=1, state=secret)
    ident = store.add_snapshot("s1", "auto", secret, 1.0)
    store.open_compaction("s1", 1, trigger="auto", snapshot=ident, now=1.0)
    store.note_summary("s1", 1, f"The user's token is {TOKEN}.")
    send(store, f"use {TOKEN}")
    store.set_mark("s1", "commands", {"deploy": {"with": TOKEN}})
    handed = hand_on(store, "a1", f"the token is {TOKEN}")
    assert b"deploy with [redacted" in database.raw(), "the rest of the words did"
    assert TOKEN.encode() not in database.raw()
    store.close()
    assert TOKEN.encode() not in database.raw()
    with closing(database.open()) as again:
        # Snapshots are packed, so looking at the raw file says nothing about them.
        unpacked = str(again.snapshot(ident)["state"]) + str(again.handoff(handed))
    assert "deploy with [redacted" in unpacked
    assert TOKEN not in unpacked


def test_any_text_of_a_state_survives_letter_by_letter(store: Store) -> None:
    texts = [LONE, "nul \0 inside", "line\r\n\u2028end", "'; DROP TABLE sessions; --", "\\u0041"]
    state = a_state(*texts, files={LONE: {"line": 1, "reads": 1}})
    save(store, state=state)
    ident = store.add_snapshot("s1", "auto", state, 1.0)
    found = store.session("s1")
    assert found is not None
    assert found["state"] == state
    assert store.snapshot(ident)["state"] == state


def test_a_lone_surrogate_in_a_summary_costs_that_letter_and_no_more(store: Store) -> None:
    save(store)
    store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=1.0)
    store.note_summary("s1", 1, LONE)
    send(store, LONE)
    row = store.compaction("s1", 1)
    assert row is not None
    assert row["summary"] == row["brief"] == "half ? a pair ? and 日本語 \U0001f9ed é"


def test_a_name_with_a_lone_surrogate_is_found_under_itself(store: Store) -> None:
    assert save(store, LONE, project=LONE)
    assert store.session(LONE) is not None
    assert len(store.sessions(LONE)) == 1


def test_a_state_of_another_version_loads_with_all_it_has(store: Store) -> None:
    """What it lacks is empty, what is unknown stays, and its version says that it is another's."""
    older: Any = {"version": 0, "lines": 12, "goal": "from a fold that no longer exists"}
    newer: Any = {**a_state("go"), "version": 99, "telepathy": [1, 2.5, None, {"deep": True}]}
    assert save(store, "old", state=older)
    assert save(store, "new", state=newer)
    old, new = store.session("old"), store.session("new")
    assert old is not None
    assert new is not None
    assert old["state"] == {**new_state(), **older}
    assert new["state"] == newer


def test_a_large_state_comes_back_whole(store: Store) -> None:
    state = a_state(*(f"request {n} — {'x' * 2000}" for n in range(1000)))
    save(store, state=state)
    ident = store.add_snapshot("s1", "auto", state, 1.0)
    assert store.snapshot(ident)["state"] == state
