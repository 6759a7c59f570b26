"""Helpers to fold logs in pieces, and strategies for random logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from hypothesis import strategies as st

from holdfast.state.fold import fold, new_state
from holdfast.state.types import State
from holdfast.transcript.decoder import decode
from holdfast.transcript.types import Event
from tests.unit.transcript_lines import ROOT

SESSION = "3b0f6a52-8d1e-4c57-9a34-5e2f7c1d9b60"
BRIEF = "# Where you were\nholdfast:0123abcd"


def to_json(state: State) -> str:
    """Return the state as it is stored. Comparing the text also compares the order of keys."""
    return json.dumps(state)


texts = st.sampled_from(
    [
        "Never push.",
        "Always run `make test`.",
        "From now on always push.",
        "Let's use SQLite for it.",
        "We tried a lock and it deadlocks.",
        "I decided to use threads here.",
        "Shall I go on?",
        "Done.",
        "```\nwhy?",
        "[Request interrupted by user]",
        "<command-name>/compact</command-name>",
        "/compact",
    ]
) | st.text(max_size=30)
paths = st.sampled_from(["a.py", f"{ROOT}/a.py", "src/b.py", "src", f"{ROOT}/src/c.py"])
commands = st.sampled_from(
    [
        "make test",
        "make test | tail -3",
        "rm a.py",
        "rm -rf src/",
        "mv a.py src/b.py",
        "git mv a.py b.py",
        "git commit -m x",
        "./deploy",
        "ruff check .",
    ]
)
outputs = st.sampled_from(
    ["ok", "1 failed", "E   assert 1", "[fix 3f2c1ab] Subject", "The user doesn't want to proceed"]
)


def generate_splits(length: int, count: int) -> Iterator[list[int]]:
    """Yield random positions at which to split a log, the same in every run."""
    random = Random(length)
    for _ in range(count):
        yield sorted(random.randrange(length + 1) for _ in range(random.randrange(1, 5)))


def split_log(log: list[Any], cuts: list[int]) -> Iterator[list[Any]]:
    for start, end in zip([0, *cuts], [*cuts, len(log)], strict=True):
        yield log[start:end]


def fold_in_pieces(events: list[Event], cuts: list[int]) -> State:
    state = new_state()
    for piece in split_log(events, cuts):
        state = json.loads(to_json(fold(state, piece)))
    return state


def decode_and_fold_in_pieces(lines: list[tuple[int, bytes]], cuts: list[int]) -> State:
    """Decode and fold the lines in pieces, as successive hook processes do."""
    state = new_state()
    for piece in split_log(lines, cuts):
        state = json.loads(to_json(fold(state, decode(piece))))
    return state
