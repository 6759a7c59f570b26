"""A lookup finds the text of its own project, from transcripts or stored copies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast.errors import NotFound
from holdfast.services.projects import find_project
from holdfast.services.recall import index_refresh
from holdfast.services.recall.lookup import (
    LookupAnswer,
    LookupContext,
    LookupScope,
    find_asking_session,
    look_up,
    open_lookup,
    render_heading,
    render_hit,
    show_lines,
)
from holdfast.services.recall.refs import Ref, parse_ref
from holdfast.state.fold import new_state
from holdfast.store.sqlite import SQLiteStore
from holdfast.tokens.estimate import estimate_tokens
from tests.unit.search.transcripts import (
    NOW,
    append,
    message_line,
    tool_call_line,
    tool_result_line,
)

MINE = "11111111-0000-4000-8000-000000000001"
OTHER = "22222222-0000-4000-8000-000000000002"
FOREIGN = "33333333-0000-4000-8000-000000000003"


@dataclass
class World:
    """A store, an index and three sessions: two of this project and one of another."""

    root: Path

    def transcript(self, session: str) -> Path:
        return self.root / f"{session}.jsonl"

    def begin(self, session: str, project: str, *lines: str, now: float = 1.0) -> None:
        append(self.transcript(session), *[message_line(line) for line in lines])
        with closing(SQLiteStore(str(self.root / "home" / "holdfast.db"))) as store:
            store.begin()
            store.save_session(
                session=session, host="claude-code", project=project, cursor=None,
                transcript=str(self.transcript(session)), state=new_state(), revision=0, now=now,
            )  # fmt: skip
            store.commit()

    @contextmanager
    def context(self, *, own: str = MINE, project: str | None = "/a") -> Iterator[LookupContext]:
        with closing(SQLiteStore(str(self.root / "home" / "holdfast.db"))) as store:
            scope = LookupScope(find_asking_session(store, "/a", session=own), project)
            with open_lookup(store, str(self.root / "home" / "recall.db"), scope, NOW) as context:
                yield context

    def ask(self, query: str, **options: str | None) -> LookupAnswer:
        with self.context(**options) as context:  # type: ignore[arg-type]
            return look_up(context, query, 800)

    def refs(self, query: str, **options: str | None) -> list[str]:
        own = options.get("own") or MINE
        return [render_heading(hit, own).split()[0] for hit in self.ask(query, **options).hits]


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.begin(MINE, "/a", "we need jitter", "and a cap of 30 seconds")
    world.begin(OTHER, "/a", "jitter was full jitter", now=2.0)
    world.begin(FOREIGN, "/b", "jitter elsewhere", "obelisk", now=3.0)
    return world


def test_the_project_is_searched_and_every_ref_opens_its_hit(world: World) -> None:
    hits = world.ask("jitter").hits
    assert {(hit.session, hit.line) for hit in hits} == {(MINE, 1), (OTHER, 1)}
    assert sorted(world.refs("jitter")) == [f"{OTHER}:L1", "L1"]
    for ref in world.refs("jitter"):
        assert "jitter" in world.ask(ref).hits[0].text


def test_another_project_is_found_only_on_request(world: World) -> None:
    assert world.refs("obelisk") == []
    assert world.refs("obelisk", project=None) == [f"{FOREIGN}:L2"]
    with pytest.raises(NotFound, match="in this project"):
        world.ask(f"{FOREIGN}:L2")
    assert world.ask(f"{FOREIGN}:L2", project=None).hits[0].text == "obelisk"


def test_another_project_stays_hidden_after_it_was_indexed(world: World) -> None:
    world.ask("obelisk", project=None)
    assert world.refs("obelisk") == []


def test_worktrees_of_one_repository_are_one_project(tmp_path: Path) -> None:
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    main, tree = tmp_path / "main", tmp_path / "tree"
    git = ["git", "-c", "user.name=Dev", "-c", "user.email=dev@example.com", "-C", str(main)]
    main.mkdir()
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([*git, *arguments], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    world = World(tmp_path)
    world.begin(MINE, find_project(str(main)), "nothing here")
    world.begin(OTHER, find_project(str(tree)), "jitter in a worktree")
    assert world.refs("jitter", project=find_project(str(tree))) == [f"{OTHER}:L1"]
    assert world.refs("jitter", project=find_project(str(main))) == [f"{OTHER}:L1"]


def test_a_line_that_was_just_written_is_found(world: World) -> None:
    world.ask("jitter")
    append(world.transcript(MINE), message_line("a monolith appeared"))
    assert world.refs("monolith") == ["L3"]


def test_a_deleted_transcript_is_answered_from_the_stored_copy(world: World) -> None:
    world.ask("jitter")
    world.transcript(MINE).unlink()
    for query in ("cap of 30 seconds", "L2", f"{MINE}:L2"):
        answer = world.ask(query)
        assert answer.hits[0].text == "and a cap of 30 seconds"
        assert answer.hits[0].is_copy
        assert "(stored copy)" in render_heading(answer.hits[0])
        assert any("stored copy" in note for note in answer.notes)
    with world.context() as context:
        (line,) = show_lines(context.index, MINE, str(world.transcript(MINE)), Ref("", 2, 2))
    assert (line.text, line.is_copy) == ("and a cap of 30 seconds", True)


def test_a_transcript_deleted_before_indexing_is_reported(world: World) -> None:
    world.transcript(OTHER).unlink()
    answer = world.ask("jitter")
    assert [hit.session for hit in answer.hits] == [MINE]
    assert answer.notes == (f"{world.transcript(OTHER)} is gone, and was never indexed",)


def test_a_ref_is_read_from_the_transcript_without_indexing(world: World) -> None:
    assert world.ask("L1").hits[0].text == "we need jitter"
    with world.context() as context:
        assert context.index.fetch_all("transcripts") == []


@pytest.mark.parametrize("ref", ["L3", f"{OTHER}:L2", "L0", "L9-12"])
def test_a_ref_to_missing_lines_is_an_error(world: World, ref: str) -> None:
    with pytest.raises(NotFound, match="has no line") as caught:
        world.ask(ref)
    assert "another session's line is SESSION:" in caught.value.hint


def test_a_ref_of_an_unknown_session_is_an_error(world: World) -> None:
    with pytest.raises(NotFound, match="session 99999999"):
        world.ask("99999999-0000-4000-8000-000000000001:L1")
    assert world.refs("worker.py:L12") == []


def test_sessions_that_are_not_indexed_in_time_are_reported(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_refresh, "REFRESH_SECONDS", -1.0)
    answer = world.ask("jitter")
    assert answer.hits == []
    assert answer.notes[0].startswith("2 sessions are not indexed yet")


def test_rebuilding_the_index_keeps_deleted_transcripts(world: World) -> None:
    world.ask("jitter")
    world.transcript(OTHER).unlink()
    world.transcript(MINE).write_text(json.dumps(message_line("only quartz is left")) + "\n")
    bytes_read: list[int] = []
    with world.context() as context:
        rows = context.store.transcripts(None)
        assert (
            index_refresh.rebuild_index(
                context.index, rows, NOW, bytes_read.append, everything=True
            )
            == 2
        )
    assert sum(bytes_read) == sum(
        os.path.getsize(world.transcript(name)) for name in (MINE, FOREIGN)
    )
    assert world.refs("jitter") == [f"{OTHER}:L1"]
    assert world.refs("quartz") == ["L1"]


def test_index_progress_is_measured_for_each_session(world: World) -> None:
    world.ask("jitter")
    append(world.transcript(MINE), message_line("more"))
    world.transcript(OTHER).unlink()
    with world.context() as context:
        progress_by_session = {
            progress.session: progress
            for progress in index_refresh.measure_progress(
                context.index, context.store.transcripts(None)
            )
        }
    assert progress_by_session[MINE].behind > 0
    assert (progress_by_session[OTHER].size, progress_by_session[OTHER].behind) == (0, 0)
    assert progress_by_session[OTHER].indexed == len("jitter was full jitter")
    assert progress_by_session[FOREIGN].indexed == 0


def test_a_budget_includes_the_refs_of_the_hits(world: World) -> None:
    append(
        world.transcript(OTHER),
        *[message_line(f"obsidian {number} " + "x " * 40) for number in range(9)],
    )
    with world.context() as context:
        answer = look_up(context, "obsidian", 300)
    assert answer.left_out
    assert estimate_tokens("".join(render_hit(hit, MINE) for hit in answer.hits)) <= 300


def test_the_same_text_in_many_places_is_one_hit(world: World) -> None:
    for number in range(5):
        append(
            world.transcript(MINE),
            tool_call_line(f"t{number}", "Bash"),
            tool_result_line(f"t{number}", "basalt"),
        )
    assert len(world.ask("basalt").hits) == 1


def test_refs_are_parsed() -> None:
    cases = [
        ("L12", Ref("", 12, 12)),
        ("(L12)", Ref("", 12, 12)),
        ("l12-15", Ref("", 12, 15)),
        (f"{MINE}:L3", Ref(MINE, 3, 3)),
        (f"{MINE}:L3-L9", Ref(MINE, 3, 9)),
        ("L", None),
        ("L12 and more", None),
        ("a b:L3", None),
        (":L3", None),
    ]
    for text, ref in cases:
        assert parse_ref(text) == ref, text
        if ref:
            assert parse_ref(str(ref)) == ref, text
