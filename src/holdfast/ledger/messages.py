"""Messages between agents: to one or to all, by topic and priority, until they expire."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from holdfast.errors import NotNow
from holdfast.ledger import flags, ids
from holdfast.ledger.tables import BLOCKINGS, MESSAGES, READS, SUBSCRIPTIONS
from holdfast.store.questions import Question

if TYPE_CHECKING:
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table

SECONDS, LONGEST = 3600.0, 24 * 3600.0
IMPORTANT = "priority DESC, "
LIVE = "expires_at > :now"
# The projects in which a session has agents or work.
BY_SESSION = " UNION ".join(
    f"SELECT project FROM {table} WHERE session = :session AND session <> '' AND project <> ''"
    for table in ("agents", "requests")
)
# Where an agent is: as it says, else where its session is, else wherever one of its name is known.
_PLACES = (
    f"project = :project OR (:project = '' AND (project IN ({BY_SESSION}) "
    f"OR (NOT EXISTS ({BY_SESSION}) "
    "AND project IN (SELECT project FROM agents WHERE agent_id = :agent))))"
)
# Agents of several projects may have the same name. What one of them chose counts in its project;
# for a message of none, and an agent that does not say where it is, all of it counts. No part of it
# depends on the message: each is looked up once, however many messages there are.
_CHOSEN = "FROM subscriptions WHERE agent_id = :agent"
_CHOSEN_HERE = f"{_CHOSEN} AND project IN ('', :project)"
_NOWHERE = "(:project = '' AND project = '')"
_LISTENS = (
    f"(topic IN (SELECT topic {_CHOSEN_HERE})"
    f" OR (project, topic) IN (SELECT project, topic {_CHOSEN})"
    f" OR ({_NOWHERE} AND topic IN (SELECT topic {_CHOSEN})))"
)
_NEVER_CHOSE = (
    f"(NOT EXISTS (SELECT 1 {_CHOSEN_HERE}) AND project NOT IN (SELECT project {_CHOSEN})"
    f" AND NOT ({_NOWHERE} AND EXISTS (SELECT 1 {_CHOSEN})))"
)
# A broadcast reaches those who listen to its topic, and those who never chose any; in its project,
# if it names one.
REACHES = (
    "expires_at > :now AND from_agent_id <> :agent AND (to_agent_id = :agent OR (to_agent_id = '' "
    f"AND (project = '' OR {_PLACES}) AND ({_LISTENS} OR {_NEVER_CHOSE})))"
)
# What was taken is read; what was not may be a broadcast, or wait for others of its kind too.
UNREAD = (
    " AND taken = 0 AND NOT EXISTS (SELECT 1 FROM message_reads"
    " WHERE message_reads.message = messages.id AND message_reads.agent_id = :agent)"
)

AFTER = "(priority < :less OR (priority = :less AND (created_at, id) > (:at, :last)))"


def send(
    ledger: Ledger,
    now: float,
    *,
    ident: str,
    from_agent_id: str,
    to_agent_id: str = "",
    topic: str = "",
    payload: Any = None,
    message_type: str = "info",
    priority: int = 5,
    seconds: float = SECONDS,
    project: str = "",
    session: str = "",
) -> Row:
    """To one agent, or to all where none is named."""
    row: Row = {
        "id": ident, "project": project, "session": session, "from_agent_id": from_agent_id,
        "to_agent_id": to_agent_id, "message_type": message_type, "topic": topic,
        "payload": payload, "priority": priority, "created_at": now,
        "expires_at": now + min(max(seconds, 1.0), LONGEST), "updated_at": now,
    }  # fmt: skip
    sent = ledger.write(MESSAGES, row)
    flag(ledger, sent)
    return sent


def flag(ledger: Ledger, row: Row) -> None:
    """Let the hooks of this machine know; those of others do when the message comes there."""
    if path := ledger.database.path:
        # The message is there already, and can be asked for, whatever a full disk says.
        with suppress(OSError):
            flags.raise_flag(path, row["to_agent_id"], row["expires_at"])


def recent(
    ledger: Ledger, now: float, most: int, before: tuple[float, str] | None = None, **equal: Any
) -> list[Row]:
    """All that have not expired, newest first."""
    return ledger.rows(MESSAGES, most=most, before=before, also=LIVE, values={"now": now}, **equal)


def inbox(
    ledger: Ledger,
    agent: str,
    now: float,
    most: int,
    *,
    project: str = "",
    session: str = "",
    unread: bool = True,
    after: tuple[int, float, str] | None = None,
) -> list[Row]:
    """What waits for an agent of that project, or of that session's: the most important first, then
    the oldest; `after` is priority, time and id of the last one of a page.
    """
    also = f"{REACHES}{UNREAD if unread else ''}"
    values = _asking(agent, now, project, session)
    if after is not None:
        also += f" AND {AFTER}"
        values |= dict(zip(("less", "at", "last"), after, strict=True))
    return ledger.rows(
        MESSAGES, most=most, newest_first=False, first=IMPORTANT, also=also, values=values
    )


def question(agent: str, now: float, most: int, session: str) -> Question:
    """What waits for an agent of that session, in the same order, for whoever may see everything;
    the rows as they are stored.
    """
    statement = MESSAGES.select(
        [f"{REACHES}{UNREAD}"], newest_first=False, most=True, first=IMPORTANT
    )
    return Question(statement, {**_asking(agent, now, "", session), "most": most})


def _asking(agent: str, now: float, project: str, session: str) -> Row:
    return {"agent": agent, "now": now, "project": project, "session": session}


def mark_read(ledger: Ledger, messages: list[Row], agent: str, now: float) -> None:
    with ledger.together():
        for row in messages:
            receipt = {"message": row["id"], "agent_id": agent, "updated_at": now}
            ledger.write(READS, {"id": ids.ident("read", row["id"], agent), **receipt})


def readers(ledger: Ledger, messages: list[Row]) -> dict[str, list[str]]:
    """Who has read each of them."""
    found: dict[str, list[str]] = {row["id"]: [] for row in messages}
    for read in ledger.among(READS, "message", found):
        found[read["message"]].append(read["agent_id"])
    return {ident: sorted(agents) for ident, agents in found.items()}


def subscribe(ledger: Ledger, agent: str, topic: str, now: float, project: str = "") -> Row:
    """The agent of that name in this project, or wherever it is, chooses a topic."""
    named = {"project": project, "agent_id": agent, "topic": topic}
    if known := ledger.first(SUBSCRIPTIONS, **named):
        return known
    ident = _ident("subscription", project, agent, topic)
    row = {"id": ident, **named, "created_at": now, "updated_at": now}
    return ledger.write(SUBSCRIPTIONS, row)


def unsubscribe(ledger: Ledger, agent: str, topic: str, now: float, project: str = "") -> bool:
    """In this project, and what was chosen before anybody knew of which it is."""
    return bool(_remove_all(ledger, SUBSCRIPTIONS, project, now, agent_id=agent, topic=topic))


def block(
    ledger: Ledger, blocked: str, blocker: str, reason: str, now: float, project: str = ""
) -> Row:
    """One agent waits for another; a reason that is given later counts."""
    _check_it_can_end(ledger, blocked, blocker, project)
    named = {"project": project, "blocked_id": blocked, "blocker_id": blocker}
    if known := ledger.first(BLOCKINGS, **named):
        return ledger.change(BLOCKINGS, known, now, reason=reason or known["reason"])
    ident = _ident("blocking", project, blocked, blocker)
    row = {"id": ident, **named, "reason": reason, "created_at": now, "updated_at": now}
    return ledger.write(BLOCKINGS, row)


def _check_it_can_end(ledger: Ledger, blocked: str, blocker: str, project: str) -> None:
    """Nobody waits for itself, by way of whomever in the same project."""
    waits_for, new = set[str](), {blocker}
    while new:
        if blocked in new:
            raise NotNow(f"{blocked} would wait for itself")
        waits_for |= new
        found = ledger.among(BLOCKINGS, "blocked_id", new)
        met = [row for row in found if not project or row["project"] in ("", project)]
        new = {row["blocker_id"] for row in met} - waits_for


def unblock(
    ledger: Ledger, blocked: str, blocker: str | None, now: float, project: str = ""
) -> int:
    """It waits no longer: for this one, or for anybody; how many it waited for."""
    named: Row = {} if blocker is None else {"blocker_id": blocker}
    return _remove_all(ledger, BLOCKINGS, project, now, blocked_id=blocked, **named)


def _remove_all(ledger: Ledger, table: Table, project: str, now: float, **named: Any) -> int:
    also = "project IN ('', :project)"
    found = ledger.rows(table, also=also, values={"project": project}, **named)
    with ledger.together():
        for row in found:
            ledger.remove(table, row, now)
    return len(found)


def _ident(kind: str, project: str, *names: str) -> str:
    """What is of no project is named as before there were any."""
    return ids.ident(kind, *filter(None, (project,)), *names)
