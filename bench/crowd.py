"""Agents that share a ledger: what each of them asks for, and how often."""

from __future__ import annotations

import heapq
import random
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from bench.agent_requests import SNAPSHOT
from bench.load import PATIENCE, Answers, Caller, request

# Seconds from one to the next, for one agent at work. A tool call takes a few seconds, a context
# fills in a quarter of an hour.
PACE = {
    "action": 5.0, "read messages": 15.0, "heartbeat": 30.0, "send a message": 60.0, "save": 900.0,
    "restore": 900.0,
}  # fmt: skip
AGENTS_IN_A_SESSION = 10
Found = dict[str, Answers]


class Crowd:
    """So many agents, each with a connection of its own."""

    def __init__(self, port: int, agents: int) -> None:
        self._port = port
        self._agents = agents
        self._numbers = count()
        self._chance = random.Random(1)
        self._asked: dict[int, str] = {}
        self._waiting: dict[int, list[tuple[float, str]]] = {}

    def at_their_pace(self, seconds: float) -> Found:
        """Each request has its time; how late its answer is counts from then, in any case."""
        with self._connected() as (callers, ready):
            found = {kind: Answers() for kind in PACE}
            started = time.perf_counter()
            due = [
                (started + self._chance.random() * every, agent, kind)
                for agent in callers
                for kind, every in PACE.items()
            ]
            heapq.heapify(due)
            while (now := time.perf_counter()) < started + seconds:
                while due[0][0] <= now:
                    at, agent, kind = heapq.heappop(due)
                    self._ask(callers, agent, kind, at)
                    later = PACE[kind] * (0.5 + self._chance.random())
                    heapq.heappush(due, (at + later, agent, kind))
                self._listen(callers, ready, found, due[0][0] - time.perf_counter())
            return _within(found, now - started)

    def as_fast_as_they_can(self, seconds: float) -> Found:
        """The same mixture, each next request as soon as the last is answered."""
        kinds, weights = list(PACE), [1 / every for every in PACE.values()]
        with self._connected() as (callers, ready):
            found = {kind: Answers() for kind in PACE}
            started = time.perf_counter()
            free = list(callers)
            while (now := time.perf_counter()) < started + seconds:
                for agent in free:
                    kind = self._chance.choices(kinds, weights)[0]
                    self._ask(callers, agent, kind, time.perf_counter())
                free = self._listen(callers, ready, found, PATIENCE)
            return _within(found, now - started)

    @contextmanager
    def _connected(self) -> Iterator[tuple[dict[int, Caller], select.epoll]]:
        self._asked, self._waiting = {}, {}
        with select.epoll() as ready:
            callers = {
                one.number: one for one in (Caller(self._port, ready) for _ in range(self._agents))
            }
            try:
                # A loop that is busy accepts one connection a turn: all are there before it is.
                for one in callers.values():
                    one.send(request(self._port, "GET", "/health"))
                    while not one.heard(Answers()):
                        pass
                yield callers, ready
            finally:
                for one in callers.values():
                    one.close()

    def _ask(self, callers: dict[int, Caller], agent: int, kind: str, at: float) -> None:
        if agent in self._asked:
            self._waiting.setdefault(agent, []).append((at, kind))
            return
        self._asked[agent] = kind
        callers[agent].send(self._request(agent, kind), at)

    def _listen(
        self, callers: dict[int, Caller], ready: select.epoll, found: Found, seconds: float
    ) -> list[int]:
        """Take in what there is; who has nothing on its way any more."""
        free = []
        for agent, _ in ready.poll(max(0.0, seconds)):
            if callers[agent].heard(found[self._asked[agent]]):
                del self._asked[agent]
                if late := self._waiting.get(agent):
                    at, kind = late.pop(0)
                    self._ask(callers, agent, kind, at)
                else:
                    free.append(agent)
        return free

    def _request(self, agent: int, kind: str) -> bytes:
        name, session = f"agent-{agent}", f"session-{agent // AGENTS_IN_A_SESSION}"
        number = next(self._numbers)
        if kind == "read messages":
            return request(self._port, "GET", f"/api/messages/{name}?mark_read=true")
        path, body = {
            "action": ("/api/actions", {
                "tool_name": "Write", "session_id": session, "exit_code": 0,
                "file_paths": [f"/app/src/module_{number}.php"],
            }),
            "heartbeat": ("/api/agents", {
                "agent_id": name, "session_id": session, "current_usage": number % 200_000,
            }),
            "send a message": ("/api/messages", {
                "from_agent_id": name, "topic": "progress", "payload": {"done": number},
                "to_agent_id": f"agent-{self._chance.randrange(self._agents)}",
            }),
            "save": ("/api/compact/save", {**SNAPSHOT, "session_id": session, "number": number}),
            "restore": ("/api/compact/restore", {"session_id": session, "agent_id": name}),
        }[kind]  # fmt: skip
        return request(self._port, "POST", path, body)


def _within(found: Found, seconds: float) -> Found:
    for answers in found.values():
        answers.seconds = seconds
    return found
