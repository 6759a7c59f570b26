"""The real Codex in a terminal: a person reviews the hooks, and only then do they run."""

import json

import pytest

from .codex import CodexSandbox
from .story import ANSWER, PROMPT
from .terminal import Screen
from .test_codex import FULL, Converse, assert_restored, converse, doctor, sandbox, work

__all__ = ["converse", "sandbox"]  # the fixtures of these tests

pytestmark = pytest.mark.client

AGAIN = {"text": "Nothing is left to do."}
FOLDER, REVIEW, READY = "Trust this folder?", "Hooks need review", "Ask Codex to do anything"
TRUST_ALL, LATER = "Trust all and continue", "Continue without trusting"


def reviewed(screen: Screen, choice: str) -> None:
    """Let the client work here, and answer its review of the hooks with this."""
    screen.wait_for(FOLDER)
    shown = screen.press_until("Enter", lambda shown: REVIEW in shown)
    assert "6 hooks are new or changed" in shown
    screen.press_until("Down", lambda shown: marked(shown, choice))
    screen.press_until("Enter", lambda shown: READY in shown)


def marked(shown: str, choice: str) -> bool:
    return any(choice in line and line.startswith("›") for line in shown.splitlines())


def answered(screen: Screen, prompt: str, answer: str) -> None:
    """One turn, to its end."""
    screen.type(prompt)
    screen.wait_for(answer)
    screen.wait_until(lambda shown: "Worked for" in shown.partition(answer)[2])


def saved_sessions(sandbox: CodexSandbox) -> list[object]:
    found: list[object] = json.loads(sandbox.holdfast("status", "--all", "--json"))["sessions"]
    return found


def test_hooks_that_a_person_trusts_in_the_review_run_from_then_on(
    sandbox: CodexSandbox, converse: Converse
) -> None:
    sandbox.holdfast("install", "--host", "codex")
    assert "not trusted yet" in doctor(sandbox)
    conversation = converse(*work(usage=FULL), ANSWER)
    with conversation.terminal() as screen:
        reviewed(screen, TRUST_ALL)
        answered(screen, PROMPT, ANSWER["text"])
    assert "all trusted" in doctor(sandbox)
    assert_restored(conversation, conversation.requests("main")[-1], trigger="auto")


def test_hooks_that_were_left_out_of_the_review_run_once_they_are_trusted_in_the_list(
    sandbox: CodexSandbox, converse: Converse
) -> None:
    sandbox.holdfast("install", "--host", "codex")
    conversation = converse(ANSWER, AGAIN)
    with conversation.terminal() as screen:
        reviewed(screen, LATER)
        answered(screen, PROMPT, ANSWER["text"])
        assert saved_sessions(sandbox) == []
        assert "not trusted yet" in doctor(sandbox)
        screen.type("/hooks")
        screen.wait_for("6 hooks need review")
        screen.press_until("t", lambda shown: "enter details" in shown)
        screen.press_until("Escape", lambda shown: READY in shown)
        answered(screen, "Go on.", AGAIN["text"])
        assert "all trusted" in doctor(sandbox)
    assert len(saved_sessions(sandbox)) == 1
