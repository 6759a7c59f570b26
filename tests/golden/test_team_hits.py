"""What real sessions are asked, a team's PostgreSQL answers as this machine's index does."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.search import document_ids
from holdfast.search.index_db import IN_MEMORY, SearchIndex, decompress_text
from holdfast.search.ingest import Source, ingest_transcript
from holdfast.search.push import push_session
from holdfast.search.search import search
from holdfast.search.team_index import TeamIndex
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
NOW = 4e9
NAME = re.compile(r"[\w./-]{6,60}")


def questions(index: SearchIndex, count: int) -> list[str]:
    """Names and paths that stand somewhere, words around them, and a beginning."""
    pick = random.Random(7)
    pieces = index.documents_between(*document_ids.ALL_IDS)
    asked = []
    for piece in pick.choices(pieces, k=count):
        words = NAME.findall(decompress_text(piece["text"])) or ["nothing"]
        at = pick.randrange(len(words))
        asked += [words[at], " ".join(words[at : at + 8])]
    return [*asked, asked[0][:5]]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    with SearchIndex(IN_MEMORY) as filled:
        for number, packed in enumerate(SESSIONS):
            path = tmp_path / f"{number}.jsonl"
            path.write_bytes(gzip.decompress(packed.read_bytes()))
            ingest_transcript(filled, Source(f"s{number}", "/p", str(path)), NOW)
        yield filled


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
@pytest.mark.parametrize("count", [8, pytest.param(60, marks=pytest.mark.slow)])
def test_both_databases_find_the_same_in_the_same_order(
    count: int, postgres_url: str, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So few pieces would not be narrowed down.
    monkeypatch.setattr("holdfast.search.pg_query.MIN_MATCHES_TO_NARROW", 20)
    monkeypatch.setattr("holdfast.search.pg_query.MIN_WINDOW_DOCUMENTS", 50)
    asked = questions(index, count)
    here = [found(index, question) for question in asked]
    with closing(PostgresStore.at(postgres_url)) as store:
        for row in reversed(index.fetch_all("session_states")):
            push_session(index, row, TeamIndex(store.database), "p", NOW)
        for counted in (False, True):
            if counted:
                store.database.run("ANALYZE recall_documents")
            team = TeamIndex(store.database)
            for question, expected in zip(asked, here, strict=True):
                assert found(team, question) == expected, question
            assert bool(team.word_statistics.shares) is counted


def found(index: SearchIndex | TeamIndex, question: str) -> list[tuple[str, int]]:
    scope = index.scope(None, None)
    return [(one.session, one.line) for one in search(index, question, scope)]
