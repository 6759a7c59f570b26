"""Messages between agents: to one agent or to all, by topic and priority, until they expire.

There are two ways to read. `list_inbox` lists the messages of one agent id and marks nothing.
`take_messages` delivers messages to an agent by its id and its type, each of them once.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import Conflict
from holdfast.ledger import unread_flags
from holdfast.ledger.schema import BLOCKINGS, MESSAGES, READS, SUBSCRIPTIONS, make_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ledger.repository import Ledger, Row
    from holdfast.ledger.schema import Table

DEFAULT_TTL_SECONDS, MAX_TTL_SECONDS = 3600.0, 24 * 3600.0
PRIORITY_ORDER = "priority DESC, "
NOT_EXPIRED = "expires_at > :now"
# The projects in which a session has agents or work.
SESSION_PROJECTS = " UNION ".join(
    f"SELECT project FROM {table} WHERE session = :session AND session <> '' AND project <> ''"
    for table in ("agents", "requests")
)
# The project of an agent: the given one, else that of its session, else any project in which an
# agent of this name is known.
_IN_AGENT_PROJECT = (
    f"project = :project OR (:project = '' AND (project IN ({SESSION_PROJECTS}) "
    f"OR (NOT EXISTS ({SESSION_PROJECTS}) "
    "AND project IN (SELECT project FROM agents WHERE agent_id = :agent))))"
)
# Agents of several projects may have the same name. The subscriptions of one of them count in its
# project; for a message without a project and an agent without a known project, all of them count.
# No subquery depends on the message, so each runs once, however many messages there are.
_SUBSCRIBED = "FROM subscriptions WHERE agent_id = :agent"
_SUBSCRIBED_HERE = f"{_SUBSCRIBED} AND project IN ('', :project)"
_NO_PROJECT = "(:project = '' AND project = '')"
_MATCHES_TOPIC = (
    f"(topic IN (SELECT topic {_SUBSCRIBED_HERE})"
    f" OR (project, topic) IN (SELECT project, topic {_SUBSCRIBED})"
    f" OR ({_NO_PROJECT} AND topic IN (SELECT topic {_SUBSCRIBED})))"
)
_HAS_NO_SUBSCRIPTION = (
    f"(NOT EXISTS (SELECT 1 {_SUBSCRIBED_HERE}) AND project NOT IN (SELECT project {_SUBSCRIBED})"
    f" AND NOT ({_NO_PROJECT} AND EXISTS (SELECT 1 {_SUBSCRIBED})))"
)
# A broadcast reaches agents that subscribe to its topic and agents without any subscription; if it
# has a project, only agents in that project.
REACHES_AGENT = (
    "expires_at > :now AND from_agent_id <> :agent AND (to_agent_id = :agent OR (to_agent_id = '' "
    f"AND (project = '' OR {_IN_AGENT_PROJECT}) AND ({_MATCHES_TOPIC} OR {_HAS_NO_SUBSCRIPTION})))"
)
# The column `taken` is 1 once the addressee has read the message. For other messages, such as
# broadcasts, the read receipts are searched.
UNREAD_BY_AGENT = (
    " AND taken = 0 AND NOT EXISTS (SELECT 1 FROM message_reads"
    " WHERE message_reads.message = messages.id AND message_reads.agent_id = :agent)"
)
AFTER_CURSOR = "(priority < :less OR (priority = :less AND (created_at, id) > (:at, :last)))"

MAIN_AGENT_TYPE = "main"
# At most this many messages are read and delivered at once.
MAX_MESSAGES = 50
_TYPE_SUBSCRIBED = (
    "FROM subscriptions WHERE agent_id IN (:own, :kind) AND subscriptions.project IN ('', :project)"
)
_REACHES_RECIPIENT = (
    "expires_at > :now AND from_agent_id <> :own AND (to_agent_id = :own OR (project IN "
    "('', :project) AND (to_agent_id = :kind OR (to_agent_id = '' AND "
    f"(topic IN (SELECT topic {_TYPE_SUBSCRIBED}) OR NOT EXISTS (SELECT 1 {_TYPE_SUBSCRIBED}))))))"
)
# A message to an agent type is delivered to one agent of that type, a broadcast to each agent.
_UNREAD_BY_RECIPIENT = (
    " AND taken = 0 AND NOT EXISTS (SELECT 1 FROM message_reads "
    "WHERE message_reads.message = messages.id AND "
    "(message_reads.agent_id = :own OR message_reads.agent_id = messages.to_agent_id))"
)


class Recipient(NamedTuple):
    """An agent that messages are delivered to.

    It receives messages to its id, to its type (`main`, or the type of a sub-agent) and broadcasts.
    Messages to a type and broadcasts can be limited to a project.
    """

    agent_id: str
    agent_type: str
    project: str = ""


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
    seconds: float = DEFAULT_TTL_SECONDS,
    project: str = "",
    session: str = "",
) -> Row:
    """Send a message to one agent, or to all if `to_agent_id` is empty, and return its row."""
    row: Row = {
        "id": ident, "project": project, "session": session, "from_agent_id": from_agent_id,
        "to_agent_id": to_agent_id, "message_type": message_type, "topic": topic,
        "payload": payload, "priority": priority, "created_at": now,
        "expires_at": now + min(max(seconds, 1.0), MAX_TTL_SECONDS), "updated_at": now,
    }  # fmt: skip
    sent = ledger.write(MESSAGES, row)
    raise_unread_flag(ledger, sent)
    return sent


def raise_unread_flag(ledger: Ledger, row: Row) -> None:
    """Raise the flag by which hooks on this machine notice a message (see `unread_flags`). On other
    machines the flag is raised when the message arrives there.
    """
    if path := ledger.database.path:
        # The message is stored already. A full disk must not make sending it fail.
        with suppress(OSError):
            unread_flags.raise_flag(path, row["to_agent_id"], row["expires_at"])


def list_recent(
    ledger: Ledger, now: float, limit: int, before: tuple[float, str] | None = None, **equal: Any
) -> list[Row]:
    """Return the messages that have not expired, newest first."""
    return ledger.find(
        MESSAGES, limit=limit, before=before, where=NOT_EXPIRED, values={"now": now}, **equal
    )


def list_inbox(
    ledger: Ledger,
    agent: str,
    now: float,
    limit: int,
    *,
    project: str = "",
    session: str = "",
    unread: bool = True,
    after: tuple[int, float, str] | None = None,
) -> list[Row]:
    """Return the messages to an agent, by priority, then oldest first.

    `project` or `session` determines in which project the agent works. `after` is the priority,
    time and id of the last message of the previous page.
    """
    where = f"{REACHES_AGENT}{UNREAD_BY_AGENT if unread else ''}"
    values: Row = {"agent": agent, "now": now, "project": project, "session": session}
    if after is not None:
        where += f" AND {AFTER_CURSOR}"
        values |= dict(zip(("less", "at", "last"), after, strict=True))
    return ledger.find(
        MESSAGES,
        limit=limit,
        newest_first=False,
        order_by=PRIORITY_ORDER,
        where=where,
        values=values,
    )


def mark_read(ledger: Ledger, messages: list[Row], agent: str, now: float) -> None:
    """Write a read receipt of this agent for each message."""
    with ledger.transaction():
        for row in messages:
            receipt = {"message": row["id"], "agent_id": agent, "updated_at": now}
            ledger.write(READS, {"id": make_id("read", row["id"], agent), **receipt})


def find_readers(ledger: Ledger, messages: list[Row]) -> dict[str, list[str]]:
    """Return the ids of the agents that have read each message, by message id."""
    readers: dict[str, list[str]] = {row["id"]: [] for row in messages}
    for receipt in ledger.find_in(READS, "message", readers):
        readers[receipt["message"]].append(receipt["agent_id"])
    return {ident: sorted(agents) for ident, agents in readers.items()}


# Delivery


def take_messages(
    ledger: Ledger,
    recipient: Recipient,
    now: float,
    choose: Callable[[list[Row]], list[Row]],
    *,
    again: bool = False,
) -> tuple[list[Row], int]:
    """Mark unread messages as read; return them and the number of those that are left.

    `choose` gets the messages by priority, then oldest first, and returns those to deliver now.
    `again` also includes messages that were read before.
    """
    values = {
        "own": recipient.agent_id, "kind": recipient.agent_type or recipient.agent_id,
        "project": recipient.project, "now": now,
    }  # fmt: skip
    where = _REACHES_RECIPIENT if again else _REACHES_RECIPIENT + _UNREAD_BY_RECIPIENT
    with ledger.transaction("mail"):
        rows = ledger.find(
            MESSAGES, limit=MAX_MESSAGES, newest_first=False, order_by=PRIORITY_ORDER, where=where,
            values=values,
        )  # fmt: skip
        waiting = len(rows)
        if waiting == MAX_MESSAGES:
            waiting = ledger.count(MESSAGES, where=where, values=values)
        delivered = choose(rows)
        for row in delivered:
            _mark_delivered(ledger, row, recipient, now)
    return delivered, waiting - len(delivered)


def _mark_delivered(ledger: Ledger, row: Row, recipient: Recipient, now: float) -> None:
    """Add a read receipt for the recipient and one for the agent or type that is addressed."""
    names = {recipient.agent_id, row["to_agent_id"]} - {""}
    for name in sorted(names):
        receipt = {"message": row["id"], "agent_id": name, "updated_at": now}
        ident = make_id("read", row["id"], name)
        if ledger.get(READS, ident) is None:
            ledger.write(READS, {"id": ident, **receipt})


# Subscriptions, and agents that wait for each other


def subscribe(ledger: Ledger, agent: str, topic: str, now: float, project: str = "") -> Row:
    """Subscribe an agent to a topic, in one project or, without one, everywhere."""
    columns = {"project": project, "agent_id": agent, "topic": topic}
    if known := ledger.find_one(SUBSCRIPTIONS, **columns):
        return known
    ident = _make_row_id("subscription", project, agent, topic)
    row = {"id": ident, **columns, "created_at": now, "updated_at": now}
    return ledger.write(SUBSCRIPTIONS, row)


def unsubscribe(ledger: Ledger, agent: str, topic: str, now: float, project: str = "") -> bool:
    """Remove the subscription in this project and the one without a project; return whether there
    was any.
    """
    return bool(_delete_all(ledger, SUBSCRIPTIONS, project, now, agent_id=agent, topic=topic))


def block(
    ledger: Ledger, blocked: str, blocker: str, reason: str, now: float, project: str = ""
) -> Row:
    """Record that one agent waits for another; a later reason replaces the first.

    Raises Conflict if the agents would wait for each other.
    """
    _check_no_cycle(ledger, blocked, blocker, project)
    columns = {"project": project, "blocked_id": blocked, "blocker_id": blocker}
    if known := ledger.find_one(BLOCKINGS, **columns):
        return ledger.update(BLOCKINGS, known, now, reason=reason or known["reason"])
    ident = _make_row_id("blocking", project, blocked, blocker)
    row = {"id": ident, **columns, "reason": reason, "created_at": now, "updated_at": now}
    return ledger.write(BLOCKINGS, row)


def _check_no_cycle(ledger: Ledger, blocked: str, blocker: str, project: str) -> None:
    """Raise Conflict if an agent would wait for itself, directly or through other agents of the
    project.
    """
    visited, new = set[str](), {blocker}
    while new:
        if blocked in new:
            raise Conflict(f"{blocked} would wait for itself")
        visited |= new
        rows = ledger.find_in(BLOCKINGS, "blocked_id", new)
        in_project = [row for row in rows if not project or row["project"] in ("", project)]
        new = {row["blocker_id"] for row in in_project} - visited


def unblock(
    ledger: Ledger, blocked: str, blocker: str | None, now: float, project: str = ""
) -> int:
    """Remove what an agent waits for, one agent or all of them; return how many it waited for."""
    of_blocker: Row = {} if blocker is None else {"blocker_id": blocker}
    return _delete_all(ledger, BLOCKINGS, project, now, blocked_id=blocked, **of_blocker)


def _delete_all(ledger: Ledger, table: Table, project: str, now: float, **equal: Any) -> int:
    where = "project IN ('', :project)"
    rows = ledger.find(table, where=where, values={"project": project}, **equal)
    with ledger.transaction():
        for row in rows:
            ledger.delete(table, row, now)
    return len(rows)


def _make_row_id(kind: str, project: str, *names: str) -> str:
    """Return the id of a subscription or blocking. Without a project the id is the same as before
    rows had a project.
    """
    return make_id(kind, *filter(None, (project,)), *names)
