"""Reading on from where the last process stopped, whoever that was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import example
from holdfast.actions.catch_up import TRIES, catch_up
from holdfast.errors import StoreUnavailable
from holdfast.hosts.call import HookCall
from holdfast.state.fold import advance, new_state
from holdfast.state.model import State
from holdfast.store.sqlite import SQLiteStore
from holdfast.transcript.events import decode
from holdfast.transcript.reader import whole_file

MADE = example.build("/srv/courier", "s1", 1_760_000_000.0)


@pytest.fixture
def call(tmp_path: Path) -> HookCall:
    path = str(tmp_path / "s1.jsonl")
    return HookCall(host="claude-code", event="Stop", session="s1", transcript=path, cwd="/srv")


class Overtaken(SQLiteStore):
    """A store in which somebody else always gets the write lock first."""

    overtake: Callable[[], None]

    def begin(self) -> None:
        self.overtake()
        super().begin()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Overtaken]:
    with closing(Overtaken(str(tmp_path / "home" / "holdfast.db"))) as opened:
        yield opened


def folded(path: str) -> State:
    state = new_state()
    advance(state, decode(whole_file(path)))
    return state


def saved_by_another(call: HookCall, store: SQLiteStore) -> None:
    with closing(SQLiteStore(store.path)) as other:
        catch_up(other, call, 2.0)
        other.commit()


@pytest.mark.parametrize("known", [False, True])
def test_what_another_process_saved_meanwhile_is_read_on_from(
    call: HookCall, store: Overtaken, known: bool
) -> None:
    """The other process sees some lines and saves first; the rest arrives just after that."""
    parts = [MADE.before[:50], MADE.before[50:120], MADE.before[120:]]
    store.overtake = lambda: None
    if known:
        example.write(call.transcript, parts.pop(0))
        catch_up(store, call, 1.0)
        store.commit()
    example.write(call.transcript, parts.pop(0))

    def overtake() -> None:
        if parts:
            saved_by_another(call, store)
            example.write(call.transcript, parts.pop())

    store.overtake = overtake
    session = catch_up(store, call, 3.0)
    store.commit()
    row = store.session("s1")
    assert row is not None
    assert row["state"] == session.state == folded(call.transcript)


def test_a_session_that_others_keep_saving_is_given_up_in_the_end(
    call: HookCall, store: Overtaken
) -> None:
    lines = iter(MADE.before)
    example.write(call.transcript, [next(lines)])

    def overtake() -> None:
        saved_by_another(call, store)
        example.write(call.transcript, [next(lines)])

    store.overtake = overtake
    with pytest.raises(StoreUnavailable, match="too many processes"):
        catch_up(store, call, 1.0)
    row = store.session("s1")
    assert row is not None
    assert row["revision"] == TRIES, "what the others saved stands"
