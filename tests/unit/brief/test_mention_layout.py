"""Listing many mentions in few lines with their references."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from holdfast.brief.mention_layout import (
    MentionLayout,
    cite_lines,
    describe_changes,
    failing_checks_by_file,
)
from holdfast.brief.mention_ranking import RankedMention
from holdfast.state.fold import new_state
from holdfast.state.types import State


def name(
    text: str, kind: str = "file", lines: list[int] | None = None, home: str = ""
) -> RankedMention:
    return RankedMention(
        text,
        {
            "kind": kind, "times": 1, "used": 1, "said": 0, "shown": 0, "lines": lines or [7],
            "home": home,
        },
        1.0,
    )  # fmt: skip


def laid_out(state: State, names: Sequence[RankedMention]) -> MentionLayout:
    return MentionLayout(state, names, failing_checks_by_file(state))


def test_files_are_grouped_by_folder_and_single_ones_have_whole_paths() -> None:
    state = new_state()
    state["files"] = {"src/b.py": {"line": 9, "edits": 3}}
    told = laid_out(state, [name("src/a.py"), name("src/b.py"), name("docs/x.md")]).files()
    assert told == ["- src/: a.py, b.py edited 3× (L7–9)", "- docs/x.md (L7)"]


def test_files_that_share_no_folder_share_a_line_above_the_folders() -> None:
    state = new_state()
    state["files"] = {"b/y.py": {"line": 5, "created": True}}
    inside = [name(one, "identifier", [4], "4 src/a.py") for one in ("parseAll", "run_once")]
    alone = [name(path) for path in ("a/x.py", "b/y.py", "z.py")]
    told = laid_out(state, [*alone, name("src/a.py"), name("src/b.py"), *inside]).files()
    assert told == [
        "- each alone in its folder: a/x.py, b/y.py created, z.py (L5–7)",
        "src/",
        "- a.py: parseAll, run_once (L4–7)",
        "- b.py (L7)",
    ]


def test_a_terse_layout_states_each_change_once_per_line() -> None:
    state = new_state()
    state["files"] = {
        "src/a.py": {"line": 9, "edits": 3}, "src/b.py": {"line": 8, "reads": 1},
        "src/c.py": {"line": 9, "edits": 1}, "src/d.py": {"line": 6, "created": 6, "edits": 4},
    }  # fmt: skip
    inside = [name("retry_all", "identifier", [4], "4 src/c.py")]
    alone = [name(path) for path in ("x/x.py", "y/y.py", "z/z.py")]
    files = [name(path, lines=[7]) for path in state["files"]]
    layout = MentionLayout(state, [*files, *alone, *inside], {}, terse=True)
    assert layout.files() == [
        "- x/x.py, y/y.py, z/z.py (L7)",
        "src/",
        "- c.py edited: retry_all (L4–9)",
        "- b.py; edited a.py; created d.py (L6–9)",
    ]
    loose = [name(text, "identifier") for text in ("one_name", "two_names", "three_names")]
    assert MentionLayout(state, loose, {}, terse=True).others() == [
        "- one_name, two_names, three_names (L7)"
    ]


def test_a_file_is_marked_as_failing_if_the_path_in_the_output_is_unambiguous() -> None:
    state = new_state()
    state["place"]["root"] = "/repo"
    state["files"] = {
        "src/a.py": {"line": 9, "edits": 2}, "src/b.py": {"line": 8}, "lib/b.py": {"line": 8},
    }  # fmt: skip
    failed = {"ok": False, "kind": "test", "runs": 1, "error": [], "call": 11, "line": 12}
    state["checks"] = [
        {**failed, "command": "pytest", "where": "/repo/src/a.py:4"},
        {**failed, "command": "pytest -x", "where": "b.py:7"},
    ]  # type: ignore[list-item]
    told = laid_out(state, [name(path, lines=[3]) for path in state["files"]]).files()
    assert told == ["- src/: a.py edited 2× · test failing, b.py (L8–12)", "- lib/b.py (L8)"]


def test_identifiers_are_listed_with_their_file() -> None:
    inside = [name(one, "identifier", [4], "4 src/a.py") for one in ("parseAll", "run_once")]
    assert laid_out(new_state(), [name("src/a.py"), *inside]).files() == [
        "- src/a.py: parseAll, run_once (L4 L7)".replace("L4 L7", "L4–7")
    ]


def test_commands_and_other_mentions_have_their_own_lines() -> None:
    layout = laid_out(
        new_state(), [name("make test", "command", [3]), name("ENT-250", "link", [5])]
    )
    assert layout.commands() == ["- `make test` (L3)"]
    assert layout.others() == ["- ENT-250 (L5)"]
    many = [name(f"ENT-{number}", "link", [5]) for number in range(3)]
    (row,) = laid_out(new_state(), many).others()
    assert row == "- named lately without a file: ENT-0, ENT-1, ENT-2 (L5)"


def test_no_whole_path_is_below_the_heading_of_another_folder() -> None:
    names = [name("src/a.py", "file", [1]), name("src/b.py", "file", [2])]
    inside = [name(text, "identifier", [1], home="1 src/a.py") for text in ("retryLater", "giveUp")]
    lines = laid_out(new_state(), [*names, *inside, name("README.md", "file", [3])]).files()
    assert lines.index("src/") > lines.index("- README.md (L3)")


@pytest.mark.parametrize(
    ("places", "shown"),
    [
        ([[3]], "(L3)"),
        ([[3], [3, 9]], "(L3)"),
        ([[1, 50], [2, 50], [50]], "(L50)"),
        ([[1], [200]], "(L1 L200)"),
        ([[1], [20]], "(L1–20)"),
        ([], ""),
    ],
)
def test_few_lines_are_cited_for_many_sources(places: list[list[int]], shown: str) -> None:
    assert cite_lines(places) == shown


def test_changes_of_a_file_are_described_in_few_words() -> None:
    assert describe_changes({"line": 1, "created": 1, "edits": 1}) == "created"
    assert describe_changes({"line": 1, "edits": 14}) == "edited 14×"
    assert describe_changes({"line": 1, "deleted": 1}) == "deleted"
    assert describe_changes({"line": 1, "reads": 2}) == ""
    assert describe_changes({"line": 3, "unknown": 3}).endswith("L3 took effect is unknown")
    assert describe_changes({"line": 5, "unknown": 3, "reads": 1}) == ""
