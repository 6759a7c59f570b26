"""Which of the user's sentences bind, and which no longer do."""

from __future__ import annotations

import pytest

from holdfast.state.model import Rule
from holdfast.state.rules.rules_of_user import LONGEST, MOST
from tests.unit.transcript_lines import reply, result, state_of, user


def rules(*prompts: str) -> list[Rule]:
    return state_of(*(user(words) for words in prompts))["rules"]


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Never touch anything under migrations/.", "prohibition"),
        ("Don't add dependencies.", "prohibition"),
        ("Don’t add dependencies.", "prohibition"),
        ("DO NOT push.", "prohibition"),
        ("Don't go", "prohibition"),
        ("You must not rename `run_once`.", "prohibition"),
        ("Please avoid global state!", "prohibition"),
        ("Write it without a new class.", "prohibition"),
        ("Commit only, never push: I open the pull request.", "prohibition"),
        ("The schema is off limits.", "prohibition"),
        ("**Never** use `--force`.", "prohibition"),
        ("Always run `make test-fast`.", "requirement"),
        ("Keep the signature of `run_once`.", "requirement"),
        ("The variable must be `COURIER_CAP`, not `MAX`.", "requirement"),
        ("Make sure the tests pass.", "requirement"),
        ("It has to work offline.", "requirement"),
        ("From now on answer in French.", "requirement"),
        ("Correction: make it 5 attempts, not 8.", "requirement"),
        ("Leave the metrics for tomorrow.", "requirement"),
    ],
)
def test_a_sentence_that_binds_is_a_rule_word_for_word(sentence: str, kind: str) -> None:
    (rule,) = rules(f"Look at the worker. {sentence}\nThen go on.")
    assert (rule["text"], rule["kind"], rule["line"]) == (sentence, kind, 1)
    assert not rule["superseded"]


@pytest.mark.parametrize(
    "words",
    [
        "Look at the worker and tell me what it does.",
        "Should it retry for ever?",
        "Why must it be so slow?",
        "Don't!!",
        "The shoulder of the road keeps growing.",
        "It is nonstop fun and mustard.",
        "never " + "x" * LONGEST,
        "```\n# never do this\nassert must\n```",
        "Here:\n```python\n# always\n```",
        "",
    ],
)
def test_other_sentences_bind_nobody(words: str) -> None:
    assert rules(words) == []


def test_every_bullet_is_a_sentence_of_its_own() -> None:
    words = "Rules:\n- never push\n* always test it\n> keep the API\n1) fine\n\n## must be fast"
    assert [rule["text"] for rule in rules(words)] == [
        "never push",
        "always test it",
        "keep the API",
        "must be fast",
    ]


def test_only_the_user_sets_rules() -> None:
    lines = [reply("I must never push."), result("Never trust input."), user("Go on then")]
    assert state_of(*lines)["rules"] == []


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Always use tabs for indentation.", "Actually, use spaces for indentation, never tabs."),
        ("Never push to the remote branch.", "From now on always push to the remote branch."),
        ("You must run the whole test suite.", "No longer run the whole test suite."),
    ],
)
def test_a_correction_marks_what_it_supersedes(earlier: str, later: str) -> None:
    old, new = rules(earlier, "Go on.", later)
    assert (old["text"], old["superseded"]) == (earlier, 3)
    assert (new["text"], new["superseded"]) == (later, 0)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Never push to the remote branch.", "Actually, keep the README short instead."),
        ("Always use tabs for indentation.", "Always use tabs for alignment."),
        ("Never push to the remote branch.", "Actually, what does push to the remote branch do?"),
    ],
)
def test_what_is_about_something_else_or_no_correction_supersedes_nothing(
    earlier: str, later: str
) -> None:
    assert rules(earlier, later)[0]["superseded"] == 0


def test_a_correction_does_not_supersede_what_stands_beside_it() -> None:
    words = "Never push to the remote branch. From now on never push to the remote branch twice."
    assert [rule["superseded"] for rule in rules(words)] == [0, 0]


def test_a_rule_said_twice_is_one_rule_from_where_it_was_first_said() -> None:
    assert [(rule["text"], rule["line"]) for rule in rules("Never push.", "ok", "Never push.")] == [
        ("Never push.", 1)
    ]


def test_a_superseded_rule_that_is_said_again_holds_again() -> None:
    rule = "Never push to the remote branch."
    told = rules(rule, "From now on push to the remote branch.", rule)
    assert [(each["line"], each["superseded"]) for each in told if each["text"] == rule] == [
        (1, 2),
        (3, 0),
    ]


def test_the_newest_rules_are_kept() -> None:
    told = rules(*(f"Never touch file {n}." for n in range(MOST + 5)))
    assert len(told) == MOST
    assert told[0]["text"] == "Never touch file 5."


def test_a_secret_in_a_rule_is_not_kept() -> None:
    token = "ghp_" + "a1B2" * 9
    (rule,) = rules(f"Always push with {token} only.")
    assert token not in rule["text"]
    assert rule["text"].startswith("Always push with [redacted:")
