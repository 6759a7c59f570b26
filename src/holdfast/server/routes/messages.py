"""Messages between agents, subscriptions to topics, and agents that wait for other agents."""

from __future__ import annotations

import time
from typing import Annotated, Any

from litestar import Router, delete, get, post
from litestar.params import JSONBody, PathParameter, QueryParameter

from holdfast.errors import Conflict
from holdfast.ledger import messages, project_attribution
from holdfast.ledger.messages import DEFAULT_TTL_SECONDS
from holdfast.ledger.repository import Row
from holdfast.ledger.schema import BLOCKINGS, MESSAGES, SUBSCRIPTIONS, make_random_id
from holdfast.redaction import redact_value
from holdfast.server import pagination
from holdfast.server.databases import Connections, normalize_id
from holdfast.server.dependencies import CallerDatabases, CallerProject
from holdfast.server.requests import (
    AgentFilter,
    AgentProject,
    AgentSession,
    BlockedQuery,
    BlockerFilter,
    Cursor,
    IdFilter,
    Limit,
    MessageReader,
    NewBlocking,
    NewMessage,
    NewSubscription,
    ProjectFilter,
    RecipientFilter,
    RowId,
    SenderFilter,
    SessionFilter,
    TopicFilter,
    Unblocking,
)
from holdfast.server.responses import (
    BlockingCheck,
    BlockingList,
    BlockingRow,
    MessageList,
    MessageRow,
    MessageWithReaders,
    SubscriptionList,
    SubscriptionRow,
    Unblocked,
    Unsubscribed,
)
from holdfast.server.rows import list_rows, to_message, to_message_with_readers, to_response

# A cursor comes from the client, so its priority may be any text.
MAX_PRIORITY_DIGITS = 3

Recipient = Annotated[str, PathParameter(description="the agent's id, or its type")]
BlockedAgent = Annotated[str, PathParameter(description="id of the agent that waits")]
Unread = Annotated[bool, QueryParameter(description="only messages that the agent has not read")]

# Messages


@post("/messages", sync_to_thread=True)
def send_message(databases: CallerDatabases, data: JSONBody[NewMessage]) -> MessageRow:
    """Send a message to an agent, to the next agent of a type, or to all."""
    seconds = data.ttl_ms / 1000 if data.ttl_ms else data.ttl_seconds or DEFAULT_TTL_SECONDS
    now = time.time()
    with databases.connect() as db:
        if data.id and (known := db.ledger.get(MESSAGES, data.id)):
            return _get_sent(known, data)
        sent = messages.send(
            db.ledger, now, ident=data.id or make_random_id(now),
            from_agent_id=data.from_agent_id, to_agent_id=data.to_agent_id or "",
            topic=data.topic, payload=data.payload, message_type=data.message_type,
            priority=data.priority, seconds=seconds, session=data.session_id,
            project=db.find_project(data.project_id, data.session_id),
        )  # fmt: skip
    return to_message(sent)


def _get_sent(known: Row, data: NewMessage) -> MessageRow:
    """Return the message that already has this id. Raises `Conflict` if its content differs from
    this request: agents that have read it would not see the change.
    """
    sent = {
        "from_agent_id": data.from_agent_id, "to_agent_id": data.to_agent_id or "",
        "topic": data.topic, "message_type": data.message_type, "payload": data.payload,
        "priority": data.priority, "session": data.session_id,
    }  # fmt: skip
    if any(known[name] != redact_value(value, name) for name, value in sent.items()):
        raise Conflict(
            f"{data.id} is already the id of another message from {known['from_agent_id']}"
        )
    return to_message(known)


@get("/messages", sync_to_thread=True)
def list_messages(
    databases: CallerDatabases,
    limit: Limit = 50,
    page: Cursor = None,
    project_id: ProjectFilter = None,
    session_id: SessionFilter = None,
    topic: TopicFilter = None,
    to_agent_id: RecipientFilter = None,
    from_agent_id: SenderFilter = None,
    id: IdFilter = None,
) -> MessageList:
    """List messages that have not expired, newest first, with the agents that have read them."""
    filters = {
        "project": project_id, "session": session_id, "topic": topic, "to_agent_id": to_agent_id,
        "from_agent_id": from_agent_id, "id": id,
    }  # fmt: skip
    given: dict[str, Any] = {name: value for name, value in filters.items() if value is not None}
    before = pagination.parse_cursor(page)
    with databases.connect() as db:
        rows = messages.list_recent(db.ledger, time.time(), limit + 1, before, **given)
        kept, cursor = pagination.split_page(rows, limit, MESSAGES.order_column)
        return _to_list(db, kept, cursor)


