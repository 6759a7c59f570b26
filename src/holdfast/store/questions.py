"""Questions to a database, apart from who asks them: a thread that waits, or an event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, NamedTuple, TypeVar

Rows = list[dict[str, Any]]
T = TypeVar("T")


class Question(NamedTuple):
    """A statement that only reads, with its values by their names."""

    statement: str
    values: dict[str, Any]
    is_ledgers: bool = True
    """Whose tables it reads: on one machine the ledger has a file of its own."""


Ask = Callable[[list[Question]], Awaitable[list[Rows]]]
# Work that says what it has to know, and goes on when it is told.
Asking = Generator[list[Question], list[Rows], T]


async def answered(ask: Ask, work: list[Asking[T]]) -> list[T]:
    """What comes out of each; what all of them have to know is asked for together."""
    done: dict[int, T] = {}
    heard: list[list[Rows] | None] = [None] * len(work)
    while len(done) < len(work):
        wanted: dict[int, list[Question]] = {}
        for number, one in enumerate(work):
            if number in done:
                continue
            try:
                given = heard[number]
                wanted[number] = next(one) if given is None else one.send(given)
            except StopIteration as end:
                done[number] = end.value
        questions = [one for some in wanted.values() for one in some]
        rows = iter(await ask(questions) if questions else ())
        for number, some in wanted.items():
            heard[number] = [next(rows) for _ in some]
    return [done[number] for number in range(len(work))]
