"""What was decided and what was ruled out, by the user, by the agent, or by a question asked."""

from __future__ import annotations

from holdfast.state.wording import cues, has_any, keep, one_line, plain, sentences, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("prompt", "reply", "tool")
MOST = 80
SHORTEST, LONGEST = 15, 400

REJECTED = cues(
    "rejected", "ruled out", "ruling out", "won't work", "will not work", "doesn't work because",
    "does not work because", "dead end", "not viable", "abandoned", "abandoning", "backed out",
    "gave up on", "not an option", "reverted", "deadlocks", "decided against", "tried",
)  # fmt: skip
CHOSEN_BY_USER = cues(
    "let's use", "lets use", "let's go with", "lets go with", "go with", "we'll use",
    "we will use", "i decided", "we decided", "decision", "i prefer", "agreed", "let's keep",
)  # fmt: skip
# "Use this, not that."
CONTRAST = cues("use", "not")
CHOSEN_BY_AGENT = cues(
    "i'll go with", "going with", "decided to", "decision", "we'll use", "settled on",
    "opted for", "i chose", "i've chosen", "root cause is", "root cause was", "rather than",
    "the fix is to", "agreed",
)  # fmt: skip


def apply(state: State, event: Event) -> None:
    if event["kind"] == "tool":
        _answers(state, event)
        return
    by: Literal["user", "agent"] = "user" if event["kind"] == "prompt" else "agent"
    chosen = CHOSEN_BY_USER if by == "user" else CHOSEN_BY_AGENT
    if not has_any(words(event["text"]), REJECTED + chosen + CONTRAST[:1]):
        return
    for sentence in sentences(event["text"]):
        if not SHORTEST <= len(sentence) <= LONGEST or sentence.endswith("?"):
            continue
        padded = words(sentence)
        if has_any(padded, REJECTED):
            _add(state, sentence, "rejected", by, event["line"])
        elif has_any(padded, chosen) or (by == "user" and _contrasts(padded)):
            _add(state, sentence, "chosen", by, event["line"])


def _contrasts(padded: str) -> bool:
    use, instead_of = CONTRAST
    return instead_of in padded.partition(use)[2]


def _answers(state: State, event: Event) -> None:
    """Questions that the agent put to the user, and approved plans."""
    detail = event.get("detail")
    if not isinstance(detail, dict) or not event["ok"]:
        return
    if event["name"] == "AskUserQuestion":
        answers = detail.get("answers")
        for question, answer in answers.items() if isinstance(answers, dict) else ():
            # Several answers to one question may come as a list.
            said = ", ".join(map(plain, answer if isinstance(answer, list) else [answer]))
            text = f"{one_line(question, 200)} — {one_line(said, 180)}"
            _add(state, text, "chosen", "user", event["line"])
    elif event["name"] in ("ExitPlanMode", "exit_plan_mode"):
        plan = plain(detail.get("plan")) or plain(event["input"].get("plan"))
        if plan:
            text = f"plan approved: {one_line(plan, LONGEST - 20)}"
            _add(state, text, "chosen", "user", event["line"])


def _add(
    state: State,
    text: str,
    kind: Literal["chosen", "rejected"],
    by: Literal["user", "agent"],
    line: int,
) -> None:
    text = keep(text, LONGEST)
    decisions = state["decisions"]
    if any(decision["text"] == text for decision in decisions):
        return
    decisions.append({"text": text, "kind": kind, "by": by, "line": line})
    if len(decisions) > MOST:
        # The user's own decisions outlive the agent's remarks.
        agents = [i for i, decision in enumerate(decisions) if decision["by"] == "agent"]
        del decisions[agents[0] if agents else 0]
