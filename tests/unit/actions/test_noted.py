"""What people and agents noted is found like what was said, and each ref opens its lines."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.actions import indexing, noted, notes
from holdfast.actions.lookup import Desk, look_up, target
from holdfast.actions.recall import Answer, heading
from holdfast.actions.refs import Ref, parse
from holdfast.actions.show import Shown, show
from holdfast.errors import NoSuchRecord
from holdfast.index import ids
from holdfast.index.database import unpack
from holdfast.index.search import Filter
from holdfast.state.fold import new_state
from holdfast.store.sqlite import SQLiteStore
from tests.unit.index.transcripts import BOUNDARY, NOW, append, said

from .test_lookup import MINE, OTHER, World

FOREIGN = "33333333-0000-4000-8000-000000000003"
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5"
KEY = "MIIEvAIBADANBgkqh0aB3dE5gH7jK9mN1pQ3sT5vW7x"
PEM = f"-----BEGIN PRIVATE KEY-----\n{KEY}\n{KEY}\n{KEY}\n-----END PRIVATE KEY-----"


class Place(World):
    """Two sessions of one project and one of another, whose notes can be written."""

    def project(self, session: str) -> str:
        return str(self.root / ("b" if session == FOREIGN else "a"))

    def path(self, session: str = MINE) -> Path:
        return Path(notes.path_of(self.project(session), session))

    def write(self, text: str, session: str = MINE) -> None:
        self.path(session).parent.mkdir(parents=True, exist_ok=True)
        self.path(session).write_text(text, encoding="utf-8")

    def note(self, text: str, kind: str = "note") -> None:
        with closing(SQLiteStore(str(self.root / "home" / "holdfast.db"))) as store:
            store.begin()
            (self.root / "a").mkdir(exist_ok=True)
            notes.note(store, MINE, new_state(), self.project(MINE), text, kind, 1e9)
            store.commit()

    def found(self, query: str, **options: str | None) -> list[str]:
        options.setdefault("project", self.project(MINE))
        return self.refs(query, **options)

    def asked(self, query: str, only: Filter | None = None) -> Answer:
        with self.desk(project=self.project(MINE)) as desk:
            return look_up(desk, query, 800, only or Filter())

    def shown(self, ref: str) -> list[Shown]:
        with self.desk(project=self.project(MINE)) as desk:
            return _shown(desk, ref)


def _shown(desk: Desk, text: str) -> list[Shown]:
    ref = parse(text)
    assert ref
    row = target(desk, ref)
    assert row
    return show(desk.index, row["id"], row["transcript"], ref)


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
    assert heading(hit, MINE).startswith("notes:L3-4 note ")
    (opened,) = place.asked("notes:L3-4").hits
    assert opened.text == hit.text
    assert heading(opened, MINE) == "notes:L3-4 note"
    assert place.shown("notes:L3-4") == [
        Shown(3, "The obelisk must", False),
        Shown(4, "never be moved.", False),
    ]


def test_what_was_noted_by_command_is_found_and_the_log_is_not_told_twice(place: Place) -> None:
    place.note("the cap is thirty seconds, see (L2)", "decision")
    (ref,) = place.found("cap thirty")
    assert [one.text for one in place.shown(ref)] == [
        "- **decision:** the cap is thirty seconds, see (L2)"
    ]
    assert place.found("Blocking") == place.found("Progress Log") == []
    (hit,) = place.asked("cap thirty").hits
    assert hit.at == 1_000_000_000 // 60 * 60


def test_notes_of_the_project_are_found_and_others_only_when_asked_for(place: Place) -> None:
    place.write("obelisk here", OTHER)
    place.write("obelisk elsewhere", FOREIGN)
    assert place.found("obelisk") == [f"{OTHER}:notes:L1"]
    assert set(place.found("obelisk", project=None)) == {
        f"{OTHER}:notes:L1",
        f"{FOREIGN}:notes:L1",
    }
    assert place.asked(f"{OTHER}:notes:L1").hits[0].text == "obelisk here"
    with pytest.raises(NoSuchRecord, match="in this project"):
        place.asked(f"{FOREIGN}:notes:L1")


def test_the_kind_tells_notes_from_what_was_said(place: Place) -> None:
    place.write("- alpha was wrong")
    assert sorted(place.found("alpha")) == ["L1", "notes:L1"]
    for kind, line in (("note", "notes:L1"), ("prompt", "L1")):
        (hit,) = place.asked("alpha", Filter(kinds=(kind,))).hits
        assert heading(hit, MINE).split()[0] == line


def test_notes_are_not_part_of_what_was_compacted(place: Place) -> None:
    place.write("- alpha was wrong")
    append(place.transcript(MINE), BOUNDARY)
    hits = place.asked("alpha", Filter(before_compaction=True)).hits
    assert [hit.kind for hit in hits] == ["prompt"]
    assert [hit.before for hit in place.asked("alpha", Filter(kinds=("note",))).hits] == [False]


def test_what_changed_replaces_what_stood_there(place: Place) -> None:
    place.write("obelisk\n\nmonolith\n")
    assert place.found("obelisk") == ["notes:L1"]
    place.write("monolith moved up\n")
    assert place.found("obelisk") == []
    assert place.found("monolith") == ["notes:L1"]
    with place.desk() as desk:
        (row,) = [row for row in desk.index.all("transcripts") if row["session"] == MINE]
    told = ["we said alpha", "and no more", "monolith moved up"]
    assert (row["pieces"], row["indexed"]) == (3, sum(map(len, told)))


def test_notes_that_are_gone_are_answered_from_the_stored_copy(place: Place) -> None:
    place.write("one\ntwo obelisks\nthree\n")
    place.found("obelisks")
    place.path().unlink()
    answer = place.asked("obelisks")
    assert "(stored copy)" in heading(answer.hits[0])
    assert any("stored copy" in note for note in answer.notes)
    for ref, text in (("notes:L2", "two obelisks"), ("notes:L2-3", "two obelisks\nthree")):
        (hit,) = place.asked(ref).hits
        assert (hit.text, hit.is_copy) == (text, True)
        assert [(one.text, one.is_copy) for one in place.shown(ref)] == [
            (line, True) for line in text.split("\n")
        ]


def test_a_gone_transcript_leaves_its_notes_and_a_new_one_too(place: Place) -> None:
    place.write("obelisk")
    place.found("obelisk")
    place.transcript(MINE).unlink()
    (hit,) = place.asked("obelisk").hits
    assert not hit.is_copy
    place.path().unlink()
    append(place.transcript(MINE), said("begun anew"))
    assert place.found("anew") == ["L1"]
    assert place.found("alpha") == []
    assert place.found("obelisk") == ["notes:L1"]


def test_notes_without_any_transcript_are_found_and_the_loss_is_told(place: Place) -> None:
    place.write("obelisk")
    place.transcript(MINE).unlink()
    for _ in range(2):
        answer = place.asked("obelisk")
        assert [hit.kind for hit in answer.hits] == ["note"]
        assert answer.notes == (f"{place.transcript(MINE)} is gone, and was never indexed",)


def test_secrets_are_taken_out_and_lines_keep_their_numbers(place: Place) -> None:
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
    with place.desk() as desk:
        rows = desk.index.all("pieces_between", ids.EVERYTHING)
    kept = json.dumps([unpack(row["text"]) for row in rows])
    assert TOKEN[4:] not in kept
    assert "MIIE" not in kept


def test_rebuilding_reads_notes_again_and_drops_those_that_are_gone(place: Place) -> None:
    place.write("obelisk")
    place.write("monolith", OTHER)
    place.found("obelisk")
    place.path(OTHER).unlink()
    with place.desk() as desk:
        rows = desk.store.transcripts(None)
        indexing.rebuild(desk.index, rows, NOW, lambda _: None, everything=False)
        assert len(desk.index.all("transcripts")) == 3
    assert place.found("obelisk") == ["notes:L1"]
    assert place.found("monolith") == []


def test_a_link_or_a_folder_in_the_place_of_notes_is_left_alone(place: Place) -> None:
    outside = place.root / "outside.md"
    outside.write_text("obelisk", encoding="utf-8")
    place.path().parent.mkdir(parents=True)
    os.symlink(outside, place.path())
    place.path(OTHER).mkdir(parents=True)
    assert place.found("obelisk") == []
    with pytest.raises(NoSuchRecord):
        place.asked("notes:L1")


def test_lines_that_are_not_there_are_told(place: Place) -> None:
    with pytest.raises(NoSuchRecord, match="has no line L1"):
        place.asked("notes:L1")
    place.write("one\ntwo\n")
    with pytest.raises(NoSuchRecord, match="has no lines L3-9") as told:
        place.asked("notes:L3-9")
    assert told.value.hint == ("it has lines L1 to L2; another session's line is SESSION:notes:L3")


def test_a_line_of_the_transcript_never_leads_into_the_notes(place: Place) -> None:
    place.write("obelisk")
    place.found("obelisk")
    place.transcript(MINE).unlink()
    with pytest.raises(NoSuchRecord):
        place.asked(f"L{ids.NOTES + 1}")


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
    read = noted.read(str(place.path()))
    assert read
    assert [(one.line, one.text) for one in noted.paragraphs(read)] == told


def test_what_stands_under_a_time_is_of_that_time(place: Place) -> None:
    place.write("before\n\n### 2026-11-15 10:00\n- one\n\n### Not a time\nthree\n")
    os.utime(place.path(), (5e8, 5e8))
    read = noted.read(str(place.path()))
    assert read
    times = [one.seconds for one in noted.paragraphs(read)]
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
def test_what_a_ref_into_notes_is(text: str, ref: Ref | None) -> None:
    assert parse(text) == ref
    if ref:
        assert parse(str(ref)) == ref
