"""Messages between agents, the topics they chose, and who waits for whom."""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import Any

from litestar import Router, delete, get, post
from litestar.params import FromPath, FromQuery, JSONBody

from holdfast.errors import NotNow
from holdfast.ledger import ids, messages, whose
from holdfast.ledger.ledger import Ledger, Row
from holdfast.ledger.messages import SECONDS
from holdfast.ledger.tables import BLOCKINGS, MESSAGES, SUBSCRIPTIONS
from holdfast.redact import redact_value
from holdfast.surfaces.api import answers, cursor, named
from holdfast.surfaces.api.desk import Desk
from holdfast.surfaces.api.needs import HeldTo, TheDesk
from holdfast.surfaces.api.rows import Answer, listed
from holdfast.surfaces.api.shapes import (
    Blocking,
    Filter,
    Ident,
    Limit,
    NewMessage,
    Page,
    Reader,
    Subscription,
    Unblocking,
    Where,
)

LONGEST_PRIORITY = 4

# Messages


@post("/messages", sync_to_thread=True)
def send(desk: TheDesk, data: JSONBody[NewMessage]) -> Answer:
    """Send a message: to an agent, to the next of a type, or to everybody."""
    seconds = data.ttl_ms / 1000 if data.ttl_ms else data.ttl_seconds or SECONDS
    now = time.time()
    with desk.books() as books:
        if data.id and (known := books.ledger.get(MESSAGES, data.id)):
            return _sent_before(known, data)
        sent = messages.send(
            books.ledger, now, ident=data.id or ids.fresh(now),
            from_agent_id=data.from_agent_id, to_agent_id=data.to_agent_id or "",
            topic=data.topic, payload=data.payload, message_type=data.message_type,
            priority=data.priority, seconds=seconds, session=data.session_id,
            project=named.project_of_work(desk, books, data.project_id, data.session_id),
        )  # fmt: skip
    return answers.message(sent)


def _sent_before(known: Row, data: NewMessage) -> Answer:
    """The one that is there: whoever has read it would not be told of a change."""
    said = {
        "from_agent_id": data.from_agent_id, "to_agent_id": data.to_agent_id or "",
        "topic": data.topic, "message_type": data.message_type, "payload": data.payload,
        "priority": data.priority, "session": data.session_id,
    }  # fmt: skip
    if any(known[name] != redact_value(value, name) for name, value in said.items()):
        raise NotNow(f"{data.id} is the id of another message of {known['from_agent_id']}")
    return answers.message(known)


@get("/messages", sync_to_thread=True)
def all_messages(
    desk: TheDesk,
    limit: Limit = 50,
    page: Page = None,
    project_id: Filter = None,
    session_id: Filter = None,
    topic: Filter = None,
    to_agent_id: Filter = None,
    from_agent_id: Filter = None,
    id: Filter = None,
) -> Answer:
    """Messages that have not expired, the latest first, with who has read them."""
    given = {
        "project": project_id, "session": session_id, "topic": topic, "to_agent_id": to_agent_id,
        "from_agent_id": from_agent_id, "id": id,
    }  # fmt: skip
    equal: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    with desk.books() as books:
        rows = messages.recent(books.ledger, time.time(), limit + 1, cursor.read(page), **equal)
        kept, after = cursor.page(rows, limit, MESSAGES.order)
        read = messages.readers(books.ledger, kept)
    return {"messages": [answers.message(row, read[row["id"]]) for row in kept], "next": after}


@get("/messages/{ident:str}", sync_to_thread=True)
def messages_of(
    desk: TheDesk,
    held_to: HeldTo,
    ident: FromPath[str],
    limit: Limit = 50,
    page: Page = None,
    unread: FromQuery[bool] = True,
    mark_read: FromQuery[bool] = False,
    project_id: Where = None,
    session_id: Where = None,
) -> Answer:
    """What waits for the agent of that name, the most important first. Broadcasts that name a
    project reach the agents in it: `project_id` or `session_id` says where the agent is; else it is
    where `POST /api/agents` told of it.
    """
    now, after = time.time(), _after(page)
    with desk.books() as books:
        project = named.project(desk, books.ledger, project_id) or held_to
        # Two who read at once are not told the same: what is found is marked in the same step.
        with books.ledger.together("mail") if mark_read else nullcontext():
            found = messages.inbox(
                books.ledger, ident, now, limit + 1, project=project,
                session=named.plain(session_id), unread=unread, after=after,
            )  # fmt: skip
            kept = found[:limit]
            if mark_read:
                messages.mark_read(books.ledger, kept, ident, now)
        read = messages.readers(books.ledger, kept)
    more = _place(kept[-1]) if len(found) > limit else None
    return {"messages": [answers.message(row, read[row["id"]]) for row in kept], "next": more}


def _place(row: dict[str, Any]) -> str:
    """Where a page of an inbox ends: the most important come first, whenever they were sent."""
    return cursor.written({"at": row["created_at"], "id": f"{row['priority']} {row['id']}"}, "at")


