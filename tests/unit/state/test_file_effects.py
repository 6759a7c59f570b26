"""What patches do to files, as the same effects that commands have."""

from __future__ import annotations

from typing import Any

from holdfast.state.file_effects import find_patch_effects

CASES: list[tuple[Any, list[tuple[str, str, str]]]] = [
    ([{"kind": "add", "path": "a.py"}], [("write", "/srv/app/a.py", "")]),
    ([{"kind": "update", "path": "/x/a.py"}], [("edit", "/x/a.py", "")]),
    ([{"kind": "delete", "path": "~/a.py"}], [("delete", "~/a.py", "")]),
    ([{"kind": "update", "path": "C:/a.py"}], [("edit", "C:/a.py", "")]),
    (
        [{"kind": "update", "path": "a.py", "to": "b.py"}],
        [("edit", "/srv/app/a.py", ""), ("move", "/srv/app/a.py", "/srv/app/b.py")],
    ),
    ([{"kind": "update", "path": "a.py", "to": "a.py"}], [("edit", "/srv/app/a.py", "")]),
    ([{"kind": "paint", "path": "a.py"}, {"kind": "add", "path": ""}, {"kind": "add"}], []),
    (None, []),
    ("a.py", []),
]


def test_a_change_is_an_effect_on_a_path() -> None:
    for changes, found in CASES:
        assert [*find_patch_effects(changes, "/srv/app")] == found, changes


def test_without_a_folder_paths_stay_as_they_are() -> None:
    assert [*find_patch_effects([{"kind": "add", "path": "a.py"}], "")] == [("write", "a.py", "")]
