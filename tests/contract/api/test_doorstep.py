"""What is answered on the doorstep is answered as if it had been let in, and in its order."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvicorn
from uvicorn.server import ServerState

from holdfast import settings
from holdfast.errors import StoreUnavailable
from holdfast.ledger import tables
from holdfast.surfaces.api.app import guarded
from holdfast.surfaces.api.desk import Desk
from holdfast.surfaces.api.doorstep import Doorstep
from holdfast.surfaces.api.gathered import LONGEST_HEAD
from holdfast.surfaces.api.local_desk import LocalDesk
from holdfast.surfaces.api.quick import SMALL, Quick
from holdfast.surfaces.api.receiving import Receiving
from tests.contract.api.test_quick import ACTIONS_SENT, RESTORES, SAVES
from tests.unit.surfaces.wire import Remote

T = TypeVar("T")
ACTIONS, SAVE, RESTORE = "/api/actions", "/api/compact/save", "/api/compact/restore"
# Means nothing, except that somebody has to take a closer look.
UNUSUAL = "Content-Encoding: identity"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Desk]:
    made = LocalDesk(settings.load({"HOLDFAST_HOME": str(tmp_path)}))
    yield made
    made.close()


class Client:
    """A connection, and what its other end sees."""

    def __init__(self, desk: Desk, **guard: Any) -> None:
        served = guarded(desk, **guard)
        made = partial(Receiving, doorstep=served.doorstep)
        config = uvicorn.Config(served.app, http=made, lifespan="off", log_config=None)  # type: ignore[arg-type]
        config.load()
        self.state = ServerState()
        self.state.default_headers = [(b"date", b"today")]
        self.remote = Remote()
        self.protocol = Receiving(
            doorstep=served.doorstep, config=config, server_state=self.state, app_state={},
            _loop=asyncio.get_running_loop(),
        )  # fmt: skip
        self.protocol.connection_made(self.remote)

    @property
    def is_let_in(self) -> bool:
        """Whether the HTTP server has seen any request of this connection, or refused to."""
        return self.protocol.cycle is not None or self.remote.closed

    def say(self, data: bytes) -> None:
        self.protocol.data_received(data)

    async def hear(self, answers: int = 1) -> list[tuple[bytes, Any]]:
        """The next answers: head and body."""
        while len(found := _answers(b"".join(self.remote.sent))) < answers:
            await asyncio.sleep(0.001)
        return found

    async def ask(self, data: bytes) -> tuple[bytes, Any]:
        self.say(data)
        return (await self.hear())[0]

    async def end(self) -> None:
        self.protocol.connection_lost(None)
        await asyncio.gather(*self.state.tasks, return_exceptions=True)


def _answers(data: bytes) -> list[tuple[bytes, Any]]:
    found = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        told = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        # Who is refused is told so to the end of the connection.
        length = int(told or len(rest))
        found.append((head, rest[:length]))
        data = rest[length:]
    return found


@asynccontextmanager
async def connected(desk: Desk, **guard: Any) -> AsyncIterator[Client]:
    client = Client(desk, **guard)
    try:
        yield client
    finally:
        await client.end()


def run(desk: Desk, work: Callable[[Client], Awaitable[T]], **guard: Any) -> T:
    async def whole() -> T:
        async with asyncio.timeout(60), connected(desk, **guard) as client:
            return await work(client)

    return asyncio.run(whole())


def post(path: str, body: Any, *more: str, host: str = "127.0.0.1:3847") -> bytes:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = (
        f"POST {path} HTTP/1.1", f"Host: {host}", "Content-Type: application/json",
        f"Content-Length: {len(sent)}", *more,
    )  # fmt: skip
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + sent


def action(**more: Any) -> bytes:
    return post(ACTIONS, {"tool_name": "Read", **more})


def names(desk: Desk) -> list[str]:
    with desk.books() as books:
        return [row["tool_name"] for row in books.ledger.rows(tables.ACTIONS)]


def alike(answer: tuple[bytes, Any]) -> tuple[list[bytes], Any]:
    """Without what differs from one request to the next, whichever way it goes."""
    told = json.loads(answer[1])
    for name in ("id", "created_at", "updated_at", "saved_at"):
        if isinstance(told, dict) and name in told:
            told[name] = len(told[name])
    return sorted(answer[0].lower().split(b"\r\n")), told


@pytest.mark.parametrize(
    ("path", "sent"),
    [(ACTIONS, one) for one in ACTIONS_SENT]
    + [(SAVE, one) for one in SAVES]
    + [(RESTORE, one) for one in RESTORES],
)
def test_the_answer_is_the_same(here: Desk, path: str, sent: Any) -> None:
    on_the_doorstep = run(here, lambda one: one.ask(post(path, sent)))
    within = run(here, lambda one: one.ask(post(path, sent, UNUSUAL)))
    assert alike(on_the_doorstep) == alike(within)


def test_what_is_plain_is_not_let_in(here: Desk) -> None:
    async def work(client: Client) -> list[bytes]:
        health = b"GET /health HTTP/1.1\r\nhost: localhost\r\nConnection: keep-alive\r\n\r\n"
        sent = [
            action(),
            post(SAVE, {"session_id": "s"}),
            post(RESTORE, {"session_id": "s"}),
            health,
        ]
        for number, one in enumerate(sent, 1):
            client.say(one)
            await client.hear(number)
        assert not client.is_let_in
        assert client.state.total_requests == 4
        return [head.partition(b"\r\n")[0] for head, _ in await client.hear(4)]

    found = run(here, work)
    assert found == [b"HTTP/1.1 201 Created", *[b"HTTP/1.1 200 OK"] * 3]


PLAIN = action()
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n%b\r\n\r\n"
OTHER_PROTOCOL = HEALTH % b"Connection: Upgrade\r\nUpgrade: h2c"
LET_IN = {
    "another protocol": OTHER_PROTOCOL,
    "another protocol, with a body": post(
        ACTIONS, {"tool_name": "x"}, "Connection: Upgrade", "Upgrade: h2c"
    ),
    "a last question": HEALTH % b"Connection: close",
    "a last question among others": HEALTH % b"Connection: keep-alive, close",
    "a last question without a body": HEALTH % b"Content-Length: 0\r\nConnection: Close",
    "a token": post(ACTIONS, {"tool_name": "x"}, "Authorization: Bearer hft_nobody"),
    "a cookie": post(ACTIONS, {"tool_name": "x"}, "Cookie: holdfast_page_3847=1"),
    "a page of ours": post(ACTIONS, {"tool_name": "x"}, "Origin: http://127.0.0.1:3847"),
    "a page of somebody's": post(ACTIONS, {"tool_name": "x"}, "Origin: http://evil.example"),
    "a page that hides": post(ACTIONS, {"tool_name": "x"}, "Sec-Fetch-Site: cross-site"),
    "another host": post(ACTIONS, {"tool_name": "x"}, host="evil.example"),
    "two hosts": post(ACTIONS, {"tool_name": "x"}, "Host: evil.example"),
    "two lengths": post(ACTIONS, {"tool_name": "x"}, "Content-Length: 17"),
    "a form": PLAIN.replace(b"application/json", b"text/plain"),
    "an older HTTP": PLAIN.replace(b"HTTP/1.1", b"HTTP/1.0"),
    "a last request": post(ACTIONS, {"tool_name": "x"}, "Connection: close"),
    "a query": PLAIN.replace(ACTIONS.encode(), b"/api/actions?x=1"),
    "another path": PLAIN.replace(ACTIONS.encode(), b"/api/subtasks"),
    "two slashes": PLAIN.replace(ACTIONS.encode(), b"//api/actions"),
    "another method": PLAIN.replace(b"POST ", b"PUT ", 1),
    "no JSON": post(ACTIONS, b"{"),
    "a long body": action(input="x" * SMALL),
    "a long head": post(ACTIONS, {"tool_name": "x"}, f"X-Y: {'z' * 2000}"),
    "an expectation": post(ACTIONS, {"tool_name": "x"}, "Expect: something"),
    "other codings": post(ACTIONS, {"tool_name": "x"}, UNUSUAL),
}


@pytest.mark.parametrize("data", LET_IN.values(), ids=LET_IN)
def test_whatever_is_not_plain_is_let_in(here: Desk, data: bytes) -> None:
    async def work(client: Client) -> bool:
        await client.ask(data)
        return client.is_let_in

    assert run(here, work)


def test_who_asks_for_the_last_time_is_told_so_and_let_go(here: Desk) -> None:
    async def work(client: Client) -> bytes:
        head, _ = await client.ask(HEALTH % b"Connection: close")
        while not client.remote.closed:
            await asyncio.sleep(0.001)
        return head

    assert b"connection: close" in run(here, work)


def test_who_wants_another_protocol_is_answered_in_this_one_also_after_another(here: Desk) -> None:
    async def work(client: Client) -> list[bytes]:
        client.say(action())
        client.say(OTHER_PROTOCOL)
        client.say(HEALTH % b"X: y")
        return [head.partition(b"\r\n")[0] for head, _ in await client.hear(3)]

    assert run(here, work) == [b"HTTP/1.1 201 Created", *[b"HTTP/1.1 200 OK"] * 2]


def test_lines_without_words_between_requests_are_not_a_head_that_grows(here: Desk) -> None:
    async def work(client: Client) -> int:
        for number in range(1, 4):
            client.say(action())
            await client.hear(number)
            client.say(b"\r\n" * (LONGEST_HEAD // 5))
        return client.protocol._head

    assert run(here, work) < LONGEST_HEAD // 2


def test_parts_that_add_up_are_let_in(here: Desk) -> None:
    async def work(client: Client) -> bool:
        chunked = (
            b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % 20 + b'{"tool_name":"Read"}\r\n0\r\n\r\n'
        )
        head = PLAIN.partition(b"Content-Length")[0]
        answer = await client.ask(head + chunked)
        assert answer[0].startswith(b"HTTP/1.1 201")
        return client.is_let_in

    assert run(here, work)


def test_who_needs_a_token_gets_nothing_without(here: Desk) -> None:
    async def work(client: Client) -> bytes:
        return (await client.ask(action()))[0]

    assert run(here, work, token_needed=True).startswith(b"HTTP/1.1 401")
    assert names(here) == []


@pytest.mark.parametrize("size", [1, 7, 60, 100, len(PLAIN) - 1, len(PLAIN) + 5])
def test_in_whichever_pieces_requests_come_all_are_answered_in_order(here: Desk, size: int) -> None:
    sent = [f"Read{number}" for number in range(6)]
    data = b"".join(action(tool_name=name) for name in sent)

    async def work(client: Client) -> list[str]:
        for first in range(0, len(data), size):
            client.say(data[first : first + size])
            await asyncio.sleep(0)
        return [json.loads(body)["tool_name"] for _, body in await client.hear(len(sent))]

    assert run(here, work) == sent
    assert sorted(names(here)) == sent


def test_what_only_looks_like_a_request_is_part_of_the_one_before(here: Desk) -> None:
    """Else whoever can make a client send a header could make it send a request."""
    hidden = action(tool_name="hidden")

    async def work(client: Client) -> None:
        # The end of one request, and the beginning of the next with it.
        one = action(tool_name="one")
        client.say(one[:-5])
        client.say(one[-5:] + b"POST /api/actions HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
        await client.hear(1)
        client.say(hidden)
        await asyncio.sleep(0.05)

    run(here, work)
    assert "hidden" not in names(here)


def test_who_does_not_wait_is_heard_after_the_answer(
    here: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, answer = asyncio.Event(), Doorstep.answer

    async def slowly(self: Doorstep, *asked: Any) -> Any:
        await go.wait()
        return await answer(self, *asked)

    monkeypatch.setattr(Doorstep, "answer", slowly)

    async def work(client: Client) -> list[str]:
        client.say(action(tool_name="a"))
        client.say(action(tool_name="b") + action(tool_name="c"))
        assert not client.remote.is_heard
        client.say(action(tool_name="d"))
        go.set()
        told = await client.hear(4)
        assert client.remote.is_heard
        return [json.loads(body)["tool_name"] for _, body in told]

    assert run(here, work) == ["a", "b", "c", "d"]


def test_who_takes_no_answers_is_asked_nothing_more(here: Desk) -> None:
    async def work(client: Client) -> None:
        client.protocol.pause_writing()
        client.say(action(tool_name="a"))
        await client.hear(1)
        client.say(action(tool_name="b"))
        await asyncio.sleep(0.05)
        assert len(await client.hear(1)) == 1
        client.protocol.resume_writing()
        assert len(await client.hear(2)) == 2

    run(here, work)


def test_a_server_that_stops_answers_what_was_asked(here: Desk) -> None:
    async def work(client: Client) -> bytes:
        client.say(action())
        client.protocol.shutdown()
        assert not client.remote.closed
        ((head, _),) = await client.hear()
        await asyncio.sleep(0)
        assert client.remote.closed
        return head

    assert b"connection: close" in run(here, work)
    assert names(here) == ["Read"]


def test_also_if_somebody_has_to_take_a_closer_look(here: Desk) -> None:
    async def work(client: Client) -> bytes:
        client.say(post(ACTIONS, b"{"))
        client.protocol.shutdown()
        ((head, _),) = await client.hear()
        while not client.remote.closed:
            await asyncio.sleep(0.001)
        return head

    found = run(here, work)
    assert found.startswith(b"HTTP/1.1 400")
    assert b"connection: close" in found.lower()


def test_a_server_that_stops_leaves_whoever_asks_nothing(here: Desk) -> None:
    async def work(client: Client) -> bool:
        await client.ask(action())
        client.protocol.shutdown()
        return client.remote.closed

    assert run(here, work)


def test_nothing_is_written_to_whoever_is_gone(here: Desk) -> None:
    async def work(client: Client) -> None:
        client.say(action())
        client.remote.close()
        await asyncio.gather(*client.state.tasks)
        # A transport that is closed would complain.
        assert client.remote.sent == []

    run(here, work)
    assert names(here) == ["Read"], "but what was asked is done"


def test_whoever_says_nothing_for_long_is_let_go(here: Desk) -> None:
    async def work(client: Client) -> bool:
        client.protocol.timeout_keep_alive = 0.01  # type: ignore[assignment]
        await client.ask(action())
        while not client.remote.closed:
            await asyncio.sleep(0.001)
        return True

    assert run(here, work)


def test_what_fails_is_told_and_the_next_one_is_heard(
    here: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(self: Quick, body: bytes) -> Any:
        async def fails() -> Any:
            raise StoreUnavailable("the disk is full")

        return fails()

    monkeypatch.setattr(Quick, "_act", failing)

    async def work(client: Client) -> bytes:
        head, body = await client.ask(action())
        assert json.loads(body)["status"] == 503
        client.say(post(SAVE, {"session_id": "s"}))
        assert (await client.hear(2))[1][0].startswith(b"HTTP/1.1 200")
        return head

    assert b"retry-after:" in run(here, work)


def test_a_mistake_of_ours_is_told_as_one_and_ends_the_connection(
    here: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(*_: Any) -> Any:
        raise AssertionError("ours")

    monkeypatch.setattr(Doorstep, "answer", broken)

    async def work(client: Client) -> bytes:
        head, body = await client.ask(action())
        assert json.loads(body)["status"] == 500
        assert client.remote.closed
        return head

    found = run(here, work)
    assert found.startswith(b"HTTP/1.1 500")
    assert b"connection: close" in found
    assert "AssertionError: ours" in capsys.readouterr().err


def test_what_takes_longer_than_a_stopping_server_waits_is_told_to_come_back(
    here: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def endless(*_: Any) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(Doorstep, "answer", endless)

    async def work(client: Client) -> bytes:
        client.say(action())
        await asyncio.sleep(0)
        for task in client.state.tasks:
            task.cancel()
        ((head, _),) = await client.hear()
        assert client.remote.closed
        return head

    found = run(here, work)
    assert found.startswith(b"HTTP/1.1 503")
    assert b"retry-after" in found
    assert b"connection: close" in found


def test_what_goes_wrong_behind_an_answer_leaves_nobody_waiting(
    here: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(client: Client) -> bool:
        client.say(action())
        client.say(action())
        (task,) = client.state.tasks

        def broken(data: bytes) -> None:
            raise AssertionError("ours")

        monkeypatch.setattr(client.protocol, "data_received", broken)
        with pytest.raises(AssertionError, match="ours"):
            await task
        return client.remote.closed

    assert run(here, work)


def test_long_answers_are_packed_for_who_takes_that(here: Desk) -> None:
    long = {"session_id": "s", "context_summary": "word " * 500}

    async def work(client: Client, *more: str) -> tuple[bytes, Any]:
        await client.ask(post(SAVE, long))
        client.say(post(RESTORE, {"session_id": "s"}, *more))
        assert not client.is_let_in
        return (await client.hear(2))[1]

    plain = run(here, work)
    head, body = run(here, lambda one: work(one, "Accept-Encoding: br, gzip"))
    assert b"content-encoding" not in plain[0]
    assert b"content-encoding: gzip" in head
    assert b"vary: Accept-Encoding" in head
    assert json.loads(gzip.decompress(body)) == json.loads(plain[1])
    refused = run(here, lambda one: work(one, "Accept-Encoding: gzip;q=0"))
    assert refused[1] == plain[1]
