"""What real sessions are asked, a team's PostgreSQL answers as this machine's index does."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.index import ids
from holdfast.index.database import IN_MEMORY, Index, unpack
from holdfast.index.fill import Source, fill
from holdfast.index.search import search
from holdfast.index.sending import send
from holdfast.index.team import TeamIndex
from holdfast.store.postgres import PostgresStore

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
SESSIONS = sorted(
    (
        path
        for path in (CORPUS.glob("*.jsonl.gz") if CORPUS.is_dir() else ())
        if "agent-" not in path.name
    ),
    key=lambda path: path.stat().st_size,
)[:6]
QUESTIONS = 60
NOW = 4e9
NAME = re.compile(r"[\w./-]{6,60}")


def questions(index: Index) -> list[str]:
    """Names and paths that stand somewhere, words around them, and a beginning."""
    pick = random.Random(7)
    pieces = index.kept(*ids.EVERYTHING)
    asked = []
    for piece in pick.choices(pieces, k=QUESTIONS):
        words = NAME.findall(unpack(piece["text"])) or ["nothing"]
        at = pick.randrange(len(words))
        asked += [words[at], " ".join(words[at : at + 8])]
    return [*asked, asked[0][:5]]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index(IN_MEMORY) as filled:
        for number, packed in enumerate(SESSIONS):
            path = tmp_path / f"{number}.jsonl"
            path.write_bytes(gzip.decompress(packed.read_bytes()))
            fill(filled, Source(f"s{number}", "/p", str(path)), NOW)
        yield filled


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
def test_both_databases_find_the_same_in_the_same_order(
    postgres_url: str, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So few pieces would not be narrowed down.
    monkeypatch.setattr("holdfast.index.tsearch.PLENTY", 20)
    monkeypatch.setattr("holdfast.index.tsearch.SMALLEST_STRETCH", 50)
    asked = questions(index)
    here = [found(index, question) for question in asked]
    with closing(PostgresStore.at(postgres_url)) as store:
        for row in reversed(index.all("standings")):
            send(index, row, TeamIndex(store.database), "p", NOW)
        for counted in (False, True):
            if counted:
                store.database.run("ANALYZE recall_pieces")
            team = TeamIndex(store.database)
            for question, expected in zip(asked, here, strict=True):
                assert found(team, question) == expected, question
            assert bool(team.counted.shares) is counted


def found(index: Index | TeamIndex, question: str) -> list[tuple[str, int]]:
    scope = index.scope(None, None)
    return [(one.session, one.line) for one in search(index, question, scope)]
