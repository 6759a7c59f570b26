"""Agents: their contexts and capacity, their messages, who waits for whom, and waves."""

from __future__ import annotations

import time
import uuid
from typing import Any

from litestar import Router, delete, get, post
from litestar.params import FromPath, FromQuery, JSONBody

from holdfast.errors import NoSuchRecord
from holdfast.ledger import agents, messages, waves
from holdfast.ledger.messages import SECONDS
from holdfast.ledger.tables import AGENTS, BLOCKINGS, MESSAGES, SUBSCRIPTIONS
from holdfast.surfaces.api import answers, cursor
from holdfast.surfaces.api.needs import TheDesk
from holdfast.surfaces.api.shapes import (
    Blocking,
    Consumption,
    Filter,
    Ident,
    Limit,
    NewMessage,
    Page,
    Reader,
    SeenAgent,
    Subscription,
    Unblocking,
    WaveNumber,
)
from holdfast.surfaces.api.work_routes import Answer, listed

# Messages


@post("/messages", sync_to_thread=True)
def send(desk: TheDesk, data: JSONBody[NewMessage]) -> Answer:
    seconds = data.ttl_ms / 1000 if data.ttl_ms else data.ttl_seconds or SECONDS
    with desk.books() as books:
        sent = messages.send(
            books.ledger, time.time(), ident=data.id or str(uuid.uuid4()),
            from_agent_id=data.from_agent_id, to_agent_id=data.to_agent_id or "",
            topic=data.topic, payload=data.payload, message_type=data.message_type,
            priority=data.priority, seconds=seconds, project=data.project_id or "",
            session=data.session_id,
        )  # fmt: skip
    return answers.message(sent)


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
) -> Answer:
    given = {
        "project": project_id, "session": session_id, "topic": topic, "to_agent_id": to_agent_id,
        "from_agent_id": from_agent_id,
    }  # fmt: skip
    named: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    with desk.books() as books:
        rows = messages.recent(books.ledger, time.time(), limit + 1, cursor.read(page), **named)
        kept, after = cursor.page(rows, limit, MESSAGES.order)
        read = messages.readers(books.ledger, kept)
    return {"messages": [answers.message(row, read[row["id"]]) for row in kept], "next": after}


@get("/messages/{ident:str}", sync_to_thread=True)
def messages_of(
    desk: TheDesk,
    ident: FromPath[str],
    limit: Limit = 50,
    unread: FromQuery[bool] = True,
    mark_read: FromQuery[bool] = False,
) -> Answer:
    """What waits for the agent of that name, the most important first."""
    now = time.time()
    with desk.books() as books:
        found = messages.inbox(books.ledger, ident, now, limit, unread=unread)
        if mark_read:
            messages.mark_read(books.ledger, found, ident, now)
        read = messages.readers(books.ledger, found)
    return {"messages": [answers.message(row, read[row["id"]]) for row in found]}


@post("/messages/{ident:str}/read", sync_to_thread=True, status_code=200)
def read_message(desk: TheDesk, ident: FromPath[str], data: JSONBody[Reader]) -> Answer:
    with desk.books() as books:
        row = books.ledger.need(MESSAGES, ident)
        messages.mark_read(books.ledger, [row], data.agent_id, time.time())
        return answers.message(row, messages.readers(books.ledger, [row])[ident])


@post("/subscribe", sync_to_thread=True)
def subscribe(desk: TheDesk, data: JSONBody[Subscription]) -> Answer:
    with desk.books() as books:
        made = messages.subscribe(books.ledger, data.agent_id, data.topic, time.time())
    return answers.answer(made)


@post("/unsubscribe", sync_to_thread=True, status_code=200)
def unsubscribe(desk: TheDesk, data: JSONBody[Subscription]) -> Answer:
    with desk.books() as books:
        return {
            "removed": messages.unsubscribe(books.ledger, data.agent_id, data.topic, time.time())
        }


@get("/subscriptions", sync_to_thread=True)
def all_subscriptions(
    desk: TheDesk, limit: Limit = 100, page: Page = None, agent_id: Filter = None
) -> Answer:
    with desk.books() as books:
        return listed(books, SUBSCRIPTIONS, "subscriptions", limit, page, agent_id=agent_id)


# Who waits for whom


@post("/blocking", sync_to_thread=True)
def block(desk: TheDesk, data: JSONBody[Blocking]) -> Answer:
    with desk.books() as books:
        made = messages.block(
            books.ledger, data.blocked_id, data.blocker_id, data.reason, time.time()
        )
    return answers.answer(made)


@post("/unblock", sync_to_thread=True, status_code=200)
def unblock(desk: TheDesk, data: JSONBody[Unblocking]) -> Answer:
    with desk.books() as books:
        return {
            "removed": messages.unblock(books.ledger, data.blocked_id, data.blocker_id, time.time())
        }


@get("/blocking/check", sync_to_thread=True)
def check_blocking(
    desk: TheDesk, blocked_id: FromQuery[Ident], blocker_id: Filter = None
) -> Answer:
    named: dict[str, Any] = {} if blocker_id is None else {"blocker_id": blocker_id}
    with desk.books() as books:
        found = books.ledger.rows(BLOCKINGS, blocked_id=blocked_id, **named)
    return {"blocked": bool(found), "blocked_by": [row["blocker_id"] for row in found]}


