"""Matching of names in a text."""

from __future__ import annotations

from holdfast.eval.entities import Paths
from holdfast.eval.matching import TextMatcher

REPO = Paths(["/repo"])


def test_a_file_matches_by_its_path_or_under_its_folder() -> None:
    cases = [
        "- src/auth/login.py — edited",
        "a line\nsrc/auth/login.py",
        "see `/repo/src/auth/login.py`.",
        "./src/auth/login.py:12",
        "src/auth/: token.py, login.py (edited 3×)",
        "- `src/auth/` — login.py",
        "## src/auth/\n- token.py read\n- login.py edited (L12)",
        "/repo/src/auth/: login.py",
    ]
    for text in cases:
        assert TextMatcher(text, REPO).mentions(("P", "src/auth/login.py")), text


def test_a_similar_path_does_not_match() -> None:
    cases = [
        "login.py",
        "web/src/auth/login.py",
        "src/auth/login.pyc",
        "src/auth/login.py.orig",
        "src/auth/login.py-old",
        "src/other/: login.py",
        "src/auth/\n\n- login.py is in another paragraph",
        "src/auth/: token.py\nlogin.py is on the next line",
        "src/auth/\n- other/login.py",
    ]
    for text in cases:
        assert not TextMatcher(text, REPO).mentions(("P", "src/auth/login.py")), text


def test_the_base_name_matches_in_the_lenient_variant() -> None:
    assert TextMatcher("in login.py,", REPO).names_basename("src/auth/login.py")
    assert not TextMatcher("in mylogin.py", REPO).names_basename("src/auth/login.py")


def test_identifiers_and_ids_match_at_word_boundaries() -> None:
    matcher = TextMatcher("parseConfig(), fixes #12; 2d6f7eb", REPO)
    assert matcher.mentions(("I", "parseConfig"))
    assert not matcher.mentions(("I", "parse_Config"))
    assert not matcher.mentions(("I", "parseConf"))
    assert matcher.mentions(("U", "#12"))
    assert not matcher.mentions(("U", "#1"))
    assert matcher.mentions(("U", "2d6f7eb"))


def test_commands_match_with_any_white_space() -> None:
    assert TextMatcher("run `npm  test\n-- --run`", REPO).mentions(("C", "npm test -- --run"))
