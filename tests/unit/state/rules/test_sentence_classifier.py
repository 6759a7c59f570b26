"""Which sentences of the user are standing rules, which are decisions, and which are neither."""

from __future__ import annotations

from holdfast.state.rules.sentence_classifier import classify_sentence, is_prohibition


def test_a_constraint_for_the_whole_session_is_standing_in_any_form() -> None:
    cases = [
        "Always answer in British English.",
        "From now on, sign commits with -S.",
        "Before you edit a file, read it in full.",
        "When you finish a step, end your reply with DONE.",
        "After every change run the linter.",
        "Write every test as a sentence.",
        "End every reply with a question.",
        "Use only the standard library.",
        "Every function must have a docstring.",
        "Prefix all branches with feat/.",
        "Don't touch the migrations.",
        "Please do not push.",
        "The config file is off limits.",
        "I want the tests to have arrange, act and assert comments.",
        "Keep the public signature as it is.",
        "Make sure nothing is written outside the project.",
        "If you need a port, use 4100.",
        "any chance we can use British spelling?",
    ]
    for sentence in cases:
        assert classify_sentence(sentence) == "standing", sentence


def test_settling_a_question_is_a_decision() -> None:
    cases = [
        "let's store it in metadata",
        "yeah let's tackle 2 and 3",
        "I think B, it leaves us room",
        "just manual commits for now",
        "by file is too much",
        "go with the second one",
        "requiring an email is absolutely not the way to go",
        "macOS tray icons should be template images",
    ]
    for sentence in cases:
        assert classify_sentence(sentence) == "decision", sentence


def test_a_short_answer_is_a_decision_only_if_a_question_was_asked() -> None:
    for sentence in ("option 3 please", "2 and 3", "no, the other one"):
        assert classify_sentence(sentence, is_answer=True) == "decision", sentence
    assert classify_sentence("2 and 3") == ""


def test_requests_questions_and_remarks_are_neither() -> None:
    cases = [
        "we need to rebase on main now",
        "ok let's keep going",
        "let's proceed with the implementation",
        "let's run the tests",
        "Should it retry for ever?",
        "no google client id is configured",
        "submitting an email shows `Load failed`",
        "I keep seeing the same error",
        "this should be fixed now",
        "thanks",
        "",
    ]
    for sentence in cases:
        assert classify_sentence(sentence) == "", sentence


def test_a_rule_with_a_negation_is_a_prohibition() -> None:
    assert is_prohibition("Never push to main.")
    assert is_prohibition("Write it without a new class.")
    assert not is_prohibition("The variable must be `CAP`, not `MAX`.")