@get("/messages/{ident:str}", sync_to_thread=True)
def list_inbox(
    databases: CallerDatabases,
    caller_project: CallerProject,
    ident: Recipient,
    limit: Limit = 50,
    page: Cursor = None,
    unread: Unread = True,
    project_id: AgentProject = None,
    session_id: AgentSession = None,
) -> MessageList:
    """List the messages for an agent, the most important first, and leave them unread. Broadcasts
    that name a project reach the agents in it: `project_id` or `session_id` says where the agent
    works; without them, it is the project that was sent to `POST /api/agents`.
    """
    after = _parse_inbox_cursor(page)
    with databases.connect() as db:
        found = messages.list_inbox(
            db.ledger, ident, time.time(), limit + 1,
            project=db.find_project(project_id) or caller_project,
            session=normalize_id(session_id), unread=unread, after=after,
        )  # fmt: skip
        kept = found[:limit]
        cursor = _to_inbox_cursor(kept[-1]) if len(found) > limit else None
        return _to_list(db, kept, cursor)


@post("/messages/{ident:str}/receive", sync_to_thread=True, status_code=200)
def receive_messages(
    databases: CallerDatabases,
    caller_project: CallerProject,
    ident: Recipient,
    limit: Limit = 50,
    project_id: AgentProject = None,
    session_id: AgentSession = None,
) -> MessageList:
    """Return the unread messages for an agent, the most important first, and mark them as read.
    Send the request again for the rest, until the list is empty.
    """
    now = time.time()
    with databases.connect() as db:
        project = db.find_project(project_id) or caller_project
        # Find and mark in one transaction, so that two readers never get the same message.
        with db.ledger.transaction("mail"):
            found = messages.list_inbox(
                db.ledger, ident, now, limit, project=project, session=normalize_id(session_id)
            )
            messages.mark_read(db.ledger, found, ident, now)
        return _to_list(db, found, None)


def _to_list(db: Connections, rows: list[Row], cursor: str | None) -> MessageList:
    readers = messages.find_readers(db.ledger, rows)
    return {
        "messages": [to_message_with_readers(row, readers[row["id"]]) for row in rows],
        "next": cursor,
    }


def _to_inbox_cursor(row: Row) -> str:
    """Return a cursor of an inbox. It contains the priority, by which an inbox is sorted first."""
    return pagination.to_cursor(
        {"at": row["created_at"], "id": f"{row['priority']} {row['id']}"}, "at"
    )


def _parse_inbox_cursor(page: str | None) -> tuple[int, float, str] | None:
    if (last := pagination.parse_cursor(page)) is None:
        return None
    priority, _, ident = last[1].partition(" ")
    is_number = priority.isdecimal() and priority.isascii() and len(priority) <= MAX_PRIORITY_DIGITS
    return int(priority) if is_number else 0, last[0], ident


@post("/messages/{ident:str}/read", sync_to_thread=True, status_code=200)
def mark_message_read(
    databases: CallerDatabases, ident: RowId, data: JSONBody[MessageReader]
) -> MessageWithReaders:
    """Mark a message as read by an agent."""
    with databases.connect() as db:
        row = db.ledger.require(MESSAGES, ident)
        messages.mark_read(db.ledger, [row], data.agent_id, time.time())
        return to_message_with_readers(row, messages.find_readers(db.ledger, [row])[ident])


# Subscriptions


def _find_project(db: Connections, ident: str | None, caller_project: str, agent: str) -> str:
    """Return the given project, else the token's, else the only one with this agent, or ""."""
    return (
        db.find_project(ident)
        or caller_project
        or project_attribution.find_agent_project(db.ledger, agent)
    )


@post("/subscribe", sync_to_thread=True)
def subscribe(
    databases: CallerDatabases, caller_project: CallerProject, data: JSONBody[NewSubscription]
) -> SubscriptionRow:
    """Subscribe an agent to a topic. From then on it receives only broadcasts on topics that it has
    subscribed to.
    """
    with databases.connect() as db:
        project = _find_project(db, data.project_id, caller_project, data.agent_id)
        row = messages.subscribe(db.ledger, data.agent_id, data.topic, time.time(), project)
    return to_response(row, SubscriptionRow)


