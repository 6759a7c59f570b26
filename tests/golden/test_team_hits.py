"""A search in a team's PostgreSQL finds the same as a search in the local index."""

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


def sample_queries(index: SearchIndex, count: int) -> list[str]:
    """Names and paths from the documents, some with the words after them, and one prefix."""
    rng = random.Random(7)
    documents = index.documents_between(*document_ids.ALL_IDS)
    queries = []
    for document in rng.choices(documents, k=count):
        words = NAME.findall(decompress_text(document["text"])) or ["nothing"]
        start = rng.randrange(len(words))
        queries += [words[start], " ".join(words[start : start + 8])]
    return [*queries, queries[0][:5]]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    with SearchIndex(IN_MEMORY) as index:
        for number, compressed in enumerate(SESSIONS):
            path = tmp_path / f"{number}.jsonl"
            path.write_bytes(gzip.decompress(compressed.read_bytes()))
            ingest_transcript(index, Source(f"s{number}", "/p", str(path)), NOW)
        yield index


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here")
@pytest.mark.parametrize("count", [8, pytest.param(60, marks=pytest.mark.slow)])
def test_both_databases_find_the_same_hits_in_the_same_order(
    count: int, postgres_url: str, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The search narrows down its candidates only above these limits.
    monkeypatch.setattr("holdfast.search.pg_query.MIN_MATCHES_TO_NARROW", 20)
    monkeypatch.setattr("holdfast.search.pg_query.MIN_WINDOW_DOCUMENTS", 50)
    queries = sample_queries(index, count)
    local_hits = [find_hits(index, query) for query in queries]
    with closing(PostgresStore.at(postgres_url)) as store:
        for row in reversed(index.fetch_all("session_states")):
            push_session(index, row, TeamIndex(store.database), "p", NOW)
        for analyzed in (False, True):
            if analyzed:
                store.database.run("ANALYZE recall_documents")
            team = TeamIndex(store.database)
            for query, expected in zip(queries, local_hits, strict=True):
                assert find_hits(team, query) == expected, query
            assert bool(team.word_statistics.shares) is analyzed


def find_hits(index: SearchIndex | TeamIndex, query: str) -> list[tuple[str, int]]:
    scope = index.scope(None, None)
    return [(hit.session, hit.line) for hit in search(index, query, scope)]
