"""Patches in the form of `apply_patch`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript.patch import changes, told
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


@pytest.mark.parametrize(("parts", "found"), CASES)
def test_a_patch_names_its_files(parts: list[str], found: list[dict[str, str]]) -> None:
    assert changes(patch(*parts)) == found


def test_what_stands_around_a_patch_is_not_part_of_it() -> None:
    text = patch("*** Add File: a.py", "+x")
    around = f"*** Add File: before.py\napply_patch <<'EOF'\n{text}EOF\n*** Add File: after.py\n"
    assert changes(around) == [{"kind": "add", "path": "a.py"}]
    assert changes("*** Add File: a.py") == []


def test_what_the_host_tells_of_a_patch_is_read_the_same_way() -> None:
    listed = {"/a": {"type": "update", "move_path": "/b"}, "/c": {"type": "new"}, "/d": "delete"}
    assert told(listed) == [{"kind": "update", "path": "/a", "to": "/b"}]
    assert told(None) == []


@given(st.lists(st.text(max_size=20)))
def test_the_lines_of_a_file_never_name_another(text: list[str]) -> None:
    body = [f"+{line}" for part in text for line in part.splitlines() or [""]]
    assert changes(patch("*** Add File: a.py", *body)) == [{"kind": "add", "path": "a.py"}]
