"""The effects of patches on files, in the same form as the effects of commands."""

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


def test_each_change_of_a_patch_has_its_effect_on_a_path() -> None:
    for changes, effects in CASES:
        assert [*find_patch_effects(changes, "/srv/app")] == effects, changes


def test_without_a_working_directory_paths_stay_relative() -> None:
    assert [*find_patch_effects([{"kind": "add", "path": "a.py"}], "")] == [("write", "a.py", "")]
