"""Ranking mentions by how likely they are needed, for their tokens."""

from __future__ import annotations

import pytest

from holdfast.brief.mention_ranking import MAX_SHOWN_PER_SOURCE, rank_mentions
from holdfast.mentions.types import MentionEntry, MentionIndex
from holdfast.state.fold import new_state


def index(**used: int) -> MentionIndex:
    """Files with the moment at which each was used; 0 means only shown."""
    names: dict[str, MentionEntry] = {
        text: {
            "kind": "file", "times": 1, "used": moment, "said": 0, "shown": 1, "lines": [1],
            "home": "",
        }
        for text, moment in used.items()
    }  # fmt: skip
    return {"version": 1, "moment": 9, "root": "", "cwd": "", "names": names, "tools": {}}


def order(**used: int) -> list[str]:
    return [name.text for name in rank_mentions(new_state(), index(**used))]


def test_a_file_in_a_listed_folder_comes_before_one_in_a_new_folder() -> None:
    far = "a/folder/with/a/very/long/name/of/its/own/x.py"
    assert order(**{"src/a.py": 9, far: 9, "src/b.py": 9}) == ["src/b.py", "src/a.py", far]


@pytest.mark.parametrize("end", ["README.md", "guide/README.md"])
def test_the_end_of_a_path_is_left_out_unless_it_is_a_file_too(end: str) -> None:
    """Commit messages and commands run in another folder name files in this way."""
    whole = "docs/guide/README.md"
    names = index(**{whole: 5, end: 5})
    assert [name.text for name in rank_mentions(new_state(), names)] == [whole]
    state = new_state()
    state["files"] = {end: {"line": 3, "reads": 1}}
    assert {name.text for name in rank_mentions(state, names)} == {whole, end}


def test_only_whole_parts_of_a_path_count_as_its_end() -> None:
    assert set(order(**{"src/my_app.py": 5, "app.py": 5})) == {"src/my_app.py", "app.py"}


def test_in_an_ample_budget_an_older_file_comes_before_another_command() -> None:
    names = index(**{"src/settings.py": 1, "make settings": 40})
    names["moment"] = 100
    names["names"]["make settings"]["kind"] = "command"
    few, ample = (
        [name.text for name in rank_mentions(new_state(), names, tokens=tokens)]
        for tokens in (1000, 2000)
    )
    assert few == ["make settings", "src/settings.py"]
    assert ample == ["src/settings.py", "make settings"]


def test_a_mention_alone_in_its_line_comes_before_one_among_many() -> None:
    names = index(**{f"src/m{number}.py": 0 for number in range(40)})
    names["names"]["src/m5.py"]["lines"] = [1, 2]
    names["names"]["src/m6.py"]["used"] = 1
    told = [name.text for name in rank_mentions(new_state(), names)]
    assert told[:2] == ["src/m6.py", "src/m5.py"], "what was used counts wherever it stood"


def test_identifiers_of_one_long_result_are_limited() -> None:
    names = index(**{f"key_number_{number}": 0 for number in range(90)})
    for number, entry in enumerate(names["names"].values()):
        entry["kind"] = "identifier"
        if number < 30:
            entry["said"] = 1
    told = [name.text for name in rank_mentions(new_state(), names)]
    spoken_of = {f"key_number_{number}" for number in range(30)}
    assert len(told) == 30 + MAX_SHOWN_PER_SOURCE
    assert spoken_of <= set(told)


def test_a_command_about_a_deleted_file_is_not_listed() -> None:
    names = index(**{"rm -f src/old.py": 5, "wc -l src/new.py": 5})
    for entry in names["names"].values():
        entry["kind"] = "command"
    state = new_state()
    state["files"] = {"src/old.py": {"line": 3, "deleted": 3}, "src/new.py": {"line": 3}}
    assert [name.text for name in rank_mentions(state, names)] == ["wc -l src/new.py"]
