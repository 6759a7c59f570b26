"""Read and send messages between agents without a server."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import NamedTuple

from holdfast.ledger import messages, projects
from holdfast.ledger.connect import open_ledger, open_local_ledger
from holdfast.ledger.messages import MAIN_AGENT_TYPE, Recipient
from holdfast.ledger.repository import Ledger, Row
from holdfast.ledger.schema import MESSAGES, READS
from holdfast.redaction import redact
from holdfast.services.message_digest import find_project_id, message_text
from holdfast.services.projects import find_origin
from holdfast.state.quoting import block_quote, plain_line
from holdfast.store.dsn import find_team_url


class MessageAgent(NamedTuple):
    """The agent that reads or sends: a session's main agent, or a sub-agent with its own id."""

    session: str
    folder: str
    agent: str = ""
    kind: str = ""

    @property
    def name(self) -> str:
        return self.agent or self.session

    @property
    def known_as(self) -> str:
        return self.kind or self.agent or MAIN_AGENT_TYPE


@contextmanager
def _open_ledgers(path: str, environ: Mapping[str, str]) -> Iterator[tuple[Ledger, Ledger | None]]:
    """Yield the ledger to use and, if that is the team's, also the local one, which hooks read."""
    ledger = open_ledger(path, environ)
    with closing(ledger.database):
        if not find_team_url(environ):
            yield ledger, None
            return
        local = open_local_ledger(path)
        with closing(local.database):
            yield ledger, local


def read_messages(path: str, agent: MessageAgent, *, again: bool = False) -> list[Row]:
    """Return an agent's unread messages, the most important first, and mark them as read.

    With `again`, also those that were read before.
    """
    now = time.time()
    with _open_ledgers(path, os.environ) as (ledger, local):
        reader = Recipient(agent.name, agent.known_as, find_project_id(ledger, agent.folder))
        rows, _ = messages.take_messages(ledger, reader, now, list, again=again)
        if local is not None:
            rows = [row for row in rows if again or not _was_read_locally(local, row, reader)]
            _copy_to_local(local, ledger, rows)
    return rows


def _was_read_locally(local: Ledger, row: Row, reader: Recipient) -> bool:
    """Whether a hook of this machine delivered the message; the team may not know that yet."""
    names = {reader.agent_id, row["to_agent_id"]}
    return any(read["agent_id"] in names for read in local.find(READS, message=row["id"]))


def _copy_to_local(local: Ledger, team: Ledger, rows: list[Row]) -> None:
    """Copy messages and their read receipts, so that hooks do not deliver them again."""
    for row in rows:
        local.write_unpublished(MESSAGES, row)
        for read in team.find(READS, message=row["id"]):
            local.write_unpublished(READS, read)


def post_message(path: str, agent: MessageAgent, *, to: str, topic: str, text: str) -> Row:
    """Send a message to one agent or, with an empty `to`, to the project's subscribers."""
    now = time.time()
    with _open_ledgers(path, os.environ) as (ledger, local):
        sent = messages.send(
            ledger,
            now,
            ident=str(uuid.uuid4()),
            from_agent_id=agent.name,
            to_agent_id=to,
            topic=topic,
            payload={"text": redact(text)},
            session=agent.session,
            project=_add_project(ledger, agent.folder, now),
        )
        if local is not None:
            _add_project(local, agent.folder, now)
            local.write_unpublished(MESSAGES, sent)
            messages.raise_unread_flag(local, sent)
    return sent


def _add_project(ledger: Ledger, folder: str, now: float) -> str:
    """Return the project's id, adding it if needed. A message without a project would go to
    every agent on this machine.
    """
    return str(projects.ensure_project(ledger, folder, now, origin=find_origin(folder))["id"])


def render_message(row: Row) -> str:
    """Return a message with its sender. A text of several lines is quoted line by line, so that it
    cannot pass for another message.
    """
    topic = f" [{plain_line(row['topic'])}]" if row["topic"] else ""
    text = message_text(row)
    shown = plain_line(text, len(text)) if len(text.splitlines()) <= 1 else f"\n{block_quote(text)}"
    return f"{plain_line(row['from_agent_id'])}{topic}: {shown}"
