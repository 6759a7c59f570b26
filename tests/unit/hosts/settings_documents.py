"""Strategies for settings files with any values and in any layout."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from holdfast.hosts.claude_code import EVENTS

OUR_EVENTS = [event for event, _ in EVENTS]


@dataclass(frozen=True)
class Raw:
    """A JSON value or key in exactly this spelling."""

    text: str


class Pairs(list[tuple[Any, Any]]):
    """A JSON object whose keys may be repeated."""


@dataclass(frozen=True)
class Style:
    """A layout in which a document is written."""

    indent: str | None
    newline: str
    comma: str
    colon: str
    empty: str
    ascii: bool

    def write(self, value: Any, depth: int = 0) -> str:
        if isinstance(value, Pairs):
            members = [
                self.write_scalar(key) + self.colon + self.write(member, depth + 1)
                for key, member in value
            ]
            return self.write_container("{", members, "}", depth)
        if isinstance(value, list):
            return self.write_container(
                "[", [self.write(part, depth + 1) for part in value], "]", depth
            )
        return self.write_scalar(value)

    def write_scalar(self, value: Any) -> str:
        if isinstance(value, Raw):
            return value.text
        return json.dumps(value, ensure_ascii=self.ascii)

    def write_container(self, opening: str, parts: list[str], closing: str, depth: int) -> str:
        if not parts:
            return opening + self.empty + closing
        if self.indent is None:
            return opening + self.comma.join(parts) + closing
        inner = self.newline + self.indent * (depth + 1)
        body = ("," + inner).join(parts)
        return opening + inner + body + self.newline + self.indent * depth + closing


styles = st.builds(
    Style,
    indent=st.sampled_from(["  ", "    ", "\t", "", None]),
    newline=st.sampled_from(["\n", "\r\n"]),
    comma=st.sampled_from([",", ", ", " ,\t", ",\n"]),
    colon=st.sampled_from([": ", ":", " :\n "]),
    empty=st.sampled_from(["", " ", "\n", "\r\n  "]),
    ascii=st.booleans(),
)
spellings = st.sampled_from(
    ['"\\u00e9\\ud83d\\ude00"', '"\\ud83d"', '"\\/"', "1e400", "-0.0", "1E2"]
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ['{"hooks": []}', "[", "}", '"', "\\", "é 😀", "// no comment", "holdfast"]
)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
) | spellings.map(Raw)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(st.tuples(texts, inner), max_size=3).map(Pairs)
    ),
    max_leaves=6,
)
other_hooks = st.lists(
    st.sampled_from(
        [
            Pairs([("type", "command"), ("command", "echo 'other tool'"), ("timeout", 5)]),
            Pairs([("command", "notify-send {}"), ("type", "command")]),
            "not a hook",
        ]
    ),
    max_size=2,
)
other_entries = st.lists(
    st.builds(lambda hooks: Pairs([("matcher", "Bash"), ("hooks", hooks)]), other_hooks)
    | st.builds(lambda hooks: Pairs([("hooks", hooks)]), other_hooks)
    | st.sampled_from([Pairs(), "not an entry", Raw("null")]),
    max_size=3,
)
event_names = st.sampled_from([*OUR_EVENTS, "PreToolUse", "Notification", Raw('"Sto\\u0070"')])
hooks = st.lists(st.tuples(event_names, other_entries), max_size=4).map(Pairs)
# The last of repeated keys is used, so the value of the first may be anything.
hooks_members = st.tuples(
    st.lists(st.tuples(st.just("hooks"), values), max_size=1),
    st.lists(st.tuples(st.sampled_from(["hooks", Raw('"hook\\u0073"')]), hooks), max_size=1),
).map(lambda members: [*(members[0] if members[1] else []), *members[1]])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """The text of a settings file with an object, with or without hooks of other programs."""
    members = draw(
        st.lists(st.tuples(texts.filter(lambda key: key != "hooks"), values), max_size=3)
    )
    position = draw(st.integers(0, len(members)))
    hook_members = draw(hooks_members)
    text = draw(styles).write(Pairs([*members[:position], *hook_members, *members[position:]]))
    lead = draw(st.sampled_from(["", "", "", "\ufeff", "\n", "\ufeff\r\n "]))
    tail = draw(st.sampled_from(["\n", "", "\r\n", "\n\n", " \t"]))
    return lead + text + tail


blank = st.sampled_from(["", "\n", "\ufeff", " \r\n\t"])
