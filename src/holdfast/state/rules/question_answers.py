"""Read the user's answers to questions that the agent asked with the AskUserQuestion tool."""

from __future__ import annotations

from holdfast.lenient_json import as_object
from holdfast.state.text import one_line, to_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.lenient_json import JsonObject
    from holdfast.transcript.types import Event

MAX_QUESTION_CHARS, MAX_ANSWER_CHARS = 200, 400


def find_answers(event: Event) -> list[tuple[str, str, list[str]]]:
    """Return each question, its answer, and the offered choices that were not taken."""
    detail = as_object(event.get("detail"))
    answers, choices = detail.get("answers"), _find_choices(detail)
    results = []
    for question, answer in answers.items() if isinstance(answers, dict) else ():
        # Several answers to one question may come as a list.
        parts = [to_text(part) for part in (answer if isinstance(answer, list) else [answer])]
        text = one_line(", ".join(parts), MAX_ANSWER_CHARS)
        offered = choices.get(question, [])
        selected = _split_answer(text, offered)[0]
        others = [label for label in offered if label not in selected]
        results.append((one_line(question, MAX_QUESTION_CHARS), text, others))
    return results


def find_typed_answers(event: Event) -> list[tuple[str, str]]:
    """Return the questions and answers in which the user typed more than the offered choices."""
    choices = _find_choices(as_object(event.get("detail")))
    offered = [label for labels in choices.values() for label in labels]
    if event["name"] != "AskUserQuestion" or not event["ok"] or not offered:
        return []
    return [
        (question, answer)
        for question, answer, _ in find_answers(event)
        if _split_answer(answer, offered)[1]
    ]


def _split_answer(answer: str, offered: list[str]) -> tuple[set[str], str]:
    """Return the offered labels that an answer contains, and the rest of its text."""
    selected = set()
    # Longest first, because a label can be part of a longer one.
    for label in sorted(offered, key=len, reverse=True):
        text = one_line(label, MAX_ANSWER_CHARS)
        if text and text in answer:
            selected.add(label)
            answer = answer.replace(text, "")
    return selected, answer.strip(", ")


def _find_choices(detail: JsonObject) -> dict[str, list[str]]:
    """Return the labels that each question offered."""
    questions = detail.get("questions")
    choices: dict[str, list[str]] = {}
    for question in questions if isinstance(questions, list) else ():
        options = question.get("options") if isinstance(question, dict) else None
        choices[to_text(question.get("question")) if isinstance(question, dict) else ""] = [
            to_text(option.get("label"))
            for option in (options if isinstance(options, list) else ())
            if isinstance(option, dict) and to_text(option.get("label"))
        ]
    return choices
