"""The real Codex in a terminal: hooks run only after the user has trusted them."""

import json

import pytest

from .codex import CodexSandbox
from .story import ANSWER, PROMPT
from .terminal import Screen
from .test_codex import (
    FULL_CONTEXT_TOKENS,
    StartConversation,
    assert_restored,
    doctor,
    sandbox,
    start_conversation,
    work_steps,
)

__all__ = ["sandbox", "start_conversation"]  # fixtures

pytestmark = pytest.mark.client

SECOND_ANSWER = {"text": "Nothing is left to do."}
FOLDER, REVIEW, READY = "Trust this folder?", "Hooks need review", "Ask Codex to do anything"
TRUST_ALL, LATER = "Trust all and continue", "Continue without trusting"


def answer_review(screen: Screen, choice: str) -> None:
    """Trust the folder, and choose an answer in the client's review of the hooks."""
    screen.wait_for(FOLDER)
    review = screen.press_until("Enter", lambda text: REVIEW in text)
    assert "6 hooks are new or changed" in review
    screen.press_until("Down", lambda text: is_selected(text, choice))
    screen.press_until("Enter", lambda text: READY in text)


def is_selected(screen_text: str, choice: str) -> bool:
    return any(choice in line and line.startswith("›") for line in screen_text.splitlines())


def run_turn(screen: Screen, prompt: str, answer: str) -> None:
    """Type a prompt and wait for the end of the turn."""
    screen.type(prompt)
    screen.wait_for(answer)
    screen.wait_until(lambda text: "Worked for" in text.partition(answer)[2])


def saved_sessions(sandbox: CodexSandbox) -> list[object]:
    sessions: list[object] = json.loads(sandbox.holdfast("status", "--all", "--json"))["sessions"]
    return sessions


def test_hooks_run_after_the_user_trusts_them_in_the_review(
    sandbox: CodexSandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install", "--host", "codex")
    assert "not trusted yet" in doctor(sandbox)
    conversation = start_conversation(*work_steps(usage=FULL_CONTEXT_TOKENS), ANSWER)
    with conversation.terminal() as screen:
        answer_review(screen, TRUST_ALL)
        run_turn(screen, PROMPT, ANSWER["text"])
    assert "all trusted" in doctor(sandbox)
    assert_restored(conversation, conversation.requests("main")[-1], trigger="auto")


def test_hooks_that_were_skipped_in_the_review_run_after_the_user_trusts_them_in_the_list(
    sandbox: CodexSandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install", "--host", "codex")
    conversation = start_conversation(ANSWER, SECOND_ANSWER)
    with conversation.terminal() as screen:
        answer_review(screen, LATER)
        run_turn(screen, PROMPT, ANSWER["text"])
        assert saved_sessions(sandbox) == []
        assert "not trusted yet" in doctor(sandbox)
        screen.type("/hooks")
        screen.wait_for("6 hooks need review")
        screen.press_until("t", lambda text: "enter details" in text)
        screen.press_until("Escape", lambda text: READY in text)
        run_turn(screen, "Go on.", SECOND_ANSWER["text"])
        assert "all trusted" in doctor(sandbox)
    assert len(saved_sessions(sandbox)) == 1
