"""What every store must do, whichever database stands behind it (holdfast.store.base.Store)."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from holdfast.errors import HoldfastError, NoSuchRecord, StoreUnavailable
from holdfast.state.fold import new_state
from holdfast.state.model import State
from holdfast.store.base import Store
from holdfast.transcript.model import Cursor
from tests.contract.databases import Database

CURSOR: Cursor = {"offset": 812, "line": 7, "inode": 3, "device": 5, "head_checksum": 99}
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LONE = "half \ud83d a pair \udca9 and 日本語 \U0001f9ed é"


def a_state(*requests: str, lines: int = 0, **parts: Any) -> State:
    state = new_state()
    state["requests"] = [{"text": text, "line": n, "at": ""} for n, text in enumerate(requests, 1)]
    state["lines"] = lines or len(requests)
    return {**state, **parts}  # type: ignore[typeddict-item]


def save(store: Store, session: str = "s1", revision: int = 0, **fields: Any) -> bool:
    values: dict[str, Any] = {"host": "claude-code", "project": "/srv/courier", "now": 100.0}
    values |= {"transcript": f"/logs/{session}.jsonl", "cursor": CURSOR, "state": a_state("go")}
    return store.save_session(session=session, revision=revision, **{**values, **fields})


def send(store: Store, text: str, *, line: int = 1, by: str = "SessionStart") -> None:
    store.note_brief("s1", 1, brief_id="0badcafe", brief=text, line=line, delivered_by=by, now=5.0)


def requests(state: State) -> list[str]:
    return [request["text"] for request in state["requests"]]


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


@pytest.mark.parametrize("almost", ["s", "s10", "S1", "s1 ", " s1", "s%", "s_", "s*", "s1\0", ""])
def test_a_session_id_is_matched_exactly(store: Store, almost: str) -> None:
    save(store, "s1")
    store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=1.0)
    store.add_snapshot("s1", "auto", a_state("go"), 1.0)
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


# Snapshots


def test_a_snapshot_reads_back_as_it_was_written(store: Store) -> None:
    save(store)
    state = a_state("fix it", lines=7, files={"a.py": {"line": 3, "reads": 1}})
    state["usage"]["context"] = 151_000
    ident = store.add_snapshot("s1", "auto", state, 12.5)
    assert store.snapshot(ident) == {
        "id": ident,
        "session": "s1",
        "reason": "auto",
        "created_at": 12.5,
        "line": 7,
        "richness": 2,
        "context": 151_000,
        "state": state,
    }


def test_nothing_that_happens_later_changes_a_snapshot(store: Store) -> None:
    save(store)
    state = a_state("the request")
    ident = store.add_snapshot("s1", "auto", state, 1.0)
    before = store.snapshot(ident)
    state["requests"][0]["text"] = "changed by the caller"
    store.snapshot(ident)["state"]["requests"].clear()
    save(store, revision=1, state=a_state("another", "and another"))
    again = store.add_snapshot("s1", "auto", a_state("the next"), 2.0)
    store.end_session("s1", 3.0)
    assert again != ident
    assert store.snapshot(ident) == before


@pytest.mark.parametrize("name", ["", "nosuch", "deadbeef"])
def test_an_unknown_snapshot_is_named_in_the_error(store: Store, name: str) -> None:
    save(store)
    store.add_snapshot("s1", "auto", a_state("go"), 1.0)
    with pytest.raises(NoSuchRecord, match=f"snapshot {name}") as caught:
        store.snapshot(name)
    assert "holdfast snapshots" in caught.value.hint


def test_part_of_a_snapshot_id_finds_nothing(store: Store) -> None:
    save(store)
    ident = store.add_snapshot("s1", "auto", a_state("go"), 1.0)
    with pytest.raises(NoSuchRecord):
        store.snapshot(ident[:-1])


def test_a_newer_thin_snapshot_never_stands_in_for_a_rich_one(store: Store) -> None:
    save(store)
    store.add_snapshot("s1", "auto", a_state("one"), 1.0)
    rich = store.add_snapshot("s1", "auto", a_state("one", "two", "three"), 2.0)
    store.add_snapshot("s1", "stop", a_state(), 3.0)
    best = store.richest_snapshot("s1")
    assert best is not None
    assert best["id"] == rich


def thresholds(store: Store, count: int) -> list[str]:
    """Snapshots at thresholds, oldest first, the second of them the richest."""
    states = [a_state("one", *["more"] * 5 * (number == 1)) for number in range(count)]
    return [
        store.add_snapshot("s1", f"threshold: {number}0000 tokens", state, float(number))
        for number, state in enumerate(states)
    ]


def test_of_the_snapshots_at_thresholds_the_last_are_kept(store: Store) -> None:
    save(store)
    save(store, "s2")
    other = store.add_snapshot("s2", "threshold: 50000 tokens", a_state("theirs"), 0.0)
    made = thresholds(store, 6)
    store.prune("s1", snapshots=2, compactions=9)
    assert [one["id"] for one in store.snapshots("s1")] == [made[5], made[4], made[1]]
    assert [one["id"] for one in store.snapshots("s2")] == [other]


def test_what_a_compaction_points_to_and_what_is_no_threshold_is_never_pruned(
    store: Store,
) -> None:
    save(store)
    by_hand = store.add_snapshot("s1", "manual", a_state("by hand"), 0.5)
    made = thresholds(store, 4)
    store.open_compaction("s1", 1, trigger="auto", snapshot=made[0], now=9.0)
    store.prune("s1", snapshots=1, compactions=9)
    kept = {one["id"] for one in store.snapshots("s1")}
    assert kept == {by_hand, made[0], made[1], made[3]}


def test_of_older_compactions_the_texts_go_and_the_record_stays(store: Store) -> None:
    save(store)
    for number in (1, 2, 3):
        store.open_compaction("s1", number, trigger="auto", snapshot=None, now=float(number))
        store.note_summary("s1", number, "what was done")
        store.note_brief(
            "s1", number, brief_id=f"0badcaf{number}", brief="the brief", line=number,
            delivered_by="SessionStart", now=5.0,
        )  # fmt: skip
        store.note_receipt("s1", number, "whole", number)
    store.prune("s1", snapshots=9, compactions=2)
    rows = store.compactions("s1")
    assert [(row["summary"], row["brief"]) for row in rows] == [
        (None, None),
        ("what was done", "the brief"),
        ("what was done", "the brief"),
    ]
    first = rows[0]
    assert (first["brief_id"], first["receipt"], first["trigger_name"]) == (
        *("0badcaf1", "whole", "auto"),
    )


def test_of_two_equally_rich_snapshots_the_newer_is_the_richest(store: Store) -> None:
    save(store)
    newer = store.add_snapshot("s1", "auto", a_state("new"), 2.0)
    store.add_snapshot("s1", "auto", a_state("old"), 1.0)
    best = store.richest_snapshot("s1")
    assert best is not None
    assert best["id"] == newer


def test_snapshots_are_listed_newest_first(store: Store) -> None:
    save(store)
    made = [store.add_snapshot("s1", "auto", a_state("go"), float(n)) for n in range(4)]
    assert [row["id"] for row in store.snapshots("s1")] == made[::-1]
    assert [row["id"] for row in store.snapshots("s1", 2)] == [made[3], made[2]]


def test_snapshots_of_one_session_or_of_all_come_page_by_page(store: Store) -> None:
    made = []
    for number, session in enumerate(["s1", "s10", "s1", "s1"]):
        save(store, session)
        made.append(store.add_snapshot(session, "auto", a_state("go"), float(number // 2)))
    seen: list[str] = []
    before = None
    while page := store.snapshots_before(None, before, 3):
        seen += [row["id"] for row in page]
        before = (page[-1]["created_at"], page[-1]["id"])
    assert sorted(seen) == sorted(made)
    assert set(seen[:2]) == set(made[2:])
    assert {row["session"] for row in store.snapshots_before("s10", None, 9)} == {"s10"}
    assert store.snapshots_before("s", None, 9) == []


def test_a_snapshot_of_a_session_that_is_not_there_is_refused(store: Store) -> None:
    with pytest.raises(HoldfastError):
        store.add_snapshot("nobody", "auto", a_state("go"), 1.0)
    assert store.snapshots("nobody") == []


# Compactions


def test_a_fresh_compaction_waits_for_everything(store: Store) -> None:
    save(store)
    snapshot = store.add_snapshot("s1", "auto", a_state("go"), 1.0)
    store.open_compaction("s1", 1, trigger="auto", snapshot=snapshot, now=2.0)
    assert store.compactions("s1") == [store.compaction("s1", 1)]
    assert store.compaction("s1", 1) == {
        "session": "s1",
        "ordinal": 1,
        "trigger_name": "auto",
        "opened_at": 2.0,
        "snapshot": snapshot,
        "summary": None,
        "brief_id": None,
        "brief": None,
        "brief_at": None,
        "brief_line": None,
        "delivered_by": None,
        "receipt": "pending",
        "receipt_line": None,
    }


def test_opening_a_compaction_again_forgets_nothing(store: Store) -> None:
    save(store)
    snapshot = store.add_snapshot("s1", "auto", a_state("go"), 1.0)
    store.open_compaction("s1", 1, trigger="manual", snapshot=snapshot, now=2.0)
    store.note_summary("s1", 1, "what was done")
    before = store.compaction("s1", 1)
    store.open_compaction("s1", 1, trigger=None, snapshot=None, now=9.0)
    assert store.compaction("s1", 1) == before


def test_a_compaction_tried_again_takes_the_newer_snapshot(store: Store) -> None:
    save(store)
    first = store.add_snapshot("s1", "auto", a_state("go"), 1.0)
    store.open_compaction("s1", 1, trigger="auto", snapshot=first, now=1.0)
    second = store.add_snapshot("s1", "manual", a_state("go", "on"), 2.0)
    store.open_compaction("s1", 1, trigger="manual", snapshot=second, now=2.0)
    row = store.compaction("s1", 1)
    assert row is not None
    assert (row["trigger_name"], row["snapshot"], row["opened_at"]) == ("manual", second, 1.0)
    assert store.snapshot(first)


def test_summary_brief_and_receipt_are_kept_with_their_compaction(store: Store) -> None:
    save(store)
    for ordinal in (2, 1):
        store.open_compaction("s1", ordinal, trigger="auto", snapshot=None, now=1.0)
    store.note_summary("s1", 1, "what was done")
    send(store, "# Where", line=217)
    store.note_receipt("s1", 1, "whole", 231)
    first, second = store.compactions("s1")
    assert (first["ordinal"], second["ordinal"]) == (1, 2)
    assert first["summary"] == "what was done"
    assert (first["brief_id"], first["brief"]) == ("0badcafe", "# Where")
    assert (first["brief_at"], first["brief_line"]) == (5.0, 217)
    assert first["delivered_by"] == "SessionStart"
    assert (first["receipt"], first["receipt_line"]) == ("whole", 231)
    assert (second["summary"], second["brief_id"], second["receipt"]) == (None, None, "pending")


def test_a_brief_sent_anew_waits_for_a_receipt_of_its_own(store: Store) -> None:
    save(store)
    store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=1.0)
    send(store, "a brief", by="SessionStart")
    store.note_receipt("s1", 1, "never", 40)
    send(store, "a brief", by="UserPromptSubmit")
    row = store.compaction("s1", 1)
    assert row is not None
    assert (row["receipt"], row["receipt_line"]) == ("pending", None)
    assert row["delivered_by"] == "UserPromptSubmit"


def test_notes_on_a_compaction_nobody_opened_make_none(store: Store) -> None:
    save(store)
    store.note_summary("s1", 1, "what was done")
    store.note_receipt("s1", 1, "whole", 1)
    assert store.compactions("s1") == []


def test_a_glance_tells_the_last_save_and_the_receipt_of_the_last_brief(store: Store) -> None:
    save(store)
    save(store, "s10")
    assert store.glance("s1") == store.glance("nobody") == (0.0, "")
    store.add_snapshot("s1", "auto", a_state("go"), 20.0)
    store.add_snapshot("s1", "stop", a_state("go"), 10.0)
    store.open_compaction("s1", 1, trigger="auto", snapshot=None, now=20.0)
    assert store.glance("s1") == (20.0, ""), "no brief was sent yet"
    send(store, "a brief")
    assert store.glance("s1") == (20.0, "pending")
    store.note_receipt("s1", 1, "cut", 12)
    store.open_compaction("s1", 2, trigger="auto", snapshot=None, now=30.0)
    assert store.glance("s1") == (20.0, "cut"), "the second has no brief of its own"
    assert store.glance("s10") == store.glance(LONE) == (0.0, "")


# Handoffs


def hand_on(store: Store, agent: str, text: str, now: float = 1.0) -> str:
    return store.add_handoff(
        "s1", agent=agent, agent_type="Explore", task="look", line=3, status="complete",
        decision="PROCEED", content={"context_summary": text}, raw=text * 2, tokens_before=9,
        tokens_after=4, now=now,
    )  # fmt: skip


def test_a_handoff_reads_back_as_it_was_written(store: Store, other: Store) -> None:
    save(store)
    ident = hand_on(store, "a1", LONE)
    assert other.handoff(ident) == {
        "id": ident,
        "session": "s1",
        "agent": "a1",
        "agent_type": "Explore",
        "task": "look",
        "line": 3,
        "status": "complete",
        "decision": "PROCEED",
        "content": {"context_summary": LONE},
        "raw": LONE * 2,
        "tokens_before": 9,
        "tokens_after": 4,
        "captured_at": 1.0,
    }
    assert other.handoffs("s1") == [other.handoff(ident)]
    assert other.handoffs("s10") == []


def test_each_agent_has_one_handoff_and_its_last_counts(store: Store) -> None:
    save(store)
    first = hand_on(store, "a1", "half", now=1.0)
    assert hand_on(store, "a1", "all of it", now=2.0) == first
    second = hand_on(store, "a2", "another's", now=3.0)
    assert [row["id"] for row in store.handoffs("s1")] == [second, first]
    assert [row["id"] for row in store.handoffs("s1", 1)] == [second]
    assert store.handoff(first)["content"] == {"context_summary": "all of it"}


def test_a_handoff_of_a_session_that_is_not_there_is_refused(store: Store) -> None:
    with pytest.raises(HoldfastError):
        hand_on(store, "a1", "words")
    with pytest.raises(NoSuchRecord, match="handoff 00000000"):
        store.handoff("00000000")


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
    store.hook_seen("claude-code", "Stop", "s1", 31.5, 100.0)
    other.hook_seen("claude-code", "Stop", "s2", 12.0, 200.0)
    store.hook_seen("codex", "Stop", "s3", 8.0, 300.0)
    store.hook_seen("claude-code", "PreCompact", "s1", 44.0, 150.0)
    assert store.hooks_seen() == [
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
    store.hook_seen("claude-code", "PreCompact", "s1", 1.0, 3.0)


def contents(store: Store) -> tuple[object, ...]:
    return (
        store.sessions(None), store.snapshots("s1"), store.compactions("s1"), store.hooks_seen(),
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
