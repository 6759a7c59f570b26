"""Of which project something is that does not say so: whoever asks at the same time is told by one
look, by the event loop itself if it can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ledger.whose import asking_for, of_sessions
from holdfast.store.questions import answered
from holdfast.surfaces.api import named
from holdfast.surfaces.api.crew import Crew
from holdfast.surfaces.api.rounds import Rounds

if TYPE_CHECKING:
    from holdfast.surfaces.api.desk import Desk

# One that takes long keeps so few others waiting.
AT_ONCE = 8


class Seekers:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._rounds = Rounds(self._found_at_once, Crew("seeker", self._found, most=AT_ONCE))
        self.close = self._rounds.close

    async def project(self, ident: str | None, session: str, subtask: str | None = None) -> str:
        """The project that is named, else that of the subtask, else that of the session."""
        found = self._desk.found
        project = named.quickly(found, ident, session, subtask)
        if project is not None:
            return project
        if not named.can_be_named(found, ident, subtask):
            raise LookupError("somebody has to ask whether it is there")
        asked = found.turn
        project = await self._rounds.done(session)
        found.note_session(session, project, asked)
        return project

    async def _found_at_once(self, sessions: list[str]) -> list[str]:
        return await answered(self._desk.ask, [asking_for(one) for one in sessions])

    def _found(self, sessions: list[str]) -> list[str | Exception]:
        with self._desk.books() as books:
            found = of_sessions(books.ledger, {*sessions}, books.store.folders)
        return [found.get(session, "") for session in sessions]