@post("/unsubscribe", sync_to_thread=True, status_code=200)
def unsubscribe(
    databases: CallerDatabases, caller_project: CallerProject, data: JSONBody[NewSubscription]
) -> Unsubscribed:
    """End an agent's subscription to a topic."""
    with databases.connect() as db:
        project = _find_project(db, data.project_id, caller_project, data.agent_id)
        removed = messages.unsubscribe(db.ledger, data.agent_id, data.topic, time.time(), project)
    return {"removed": removed}


@get("/subscriptions", sync_to_thread=True)
def list_subscriptions(
    databases: CallerDatabases,
    limit: Limit = 100,
    page: Cursor = None,
    agent_id: AgentFilter = None,
    project_id: ProjectFilter = None,
) -> SubscriptionList:
    """List which agents have subscribed to which topics."""
    with databases.connect() as db:
        rows, cursor = list_rows(
            db, SUBSCRIPTIONS, limit, page, agent_id=agent_id, project=project_id
        )
    return {"subscriptions": [to_response(row, SubscriptionRow) for row in rows], "next": cursor}


# Agents that wait for other agents


@post("/blocking", sync_to_thread=True)
def add_blocking(
    databases: CallerDatabases, caller_project: CallerProject, data: JSONBody[NewBlocking]
) -> BlockingRow:
    """Record that one agent waits for another, until `POST /api/unblock`."""
    with databases.connect() as db:
        project = _find_project(db, data.project_id, caller_project, data.blocked_id)
        row = messages.block(
            db.ledger, data.blocked_id, data.blocker_id, data.reason, time.time(), project
        )
    return to_response(row, BlockingRow)


@post("/unblock", sync_to_thread=True, status_code=200)
def unblock(
    databases: CallerDatabases, caller_project: CallerProject, data: JSONBody[Unblocking]
) -> Unblocked:
    """Record that an agent no longer waits for another, or for any."""
    with databases.connect() as db:
        project = _find_project(db, data.project_id, caller_project, data.blocked_id)
        count = messages.unblock(db.ledger, data.blocked_id, data.blocker_id, time.time(), project)
    return {"removed": count}


@get("/blocking/check", sync_to_thread=True)
def check_blocking(
    databases: CallerDatabases,
    blocked_id: BlockedQuery,
    blocker_id: BlockerFilter = None,
    project_id: ProjectFilter = None,
) -> BlockingCheck:
    """Check whether an agent waits for any other, or for a given one."""
    filters = {"blocker_id": blocker_id, "project": project_id}
    given: dict[str, Any] = {name: value for name, value in filters.items() if value is not None}
    with databases.connect() as db:
        rows = db.ledger.find(BLOCKINGS, blocked_id=blocked_id, **given)
    return {"blocked": bool(rows), "blocked_by": [row["blocker_id"] for row in rows]}


@get("/blocking/{ident:str}", sync_to_thread=True)
def list_blocking(
    databases: CallerDatabases,
    ident: BlockedAgent,
    limit: Limit = 1000,
    page: Cursor = None,
    project_id: ProjectFilter = None,
) -> BlockingList:
    """List the agents that an agent waits for, and why."""
    with databases.connect() as db:
        rows, cursor = list_rows(db, BLOCKINGS, limit, page, blocked_id=ident, project=project_id)
    return {"blocking": [to_response(row, BlockingRow) for row in rows], "next": cursor}


@delete("/blocking/{ident:str}", sync_to_thread=True)
def delete_blocking(
    databases: CallerDatabases,
    caller_project: CallerProject,
    ident: BlockedAgent,
    project_id: AgentProject = None,
) -> None:
    """Record that an agent no longer waits for any other."""
    with databases.connect() as db:
        project = _find_project(db, project_id, caller_project, ident)
        messages.unblock(db.ledger, ident, None, time.time(), project)


def create_router() -> Router:
    return Router("/api", tags=["messages"], route_handlers=[
        send_message, list_messages, list_inbox, receive_messages, mark_message_read, subscribe,
        unsubscribe, list_subscriptions, add_blocking, unblock, check_blocking, list_blocking,
        delete_blocking,
    ])  # fmt: skip
