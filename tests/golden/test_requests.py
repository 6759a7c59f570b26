"""Every prompt that a person typed is found, and nothing else is taken for one.

The line numbers were noted by hand, reading ten sessions without looking at the parser.
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
BY_HAND: dict[str, dict[str, list[int]]] = json.loads(
    (Path(__file__).parent / "requests_by_hand.json").read_text()
)


@pytest.mark.parametrize("session", BY_HAND)
def test_requests_are_exactly_what_people_typed(
    session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = CORPUS / f"{session}.jsonl.gz"
    if not path.exists():
        pytest.skip("needs the folder of real sessions beside the checkout")
    monkeypatch.setattr(requests, "MAX_REQUESTS", 10_000)
    state: Any = new_state()
    advance(state, decode(read_lines(str(path))))
    found = {request["line"] for request in state["requests"]}
    noted = BY_HAND[session]
    assert set(noted["prompts"]) <= found
    # A plan that the user has carried out is the goal, though the host wrote it down.
    assert found <= {*noted["prompts"], *noted["commands"], *noted["plans"]}
    assert not found & set(noted["not_a_person"])
