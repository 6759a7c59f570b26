"""Logs of other hosts: repeated messages, compactions and malformed lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.transcript.decoder import Decoder
from tests.cases import report_case
from tests.contract.hosts.kit import SAMPLES, SUMMARY, Line
from tests.unit.transcript_lines import events_of, numbered, state_of

OTHER_HOSTS = ["droid", "deepagents", "gemini", "copilot", "cursor"]


def sample_lines(name: str) -> list[Line]:
    return SAMPLES[name].before("/srv/app")


@pytest.mark.parametrize("name", OTHER_HOSTS)
def test_messages_that_only_gemini_writes_twice_are_decoded_once(name: str) -> None:
    lines = sample_lines(name)
    repeated = state_of(*lines, *lines)
    edits = [history.get("edits", 0) for history in repeated["files"].values()]
    assert edits == {"gemini": [1], "deepagents": []}.get(name, [2])


def test_a_resumed_decoder_gives_the_remaining_events() -> None:
    lines = numbered(sample_lines("gemini"))
    first = Decoder()
    before = [*first.events(lines[:3])]
    after = [*Decoder(json.loads(json.dumps(first.cursor()))).events(lines[3:])]
    assert before + after == [*Decoder().events(lines)]


@pytest.mark.parametrize("name", ["gemini", "copilot"])
def test_a_compaction_of_another_host_is_recognised(name: str) -> None:
    compaction, summary = events_of(*SAMPLES[name].boundary())
    assert (compaction["kind"], summary["kind"]) == ("compaction", "summary")
    assert SUMMARY in summary["text"]


def test_a_replaced_history_without_a_snapshot_is_no_compaction() -> None:
    message = {"id": "m1", "type": "user", "content": [{"text": "Go on."}]}
    assert events_of({"$set": {"messages": [message]}}) == []


def test_a_failed_compaction_is_ignored() -> None:
    (line,) = SAMPLES["copilot"].boundary()
    line["data"]["success"] = False
    assert events_of(line) == []


def test_geminis_todos_are_the_plan() -> None:
    todos = [{"description": "Look", "status": "completed"}]
    call = {"id": "c", "name": "write_todos", "status": "success", "args": {"todos": todos}}
    state = state_of({"id": "m", "type": "gemini", "content": "", "toolCalls": [call]})
    assert [(step["text"], step["status"]) for step in state["plan"]] == [("Look", "completed")]


WRONG_VALUES: list[Any] = [None, 7, "text", [], {}, [7], [{"text": 7}], {"content": 7}, True]


def malformed_lines(line: Line, wrong: Any) -> Iterator[Line]:
    """The line with a wrong value at each key, and at each key of its objects."""
    for key, value in line.items():
        yield {**line, key: wrong}
        if isinstance(value, dict):
            for inner_key in value:
                yield {**line, key: {**value, inner_key: wrong}}


def test_malformed_lines_never_raise() -> None:
    for wrong in WRONG_VALUES:
        for name in OTHER_HOSTS:
            sample = SAMPLES[name]
            with report_case(wrong, name):
                for line in [*sample_lines(name), *sample.boundary(), *sample.after()]:
                    for malformed in malformed_lines(line, wrong):
                        assert state_of(malformed)["bad_lines"] == []
