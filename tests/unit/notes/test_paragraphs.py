"""Notes are found by lookups like messages, and each ref opens the lines of its note."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import NotFound
from holdfast.notes import files, paragraphs
from holdfast.search import document_ids
from holdfast.search.index_db import decompress_text
from holdfast.search.search import Filter
from holdfast.services.recall import index_refresh
from holdfast.services.recall.lookup import (
    LookupAnswer,
    LookupContext,
    ShownLine,
    look_up,
    render_heading,
    resolve_ref,
    show_lines,
)
from holdfast.services.recall.refs import Ref, parse_ref
from holdfast.state.fold import new_state
from holdfast.store.sqlite import SQLiteStore
from tests.unit.search.transcripts import BOUNDARY, NOW, append, message_line
from tests.unit.services.recall.test_lookup import (
    FOREIGN_SESSION,
    OTHER_SESSION,
    OWN_SESSION,
    Workspace,
)

TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5"
KEY = "MIIEvAIBADANBgkqh0aB3dE5gH7jK9mN1pQ3sT5vW7x"
PEM = f"-----BEGIN PRIVATE KEY-----\n{KEY}\n{KEY}\n{KEY}\n-----END PRIVATE KEY-----"


class Notes(Workspace):
    """Two sessions of one project and one of another, with notes that can be written and found."""

    def project(self, session: str) -> str:
        return str(self.root / ("b" if session == FOREIGN_SESSION else "a"))

    def path(self, session: str = OWN_SESSION) -> Path:
        return Path(files.get_notes_path(self.project(session), session))

    def write(self, text: str, session: str = OWN_SESSION) -> None:
        self.path(session).parent.mkdir(parents=True, exist_ok=True)
        self.path(session).write_text(text, encoding="utf-8")

    def add_note(self, text: str, kind: str = "note") -> None:
        with closing(SQLiteStore(str(self.root / "home" / "holdfast.db"))) as store:
            store.begin()
            (self.root / "a").mkdir(exist_ok=True)
            files.add_note(
                store, OWN_SESSION, new_state(), self.project(OWN_SESSION), text, kind, 1e9
            )
            store.commit()

    def find_refs(self, query: str, **options: str | None) -> list[str]:
        options.setdefault("project", self.project(OWN_SESSION))
        return super().find_refs(query, **options)

    def search(self, query: str, only: Filter | None = None) -> LookupAnswer:
        with self.open_context(project=self.project(OWN_SESSION)) as context:
            return look_up(context, query, 800, only or Filter())

    def show(self, ref: str) -> list[ShownLine]:
        with self.open_context(project=self.project(OWN_SESSION)) as context:
            return _show(context, ref)


def _show(context: LookupContext, text: str) -> list[ShownLine]:
    ref = parse_ref(text)
    assert ref
    row = resolve_ref(context, ref)
    assert row
    return show_lines(context.index, row["id"], row["transcript"], ref)


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    opened = Notes(tmp_path)
    for session, word in (
        (OWN_SESSION, "alpha"),
        (OTHER_SESSION, "beta"),
        (FOREIGN_SESSION, "gamma"),
    ):
        opened.add_session(session, opened.project(session), f"we said {word}", "and no more")
    return opened


def test_a_note_is_found_and_its_ref_opens_exactly_its_lines(notes: Notes) -> None:
    notes.write("# Ideas\n\nThe obelisk must\nnever be moved.\n\nAnother thing.\n")
    (hit,) = notes.search("obelisk").hits
    assert (hit.kind, hit.text) == ("note", "The obelisk must\nnever be moved.")
    assert render_heading(hit, OWN_SESSION).startswith("notes:L3-4 note ")
    (opened,) = notes.search("notes:L3-4").hits
    assert opened.text == hit.text
    assert render_heading(opened, OWN_SESSION) == "notes:L3-4 note"
    assert notes.show("notes:L3-4") == [
        ShownLine(3, "The obelisk must", False),
        ShownLine(4, "never be moved.", False),
    ]


def test_added_notes_are_found_and_generated_entries_are_not(notes: Notes) -> None:
    notes.add_note("the cap is thirty seconds, see (L2)", "decision")
    (ref,) = notes.find_refs("cap thirty")
    assert [line.text for line in notes.show(ref)] == [
        "- **decision:** the cap is thirty seconds, see (L2)"
    ]
    assert notes.find_refs("Blocking") == notes.find_refs("Progress Log") == []
    (hit,) = notes.search("cap thirty").hits
    assert hit.at == 1_000_000_000 // 60 * 60


def test_notes_of_other_projects_are_found_only_on_request(notes: Notes) -> None:
    notes.write("obelisk here", OTHER_SESSION)
    notes.write("obelisk elsewhere", FOREIGN_SESSION)
    assert notes.find_refs("obelisk") == [f"{OTHER_SESSION}:notes:L1"]
    assert set(notes.find_refs("obelisk", project=None)) == {
        f"{OTHER_SESSION}:notes:L1",
        f"{FOREIGN_SESSION}:notes:L1",
    }
    assert notes.search(f"{OTHER_SESSION}:notes:L1").hits[0].text == "obelisk here"
    with pytest.raises(NotFound, match="in this project"):
        notes.search(f"{FOREIGN_SESSION}:notes:L1")


def test_hits_can_be_filtered_by_the_kind_note(notes: Notes) -> None:
    notes.write("- alpha was wrong")
    assert sorted(notes.find_refs("alpha")) == ["L1", "notes:L1"]
    for kind, ref in (("note", "notes:L1"), ("prompt", "L1")):
        (hit,) = notes.search("alpha", Filter(kinds=(kind,))).hits
        assert render_heading(hit, OWN_SESSION).split()[0] == ref


def test_notes_never_count_as_written_before_a_compaction(notes: Notes) -> None:
    notes.write("- alpha was wrong")
    append(notes.transcript_path(OWN_SESSION), BOUNDARY)
    hits = notes.search("alpha", Filter(before_compaction=True)).hits
    assert [hit.kind for hit in hits] == ["prompt"]
    assert [hit.before for hit in notes.search("alpha", Filter(kinds=("note",))).hits] == [False]


def test_changed_notes_replace_the_indexed_ones(notes: Notes) -> None:
    notes.write("obelisk\n\nmonolith\n")
    assert notes.find_refs("obelisk") == ["notes:L1"]
    notes.write("monolith moved up\n")
    assert notes.find_refs("obelisk") == []
    assert notes.find_refs("monolith") == ["notes:L1"]
    with notes.open_context() as context:
        (row,) = [
            row for row in context.index.fetch_all("transcripts") if row["session"] == OWN_SESSION
        ]
    indexed = ["we said alpha", "and no more", "monolith moved up"]
    assert (row["documents"], row["indexed"]) == (3, sum(map(len, indexed)))


def test_deleted_notes_are_answered_from_the_stored_copy(notes: Notes) -> None:
    notes.write("one\ntwo obelisks\nthree\n")
    notes.find_refs("obelisks")
    notes.path().unlink()
    answer = notes.search("obelisks")
    assert "(stored copy)" in render_heading(answer.hits[0])
    assert any("stored copy" in note for note in answer.notes)
    for ref, text in (("notes:L2", "two obelisks"), ("notes:L2-3", "two obelisks\nthree")):
        (hit,) = notes.search(ref).hits
        assert (hit.text, hit.is_copy) == (text, True)
        assert [(line.text, line.is_copy) for line in notes.show(ref)] == [
            (line, True) for line in text.split("\n")
        ]


def test_notes_stay_indexed_when_their_transcript_is_deleted_or_replaced(notes: Notes) -> None:
    notes.write("obelisk")
    notes.find_refs("obelisk")
    notes.transcript_path(OWN_SESSION).unlink()
    (hit,) = notes.search("obelisk").hits
    assert not hit.is_copy
    notes.path().unlink()
    append(notes.transcript_path(OWN_SESSION), message_line("started anew"))
    assert notes.find_refs("anew") == ["L1"]
    assert notes.find_refs("alpha") == []
    assert notes.find_refs("obelisk") == ["notes:L1"]


def test_notes_without_a_transcript_are_found_and_the_missing_file_is_reported(
    notes: Notes,
) -> None:
    notes.write("obelisk")
    notes.transcript_path(OWN_SESSION).unlink()
    for _ in range(2):
        answer = notes.search("obelisk")
        assert [hit.kind for hit in answer.hits] == ["note"]
        assert answer.notes == (
            f"{notes.transcript_path(OWN_SESSION)} is gone, and was never indexed",
        )


def test_secrets_in_notes_are_redacted_and_line_numbers_stay(notes: Notes) -> None:
    notes.write(f"use {TOKEN}\n\n{PEM}\nobelisk after the key\n")
    assert notes.find_refs("obelisk") == ["notes:L8"]
    assert notes.find_refs(TOKEN) == notes.find_refs(KEY) == []
    assert [line.text for line in notes.show("notes:L1-8")] == [
        "use [redacted:github-token]",
        "",
        "[redacted:private-key]",
        *[""] * 4,
        "obelisk after the key",
    ]
    assert [line.text for line in notes.show("notes:L4")] == [""]
    with notes.open_context() as context:
        rows = context.index.fetch_all("documents_between", document_ids.ALL_IDS)
    stored = json.dumps([decompress_text(row["text"]) for row in rows])
    assert TOKEN[4:] not in stored
    assert "MIIE" not in stored


def test_rebuilding_the_index_drops_deleted_notes(notes: Notes) -> None:
    notes.write("obelisk")
    notes.write("monolith", OTHER_SESSION)
    notes.find_refs("obelisk")
    notes.path(OTHER_SESSION).unlink()
    with notes.open_context() as context:
        rows = context.store.transcripts(None)
        index_refresh.rebuild_index(context.index, rows, NOW, lambda _: None, everything=False)
        assert len(context.index.fetch_all("transcripts")) == 3
    assert notes.find_refs("obelisk") == ["notes:L1"]
    assert notes.find_refs("monolith") == []


def test_a_link_or_a_folder_at_the_path_of_notes_is_not_read(notes: Notes) -> None:
    outside = notes.root / "outside.md"
    outside.write_text("obelisk", encoding="utf-8")
    notes.path().parent.mkdir(parents=True)
    os.symlink(outside, notes.path())
    notes.path(OTHER_SESSION).mkdir(parents=True)
    assert notes.find_refs("obelisk") == []
    with pytest.raises(NotFound):
        notes.search("notes:L1")


def test_a_ref_to_missing_lines_is_an_error(notes: Notes) -> None:
    with pytest.raises(NotFound, match="has no line L1"):
        notes.search("notes:L1")
    notes.write("one\ntwo\n")
    with pytest.raises(NotFound, match="has no lines L3-9") as caught:
        notes.search("notes:L3-9")
    assert caught.value.hint == (
        "it has lines L1 to L2; another session's line is SESSION:notes:L3"
    )


def test_a_transcript_ref_never_opens_a_note(notes: Notes) -> None:
    notes.write("obelisk")
    notes.find_refs("obelisk")
    notes.transcript_path(OWN_SESSION).unlink()
    with pytest.raises(NotFound):
        notes.search(f"L{document_ids.FIRST_NOTES_LINE + 1}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\n\nthree", [(1, "one\ntwo"), (4, "three")]),
        ("- one\n  more\n- two\n", [(1, "- one\n  more"), (3, "- two")]),
        ("## Plan\nfirst\n## Rest\nlast", [(1, "## Plan\nfirst"), (3, "## Rest\nlast")]),
        ("one\n### 2026-11-15 10:00\ntwo", [(1, "one"), (3, "two")]),
        ("\n\n", []),
        ("", []),
    ],
)
def test_notes_are_split_into_paragraphs_list_items_and_sections(
    notes: Notes, text: str, expected: list[tuple[int, str]]
) -> None:
    notes.write(text)
    content = paragraphs.read_file(str(notes.path()))
    assert content
    found = paragraphs.split_paragraphs(content)
    assert [(paragraph.line, paragraph.text) for paragraph in found] == expected


def test_a_paragraph_has_the_time_of_its_heading_or_of_the_file(notes: Notes) -> None:
    notes.write("before\n\n### 2026-11-15 10:00\n- one\n\n### Not a time\nthree\n")
    os.utime(notes.path(), (5e8, 5e8))
    content = paragraphs.read_file(str(notes.path()))
    assert content
    times = [paragraph.seconds for paragraph in paragraphs.split_paragraphs(content)]
    assert times[0] == 500_000_000
    assert times[1] == times[2] > times[0]


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("notes:L12", Ref("", 12, 12, True)),
        ("(notes:L12-15)", Ref("", 12, 15, True)),
        (f"{OWN_SESSION}:notes:L3", Ref(OWN_SESSION, 3, 3, True)),
        ("notes:", None),
        ("notes:notes:notes:L1", None),
    ],
)
def test_refs_to_notes_are_parsed(text: str, ref: Ref | None) -> None:
    assert parse_ref(text) == ref
    if ref:
        assert parse_ref(str(ref)) == ref
