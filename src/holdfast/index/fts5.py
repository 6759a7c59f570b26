"""How SQLite is asked for words: FTS5 sees quoted phrases, so its own syntax cannot be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.index import ids
from holdfast.index.database import unpack
from holdfast.index.kept import as_found
from holdfast.index.search import ANYTHING, MOST_PLACES, MOST_SCANNED, RECENT
from holdfast.index.texts import KINDS
from holdfast.index.words import match, storable

if TYPE_CHECKING:
    from holdfast.index.database import Index
    from holdfast.index.rank import Found
    from holdfast.index.search import Filter
    from holdfast.index.words import Asked, Phrase


class FTS5Lookup:
    """See `holdfast.index.search.Lookup`."""

    def __init__(self, index: Index, scope: ids.Range, only: Filter) -> None:
        self._index = index
        self._scope = scope
        self._values = {
            "low": scope[0],
            "high": scope[1],
            "kinds": "".join(f" {KINDS.index(kind)} " for kind in only.kinds),
            "tool": only.tool,
            "since": only.since,
            "before": only.before_compaction,
        }
        self._name = "found" if only._replace(file="") == ANYTHING else "found_filtered"
        self._file = match(storable(only.file)) if only.file else ()
        self._nowhere = bool(only.file) and not self._file

    def places(self, asked: Asked, since: int = 0) -> list[int]:
        if not asked or self._nowhere:
            return []
        low = max(since, self._scope[0])
        asked = (*asked, *self._file)
        values = {**self._values, "low": low, "match": written(asked), "most": MOST_PLACES}
        return [row["rowid"] for row in self._index.all(self._name, values)]

    def holding(self, text: str) -> list[int]:
        if self._file or self._nowhere:
            return []
        rows = self._index.all("latest_pieces", {**self._values, "most": MOST_SCANNED})
        return [row["id"] for row in rows if text and text in unpack(row["text"]).lower()]

    def recent(self) -> int:
        count = 0
        numbers = (self._scope[0] // ids.PER_SESSION, self._scope[1] // ids.PER_SESSION)
        for row in self._index.all("latest_transcripts", numbers):
            count += row["pieces"]
            if count >= RECENT:
                return ids.of_session(row["number"])[0]
        return self._scope[0]

    def read(self, chosen: list[int]) -> list[Found]:
        # One by one: each is a step to its id, and no list has to be told to SQLite.
        rows = (self._index.one("about", (ident,)) for ident in chosen)
        return [as_found(row) for row in rows if row is not None]


def written(asked: Asked) -> str:
    """What FTS5 is asked."""
    return " AND ".join(f"({' OR '.join(map(_quoted, need))})" for need in asked)


def _quoted(phrase: Phrase) -> str:
    text = phrase.text.replace('"', '""')
    return f'"{text}"{" *" if phrase.begins else ""}'
