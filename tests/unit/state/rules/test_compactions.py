"""Compactions as different client versions log them, and the briefs delivered after each."""

from __future__ import annotations

import zlib

import pytest

from holdfast.state.types import Compaction
from tests.unit.transcript_lines import (
    AT,
    SUMMARY,
    Line,
    attachment,
    bash,
    boundary,
    call,
    reply,
    state_of,
    summary,
    text,
    usage_line,
    user,
)

BRIEF = "# Where you were\n\nholdfast:0123abcd\n— go on"


def compactions(*lines: Line) -> list[Compaction]:
    return state_of(*lines)["compactions"]


def injected(*parts: str, hook: str = "SessionStart") -> Line:
    return attachment("hook_additional_context", hookEvent=hook, content=list(parts))


def test_a_compaction_keeps_the_token_counts_of_the_host() -> None:
    sizes = {"preTokens": 149_288, "postTokens": 7_595, "durationMs": 67_651}
    lines = [*bash("ls"), boundary(trigger="auto", **sizes), summary()]
    assert compactions(*lines, reply("On it.")) == [
        {
            "id": "",
            "line": 3,
            "at": AT,
            "trigger": "auto",
            "before": 149_288,
            "after": 7_595,
            "duration": 67_651,
            "calls": 1,
            "summary_line": 4,
            "reply_line": 5,
            "deliveries": [],
        }
    ]


def test_the_size_after_a_compaction_is_that_of_the_first_request_if_the_host_states_none() -> None:
    lines = [usage_line(150_000), boundary(), summary(), user("go on")]
    lines += [usage_line(31_000, id="msg_2"), usage_line(40_000, id="msg_3")]
    assert [compaction["after"] for compaction in compactions(*lines)] == [31_000]
    with_text = reply("On it.")
    with_text["message"] |= {"id": "msg_2", "usage": {"input_tokens": 31_000}}
    later = [*lines[:4], with_text, usage_line(40_000, id="msg_3")]
    assert [compaction["after"] for compaction in compactions(*later)] == [31_000]
    without_count = [*lines[:4], reply("On it."), *bash("ls"), usage_line(40_000, id="msg_3")]
    assert [compaction["after"] for compaction in compactions(*without_count)] == [0]


def test_a_compaction_has_the_lines_of_its_boundary_summary_and_first_reply() -> None:
    cases = [
        ([boundary(), summary()], [(1, 2, 0)]),
        ([boundary(), attachment("file"), summary()], [(1, 3, 0)]),
        ([summary()], [(1, 1, 0)]),
        ([user(SUMMARY)], [(1, 1, 0)]),
        ([user([text(SUMMARY)])], [(1, 1, 0)]),
        ([summary(), reply("On it."), summary()], [(1, 1, 2), (3, 3, 0)]),
        ([summary(), summary()], [(1, 1, 0), (2, 2, 0)]),
        ([boundary(), summary(), reply("On it."), boundary(), summary()], [(1, 2, 3), (4, 5, 0)]),
        ([boundary()], [(1, 0, 0)]),
        ([boundary(), boundary(), summary()], [(1, 0, 0), (2, 3, 0)]),
        ([boundary(), summary(), call("Bash", {})], [(1, 2, 3)]),
        ([boundary(), summary(), *bash("ls"), reply("Done.")], [(1, 2, 3)]),
        ([boundary(), summary(), user("<command-name>/compact"), user("go")], [(1, 2, 0)]),
        ([boundary(), reply("kept from before"), summary(), reply("On it.")], [(1, 3, 4)]),
        ([{**boundary(), "isSidechain": True}, {**summary(), "isSidechain": True}], []),
        ([boundary(), summary(), reply("x", isSidechain=True)], [(1, 2, 0)]),
        ([{"type": "summary", "summary": "A title"}], []),
    ]
    for lines, expected in cases:
        assert [
            (compaction["line"], compaction["summary_line"], compaction["reply_line"])
            for compaction in compactions(*lines)
        ] == expected, lines


@pytest.mark.parametrize(
    ("line", "hook"),
    [
        (injected(BRIEF), "SessionStart"),
        (injected("another hook's", f"\n{BRIEF}\n"), "SessionStart"),
        (injected(BRIEF, hook="UserPromptSubmit"), "UserPromptSubmit"),
        (attachment("hook_success", hookEvent="SessionStart", content=BRIEF), "SessionStart"),
    ],
)
def test_a_delivered_brief_is_recognised_by_its_marker(line: Line, hook: str) -> None:
    (compaction,) = compactions(boundary(), summary(), line)
    assert compaction["deliveries"] == [
        {
            "id": "0123abcd",
            "hook": hook,
            "line": 3,
            "length": len(BRIEF),
            "checksum": zlib.crc32(BRIEF.encode()),
        }
    ]


def test_other_hook_output_is_no_delivery() -> None:
    cases = [
        injected("text of another hook"),
        injected("holdfast:0123"),
        injected("holdfast:0123ABCD"),
        injected("holdfast:not-hex-"),
        attachment("hook_success", hookEvent="SessionStart", content="", stdout=BRIEF),
        attachment("file", content=BRIEF),
        user(BRIEF),
        reply(BRIEF),
        {**injected(BRIEF), "isSidechain": True},
    ]
    for line in cases:
        (compaction,) = compactions(boundary(), summary(), line)
        assert compaction["deliveries"] == [], line


def test_a_brief_belongs_to_the_last_compaction_before_it() -> None:
    lines = [injected(BRIEF), boundary(), summary(), injected(BRIEF), reply("On it.")]
    lines += [boundary(), summary(), injected("holdfast:ffff0000"), injected("holdfast:ffff0000")]
    delivered = [
        [brief["id"] for brief in compaction["deliveries"]] for compaction in compactions(*lines)
    ]
    assert delivered == [["0123abcd"], ["ffff0000", "ffff0000"]]


def test_a_brief_with_two_markers_is_one_delivery() -> None:
    (compaction,) = compactions(boundary(), summary(), injected(f"{BRIEF}\nsee holdfast:0123abcd"))
    assert len(compaction["deliveries"]) == 1
