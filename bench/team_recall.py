"""Lookups in a team's PostgreSQL: found again, sent, stored, and asked at two sizes.

Starts a server of its own, the one that tests use. Shares and ratios are for the table; times are
shown beside them, and are this machine's.
"""

from __future__ import annotations

import argparse
import statistics
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from tests.postgres import PostgresServer

from bench.recall import (
    CORPUS,
    PER_SESSION,
    QUERIES,
    QUESTIONS,
    made_up,
    report,
    sample,
    sessions,
)
from holdfast.errors import HoldfastError
from holdfast.eval import recoverability
from holdfast.eval.lookup import LOOKUP_TOKENS, LOOKUPS
from holdfast.search import document_ids, push
from holdfast.search.pg_tokenizer import to_word_sequence
from holdfast.search.search import search
from holdfast.search.team_index import TeamIndex, TeamScope
from holdfast.services.recall import lookup
from holdfast.services.recall.index_refresh import index_file
from holdfast.store.postgres import PostgresStore

# A million takes minutes to fill; `--events 1000000` does it.
SMALL, LARGE = 10_000, 100_000
AT_ONCE = 1000
EVERYTHING = TeamScope(1, (0, (1 << 62) - 1))
SESSION = (
    "INSERT INTO recall_sessions "
    "(number, session, project, compaction, documents, sent, mark, notes, last_at) "
    "VALUES (:number, :session, 1, 0, :documents, 0, '', '', 0)"
)
SIZE = "SELECT pg_total_relation_size('recall_documents') AS bytes"


@contextmanager
def team_of(server: PostgresServer) -> Iterator[TeamIndex]:
    with server.schema() as url, closing(PostgresStore.at(url)) as store:
        yield TeamIndex(store.database)


class Sent:
    """Transcripts, each sent when it is first asked about, and what that took."""

    def __init__(self, team: TeamIndex) -> None:
        self.team = team
        self.seconds, self.texts = 0.0, 0
        self.scope = lru_cache(maxsize=1)(self._scope)

    def _scope(self, path: str) -> TeamScope | None:
        with index_file(path) as index:
            (row,) = index.fetch_all("session_states")
            started = time.process_time()
            # As long as the names of real ones, which stand in every ref to a colleague's.
            session = str(uuid5(NAMESPACE_URL, path))
            push.push_session(index, {**row, "session": session}, self.team, path, time.time())
            self.seconds += time.process_time() - started
            self.texts += row["indexed"]
        return self.team.scope(None, session)

    def texts_for(self, path: str, words: str) -> list[str]:
        try:
            scope = self.scope(path)
        except HoldfastError:
            return []
        found = search(self.team, words, scope, limit=3 * lookup.MAX_HITS)
        hits = [(one.score, lookup.to_hit(one, of_team=True)) for one in found]
        return [hit.text for hit in lookup.rank_hits(hits, LOOKUP_TOKENS).hits]


def measure_recoverability(team: TeamIndex, paths: list[Path]) -> None:
    """As `holdfast eval --recoverability`, asked of PostgreSQL."""
    sent = Sent(team)
    trial = recoverability.TranscriptTrial(recoverability.Lookups(sent.texts_for, LOOKUPS.at_line))
    found = recoverability.summarize([one for path in paths for one in trial(str(path))])
    print(f"{found['entities']} entities needed after {found['compactions']} compactions")
    for one in found["shares"]:
        aim = one["aim"]
        wanted = f"≥ {aim:.0%}" if aim else "–"
        report(one["what"], f"{one['all']:.2%}", wanted, not aim or one["all"] >= aim)
    size = team.fetch_all(SIZE)[0]["bytes"] / sent.texts
    report(f"{sent.texts / 1e6:.0f} MB of text with its index, × the text", f"{size:.2f}",
           "≤ 1.5", size <= 1.5)  # fmt: skip
    speed = sent.texts / 1e6 / sent.seconds
    report("sending, MB of text a second of this machine's processor", f"{speed:.1f}", "–", True)


def grow(team: TeamIndex, count: int) -> None:
    texts = made_up(count)
    for first in range(0, count, AT_ONCE):
        number, line = 1 + first // PER_SESSION, first % PER_SESSION
        if not line:
            team.fetch_all(SESSION, number=number, session=f"s{number}", documents=PER_SESSION)
        some = [next(texts) for _ in range(AT_ONCE)]
        team.fetch_all(
            push.INSERT_DOCUMENTS,
            project=1,
            ids=[
                document_ids.transcript_document_id(number, line + place + 1, 0)
                for place in range(AT_ONCE)
            ],
            ats=[*range(AT_ONCE)],
            calls=[0] * AT_ONCE,
            kinds=[0] * AT_ONCE,
            asides=[0] * AT_ONCE,
            oks=[None] * AT_ONCE,
            tools=[""] * AT_ONCE,
            files=[""] * AT_ONCE,
            texts=[zlib.compress(text.encode(), 1) for text in some],
            words=[to_word_sequence(text) for text in some],
        )
    team.database.run("VACUUM ANALYZE recall_documents")


def measure_growth(server: PostgresServer, large: int) -> None:
    """The same kinds of questions at two sizes, in turn."""
    with team_of(server) as few, team_of(server) as many:
        teams = {SMALL: few, large: many}
        for count, team in teams.items():
            grow(team, count)
        for title, ask in QUESTIONS:
            asked = {count: [*sample(count, ask)] for count in teams}
            times: dict[int, list[float]] = {count: [] for count in teams}
            for number in range(QUERIES):
                for count, team in teams.items():
                    started = time.perf_counter()
                    search(team, asked[count][number], EVERYTHING)
                    times[count].append(time.perf_counter() - started)
            small, big = (statistics.median(times[count]) for count in (SMALL, large))
            report(f"{title}: p50 at {large:,} events, × at {SMALL:,} ({small * 1e3:.0f} ms)",
                   f"{big / small:.2f}", "≤ 3", big / small <= 3)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--events", type=int, default=LARGE, help="of the large index")
    args = parser.parse_args()
    server = PostgresServer()
    try:
        if found := sessions(args.corpus):
            with team_of(server) as team:
                measure_recoverability(team, found)
        else:
            print(f"no transcripts in {args.corpus}: only growth is measured")
        measure_growth(server, args.events)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
