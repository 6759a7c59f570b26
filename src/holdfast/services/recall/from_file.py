"""Read events and state from one transcript file, without a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.errors import UnreadableTranscript
from holdfast.state.fold import advance, new_state
from holdfast.state.types import State
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines
from holdfast.transcript.subagent_logs import merge_subagent_events, strip_sidechain_marks
from holdfast.transcript.types import Event


def load_state(path: str, until_line: int | None = None) -> State:
    """Fold a transcript file and return the state, up to `until_line` if it is given."""
    state = new_state()
    advance(state, merge_subagent_events(read_events(path, until_line), path))
    return state


def load_states_before(path: str, lines: Sequence[int]) -> Iterator[State]:
    """Yield the state before each of these lines, which must be in order.

    It is one state that is folded on: use it before asking for the next. If the log ends before a
    line, nothing is yielded for it.
    """
    state, waiting = new_state(), list(lines)
    batch: list[Event] = []
    for event in merge_subagent_events(read_events(path, lines[-1]), path) if lines else ():
        while waiting and event["line"] >= waiting[0]:
            advance(state, batch)
            batch.clear()
            del waiting[0]
            yield state
        batch.append(event)


def read_events_from(path: str, line: int) -> Iterator[Event]:
    """Yield the events from this line on; the lines before it are not decoded."""
    return decode((number, raw) for number, raw in read_lines(path) if number >= line)


def read_events(path: str, until_line: int | None = None) -> Iterator[Event]:
    """Yield the events of a transcript of a session or of a sub-agent.

    Raises UnreadableTranscript at the end if the file held no message.
    """
    kinds = set[str]()
    for event in decode(strip_sidechain_marks(read_lines(path, until_line))):
        kinds.add(event["kind"])
        yield event
    # The first lines of a session may hold no message yet; in a whole file there must be one.
    if kinds == {"bad_line"} or (not kinds and until_line is None):
        raise UnreadableTranscript(f"{path} holds no message of a session")
