"""What a transcript file says, without a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.errors import NotATranscript
from holdfast.names.index import new_index, see
from holdfast.names.model import Index
from holdfast.state.fold import advance, new_state
from holdfast.state.model import State
from holdfast.transcript.agent_files import with_agents
from holdfast.transcript.events import decode
from holdfast.transcript.model import Event
from holdfast.transcript.reader import whole_file


def state_of_file(path: str, until_line: int | None = None) -> State:
    """The state that a transcript file leads to."""
    return _read(path, until_line, None)


def state_and_names_of_file(path: str, until_line: int | None = None) -> tuple[State, Index]:
    index = new_index()
    return _read(path, until_line, index), index


def _read(path: str, until_line: int | None, index: Index | None) -> State:
    state, kinds = new_state(), set[str]()

    def noted(events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            kinds.add(event["kind"])
            if index is not None:
                see(index, event)
            yield event

    advance(state, with_agents(noted(decode(whole_file(path, until_line))), path))
    # The first lines of a session may hold no message yet; a whole file of them is something else.
    if kinds == {"bad_line"} or (not kinds and until_line is None):
        raise NotATranscript(f"{path} holds no message of a session")
    return state
