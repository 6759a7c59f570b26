"""The requests of the state are the prompts that the user typed, and nothing else.

The expected line numbers were noted by hand in ten sessions, without looking at the parser.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.state.fold import advance, new_state
from holdfast.state.rules import requests
from holdfast.transcript.decoder import decode
from holdfast.transcript.reader import read_lines

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
EXPECTED_LINES: dict[str, dict[str, list[int]]] = json.loads(
    (Path(__file__).parent / "requests_by_hand.json").read_text()
)


@pytest.mark.parametrize("session", EXPECTED_LINES)
def test_requests_are_exactly_the_prompts_that_the_user_typed(
    session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = CORPUS / f"{session}.jsonl.gz"
    if not path.exists():
        pytest.skip("the corpus of real sessions is not here")
    monkeypatch.setattr(requests, "MAX_REQUESTS", 10_000)
    state: Any = new_state()
    advance(state, decode(read_lines(str(path))))
    lines = {request["line"] for request in state["requests"]}
    expected = EXPECTED_LINES[session]
    assert set(expected["prompts"]) <= lines
    # A plan that the user accepted is a request too, although the host wrote the line.
    assert lines <= {*expected["prompts"], *expected["commands"], *expected["plans"]}
    assert not lines & set(expected["not_a_person"])
