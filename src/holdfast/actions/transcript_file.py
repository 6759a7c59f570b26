"""What a transcript file says, without a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.errors import NotATranscript
from holdfast.names.index import new_index, see
from holdfast.names.model import Index
from holdfast.state.fold import advance, new_state
from holdfast.state.model import State
from holdfast.transcript.agent_files import own_lines, with_agents
from holdfast.transcript.events import decode
from holdfast.transcript.model import Event
from holdfast.transcript.reader import whole_file


def state_of_file(path: str, until_line: int | None = None) -> State:
    """The state that a transcript file leads to."""
    return _read(path, until_line, None)


def state_and_names_of_file(path: str, until_line: int | None = None) -> tuple[State, Index]:
    index = new_index()
    return _read(path, until_line, index), index


def events_of_file(path: str, until_line: int | None = None) -> Iterator[Event]:
    """What happened in it, if it is the log of a session, or of a sub-agent."""
    kinds = set[str]()
    for event in decode(own_lines(whole_file(path, until_line))):
        kinds.add(event["kind"])
        yield event
    # The first lines of a session may hold no message yet; a whole file of them is something else.
    if kinds == {"bad_line"} or (not kinds and until_line is None):
        raise NotATranscript(f"{path} holds no message of a session")


def _read(path: str, until_line: int | None, index: Index | None) -> State:
    def noted(events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            if index is not None:
                see(index, event)
            yield event

    state = new_state()
    advance(state, with_agents(noted(events_of_file(path, until_line)), path))
    return state
