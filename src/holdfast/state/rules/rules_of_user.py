"""The user's sentences that bind, verbatim; a later correction marks what it supersedes."""

from __future__ import annotations

from holdfast.state.wording import cues, has_any, keep, sentences, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("prompt",)
MOST = 200
SHORTEST, LONGEST = 8, 400

PROHIBITIONS = cues(
    "never", "don't", "dont", "do not", "must not", "mustn't", "should not", "shouldn't",
    "avoid", "without", "no longer", "not allowed", "forbidden", "stop", "leave alone",
    "hands off", "off limits",
)  # fmt: skip
REQUIREMENTS = cues(
    "always", "only", "must", "make sure", "ensure", "keep", "should", "prefer", "instead",
    "have to", "has to", "need to", "needs to", "required", "rather than", "at least",
    "at most", "exactly", "from now on", "correction", "leave",
)  # fmt: skip
# Strong words of other languages; where words are not set apart by spaces, anywhere in a sentence.
FOREIGN_PROHIBITIONS = (
    " niemals ", " auf keinen fall ", " bitte nicht ", " jamais ", " ne touche", " nunca ",
    " jamás ", " não ", " mai ", "하지 마", "하지마", "지 말", "금지", "절대", "しないで", "禁止",
    "ないでください", "不要", "不能", "别", "никогда", "нельзя", " не надо ",
)  # fmt: skip
FOREIGN_REQUIREMENTS = (
    " immer ", " unbedingt ", " nur ", " muss ", " toujours ", " il faut ", " siempre ",
    " sempre ", " deve ", " hay que ", "반드시", "항상", "해야", "만 사용", "유지", "必ず", "常に",
    "だけ", "必须", "总是", "只", "务必", "всегда", "обязательно", "только", "должен",
)  # fmt: skip
CORRECTIONS = cues(
    "actually", "instead", "no longer", "scratch that", "changed my mind", "change of plan",
    "forget", "anymore", "after all", "from now on", "correction", "on second thought",
)  # fmt: skip


def apply(state: State, event: Event) -> None:
    for sentence in sentences(event["text"]):
        if not SHORTEST <= len(sentence) <= LONGEST or sentence.endswith(("?", "？")):
            continue
        padded = words(sentence)
        kind: Literal["prohibition", "requirement"]
        if has_any(padded, PROHIBITIONS + FOREIGN_PROHIBITIONS):
            kind = "prohibition"
        elif has_any(padded, REQUIREMENTS + FOREIGN_REQUIREMENTS):
            kind = "requirement"
        else:
            continue
        if has_any(padded, CORRECTIONS):
            _supersede(state, padded, event["line"])
        text = keep(sentence, LONGEST)
        if all(rule["text"] != text or rule["superseded"] for rule in state["rules"]):
            state["rules"].append(
                {"text": text, "kind": kind, "line": event["line"], "superseded": 0}
            )
    del state["rules"][:-MOST]


def _supersede(state: State, correction: str, line: int) -> None:
    """An earlier rule about the same things no longer holds."""
    new = _subjects(correction)
    for rule in state["rules"]:
        old = _subjects(words(rule["text"]))
        if not rule["superseded"] and rule["line"] < line and len(new & old) * 3 >= len(new | old):
            rule["superseded"] = line


def _subjects(padded: str) -> set[str]:
    return {word for word in padded.split() if len(word) > 3}