@get("/blocking/{ident:str}", sync_to_thread=True)
def blockings_of(desk: TheDesk, ident: FromPath[str]) -> Answer:
    with desk.books() as books:
        return listed(books, BLOCKINGS, "blocking", 1000, None, blocked_id=ident)


@delete("/blocking/{ident:str}", sync_to_thread=True)
def drop_blockings(desk: TheDesk, ident: FromPath[str]) -> None:
    with desk.books() as books:
        messages.unblock(books.ledger, ident, None, time.time())


# Agents


@post("/agents", sync_to_thread=True)
def see_agent(desk: TheDesk, data: JSONBody[SeenAgent]) -> Answer:
    with desk.books() as books:
        row = agents.seen(
            books.ledger, time.time(), agent_id=data.agent_id, session=data.session_id,
            project=data.project_id or "", agent_type=data.agent_type,
            parent=data.parent_agent_id or "", status=data.status, used=data.current_usage,
            capacity=data.max_capacity,
        )  # fmt: skip
    return answers.agent(row)


@get("/agents", sync_to_thread=True)
def all_agents(
    desk: TheDesk,
    limit: Limit = 100,
    page: Page = None,
    session_id: Filter = None,
    agent_type: Filter = None,
) -> Answer:
    given = {"session": session_id, "agent_type": agent_type}
    named: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    with desk.books() as books:
        rows = books.ledger.rows(AGENTS, most=limit + 1, before=cursor.read(page), **named)
    kept, after = cursor.page(rows, limit, AGENTS.order)
    return {"agents": [answers.agent(row) for row in kept], "next": after}


@get("/capacity/{ident:str}", sync_to_thread=True)
def capacity(desk: TheDesk, ident: FromPath[str], session_id: Filter = None) -> Answer:
    with desk.books() as books:
        row = agents.latest(books.ledger, ident, session_id)
    if row is None:
        raise NoSuchRecord(f"agent {ident}")
    return answers.agent(row)


@post("/capacity/{ident:str}/reset", sync_to_thread=True, status_code=200)
def reset_capacity(desk: TheDesk, ident: FromPath[str], session_id: Filter = None) -> Answer:
    """After a compaction."""
    with desk.books() as books:
        row = agents.latest(books.ledger, ident, session_id)
        if row is None:
            raise NoSuchRecord(f"agent {ident}")
        return answers.agent(agents.compacted(books.ledger, row, time.time()))


@post("/tokens/track", sync_to_thread=True)
def track_tokens(desk: TheDesk, data: JSONBody[Consumption]) -> Answer:
    with desk.books() as books:
        row = agents.consumed(
            books.ledger, data.agent_id, data.session_id, data.input_tokens + data.output_tokens,
            time.time(),
        )  # fmt: skip
    return answers.agent(row)


# Waves


@post("/waves/{session_id:str}/create", sync_to_thread=True)
def create_wave(desk: TheDesk, session_id: FromPath[str], data: JSONBody[WaveNumber]) -> Answer:
    with desk.books() as books:
        return _wave(waves.create(books.ledger, session_id, data.wave_number, time.time()))


@post("/waves/{session_id:str}/start", sync_to_thread=True, status_code=200)
def start_wave(desk: TheDesk, session_id: FromPath[str], data: JSONBody[WaveNumber]) -> Answer:
    with desk.books() as books:
        return _wave(waves.start(books.ledger, session_id, data.wave_number, time.time()))


@post("/waves/{session_id:str}/transition", sync_to_thread=True, status_code=200)
def next_wave(desk: TheDesk, session_id: FromPath[str], data: JSONBody[WaveNumber]) -> Answer:
    """End the running wave and start the next; with open tasks only by `force`."""
    with desk.books() as books:
        return _wave(waves.transition(books.ledger, session_id, time.time(), force=data.force))


@get("/waves/{session_id:str}/current", sync_to_thread=True)
def current_wave(desk: TheDesk, session_id: FromPath[str]) -> Answer:
    with desk.books() as books:
        return _wave(waves.current(books.ledger, session_id))


@get("/waves/{session_id:str}/history", sync_to_thread=True)
def wave_history(desk: TheDesk, session_id: FromPath[str]) -> Answer:
    with desk.books() as books:
        return {"waves": [answers.answer(row) for row in waves.waves(books.ledger, session_id)]}


def _wave(row: dict[str, Any] | None) -> Answer:
    return {"wave": answers.answer(row) if row else None}


def router() -> Router:
    return Router("/api", tags=["agents"], route_handlers=[
        send, all_messages, messages_of, read_message, subscribe, unsubscribe, all_subscriptions,
        block, unblock, check_blocking, blockings_of, drop_blockings, see_agent,
        all_agents, capacity, reset_capacity, track_tokens, create_wave, start_wave, next_wave,
        current_wave, wave_history,
    ])  # fmt: skip
