"""What is written within one turn of the loop leaves at once, and nothing is held for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing

import pytest

pytest.importorskip("uvicorn")

from holdfast.surfaces.api.gathered import Gathered


class Wire:
    """A transport that notes what it is given."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.sent.append(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def get_extra_info(self, name: str) -> str:
        return f"the {name}"


def sent(*steps: Callable[[Gathered], object]) -> list[bytes]:
    """What leaves when these follow each other, each in a turn of its own."""
    wire = Wire()

    async def work() -> None:
        gathered = Gathered(wire, asyncio.get_running_loop())  # type: ignore[arg-type]
        for step in steps:
            step(gathered)
            await asyncio.sleep(0)

    asyncio.run(work())
    return wire.sent


def answer(gathered: Gathered) -> None:
    gathered.write(b"head ")
    gathered.write(b"body ")


def test_a_head_and_its_body_are_one() -> None:
    assert sent(answer, answer) == [b"head body ", b"head body "]


def test_an_answer_without_a_body_is_sent_too() -> None:
    assert sent(lambda one: one.write(b"head ")) == [b"head "]
    assert sent(lambda one: one.write(b"head "), answer) == [b"head ", b"head body "]


def test_an_empty_body_is_nothing_to_wait_for() -> None:
    assert sent(lambda one: (one.write(b"head "), one.write(b""))) == [b"head "]
    assert sent(lambda one: one.write(b"")) == []


def test_what_was_written_leaves_before_the_end() -> None:
    assert sent(lambda one: (one.write(b"last words"), one.close())) == [b"last words"]


def test_nothing_is_sent_to_whoever_is_gone() -> None:
    assert sent(lambda one: (one.write(b"head "), one._transport.close())) == []


def test_everything_else_is_the_transport_s_own() -> None:
    with closing(asyncio.new_event_loop()) as loop:
        gathered = Gathered(Wire(), loop)  # type: ignore[arg-type]
        assert gathered.get_extra_info("peer") == "the peer"
