"""Whether a text says an entity."""

from __future__ import annotations

import pytest

from holdfast.eval.entities import Paths
from holdfast.eval.matching import Said

REPO = Paths(["/repo"])


@pytest.mark.parametrize(
    "text",
    [
        "- src/auth/login.py — edited",
        "a line\nsrc/auth/login.py",
        "see `/repo/src/auth/login.py`.",
        "./src/auth/login.py:12",
        "src/auth/: token.py, login.py (edited 3×)",
        "- `src/auth/` — login.py",
        "## src/auth/\n- token.py read\n- login.py edited (L12)",
        "/repo/src/auth/: login.py",
    ],
)
def test_a_file_is_named_in_full_or_under_its_folder(text: str) -> None:
    assert Said(text, REPO).says(("P", "src/auth/login.py"))


@pytest.mark.parametrize(
    "text",
    [
        "login.py",
        "web/src/auth/login.py",
        "src/auth/login.pyc",
        "src/auth/login.py.orig",
        "src/auth/login.py-old",
        "src/other/: login.py",
        "src/auth/\n\n- login.py stands in another paragraph",
        "src/auth/: token.py\nlogin.py is on the next line",
        "src/auth/\n- other/login.py",
    ],
)
def test_another_file_is_not_that_file(text: str) -> None:
    assert not Said(text, REPO).says(("P", "src/auth/login.py"))


def test_the_base_name_alone_counts_in_the_lenient_variant() -> None:
    assert Said("in login.py,", REPO).names_base("src/auth/login.py")
    assert not Said("in mylogin.py", REPO).names_base("src/auth/login.py")


def test_identifiers_and_ids_stand_on_word_boundaries() -> None:
    said = Said("parseConfig(), fixes #12; 2d6f7eb", REPO)
    assert said.says(("I", "parseConfig"))
    assert not said.says(("I", "parse_Config"))
    assert not said.says(("I", "parseConf"))
    assert said.says(("U", "#12"))
    assert not said.says(("U", "#1"))
    assert said.says(("U", "2d6f7eb"))


def test_white_space_in_commands_does_not_matter() -> None:
    assert Said("run `npm  test\n-- --run`", REPO).says(("C", "npm test -- --run"))
