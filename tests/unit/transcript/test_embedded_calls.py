"""Tool calls inside a script: calls with literal arguments are found, others are ignored."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript.embedded_calls import find_calls

CASES: list[tuple[str, list[tuple[str, Any]]]] = [
    ('tools.a({cmd: "ls", n: 1, "x-y": [true, null, -2.5,],})',
     [("a", {"cmd": "ls", "n": 1, "x-y": [True, None, -2.5]})]),
    ("await tools.a('it\\'s'); tools.b(`two\nlines`)", [("a", "it's"), ("b", "two\nlines")]),
    ('tools.a("\\u00e9\\x41\\n\\q")', [("a", "éA\nq")]),
    ("tools.a(`${x}`); tools.b({cmd: `ok`})", [("b", {"cmd": "ok"})]),
    ("tools.a(patch); tools.b({cmd})", []),
    ("tools.a({cmd: x}), tools.b([1, f()])", []),
    ("tools.; tools.a; tools.a(", []),
    ('tools.a({cmd: "never closed', []),
    ("tools.a(" + "[" * 1000, []),
    ("", []),
]  # fmt: skip


def test_calls_with_literal_arguments_are_found() -> None:
    for script, calls in CASES:
        assert find_calls(script) == calls, script


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=4))
def test_any_json_value_is_a_literal(value: dict[str, Any]) -> None:
    assert find_calls(f"const r = await tools.f({json.dumps(value, ensure_ascii=False)})") == [
        ("f", value)
    ]


@given(st.text(alphabet="tols.({[]})\"'`,:\\ax1 $"))
def test_any_script_is_parsed_without_an_error(script: str) -> None:
    assert all(isinstance(name, str) and name for name, _ in find_calls(f"tools.a({script}"))
