"""Logs of other hosts: repeated messages, compactions, and lines of any shape."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.transcript.decoder import Decoder
from tests.cases import case
from tests.contract.hosts.kit import SAMPLES, SUMMARY, Line
from tests.unit.transcript_lines import events_of, numbered, state_of

FOREIGN = ["droid", "deepagents", "gemini", "copilot", "cursor"]


def story(name: str) -> list[Line]:
    return SAMPLES[name].before("/srv/app")


@pytest.mark.parametrize("name", FOREIGN)
def test_a_rewritten_gemini_message_is_decoded_once(name: str) -> None:
    lines = story(name)
    again = state_of(*lines, *lines)
    edits = [trail.get("edits", 0) for trail in again["files"].values()]
    assert edits == {"gemini": [1], "deepagents": []}.get(name, [2])


def test_a_decoder_that_resumes_skips_what_came_before() -> None:
    lines = numbered(story("gemini"))
    first = Decoder()
    before = [*first.events(lines[:3])]
    after = [*Decoder(json.loads(json.dumps(first.cursor()))).events(lines[3:])]
    assert before + after == [*Decoder().events(lines)]


@pytest.mark.parametrize("name", ["gemini", "copilot"])
def test_a_compaction_of_another_host_is_recognised(name: str) -> None:
    made, summary = events_of(*SAMPLES[name].boundary())
    assert (made["kind"], summary["kind"]) == ("compaction", "summary")
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


WRONG: list[Any] = [None, 7, "text", [], {}, [7], [{"text": 7}], {"content": 7}, True]


def test_a_line_of_any_shape_never_raises() -> None:
    for wrong in WRONG:
        for name in FOREIGN:
            with case(wrong, name):
                for line in [*story(name), *SAMPLES[name].boundary(), *SAMPLES[name].after()]:
                    for key in line:
                        assert state_of({**line, key: wrong})["bad_lines"] == []
                        inner = line[key]
                        if isinstance(inner, dict):
                            for deep in inner:
                                assert (
                                    state_of({**line, key: {**inner, deep: wrong}})["bad_lines"]
                                    == []
                                )
