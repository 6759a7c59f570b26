"""Databases for a token that is limited to one project: other projects are not visible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from holdfast.errors import Forbidden
from holdfast.ledger.project_attribution import find_foreign_sessions
from holdfast.ledger.project_scope import ProjectLedger
from holdfast.ledger.schema import PROJECT_PATHS
from holdfast.server.databases import Connections, Databases
from holdfast.server.write_queue import Result
from holdfast.store.project_scope import ProjectStore

if TYPE_CHECKING:
    from holdfast.conversations.store import ConversationStore
    from holdfast.search.index_db import SearchIndex
    from holdfast.search.team_index import TeamIndex


class ProjectDatabases(Databases):
    """Provides the connections of other `Databases`, limited to one project."""

    def __init__(self, databases: Databases, project: str) -> None:
        self._databases = databases
        self._project = project
        self.label = databases.label

    @contextmanager
    def connect(self) -> Iterator[Connections]:
        with self._databases.connect() as whole:
            paths = whole.ledger.find(PROJECT_PATHS, project=self._project)
            store = ProjectStore(
                whole.store,
                frozenset(row["id"] for row in paths),
                lambda sessions: find_foreign_sessions(whole.ledger, sessions, self._project),
            )
            ledger = ProjectLedger(whole.ledger.database, self._project, store.is_foreign_session)
            yield Connections(ledger, lambda: store)

    def write(self, work: Callable[[Connections], Result]) -> Result:
        """Call `work` in its own transaction, because the queue's connections see all projects."""
        with self.connect() as db, db.ledger.transaction():
            return work(db)

    @contextmanager
    def open_index(self, db: Connections) -> Iterator[SearchIndex | TeamIndex]:
        """Open the whole index. The caller must filter by project; `db` has only the sessions of
        this project.
        """
        with self._databases.connect() as whole, self._databases.open_index(whole) as index:
            yield index

    def open_conversations(self) -> AbstractContextManager[ConversationStore]:
        raise Forbidden("Conversations belong to no project: this needs a token for all projects")


def check_project(project: str | None, caller_project: str) -> str | None:
    """Return the project that a caller asked for, else the one that its token is limited to; None
    means all projects. Raises `Forbidden` if the token is limited to another project.
    """
    if caller_project and project not in (None, caller_project):
        raise Forbidden(f"This token is not for project {project}")
    return caller_project or project
