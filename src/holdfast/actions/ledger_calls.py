"""Tool calls of a session as actions of the ledger, from where the last reader stopped: those in
its own log, and those in the logs that its sub-agents keep beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from holdfast.actions.moment import seconds
from holdfast.errors import NotATranscript
from holdfast.ledger.actions import call_id, tool_type
from holdfast.ledger.from_state import agent_source
from holdfast.transcript.agent_files import agent_file, done_by, is_launch, is_name, named_by
from holdfast.transcript.events import Decoder
from holdfast.transcript.model import Event
from holdfast.transcript.reader import Reader

if TYPE_CHECKING:
    from holdfast.store.base import SessionRow

# What of a call's input says what it was about, and how much of it is kept.
PATHS = ("file_path", "notebook_path", "path")
TELLING = ("command", "description", "pattern", "query", "url", "subagent_type")
LONGEST = 1000
# How many calls of the session, and of each sub-agent, may wait for their results.
MOST_OPEN, MOST_OPEN_OF_AGENT = 100, 20
# How many sub-agents' logs are looked at again whenever the session has moved on.
MOST_AGENTS = 60

Memory = dict[str, Any]


def calls(row: SessionRow, memory: Memory, now: float) -> Iterator[dict[str, Any]]:
    """Each call that has come back, as the arguments of `add_action`.

    `memory` is how far the last reader got, and afterwards how far this one did. Reading the same
    lines twice does no harm: a call's id is made of the host's own.
    """
    return Logs(row, memory, now).calls()


class Logs:
    """One pass over the logs of one session."""

    def __init__(self, row: SessionRow, memory: Memory, now: float) -> None:
        self.session = row["id"]
        self.transcript = row["transcript"]
        self.state = row["state"]
        self.memory = memory
        self.now = now

    def calls(self) -> Iterator[dict[str, Any]]:
        """A sub-agent's calls come before the one whose result it came back with."""
        for event in _news(self.transcript, self.memory):
            ident = named_by(event)
            if ident and self._knows(ident, event) and not is_launch(event):
                yield from self._of_agent(ident)
            yield from self._paired(event, self.memory)
        for ident in self._agents:
            yield from self._of_agent(ident)
        _keep_open(self.memory, MOST_OPEN)
        self.memory["agents"] = _latest(self._agents)

    @property
    def _agents(self) -> dict[str, Memory]:
        """The sub-agents whose logs are read, each with how far."""
        agents: dict[str, Memory] = self.memory.setdefault("agents", {})
        return agents

    def _knows(self, ident: str, event: Event) -> bool:
        """Whether the log of a sub-agent is read, from here on if it was not.

        One that is sent back to work goes on with its log, all of which is of its first call.
        """
        agents = self._agents
        if ident not in agents:
            is_told = event["kind"] == "tool_result"
            # What else runs in the background is over in the same words, but has no such log.
            if not (is_name(ident) if is_told else self._file(ident)):
                return False
            call = self._started_by(ident) or (event["id"] if is_told else "")
            agents[ident] = {"call": call, "line": event["line"]}
        agents[ident]["runs"] = is_launch(event)
        return True

    def _started_by(self, ident: str) -> str:
        agents = self.state["agents"]
        return next((agent["call"] for agent in agents if agent["id"] == ident), "")

    def _file(self, ident: str) -> str:
        return agent_file(self.transcript, ident, of_any_size=True)

    def _of_agent(self, ident: str) -> Iterator[dict[str, Any]]:
        """What is new in a sub-agent's log, once the state knows whose it is: its subtask is made
        of that, and an action that was written without one would stay so.
        """
        agent = self._agents[ident]
        path = self._file(ident) if agent["line"] <= self.state["lines"] else ""
        if not path:
            return
        for event in _news(path, agent):
            own = done_by(ident, event, agent["call"], agent["line"])
            yield from self._paired(own, agent)
        _keep_open(agent, MOST_OPEN_OF_AGENT)

    def _paired(self, event: Event, memory: Memory) -> Iterator[dict[str, Any]]:
        """A call waits for its result, which may come when the log is read the next time."""
        waiting = memory.setdefault("waiting", {})
        if event["kind"] == "tool_call":
            waiting[event["id"]] = _begun(self.session, event, self.now)
        elif event["kind"] == "tool_result" and event["id"] in waiting:
            yield _ended(waiting.pop(event["id"]), event, self.now)


def _news(path: str, memory: Memory) -> Iterator[Event]:
    """What a log says beyond where it was left. It may be gone, or go while it is being read."""
    try:
        reader = Reader(path, memory.get("cursor"))
        if reader.restarted:
            for name in ("cursor", "waiting", "agents"):
                memory.pop(name, None)
        if not reader.has_more:
            return
        decoder = Decoder(memory.get("cursor"), reader.earlier())
        yield from decoder.events(reader.lines())
        memory["cursor"] = {**reader.cursor(), **decoder.memory()}
    except NotATranscript:
        return


def _keep_open(memory: Memory, most: int) -> None:
    memory["waiting"] = dict(list(memory.get("waiting", {}).items())[-most:])


def _latest(agents: dict[str, Memory]) -> dict[str, Memory]:
    """Those that are over and were read are forgotten first: hardly any of them goes on."""
    by_need = sorted(agents.items(), key=lambda one: one[1]["runs"] or "cursor" not in one[1])
    return dict(by_need[-MOST_AGENTS:])


def _begun(session: str, event: Event, now: float) -> dict[str, Any]:
    given = event["input"]
    return {
        "ident": call_id(session, event["id"]),
        "session": session,
        "tool_name": event["name"],
        "tool_type": tool_type(event["name"]),
        "given": {
            name: value[:LONGEST]
            for name in (*PATHS, *TELLING)
            if isinstance(value := given.get(name), str)
        },
        "file_paths": _paths(given),
        "metadata": {"line": event["line"], "agent": event.get("agent", "")},
        "parent": agent_source(session, event["parent"]) if event.get("parent") else "",
        "at": seconds(event.get("at", ""), now),
    }


def _paths(given: dict[str, Any]) -> list[str]:
    """The file that a call is about; a patch is about several, of which the first is its path."""
    named = [given.get(name) for name in PATHS]
    changes = given.get("changes")
    if isinstance(changes, list):
        named += [change.get("path") for change in changes if isinstance(change, dict)]
    return list(dict.fromkeys(path for path in named if isinstance(path, str) and path))


def _ended(call: dict[str, Any], event: Event, now: float) -> dict[str, Any]:
    took = max(0.0, seconds(event.get("at", ""), now) - call["at"])
    return {**call, "exit_code": 0 if event["ok"] else 1, "duration_ms": int(took * 1000)}
