"""Messages between agents, for those who have no server to ask: what waits, and what to say."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import NamedTuple

from holdfast.actions.delivery import project_id, words
from holdfast.actions.repository import origin_of
from holdfast.ledger import mailbox, messages, projects
from holdfast.ledger.ledger import Ledger, Row
from holdfast.ledger.mailbox import MAIN, Reader
from holdfast.ledger.opening import chosen_ledger, local_ledger
from holdfast.ledger.tables import MESSAGES, READS
from holdfast.redact import redact
from holdfast.store.dsn import team_url


class Asking(NamedTuple):
    """Who asks: a session of a project, or an agent in it that names itself."""

    session: str
    folder: str
    agent: str = ""
    kind: str = ""

    @property
    def name(self) -> str:
        return self.agent or self.session

    @property
    def known_as(self) -> str:
        return self.kind or self.agent or MAIN


@contextmanager
def _ledgers(path: str, environ: Mapping[str, str]) -> Iterator[tuple[Ledger, Ledger | None]]:
    """The one to ask and, if that is a team's, this machine's, which its hooks read."""
    opened = chosen_ledger(path, environ)
    with closing(opened.database):
        if not team_url(environ):
            yield opened, None
            return
        mine = local_ledger(path)
        with closing(mine.database):
            yield opened, mine


def waiting(path: str, asking: Asking, *, again: bool = False) -> list[Row]:
    """What waits for an agent, the most important first; from now on it counts as read."""
    now = time.time()
    with _ledgers(path, os.environ) as (ledger, mine):
        reader = Reader(asking.name, asking.known_as, project_id(ledger, asking.folder))
        told, _ = mailbox.take(ledger, reader, now, list, again=again)
        if mine is not None:
            told = [row for row in told if again or not _told_here(mine, row, reader)]
            _keep_here(mine, ledger, told)
    return told


def _told_here(mine: Ledger, row: Row, reader: Reader) -> bool:
    """Whether a hook of this machine was first, and the team has yet to hear of it."""
    names = {reader.own, row["to_agent_id"]}
    return any(one["agent_id"] in names for one in mine.rows(READS, message=row["id"]))


def _keep_here(mine: Ledger, team: Ledger, told: list[Row]) -> None:
    for row in told:
        mine.take_over(MESSAGES, row)
        for read in team.rows(READS, message=row["id"]):
            mine.take_over(READS, read)


def send(path: str, asking: Asking, *, to: str, topic: str, text: str) -> Row:
    """To one agent, or to all of the project who listen where none is named."""
    now = time.time()
    with _ledgers(path, os.environ) as (ledger, mine):
        sent = messages.send(
            ledger,
            now,
            ident=str(uuid.uuid4()),
            from_agent_id=asking.name,
            to_agent_id=to,
            topic=topic,
            payload={"text": redact(text)},
            session=asking.session,
            project=_made_known(ledger, asking.folder, now),
        )
        if mine is not None:
            _made_known(mine, asking.folder, now)
            mine.take_over(MESSAGES, sent)
            messages.flag(mine, sent)
    return sent


def _made_known(ledger: Ledger, folder: str, now: float) -> str:
    """The id of the project: without one, all would be told who are on this machine."""
    return str(projects.project(ledger, folder, now, origin=origin_of(folder))["id"])


def told(row: Row) -> str:
    """A message in one line."""
    topic = f" [{row['topic']}]" if row["topic"] else ""
    return f"{row['from_agent_id']}{topic}: {words(row)}"
