"""The work of redaction is linear in the length of a text and bounded per text and per request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast import redaction
from holdfast.redaction import budget, hints, redact, redact_lines
from holdfast.redaction.budget import Budget, share_budget
from tests.cases import report_case

MIXED = "a1B2" * 12
WITHHELD = "[redacted:withheld]"
HOSTILE_PIECES = [
    *("a", "=", "@", "_", "-", "\\n", "://", "://u:p", "password=", 'password="', "TOKEN=a "),
    *(
        "--token ",
        "Authorization: Basic ",
        "sk-",
        "eyJ",
        "eyJ-",
        "AKIA",
        "key-",
        "ghp_",
        "aB1/+c2D",
    ),
    *("-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n" + MIXED),
    *("-----END PRIVATE KEY-----", "curl -u ", "curl -u a:b ", "dapi" + "0a1b2c3d" * 4, "a?pw="),
    *(
        "| password |\n",
        "name: DB_PASSWORD\n",
        "<password>",
        "set -x DB_PASSWORD ",
        "Cookie: a=b; ",
    ),
    *(
        "echo a | sudo -S ",
        "\x1b[",
        "%3D",
        "\\u003d",
        "\u200b",
        'auth=("a","b',
        ":5432:",
        "sqlplus a/",
    ),
    *("password:\n  ", "Private-Lines: 1\n", "master.key ", "identified by ", "cGFzc3dvcmQ="),
]


@pytest.fixture(autouse=True)
def restore_budget() -> Iterator[None]:
    yield
    share_budget(lambda: None)


def count_units(text: str) -> int:
    """Return how much work redacting a text takes, without a limit."""
    shared = Budget(1 << 60)
    share_budget(lambda: shared)
    redact(text)
    return (1 << 60) - shared.left


def test_twice_the_text_takes_at_most_twice_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_TEXT_UNITS", 1 << 60)
    monkeypatch.setattr(hints, "MAX_CHECKS", 50)
    for piece in HOSTILE_PIECES:
        with report_case(piece):
            short, long = (piece * (chars // len(piece)) for chars in (20_000, 40_000))
            assert count_units(long) <= 2.2 * count_units(short) + 100_000


def test_a_text_that_exceeds_its_budget_is_withheld_from_there_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budget, "MAX_TEXT_UNITS", 3_000_000)
    text = "an ordinary line\n" * 20_000 + "DB_PASSWORD=hunter2\n" * 20_000 + "the end"
    cleaned = redact(text)
    assert cleaned.startswith("an ordinary line\n")
    assert cleaned.endswith(WITHHELD)
    assert "hunter2" not in cleaned
    assert "the end" not in cleaned
    assert len(redact_lines(text)) == text.count("\n") + 1


def test_the_texts_of_one_request_share_a_budget() -> None:
    shared = Budget(100_000)
    share_budget(lambda: shared)
    texts = [f"password=hunter{number}" for number in range(200)]
    cleaned = [redact(text) for text in texts]
    assert cleaned[0] == "password=[redacted:assignment]"
    assert cleaned[-1] == WITHHELD
    assert redact("an ordinary text") == "an ordinary text"


def test_a_text_that_still_changes_after_the_last_pass_is_withheld(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    adjoining_keys = "dapi" + "0a1b2c3d" * 4 + "SG." + MIXED[:22] + "." + MIXED[:43]
    assert redact(adjoining_keys) == "[redacted:databricks-token][redacted:sendgrid-key]"
    monkeypatch.setattr(redaction, "MAX_PASSES", 1)
    assert redact(adjoining_keys) == WITHHELD


def test_a_long_text_is_redacted_piece_by_piece() -> None:
    line = "An ordinary line of text, as tools print it.\n"
    key = "ghp_" + "a1B2" * 9
    text = (line * 8000 + key + "\n") * 4
    assert redact(text) == (line * 8000 + "[redacted:github-token]\n") * 4


def test_a_long_word_after_any_hint_takes_no_quadratic_time() -> None:
    """Units are counted per pattern, so they do not see the time inside one: a quadratic pattern
    would take minutes here."""
    for hint in ("sudo -S x", "chpasswd", "--password-stdin", "with-token", "curl -u", "password"):
        for text in (f"{hint}\n" + "a" * 250_000, f"{hint} " + "a " * 125_000):
            assert redact(text).startswith(hint), hint
