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

OWN_SESSION = "11111111-0000-4000-8000-000000000001"
OTHER_SESSION = "22222222-0000-4000-8000-000000000002"
FOREIGN_SESSION = "33333333-0000-4000-8000-000000000003"


@dataclass
class Workspace:
    """A folder with transcripts, the store that lists them, and the index over them."""

    root: Path

    def transcript_path(self, session: str) -> Path:
        return self.root / f"{session}.jsonl"

    def add_session(self, session: str, project: str, *lines: str, now: float = 1.0) -> None:
        append(self.transcript_path(session), *[message_line(line) for line in lines])
        with closing(SQLiteStore(str(self.root / "home" / "holdfast.db"))) as store:
            store.begin()
            store.save_session(
                session=session, host="claude-code", project=project, cursor=None, now=now,
                transcript=str(self.transcript_path(session)), state=new_state(), revision=0,
            )  # fmt: skip
            store.commit()

    @contextmanager
    def open_context(
        self, *, own: str = OWN_SESSION, project: str | None = "/a"
    ) -> Iterator[LookupContext]:
        with closing(SQLiteStore(str(self.root / "home" / "holdfast.db"))) as store:
            scope = LookupScope(find_asking_session(store, "/a", session=own), project)
            with open_lookup(store, str(self.root / "home" / "recall.db"), scope, NOW) as context:
                yield context

    def look_up(self, query: str, **options: str | None) -> LookupAnswer:
        with self.open_context(**options) as context:  # type: ignore[arg-type]
            return look_up(context, query, 800)

    def find_refs(self, query: str, **options: str | None) -> list[str]:
        own = options.get("own") or OWN_SESSION
        return [render_heading(hit, own).split()[0] for hit in self.look_up(query, **options).hits]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Three sessions: two of this project and one of another."""
    workspace = Workspace(tmp_path)
    workspace.add_session(OWN_SESSION, "/a", "we need jitter", "and a cap of 30 seconds")
    workspace.add_session(OTHER_SESSION, "/a", "jitter was full jitter", now=2.0)
    workspace.add_session(FOREIGN_SESSION, "/b", "jitter elsewhere", "obelisk", now=3.0)
    return workspace


def test_the_project_is_searched_and_every_ref_opens_its_hit(workspace: Workspace) -> None:
    hits = workspace.look_up("jitter").hits
    assert {(hit.session, hit.line) for hit in hits} == {(OWN_SESSION, 1), (OTHER_SESSION, 1)}
    assert sorted(workspace.find_refs("jitter")) == [f"{OTHER_SESSION}:L1", "L1"]
    for ref in workspace.find_refs("jitter"):
        assert "jitter" in workspace.look_up(ref).hits[0].text


def test_another_project_is_found_only_on_request(workspace: Workspace) -> None:
    assert workspace.find_refs("obelisk") == []
    assert workspace.find_refs("obelisk", project=None) == [f"{FOREIGN_SESSION}:L2"]
    with pytest.raises(NotFound, match="in this project"):
        workspace.look_up(f"{FOREIGN_SESSION}:L2")
    assert workspace.look_up(f"{FOREIGN_SESSION}:L2", project=None).hits[0].text == "obelisk"


def test_another_project_stays_hidden_after_it_was_indexed(workspace: Workspace) -> None:
    workspace.look_up("obelisk", project=None)
    assert workspace.find_refs("obelisk") == []


def test_worktrees_of_one_repository_are_one_project(tmp_path: Path) -> None:
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    main, tree = tmp_path / "main", tmp_path / "tree"
    git = ["git", "-c", "user.name=Dev", "-c", "user.email=dev@example.com", "-C", str(main)]
    main.mkdir()
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([*git, *arguments], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    workspace = Workspace(tmp_path)
    workspace.add_session(OWN_SESSION, find_project(str(main)), "nothing here")
    workspace.add_session(OTHER_SESSION, find_project(str(tree)), "jitter in a worktree")
    assert workspace.find_refs("jitter", project=find_project(str(tree))) == [f"{OTHER_SESSION}:L1"]
    assert workspace.find_refs("jitter", project=find_project(str(main))) == [f"{OTHER_SESSION}:L1"]


def test_a_line_that_was_just_written_is_found(workspace: Workspace) -> None:
    workspace.look_up("jitter")
    append(workspace.transcript_path(OWN_SESSION), message_line("a monolith appeared"))
    assert workspace.find_refs("monolith") == ["L3"]


def test_a_deleted_transcript_is_answered_from_the_stored_copy(workspace: Workspace) -> None:
    workspace.look_up("jitter")
    workspace.transcript_path(OWN_SESSION).unlink()
    for query in ("cap of 30 seconds", "L2", f"{OWN_SESSION}:L2"):
        answer = workspace.look_up(query)
        assert answer.hits[0].text == "and a cap of 30 seconds"
        assert answer.hits[0].is_copy
        assert "(stored copy)" in render_heading(answer.hits[0])
        assert any("stored copy" in note for note in answer.notes)
    with workspace.open_context() as context:
        (line,) = show_lines(
            context.index, OWN_SESSION, str(workspace.transcript_path(OWN_SESSION)), Ref("", 2, 2)
        )
    assert (line.text, line.is_copy) == ("and a cap of 30 seconds", True)


def test_a_transcript_deleted_before_indexing_is_reported(workspace: Workspace) -> None:
    workspace.transcript_path(OTHER_SESSION).unlink()
    answer = workspace.look_up("jitter")
    assert [hit.session for hit in answer.hits] == [OWN_SESSION]
    assert answer.notes == (
        f"{workspace.transcript_path(OTHER_SESSION)} is gone, and was never indexed",
    )


def test_a_ref_is_read_from_the_transcript_without_indexing(workspace: Workspace) -> None:
    assert workspace.look_up("L1").hits[0].text == "we need jitter"
    with workspace.open_context() as context:
        assert context.index.fetch_all("transcripts") == []


@pytest.mark.parametrize("ref", ["L3", f"{OTHER_SESSION}:L2", "L0", "L9-12"])
def test_a_ref_to_missing_lines_is_an_error(workspace: Workspace, ref: str) -> None:
    with pytest.raises(NotFound, match="has no line") as caught:
        workspace.look_up(ref)
    assert "another session's line is SESSION:" in caught.value.hint


def test_a_ref_of_an_unknown_session_is_an_error(workspace: Workspace) -> None:
    with pytest.raises(NotFound, match="session 99999999"):
        workspace.look_up("99999999-0000-4000-8000-000000000001:L1")
    assert workspace.find_refs("worker.py:L12") == []


def test_sessions_that_are_not_indexed_in_time_are_reported(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_refresh, "REFRESH_SECONDS", -1.0)
    answer = workspace.look_up("jitter")
    assert answer.hits == []
    assert answer.notes[0].startswith("2 sessions are not indexed yet")


def test_rebuilding_the_index_keeps_deleted_transcripts(workspace: Workspace) -> None:
    workspace.look_up("jitter")
    workspace.transcript_path(OTHER_SESSION).unlink()
    workspace.transcript_path(OWN_SESSION).write_text(
        json.dumps(message_line("only quartz is left")) + "\n"
    )
    bytes_read: list[int] = []
    with workspace.open_context() as context:
        rows = context.store.transcripts(None)
        assert (
            index_refresh.rebuild_index(
                context.index, rows, NOW, bytes_read.append, everything=True
            )
            == 2
        )
    assert sum(bytes_read) == sum(
        os.path.getsize(workspace.transcript_path(name)) for name in (OWN_SESSION, FOREIGN_SESSION)
    )
    assert workspace.find_refs("jitter") == [f"{OTHER_SESSION}:L1"]
    assert workspace.find_refs("quartz") == ["L1"]


def test_index_progress_is_measured_for_each_session(workspace: Workspace) -> None:
    workspace.look_up("jitter")
    append(workspace.transcript_path(OWN_SESSION), message_line("more"))
    workspace.transcript_path(OTHER_SESSION).unlink()
    with workspace.open_context() as context:
        progress_by_session = {
            progress.session: progress
            for progress in index_refresh.measure_progress(
                context.index, context.store.transcripts(None)
            )
        }
    assert progress_by_session[OWN_SESSION].behind > 0
    assert (progress_by_session[OTHER_SESSION].size, progress_by_session[OTHER_SESSION].behind) == (
        0,
        0,
    )
    assert progress_by_session[OTHER_SESSION].indexed == len("jitter was full jitter")
    assert progress_by_session[FOREIGN_SESSION].indexed == 0


def test_a_budget_includes_the_refs_of_the_hits(workspace: Workspace) -> None:
    append(
        workspace.transcript_path(OTHER_SESSION),
        *[message_line(f"obsidian {number} " + "x " * 40) for number in range(9)],
    )
    with workspace.open_context() as context:
        answer = look_up(context, "obsidian", 300)
    assert answer.left_out
    assert estimate_tokens("".join(render_hit(hit, OWN_SESSION) for hit in answer.hits)) <= 300


def test_the_same_text_in_many_places_is_one_hit(workspace: Workspace) -> None:
    for number in range(5):
        append(
            workspace.transcript_path(OWN_SESSION),
            tool_call_line(f"t{number}", "Bash"),
            tool_result_line(f"t{number}", "basalt"),
        )
    assert len(workspace.look_up("basalt").hits) == 1


def test_refs_are_parsed() -> None:
    cases = [
        ("L12", Ref("", 12, 12)),
        ("(L12)", Ref("", 12, 12)),
        ("l12-15", Ref("", 12, 15)),
        (f"{OWN_SESSION}:L3", Ref(OWN_SESSION, 3, 3)),
        (f"{OWN_SESSION}:L3-L9", Ref(OWN_SESSION, 3, 9)),
        ("L", None),
        ("L12 and more", None),
        ("a b:L3", None),
        (":L3", None),
    ]
    for text, ref in cases:
        assert parse_ref(text) == ref, text
        if ref:
            assert parse_ref(str(ref)) == ref, text
