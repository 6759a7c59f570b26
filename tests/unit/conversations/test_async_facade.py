"""The asynchronous methods run the synchronous ones in a thread, with the same signatures."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any

import pytest

from holdfast import AsyncSessionManager
from holdfast.conversations import events
from holdfast.conversations.async_facade import AsyncConversation
from holdfast.conversations.conversation import Conversation
from holdfast.conversations.manager import SessionManager
from holdfast.errors import NotFound
from tests.unit.conversations.scripted_summarizer import LIMIT_TOKENS, ScriptedSummarizer, fill

from .conftest import Make


def public_methods(kind: type) -> dict[str, Any]:
    return {
        name: member
        for name, member in vars(kind).items()
        if not name.startswith("_") and callable(member)
    }


@pytest.mark.parametrize(("kind", "facade"), [
    (Conversation, AsyncConversation), (SessionManager, AsyncSessionManager),
])  # fmt: skip
def test_every_method_has_an_asynchronous_form_with_the_same_parameters(
    kind: type, facade: type
) -> None:
    own = public_methods(facade)
    assert own.keys() == public_methods(kind).keys()
    for name, method in public_methods(kind).items():
        assert inspect.signature(own[name]).parameters == inspect.signature(method).parameters, name
        assert inspect.iscoroutinefunction(own[name]) == (name not in ("on", "events")), name


def test_an_agent_can_be_written_with_an_event_loop(manager: Make) -> None:
    async def run() -> None:
        async with AsyncSessionManager(manager(limit=LIMIT_TOKENS)) as opened:
            chat = await opened.get_or_create("s1", feature="auth")
            assert await chat.add_message("user", "Never push. Fix the login.") == 1
            body = await chat.build_request(user_prompt="What now?")
            assert body["messages"][0]["role"] == "user"
            found = await opened.get("s1", "auth")
            assert [message.ordinal for message in await found.messages()] == [1]
            assert await opened.sessions() == [("s1", "auth")]
            with pytest.raises(NotFound):
                await opened.get("s2")

    asyncio.run(run())


def test_the_event_loop_goes_on_while_a_model_summarizes(manager: Make) -> None:
    has_started, may_end = threading.Event(), threading.Event()

    def wait_in_thread() -> None:
        has_started.set()
        assert may_end.wait(30)

    summarizer = ScriptedSummarizer(during_call=wait_in_thread)
    opened = manager(limit=LIMIT_TOKENS, summarizer=summarizer)
    fill(opened.get_or_create("s1"), LIMIT_TOKENS)

    async def run() -> list[str]:
        facade = AsyncSessionManager(opened)
        chat = await facade.get_or_create("s1")
        stream = facade.events()
        compaction = asyncio.create_task(chat.force_compact())
        kinds = [(await anext(stream)).kind]
        await asyncio.to_thread(has_started.wait, 30)
        # The summarizer has not returned, and the event loop still serves other calls.
        assert await chat.add_message("user", "one more thing") > 0
        may_end.set()
        assert (await compaction).made_by == "scripted"
        stream.close()
        return kinds + [event.kind async for event in stream]

    assert asyncio.run(run()) == [events.START, events.PROGRESS, events.COMPLETE]
