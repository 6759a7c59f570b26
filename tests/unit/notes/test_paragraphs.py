"""What people and agents noted is found like what was said, and each ref opens its lines."""

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
from tests.unit.services.recall.test_lookup import MINE, OTHER, World

FOREIGN = "33333333-0000-4000-8000-000000000003"
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5"
KEY = "MIIEvAIBADANBgkqh0aB3dE5gH7jK9mN1pQ3sT5vW7x"
PEM = f"-----BEGIN PRIVATE KEY-----\n{KEY}\n{KEY}\n{KEY}\n-----END PRIVATE KEY-----"


class Place(World):
    """Two sessions of one project and one of another, whose notes can be written."""

    def project(self, session: str) -> str:
        return str(self.root / ("b" if session == FOREIGN else "a"))

    def path(self, session: str = MINE) -> Path:
        return Path(files.notes_path(self.project(session), session))

    def write(self, text: str, session: str = MINE) -> None:
        self.path(session).parent.mkdir(parents=True, exist_ok=True)
        self.path(session).write_text(text, encoding="utf-8")

    def note(self, text: str, kind: str = "note") -> None:
        with closing(SQLiteStore(str(self.root / "home" / "holdfast.db"))) as store:
            store.begin()
            (self.root / "a").mkdir(exist_ok=True)
            files.add_note(store, MINE, new_state(), self.project(MINE), text, kind, 1e9)
            store.commit()

    def found(self, query: str, **options: str | None) -> list[str]:
        options.setdefault("project", self.project(MINE))
        return self.refs(query, **options)

    def asked(self, query: str, only: Filter | None = None) -> LookupAnswer:
        with self.context(project=self.project(MINE)) as context:
            return look_up(context, query, 800, only or Filter())

    def shown(self, ref: str) -> list[ShownLine]:
        with self.context(project=self.project(MINE)) as context:
            return _shown(context, ref)


def _shown(context: LookupContext, text: str) -> list[ShownLine]:
    ref = parse_ref(text)
    assert ref
    row = resolve_ref(context, ref)
    assert row
    return show_lines(context.index, row["id"], row["transcript"], ref)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    for session, word in ((MINE, "alpha"), (OTHER, "beta"), (FOREIGN, "gamma")):
        made.begin(session, made.project(session), f"we said {word}", "and no more")
    return made


def test_a_note_is_found_and_its_ref_opens_exactly_its_lines(place: Place) -> None:
    place.write("# Ideas\n\nThe obelisk must\nnever be moved.\n\nAnother thing.\n")
    (hit,) = place.asked("obelisk").hits
    assert (hit.kind, hit.text) == ("note", "The obelisk must\nnever be moved.")
    assert render_heading(hit, MINE).startswith("notes:L3-4 note ")
    (opened,) = place.asked("notes:L3-4").hits
    assert opened.text == hit.text
    assert render_heading(opened, MINE) == "notes:L3-4 note"
    assert place.shown("notes:L3-4") == [
        ShownLine(3, "The obelisk must", False),
        ShownLine(4, "never be moved.", False),
    ]


def test_notes_by_command_are_found_and_derived_entries_are_not_indexed(place: Place) -> None:
    place.note("the cap is thirty seconds, see (L2)", "decision")
    (ref,) = place.found("cap thirty")
    assert [one.text for one in place.shown(ref)] == [
        "- **decision:** the cap is thirty seconds, see (L2)"
    ]
    assert place.found("Blocking") == place.found("Progress Log") == []
    (hit,) = place.asked("cap thirty").hits
    assert hit.at == 1_000_000_000 // 60 * 60


def test_notes_of_other_projects_are_found_only_on_request(place: Place) -> None:
    place.write("obelisk here", OTHER)
    place.write("obelisk elsewhere", FOREIGN)
    assert place.found("obelisk") == [f"{OTHER}:notes:L1"]
    assert set(place.found("obelisk", project=None)) == {
        f"{OTHER}:notes:L1",
        f"{FOREIGN}:notes:L1",
    }
    assert place.asked(f"{OTHER}:notes:L1").hits[0].text == "obelisk here"
    with pytest.raises(NotFound, match="in this project"):
        place.asked(f"{FOREIGN}:notes:L1")


def test_the_kind_of_a_hit_separates_notes_from_messages(place: Place) -> None:
    place.write("- alpha was wrong")
    assert sorted(place.found("alpha")) == ["L1", "notes:L1"]
    for kind, line in (("note", "notes:L1"), ("prompt", "L1")):
        (hit,) = place.asked("alpha", Filter(kinds=(kind,))).hits
        assert render_heading(hit, MINE).split()[0] == line


def test_notes_are_not_part_of_what_was_compacted(place: Place) -> None:
    place.write("- alpha was wrong")
    append(place.transcript(MINE), BOUNDARY)
    hits = place.asked("alpha", Filter(before_compaction=True)).hits
    assert [hit.kind for hit in hits] == ["prompt"]
    assert [hit.before for hit in place.asked("alpha", Filter(kinds=("note",))).hits] == [False]


def test_changed_notes_replace_the_indexed_ones(place: Place) -> None:
    place.write("obelisk\n\nmonolith\n")
    assert place.found("obelisk") == ["notes:L1"]
    place.write("monolith moved up\n")
    assert place.found("obelisk") == []
    assert place.found("monolith") == ["notes:L1"]
    with place.context() as context:
        (row,) = [row for row in context.index.fetch_all("transcripts") if row["session"] == MINE]
    told = ["we said alpha", "and no more", "monolith moved up"]
    assert (row["documents"], row["indexed"]) == (3, sum(map(len, told)))


