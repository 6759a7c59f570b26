"""Parsing patches in the `apply_patch` format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript.apply_patch import parse_patch, parse_reported_changes
from tests.unit.rollout_lines import patch

CASES = [
    ([], []),
    (["*** Add File: a.py", "+x"], [{"kind": "add", "path": "a.py"}]),
    (["*** Delete File: a b.py"], [{"kind": "delete", "path": "a b.py"}]),
    (
        ["*** Update File: a.py", "*** Move to: lib/b.py", "@@ def f", "-x", "+y"],
        [{"kind": "update", "path": "a.py", "to": "lib/b.py"}],
    ),
    (
        ["*** Update File: a.py", "@@", " *** Add File: no.py", "+*** Delete File: no.py"],
        [{"kind": "update", "path": "a.py"}],
    ),
    (
        ["*** Update File: a.py", "*** End of File", "*** Add File: b.py"],
        [{"kind": "update", "path": "a.py"}, {"kind": "add", "path": "b.py"}],
    ),
    (["*** Move to: b.py", "*** Add File: "], []),
]


@pytest.mark.parametrize(("parts", "changes"), CASES)
def test_a_patch_is_parsed_into_file_changes(
    parts: list[str], changes: list[dict[str, str]]
) -> None:
    assert parse_patch(patch(*parts)) == changes


def test_text_around_a_patch_is_ignored() -> None:
    text = patch("*** Add File: a.py", "+x")
    script = f"*** Add File: before.py\napply_patch <<'EOF'\n{text}EOF\n*** Add File: after.py\n"
    assert parse_patch(script) == [{"kind": "add", "path": "a.py"}]
    assert parse_patch("*** Add File: a.py") == []


def test_the_report_of_a_patch_is_parsed_into_the_same_changes() -> None:
    report = {"/a": {"type": "update", "move_path": "/b"}, "/c": {"type": "new"}, "/d": "delete"}
    assert parse_reported_changes(report) == [{"kind": "update", "path": "/a", "to": "/b"}]
    assert parse_reported_changes(None) == []


@given(st.lists(st.text(max_size=20)))
def test_content_lines_are_never_parsed_as_headers(text: list[str]) -> None:
    body = [f"+{line}" for part in text for line in part.splitlines() or [""]]
    assert parse_patch(patch("*** Add File: a.py", *body)) == [{"kind": "add", "path": "a.py"}]
