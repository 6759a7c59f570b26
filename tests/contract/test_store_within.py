"""A store that shows one project: on every database, and by whatever way it is asked."""

from __future__ import annotations

import inspect

import pytest

from holdfast.errors import Forbidden, NotFound
from holdfast.state.fold import new_state
from holdfast.store.project_scope import ProjectStore
from holdfast.store.protocols import Store
from holdfast.store.repository import StoreRepository

OPEN = {
    "session", "sessions", "snapshot", "snapshots", "snapshots_before", "richest_snapshot",
    "compactions", "compaction", "handoff", "handoffs", "transcripts",
}  # fmt: skip


@pytest.fixture
def known(store: Store) -> dict[str, str]:
    """A snapshot of each project's session."""
    made = {}
    for name, folder in (("ours", "/srv/ours"), ("ours-2", "/mnt/ours"), ("theirs", "/srv/t")):
        store.save_session(
            session=name, host="claude-code", project=folder, transcript="", cursor=None,
            state=new_state(), revision=0, now=1.0,
        )  # fmt: skip
        made[name] = store.add_snapshot(name, "auto", new_state(), 2.0)
        store.open_compaction(name, 1, trigger="auto", snapshot=made[name], now=3.0)
    return made


@pytest.fixture
def held(store: Store, known: dict[str, str]) -> ProjectStore:
    assert isinstance(store, StoreRepository)
    assert known
    return ProjectStore(store, frozenset({"/srv/ours", "/mnt/ours"}))


def test_sessions_of_others_are_not_there(held: ProjectStore) -> None:
    assert held.session("ours")
    assert held.session("theirs") is None
    assert {row["id"] for row in held.sessions(None)} == {"ours", "ours-2"}
    assert held.sessions("/srv/t") == []
    assert {row["id"] for row in held.transcripts(None)} == {"ours", "ours-2"}
    assert [row["id"] for row in held.transcripts("/srv/ours")] == ["ours"]
    assert held.transcripts("/srv/t") == []
    assert held.is_foreign_session("theirs")
    assert not held.is_foreign_session("ours")
    assert not held.is_foreign_session("nobody's")


def test_snapshots_of_others_are_not_there(held: ProjectStore, known: dict[str, str]) -> None:
    assert held.snapshot(known["ours"])["session"] == "ours"
    with pytest.raises(NotFound):
        held.snapshot(known["theirs"])
    assert len(held.snapshots("ours")) == 1
    assert held.snapshots("theirs") == []
    assert held.richest_snapshot("theirs") is None
    found = held.snapshots_before(None, None, 10)
    assert {row["session"] for row in found} == {"ours", "ours-2"}
    assert [row["session"] for row in held.snapshots_before(None, None, 1)] == [found[0]["session"]]
    assert held.snapshots_before("theirs", None, 10) == []
    assert len(held.snapshots_before("ours", None, 10, "/srv/ours")) == 1
    assert held.snapshots_before("ours", None, 10, "/srv/t") == []


def test_compactions_of_others_are_not_there(held: ProjectStore) -> None:
    assert len(held.compactions("ours")) == 1
    assert held.compactions("theirs") == []
    assert held.compaction("ours", 1)
    assert held.compaction("theirs", 1) is None


def test_handoffs_of_others_are_not_there(store: Store, held: ProjectStore) -> None:
    made = {
        name: store.add_handoff(
            name, agent="a", agent_type="x", task="t", line=1, status="completed", decision="",
            content={}, raw="words", tokens_before=1, tokens_after=1, now=5.0,
        )
        for name in ("ours", "theirs")
    }  # fmt: skip
    assert held.handoff(made["ours"])["raw"] == "words"
    assert len(held.handoffs("ours")) == 1
    assert held.handoffs("theirs") == []
    with pytest.raises(NotFound):
        held.handoff(made["theirs"])


def test_whatever_else_a_store_can_do_is_refused(held: ProjectStore) -> None:
    """Also what it learns later: until somebody has thought about it."""
    verbs = {name for name, _ in inspect.getmembers(StoreRepository, inspect.isfunction)}
    for name in {verb for verb in verbs if not verb.startswith("_")} - OPEN:
        with pytest.raises(Forbidden):
            getattr(held, name)()