def test_notes_that_are_gone_are_answered_from_the_stored_copy(place: Place) -> None:
    place.write("one\ntwo obelisks\nthree\n")
    place.found("obelisks")
    place.path().unlink()
    answer = place.asked("obelisks")
    assert "(stored copy)" in render_heading(answer.hits[0])
    assert any("stored copy" in note for note in answer.notes)
    for ref, text in (("notes:L2", "two obelisks"), ("notes:L2-3", "two obelisks\nthree")):
        (hit,) = place.asked(ref).hits
        assert (hit.text, hit.is_copy) == (text, True)
        assert [(one.text, one.is_copy) for one in place.shown(ref)] == [
            (line, True) for line in text.split("\n")
        ]


def test_notes_stay_when_their_transcript_is_deleted_or_replaced(place: Place) -> None:
    place.write("obelisk")
    place.found("obelisk")
    place.transcript(MINE).unlink()
    (hit,) = place.asked("obelisk").hits
    assert not hit.is_copy
    place.path().unlink()
    append(place.transcript(MINE), message_line("begun anew"))
    assert place.found("anew") == ["L1"]
    assert place.found("alpha") == []
    assert place.found("obelisk") == ["notes:L1"]


def test_notes_without_a_transcript_are_found_and_the_loss_is_reported(place: Place) -> None:
    place.write("obelisk")
    place.transcript(MINE).unlink()
    for _ in range(2):
        answer = place.asked("obelisk")
        assert [hit.kind for hit in answer.hits] == ["note"]
        assert answer.notes == (f"{place.transcript(MINE)} is gone, and was never indexed",)


def test_secrets_in_notes_are_redacted_and_line_numbers_stay(place: Place) -> None:
    place.write(f"use {TOKEN}\n\n{PEM}\nobelisk after the key\n")
    assert place.found("obelisk") == ["notes:L8"]
    assert place.found(TOKEN) == place.found(KEY) == []
    assert [one.text for one in place.shown("notes:L1-8")] == [
        "use [redacted:github-token]",
        "",
        "[redacted:private-key]",
        *[""] * 4,
        "obelisk after the key",
    ]
    assert [one.text for one in place.shown("notes:L4")] == [""]
    with place.context() as context:
        rows = context.index.fetch_all("documents_between", document_ids.ALL_IDS)
    kept = json.dumps([decompress_text(row["text"]) for row in rows])
    assert TOKEN[4:] not in kept
    assert "MIIE" not in kept


def test_rebuilding_reads_notes_again_and_drops_those_that_are_gone(place: Place) -> None:
    place.write("obelisk")
    place.write("monolith", OTHER)
    place.found("obelisk")
    place.path(OTHER).unlink()
    with place.context() as context:
        rows = context.store.transcripts(None)
        index_refresh.rebuild_index(context.index, rows, NOW, lambda _: None, everything=False)
        assert len(context.index.fetch_all("transcripts")) == 3
    assert place.found("obelisk") == ["notes:L1"]
    assert place.found("monolith") == []


def test_a_link_or_a_folder_in_place_of_notes_is_not_read(place: Place) -> None:
    outside = place.root / "outside.md"
    outside.write_text("obelisk", encoding="utf-8")
    place.path().parent.mkdir(parents=True)
    os.symlink(outside, place.path())
    place.path(OTHER).mkdir(parents=True)
    assert place.found("obelisk") == []
    with pytest.raises(NotFound):
        place.asked("notes:L1")


def test_a_ref_to_missing_lines_is_an_error(place: Place) -> None:
    with pytest.raises(NotFound, match="has no line L1"):
        place.asked("notes:L1")
    place.write("one\ntwo\n")
    with pytest.raises(NotFound, match="has no lines L3-9") as told:
        place.asked("notes:L3-9")
    assert told.value.hint == ("it has lines L1 to L2; another session's line is SESSION:notes:L3")


def test_a_line_of_the_transcript_never_leads_into_the_notes(place: Place) -> None:
    place.write("obelisk")
    place.found("obelisk")
    place.transcript(MINE).unlink()
    with pytest.raises(NotFound):
        place.asked(f"L{document_ids.FIRST_NOTES_LINE + 1}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("one\ntwo\n\nthree", [(1, "one\ntwo"), (4, "three")]),
        ("- one\n  more\n- two\n", [(1, "- one\n  more"), (3, "- two")]),
        ("## Plan\nfirst\n## Rest\nlast", [(1, "## Plan\nfirst"), (3, "## Rest\nlast")]),
        ("one\n### 2026-11-15 10:00\ntwo", [(1, "one"), (3, "two")]),
        ("\n\n", []),
        ("", []),
    ],
)
def test_a_paragraph_is_one_piece(place: Place, text: str, told: list[tuple[int, str]]) -> None:
    place.write(text)
    read = paragraphs.read_file(str(place.path()))
    assert read
    assert [(one.line, one.text) for one in paragraphs.paragraphs(read)] == told


def test_entries_have_the_time_of_their_heading(place: Place) -> None:
    place.write("before\n\n### 2026-11-15 10:00\n- one\n\n### Not a time\nthree\n")
    os.utime(place.path(), (5e8, 5e8))
    read = paragraphs.read_file(str(place.path()))
    assert read
    times = [one.seconds for one in paragraphs.paragraphs(read)]
    assert times[0] == 500_000_000
    assert times[1] == times[2] > times[0]


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("notes:L12", Ref("", 12, 12, True)),
        ("(notes:L12-15)", Ref("", 12, 15, True)),
        (f"{MINE}:notes:L3", Ref(MINE, 3, 3, True)),
        ("notes:", None),
        ("notes:notes:notes:L1", None),
    ],
)
def test_which_texts_are_refs_into_notes(text: str, ref: Ref | None) -> None:
    assert parse_ref(text) == ref
    if ref:
        assert parse_ref(str(ref)) == ref
