"""A store that is limited to the sessions of one project, which are found by their folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from holdfast.errors import Forbidden, NotFound
from holdfast.store.repository import StoreRepository

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.store.protocols import (
        CompactionRow,
        HandoffRow,
        SessionRow,
        SnapshotRow,
        SnapshotWithFolder,
        TranscriptRow,
    )


class ProjectStore(StoreRepository):
    """Reads the sessions of one project. All other operations of a store are refused.

    A session belongs to the project if its folder is in `folders`, unless `find_foreign` returns
    it as known to belong to another project: one path may be two projects on two machines.
    """

    def __init__(
        self,
        store: StoreRepository,
        folders: frozenset[str],
        find_foreign: Callable[[list[str]], set[str]] = lambda sessions: set(),
    ) -> None:
        self._store = store
        self._folders = folders
        self._find_foreign = find_foreign

    def is_foreign_session(self, session: str) -> bool:
        """Return whether a session is known and belongs to another project."""
        row = self._store.session(session)
        return row is not None and not self._is_own(row)

    def _is_own(self, row: SessionRow) -> bool:
        return row["project"] in self._folders and not self._find_foreign([row["id"]])

    def session(self, session: str) -> SessionRow | None:
        row = self._store.session(session)
        return row if row is not None and self._is_own(row) else None

    def sessions(
        self, project: str | None, limit: int = 50, before: tuple[float, str] | None = None
    ) -> list[SessionRow]:
        folders = self._folders if project is None else self._folders & {project}
        rows = [row for folder in folders for row in self._store.sessions(folder, limit, before)]
        foreign = self._find_foreign([row["id"] for row in rows])
        own = [row for row in rows if row["id"] not in foreign]
        return sorted(own, key=lambda row: (row["seen_at"], row["id"]), reverse=True)[:limit]

    def transcripts(self, project: str | None) -> list[TranscriptRow]:
        folders = self._folders if project is None else self._folders & {project}
        rows = [row for folder in folders for row in self._store.transcripts(folder)]
        foreign = self._find_foreign([row["id"] for row in rows])
        return sorted(
            (row for row in rows if row["id"] not in foreign), key=lambda row: -row["seen_at"]
        )

    def snapshot(self, ident: str) -> SnapshotRow:
        row = self._store.snapshot(ident)
        if self.session(row["session"]) is None:
            raise NotFound(f"No snapshot {ident}")
        return row

    def snapshots(self, session: str, limit: int = 50) -> list[SnapshotRow]:
        return self._store.snapshots(session, limit) if self.session(session) else []

    def snapshots_before(
        self,
        session: str | None,
        before: tuple[float, str] | None,
        limit: int,
        folder: str | None = None,
    ) -> list[SnapshotWithFolder]:
        if session is not None:
            is_own = self.session(session) is not None
            return self._store.snapshots_before(session, before, limit, folder) if is_own else []
        rows = [
            row
            for own_folder in self._folders
            if folder in (None, own_folder)
            for row in self._store.snapshots_before(None, before, limit, own_folder)
        ]
        foreign = self._find_foreign([row["session"] for row in rows])
        own = [row for row in rows if row["session"] not in foreign]
        return sorted(own, key=lambda row: (row["created_at"], row["id"]), reverse=True)[:limit]

    def richest_snapshot(self, session: str) -> SnapshotRow | None:
        return self._store.richest_snapshot(session) if self.session(session) else None

    def compactions(self, session: str) -> list[CompactionRow]:
        return self._store.compactions(session) if self.session(session) else []

    def compaction(self, session: str, ordinal: int) -> CompactionRow | None:
        return self._store.compaction(session, ordinal) if self.session(session) else None

    def handoff(self, ident: str) -> HandoffRow:
        row = self._store.handoff(ident)
        if self.session(row["session"]) is None:
            raise NotFound(f"No handoff {ident}")
        return row

    def handoffs(self, session: str, limit: int = 50) -> list[HandoffRow]:
        return self._store.handoffs(session, limit) if self.session(session) else []


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise Forbidden("This needs a token for all projects")


# Methods that are added to stores later are refused too, until they are defined above.
for _name in {*dir(StoreRepository)} - vars(ProjectStore).keys():
    if not _name.startswith("_"):
        setattr(ProjectStore, _name, _refuse)
