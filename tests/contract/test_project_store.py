"""`ProjectStore` shows only the sessions of one project, with every method."""

from __future__ import annotations

import inspect

import pytest

from holdfast.errors import Forbidden, NotFound
from holdfast.state.fold import new_state
from holdfast.store.project_scope import ProjectStore
from holdfast.store.protocols import Store
from holdfast.store.repository import StoreRepository

ALLOWED_METHODS = {
    "session", "sessions", "snapshot", "snapshots", "snapshots_before", "richest_snapshot",
    "compactions", "compaction", "handoff", "handoffs", "transcripts",
}  # fmt: skip


@pytest.fixture
def snapshot_ids(store: Store) -> dict[str, str]:
    """Add three sessions in two projects, and return the snapshot id of each."""
    ids = {}
    for name, folder in (("ours", "/srv/ours"), ("ours-2", "/mnt/ours"), ("theirs", "/srv/t")):
        store.save_session(
            session=name, host="claude-code", project=folder, transcript="", cursor=None,
            state=new_state(), revision=0, now=1.0,
        )  # fmt: skip
        ids[name] = store.add_snapshot(name, "auto", new_state(), 2.0)
        store.open_compaction(name, 1, trigger="auto", snapshot=ids[name], now=3.0)
    return ids


@pytest.fixture
def project_store(store: Store, snapshot_ids: dict[str, str]) -> ProjectStore:
    assert isinstance(store, StoreRepository)
    assert snapshot_ids
    return ProjectStore(store, frozenset({"/srv/ours", "/mnt/ours"}))


def test_sessions_of_other_projects_are_hidden(project_store: ProjectStore) -> None:
    assert project_store.session("ours")
    assert project_store.session("theirs") is None
    assert {row["id"] for row in project_store.sessions(None)} == {"ours", "ours-2"}
    assert project_store.sessions("/srv/t") == []
    assert {row["id"] for row in project_store.transcripts(None)} == {"ours", "ours-2"}
    assert [row["id"] for row in project_store.transcripts("/srv/ours")] == ["ours"]
    assert project_store.transcripts("/srv/t") == []
    assert project_store.is_foreign_session("theirs")
    assert not project_store.is_foreign_session("ours")
    assert not project_store.is_foreign_session("unknown")


def test_snapshots_of_other_projects_are_hidden(
    project_store: ProjectStore, snapshot_ids: dict[str, str]
) -> None:
    assert project_store.snapshot(snapshot_ids["ours"])["session"] == "ours"
    with pytest.raises(NotFound):
        project_store.snapshot(snapshot_ids["theirs"])
    assert len(project_store.snapshots("ours")) == 1
    assert project_store.snapshots("theirs") == []
    assert project_store.richest_snapshot("theirs") is None
    rows = project_store.snapshots_before(None, None, 10)
    assert {row["session"] for row in rows} == {"ours", "ours-2"}
    assert [row["session"] for row in project_store.snapshots_before(None, None, 1)] == [
        rows[0]["session"]
    ]
    assert project_store.snapshots_before("theirs", None, 10) == []
    assert len(project_store.snapshots_before("ours", None, 10, "/srv/ours")) == 1
    assert project_store.snapshots_before("ours", None, 10, "/srv/t") == []


def test_compactions_of_other_projects_are_hidden(project_store: ProjectStore) -> None:
    assert len(project_store.compactions("ours")) == 1
    assert project_store.compactions("theirs") == []
    assert project_store.compaction("ours", 1)
    assert project_store.compaction("theirs", 1) is None


def test_handoffs_of_other_projects_are_hidden(store: Store, project_store: ProjectStore) -> None:
    ids = {
        name: store.add_handoff(
            name, agent="a", agent_type="x", task="t", line=1, status="completed", decision="",
            content={}, raw="words", tokens_before=1, tokens_after=1, now=5.0,
        )
        for name in ("ours", "theirs")
    }  # fmt: skip
    assert project_store.handoff(ids["ours"])["raw"] == "words"
    assert len(project_store.handoffs("ours")) == 1
    assert project_store.handoffs("theirs") == []
    with pytest.raises(NotFound):
        project_store.handoff(ids["theirs"])


def test_all_other_methods_of_a_store_are_refused(project_store: ProjectStore) -> None:
    """A method that is added later is refused too, until it is allowed explicitly."""
    methods = {name for name, _ in inspect.getmembers(StoreRepository, inspect.isfunction)}
    for name in {name for name in methods if not name.startswith("_")} - ALLOWED_METHODS:
        with pytest.raises(Forbidden):
            getattr(project_store, name)()
