"""Messages between agents, for those who have no server to ask: what waits, and what to say."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

from holdfast.ledger import messages
from holdfast.ledger.ledger import Ledger, Row
from holdfast.ledger.opening import chosen_ledger
from holdfast.redact import redact

MOST = 50


@contextmanager
def _ledger(path: str, environ: Mapping[str, str]) -> Iterator[Ledger]:
    opened = chosen_ledger(path, environ)
    with closing(opened.database):
        yield opened


def waiting(path: str, agent: str, *, again: bool = False) -> list[Row]:
    """What waits for an agent, the most important first; from now on it counts as read."""
    now = time.time()
    with _ledger(path, os.environ) as ledger:
        found = messages.inbox(ledger, agent, now, MOST, unread=not again)
        messages.mark_read(ledger, found, agent, now)
    return found


def send(path: str, *, sender: str, to: str, topic: str, text: str, session: str) -> Row:
    """To one agent, or to all who listen where none is named."""
    with _ledger(path, os.environ) as ledger:
        return messages.send(
            ledger,
            time.time(),
            ident=str(uuid.uuid4()),
            from_agent_id=sender,
            to_agent_id=to,
            topic=topic,
            payload={"text": redact(text)},
            session=session,
        )


def told(row: Row) -> str:
    """A message in one line."""
    payload = row["payload"]
    text = payload.get("text") if isinstance(payload, dict) else payload
    topic = f" [{row['topic']}]" if row["topic"] else ""
    return f"{row['from_agent_id']}{topic}: {text if text is not None else payload}"
