"""What was found clean is not looked at again; what may be a secret is never found clean."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.ledger import unsuspected
from holdfast.ledger.unsuspected import EACH, MUCH, SELDOM, Unsuspected
from holdfast.redact import redact_value
from tests.unit.test_redact import KEYS

SECRETS = [secret for _, secret in KEYS]
# Bits that may be, or become, part of a secret where they meet.
BITS = [
    "sk-", "ghp_", "AKIA", "a1B2" * 5, "password", "--token", "=", ": ", "hunter2", "curl ", " -u ",
    "https://me:", "@host", "\n", '"', "$", "é", " ", "", "Bearer ", "TWILIO_", "x",
]  # fmt: skip
texts = st.lists(st.sampled_from([*BITS, *SECRETS[:12]]), max_size=6).map("".join)
names = st.sampled_from(["text", "password", "value", "api_key", "note", "ghp_" + "a1B2" * 9])
values: st.SearchStrategy[Any] = st.recursive(
    texts | st.integers() | st.none() | st.floats(allow_nan=False),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(names, parts, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.lists(values, max_size=3), max_size=6))
def test_nothing_that_would_be_changed_is_ever_clean(rows: list[list[Any]]) -> None:
    known = Unsuspected(most=6 * EACH)
    for row in [*rows, *rows]:
        if redact_value(row) != row:
            assert not known.are_clean(row)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_found_among_many_texts_wherever_it_stands(secret: str) -> None:
    known, words = Unsuspected(), [f"word {number}" for number in range(50)]
    assert known.are_clean([words])
    for place in (0, 25, 50):
        assert not known.are_clean([[*words[:place], secret, *words[place:]]])
        assert not known.are_clean([[*words[:place], {"deep": [secret]}, *words[place:]]])
        assert not known.are_clean([[*words[:place], {secret: 1}, *words[place:]]])
    assert not known.are_clean([words], once=secret)


class Looks:
    """Notes what is looked at."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[str] = []
        self._before = unsuspected.is_suspect
        monkeypatch.setattr(unsuspected, "is_suspect", self)

    def __call__(self, text: str) -> bool:
        self.texts.append(text)
        return self._before(text)

    def at(self, known: Unsuspected, *values: Any) -> str:
        """All that is looked at, for these."""
        self.texts = []
        assert known.are_clean(values)
        return "".join(self.texts).strip()


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    return Looks(monkeypatch)


def test_what_comes_again_is_not_looked_at_again(looks: Looks) -> None:
    known = Unsuspected()
    first = {"decisions": ["JWT", "no ORM"], "files": {"a.py": "new"}}
    later = {"decisions": ["JWT", "no ORM", "Redis"], "files": {"a.py": "new", "b.py": "gone"}}
    assert "no ORM" in looks.at(known, first)
    assert looks.at(known, first) == ""
    found = looks.at(known, later)
    assert "Redis" in found
    assert "b.py" in found
    assert "JWT" not in found


def test_what_comes_once_is_not_remembered(looks: Looks) -> None:
    known = Unsuspected()
    assert known.are_clean([], once="018f-6a")
    assert looks.at(known, "018f-6a") == "018f-6a"


def test_of_much_that_is_new_one_time_in_some_is_remembered(looks: Looks) -> None:
    known = Unsuspected()
    much = [f"word {number}" for number in range(MUCH)]
    looked = [bool(looks.at(known, much)) for _ in range(2 * SELDOM)]
    assert looked == [True] * SELDOM + [False] * SELDOM


def test_a_text_with_a_secret_beside_it_is_not_remembered(looks: Looks) -> None:
    known = Unsuspected()
    assert not known.are_clean(["word", SECRETS[0]])
    assert looks.at(known, "word") == "word"


def test_what_is_remembered_has_a_limit(looks: Looks) -> None:
    known = Unsuspected(most=3 * EACH + 10)
    assert known.are_clean(["12345", {"678": "9"}])
    assert looks.at(known, "12345", {"678": "9"}) == ""
    assert looks.at(known, "and") == "and"
    assert looks.at(known, "12345") == "12345", "it began anew"
    long = "longer than all of it" * EACH
    assert looks.at(known, long) == looks.at(known, long) == long