def _after(page: str | None) -> tuple[int, float, str] | None:
    if (last := cursor.read(page)) is None:
        return None
    priority, _, ident = last[1].partition(" ")
    known = priority.isdecimal() and priority.isascii() and len(priority) < LONGEST_PRIORITY
    return int(priority) if known else 0, last[0], ident


@post("/messages/{ident:str}/read", sync_to_thread=True, status_code=200)
def read_message(desk: TheDesk, ident: FromPath[str], data: JSONBody[Reader]) -> Answer:
    """Tell that an agent has read a message."""
    with desk.books() as books:
        row = books.ledger.need(MESSAGES, ident)
        messages.mark_read(books.ledger, [row], data.agent_id, time.time())
        return answers.message(row, messages.readers(books.ledger, [row])[ident])


def _where(desk: Desk, ledger: Ledger, ident: str | None, held_to: str, agent: str) -> str:
    """The project whose agent is meant: as it is said, else the only one that has such an agent."""
    return named.project(desk, ledger, ident) or held_to or whose.of_agent(ledger, agent)


@post("/subscribe", sync_to_thread=True)
def subscribe(desk: TheDesk, held_to: HeldTo, data: JSONBody[Subscription]) -> Answer:
    """From now on the agent is told of no broadcasts but those of the topics that it chose."""
    with desk.books() as books:
        project = _where(desk, books.ledger, data.project_id, held_to, data.agent_id)
        made = messages.subscribe(books.ledger, data.agent_id, data.topic, time.time(), project)
    return answers.answer(made)


@post("/unsubscribe", sync_to_thread=True, status_code=200)
def unsubscribe(desk: TheDesk, held_to: HeldTo, data: JSONBody[Subscription]) -> Answer:
    """The agent no longer chooses that topic."""
    with desk.books() as books:
        project = _where(desk, books.ledger, data.project_id, held_to, data.agent_id)
        gone = messages.unsubscribe(books.ledger, data.agent_id, data.topic, time.time(), project)
    return {"removed": gone}


@get("/subscriptions", sync_to_thread=True)
def all_subscriptions(
    desk: TheDesk,
    limit: Limit = 100,
    page: Page = None,
    agent_id: Filter = None,
    project_id: Filter = None,
) -> Answer:
    """Which agents have chosen which topics."""
    with desk.books() as books:
        return listed(
            books, SUBSCRIPTIONS, "subscriptions", limit, page, agent_id=agent_id,
            project=project_id,
        )  # fmt: skip


# Who waits for whom


@post("/blocking", sync_to_thread=True)
def block(desk: TheDesk, held_to: HeldTo, data: JSONBody[Blocking]) -> Answer:
    """One agent waits for another, until `POST /api/unblock` says otherwise."""
    with desk.books() as books:
        project = _where(desk, books.ledger, data.project_id, held_to, data.blocked_id)
        made = messages.block(
            books.ledger, data.blocked_id, data.blocker_id, data.reason, time.time(), project
        )
    return answers.answer(made)


@post("/unblock", sync_to_thread=True, status_code=200)
def unblock(desk: TheDesk, held_to: HeldTo, data: JSONBody[Unblocking]) -> Answer:
    """An agent no longer waits for another, or for anybody."""
    with desk.books() as books:
        project = _where(desk, books.ledger, data.project_id, held_to, data.blocked_id)
        gone = messages.unblock(
            books.ledger, data.blocked_id, data.blocker_id, time.time(), project
        )
    return {"removed": gone}


@get("/blocking/check", sync_to_thread=True)
def check_blocking(
    desk: TheDesk,
    blocked_id: FromQuery[Ident],
    blocker_id: Filter = None,
    project_id: Filter = None,
) -> Answer:
    """Whether an agent waits for anybody, or for one in particular."""
    given = {"blocker_id": blocker_id, "project": project_id}
    equal: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    with desk.books() as books:
        found = books.ledger.rows(BLOCKINGS, blocked_id=blocked_id, **equal)
    return {"blocked": bool(found), "blocked_by": [row["blocker_id"] for row in found]}


@get("/blocking/{ident:str}", sync_to_thread=True)
def blockings_of(
    desk: TheDesk,
    ident: FromPath[str],
    limit: Limit = 1000,
    page: Page = None,
    project_id: Filter = None,
) -> Answer:
    """Whom an agent waits for, and why."""
    with desk.books() as books:
        return listed(
            books, BLOCKINGS, "blocking", limit, page, blocked_id=ident, project=project_id
        )


@delete("/blocking/{ident:str}", sync_to_thread=True)
def drop_blockings(
    desk: TheDesk, held_to: HeldTo, ident: FromPath[str], project_id: Where = None
) -> None:
    """An agent no longer waits for anybody."""
    with desk.books() as books:
        project = _where(desk, books.ledger, project_id, held_to, ident)
        messages.unblock(books.ledger, ident, None, time.time(), project)


def router() -> Router:
    return Router("/api", tags=["messages"], route_handlers=[
        send, all_messages, messages_of, read_message, subscribe, unsubscribe, all_subscriptions,
        block, unblock, check_blocking, blockings_of, drop_blockings,
    ])  # fmt: skip
