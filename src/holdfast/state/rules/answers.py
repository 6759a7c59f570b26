"""What a person answered to questions that the agent put to them."""

from __future__ import annotations

from holdfast.foreign_json import told
from holdfast.state.wording import one_line, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.foreign_json import Told
    from holdfast.transcript.model import Event

LONGEST_QUESTION, LONGEST_ANSWER = 200, 400


def answers(event: Event) -> list[tuple[str, str, list[str]]]:
    """Question, answer, and the choices that were not taken."""
    detail = told(event.get("detail"))
    given, choices = detail.get("answers"), _choices(detail)
    found = []
    for question, answer in given.items() if isinstance(given, dict) else ():
        # Several answers to one question may come as a list.
        taken = [plain(one) for one in (answer if isinstance(answer, list) else [answer])]
        said = one_line(", ".join(taken), LONGEST_ANSWER)
        offered = choices.get(question, [])
        chosen = _chosen(said, offered)[0]
        others = [label for label in offered if label not in chosen]
        found.append((one_line(question, LONGEST_QUESTION), said, others))
    return found


def own_words(event: Event) -> list[tuple[str, str]]:
    """Answers that were none of the choices, behind their questions: a person typed them."""
    offered = [label for labels in _choices(told(event.get("detail"))).values() for label in labels]
    if event["name"] != "AskUserQuestion" or not event["ok"] or not offered:
        return []
    return [(asked, said) for asked, said, _ in answers(event) if _chosen(said, offered)[1]]


def _chosen(said: str, offered: list[str]) -> tuple[set[str], str]:
    """The labels in an answer, which has commas between them, and what else it says."""
    chosen = set()
    # A label can be part of a longer one.
    for label in sorted(offered, key=len, reverse=True):
        words = one_line(label, LONGEST_ANSWER)
        if words and words in said:
            chosen.add(label)
            said = said.replace(words, "")
    return chosen, said.strip(", ")


def _choices(detail: Told) -> dict[str, list[str]]:
    """The labels that each question offered."""
    asked = detail.get("questions")
    found: dict[str, list[str]] = {}
    for question in asked if isinstance(asked, list) else ():
        options = question.get("options") if isinstance(question, dict) else None
        found[plain(question.get("question")) if isinstance(question, dict) else ""] = [
            plain(option.get("label"))
            for option in (options if isinstance(options, list) else ())
            if isinstance(option, dict) and plain(option.get("label"))
        ]
    return found
