"""The store as one project sees it: its sessions by their folders, and nothing of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from holdfast.errors import NoSuchRecord, NotAllowed
from holdfast.store.records import Records

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.store.base import (
        CompactionRow,
        HandoffRow,
        ListedSnapshot,
        SessionRow,
        SnapshotRow,
        TranscriptRow,
    )


class StoreWithin(Records):
    """Reads of the sessions of one project; whatever else a store can do is refused.

    They are those whose folder is one of these, unless `not_ours` says that they are known to be
    another's: on two machines one folder may be two projects.
    """

    def __init__(
        self,
        store: Records,
        folders: frozenset[str],
        not_ours: Callable[[list[str]], set[str]] = lambda sessions: set(),
    ) -> None:
        self._store = store
        self._folders = folders
        self._not_ours = not_ours

    def is_theirs(self, session: str) -> bool:
        """Whether a session is known, and another project's."""
        row = self._store.session(session)
        return row is not None and not self._is_ours(row)

    def _is_ours(self, row: SessionRow) -> bool:
        return row["project"] in self._folders and not self._not_ours([row["id"]])

    def session(self, session: str) -> SessionRow | None:
        row = self._store.session(session)
        return row if row is not None and self._is_ours(row) else None

    def sessions(
        self, project: str | None, most: int = 50, before: tuple[float, str] | None = None
    ) -> list[SessionRow]:
        wanted = self._folders if project is None else self._folders & {project}
        found = [row for folder in wanted for row in self._store.sessions(folder, most, before)]
        theirs = self._not_ours([row["id"] for row in found])
        ours = [row for row in found if row["id"] not in theirs]
        return sorted(ours, key=lambda row: (row["seen_at"], row["id"]), reverse=True)[:most]

    def transcripts(self, project: str | None) -> list[TranscriptRow]:
        wanted = self._folders if project is None else self._folders & {project}
        found = [row for folder in wanted for row in self._store.transcripts(folder)]
        theirs = self._not_ours([row["id"] for row in found])
        return sorted(
            (row for row in found if row["id"] not in theirs), key=lambda row: -row["seen_at"]
        )

    def snapshot(self, ident: str) -> SnapshotRow:
        row = self._store.snapshot(ident)
        if self.session(row["session"]) is None:
            raise NoSuchRecord(f"snapshot {ident}")
        return row

    def snapshots(self, session: str, most: int = 50) -> list[SnapshotRow]:
        return self._store.snapshots(session, most) if self.session(session) else []

    def snapshots_before(
        self,
        session: str | None,
        before: tuple[float, str] | None,
        most: int,
        folder: str | None = None,
    ) -> list[ListedSnapshot]:
        if session is not None:
            is_ours = self.session(session) is not None
            return self._store.snapshots_before(session, before, most, folder) if is_ours else []
        found = [
            row
            for one in self._folders
            if folder in (None, one)
            for row in self._store.snapshots_before(None, before, most, one)
        ]
        theirs = self._not_ours([row["session"] for row in found])
        ours = [row for row in found if row["session"] not in theirs]
        return sorted(ours, key=lambda row: (row["created_at"], row["id"]), reverse=True)[:most]

    def richest_snapshot(self, session: str) -> SnapshotRow | None:
        return self._store.richest_snapshot(session) if self.session(session) else None

    def restorable(self, session: str) -> tuple[Any, ...]:
        return self._store.restorable(session) if self.session(session) else ()

    def compactions(self, session: str) -> list[CompactionRow]:
        return self._store.compactions(session) if self.session(session) else []

    def compaction(self, session: str, ordinal: int) -> CompactionRow | None:
        return self._store.compaction(session, ordinal) if self.session(session) else None

    def handoff(self, ident: str) -> HandoffRow:
        row = self._store.handoff(ident)
        if self.session(row["session"]) is None:
            raise NoSuchRecord(f"handoff {ident}")
        return row

    def handoffs(self, session: str, most: int = 50) -> list[HandoffRow]:
        return self._store.handoffs(session, most) if self.session(session) else []


def _refused(*_: Any, **__: Any) -> NoReturn:
    raise NotAllowed("this is for tokens that are good for all projects")


# What a store learns to do later is refused here until somebody has thought about it.
for _name in {*dir(Records)} - vars(StoreWithin).keys():
    if not _name.startswith("_"):
        setattr(StoreWithin, _name, _refused)
