"""The view functions of the search page."""

from __future__ import annotations

import pytest

from holdfast.errors import NotFound
from holdfast.server.web import recall
from holdfast.server.web.recall import Search
from holdfast.services.recall.lookup import Hit
from holdfast.services.recall.refs import Ref
from holdfast.services.recall.server_lookup import ServerScope
from holdfast.store.protocols import TranscriptRow


def make_row(ident: str, project: str) -> TranscriptRow:
    return {
        "id": ident, "host": "claude-code", "project": project, "transcript": "", "seen_at": 1.0,
        "ended_at": None,
    }  # fmt: skip


ROWS = [make_row("5e55a0ce", "/srv/a/app"), make_row("77", "/srv/b/app"), make_row("78", "/x/lib")]


def test_an_address_has_only_what_is_set() -> None:
    search = Search(q="file lock", project="/srv/a&b")
    assert search.make_path() == "/recall?q=file+lock&project=%2Fsrv%2Fa%26b"
    assert search.make_path(project="", at="s:L1") == "/recall?q=file+lock&at=s%3AL1"
    assert search.has_filter
    assert not Search(q="x").has_filter


def test_a_scope_is_a_session_by_the_start_of_its_id_or_a_folder() -> None:
    assert recall.to_scope(ROWS, Search(session="5e55")).session == "5e55a0ce"
    assert recall.to_scope(ROWS, Search(project="/x/lib")).folder == "/x/lib"
    assert recall.to_scope(ROWS, Search()) == ServerScope()
    for search in (Search(session="zz"), Search(project="/unknown")):
        with pytest.raises(NotFound):
            recall.to_scope(ROWS, search)


def test_folders_of_the_same_name_are_told_apart() -> None:
    assert recall.list_folders(ROWS) == [
        ("/srv/a/app", "app (/srv/a)"), ("/srv/b/app", "app (/srv/b)"), ("/x/lib", "lib"),
    ]  # fmt: skip


def test_a_long_source_is_cut_around_the_words_and_loses_unsafe_characters() -> None:
    hit = Hit("s", 3, "tool_result", f"{'x ' * 500_000}\x1b[31mneedle\u202e here{' y' * 500_000}")
    line = recall.to_source_line(hit, Ref("s", 3, 3), ["needle"])
    text = "".join(piece.text for piece in line.text)
    assert "needle here" in text
    assert len(text) < 2 * recall.MAX_SOURCE_CHARS
    assert line.is_found
    around = recall.to_source_line(hit, Ref("s", 4, 4), [])
    assert not around.is_found
    assert sum(len(piece.text) for piece in around.text) <= recall.MAX_CONTEXT_CHARS + 4


def test_a_listed_result_begins_at_the_line_with_the_words() -> None:
    text = "\n".join([*(f"row {n}" for n in range(50)), "  the file lock", *["more"] * 99])
    shown = "".join(piece.text for piece in recall.mark_line(text, ["file", "lock"]))
    assert shown.startswith("… the file lock\nmore")
    assert shown.endswith("…")
    one_line = f"{'x ' * 500}the file lock"
    shown = "".join(piece.text for piece in recall.mark_line(one_line, ["file", "lock"]))
    assert shown.startswith("… ")
    assert shown.endswith("the file lock")
    assert "".join(piece.text for piece in recall.mark_line("short", ["file"])) == "short"
