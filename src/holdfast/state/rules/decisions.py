"""What was decided and what was ruled out, by the user or by the agent.

Decisions come from sentences, from answered questions, approved plans and refused tool calls.
"""

from __future__ import annotations

from holdfast.lenient_json import LazyObject, as_object
from holdfast.state import shell_parser
from holdfast.state.rules.question_answers import find_answers
from holdfast.state.rules.sentence_classifier import classify_sentence
from holdfast.state.rules.user_rules import find_typed_texts
from holdfast.state.text import (
    Cues,
    TokenizedText,
    clip,
    one_line,
    redact_and_clip,
    split_sentences,
    to_text,
    tokenize,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from holdfast.state.types import Decision, State
    from holdfast.transcript.types import Event

HANDLES = ("prompt", "reply", "tool")
MAX_DECISIONS = 80
MIN_DECISION_CHARS, MAX_DECISION_CHARS, MAX_REASON_CHARS, MAX_TARGET_CHARS = 15, 400, 200, 200
REFUSED_BY_USER = "the user refused "

RULED_OUT = (
    "ruled out", "ruling out", "won't work", "will not work", "doesn't work because",
    "does not work because", "dead end", "not viable", "backed out", "gave up on",
    "not an option", "deadlocks", "decided against",
)  # fmt: skip
# Fewer words than for the user: agents often describe what programs reject, and what they tried.
REJECTED_BY_AGENT = Cues(*RULED_OUT, "i reverted", "i abandoned", "i rejected")
REJECTED_BY_USER = Cues(
    *RULED_OUT, "we abandoned", "we rejected", "we tried", "i tried", "i reverted"
)
CHOSEN_BY_AGENT = Cues(
    "i'll go with", "going with", "decided to", "we'll use", "settled on",
    "opted for", "i chose", "i've chosen", "root cause is", "root cause was", "the fix is to",
)  # fmt: skip
# Prefixes of a sentence that records a decision.
DECISION_PREFIXES = ("Decision:", "Decided:", "Decision**:", "Decided**:")
ALTERNATIVE_CUES = (" rather than ", " instead of ", ", not ")
# With one of these words, `over` also names the alternative; in “go over the tests” it does not.
CHOICE_WORDS = Cues(
    "use", "using", "prefer", "chose", "chosen", "choose", "picked", "pick", "settled on",
    "opted for", "go with", "going with",
)  # fmt: skip
REASON_CUES = (" because ", " since ", " so that ", " due to ", " as it ", " — ")
# Tools of MCP servers can write anything, also what the client writes about a refused call.
MCP_PREFIX = "mcp__"
REFUSED_CALL_PREFIX = "The user doesn't want to proceed with this tool use"
PLAN_TOOLS = ("ExitPlanMode", "exit_plan_mode")
# Prefixes of answers that leave the decision to the agent.
NO_DECISION_PREFIXES = ("you decide", "your call", "up to you")


def apply(state: State, event: Event) -> None:
    if event["kind"] == "tool":
        _apply_tool(state, event)
        return
    by: Literal["user", "agent"] = "user" if event["kind"] == "prompt" else "agent"
    if by == "user":
        _add_users_decisions(state, event)
        return
    chosen, rejected = CHOSEN_BY_AGENT, REJECTED_BY_AGENT
    text = tokenize(event["text"])
    has_prefix = any(prefix in event["text"] for prefix in DECISION_PREFIXES)
    if not (has_prefix or chosen.match(text) or rejected.match(text)):
        return
    for sentence in split_sentences(event["text"]):
        if not MIN_DECISION_CHARS <= len(sentence) <= MAX_DECISION_CHARS or sentence.endswith("?"):
            continue
        tokens = TokenizedText(sentence)
        if rejected.match(tokens):
            _add_decision(state, sentence, "rejected", by, event["line"])
        elif chosen.match(tokens) or (
            has_prefix and sentence.lstrip("*_-# ").startswith(DECISION_PREFIXES)
        ):
            _add_decision(state, sentence, "chosen", by, event["line"])


def _add_users_decisions(state: State, event: Event) -> None:
    is_answer = bool(state["questions"])
    for text in find_typed_texts(event["text"]):
        for sentence in split_sentences(text):
            if not MIN_DECISION_CHARS <= len(sentence) <= MAX_DECISION_CHARS:
                continue
            tokens = TokenizedText(sentence)
            is_choice = _is_contrast(tokens.padded) and not sentence.endswith("?")
            if REJECTED_BY_USER.match(tokens) and not sentence.endswith("?"):
                _add_decision(state, sentence, "rejected", "user", event["line"])
            elif is_choice or classify_sentence(sentence, is_answer=is_answer) == "decision":
                _add_decision(state, sentence, "chosen", "user", event["line"])


def _is_contrast(padded: str) -> bool:
    """Whether a sentence has the form “use this, not that”."""
    return " not " in padded.partition(" use ")[2]


def _apply_tool(state: State, event: Event) -> None:
    """Add answers to the agent's questions, approved plans, and calls that the user refused."""
    name, line = event["name"], event["line"]
    if not event["ok"]:
        is_of_client = not event["name"].startswith(MCP_PREFIX)
        if is_of_client and event.get("text", "").startswith(REFUSED_CALL_PREFIX):
            _add_refusal(state, event)
        return
    _remove_outdated_refusals(state, event)
    if name == "AskUserQuestion":
        for question, answer, others in find_answers(event):
            if answer.lower().startswith(NO_DECISION_PREFIXES):
                continue
            _add_decision(
                state, f"{question} — {answer}", "chosen", "user", line,
                over=", ".join(others), quotes=[question, answer], call=event.get("call_line", 0),
            )  # fmt: skip
    elif name in PLAN_TOOLS:
        plan = _find_approved_plan(event)
        if plan:
            text = one_line(plan, MAX_DECISION_CHARS - 20)
            _add_decision(
                state, f"plan approved: {text}", "chosen", "user", line,
                label="plan approved", quotes=[text], call=event.get("call_line", 0),
            )  # fmt: skip


def _find_approved_plan(event: Event) -> str:
    """Return the text of the approved plan, or the path of its file."""
    if not isinstance(event.get("detail"), dict | LazyObject):
        return ""
    detail = as_object(event.get("detail"))
    plan = to_text(detail.get("plan")) or to_text(event["input"].get("plan"))
    return plan or to_text(detail.get("filePath"))


def _add_refusal(state: State, event: Event) -> None:
    arguments = event["input"]
    keys = ("file_path", "command", "plan", "url")
    target = next((to_text(arguments[key]) for key in keys if arguments.get(key)), "")
    reason = event.get("text", "").partition("the user said:\n")[2].partition("\n\nNote: ")[0]
    kind = "plan" if event["name"] in PLAN_TOOLS else event["name"]
    label, target = f"{REFUSED_BY_USER}{kind}", one_line(target, MAX_TARGET_CHARS)
    if event["name"] not in ("", "AskUserQuestion"):
        _add_decision(
            state, f"{label}: {target}".rstrip(": "), "rejected", "user", event["line"],
            why=one_line(reason, MAX_REASON_CHARS), label=label,
            quotes=[target] if target else [], call=event.get("call_line", 0),
        )  # fmt: skip


def _remove_outdated_refusals(state: State, event: Event) -> None:
    """Remove a refused call that now succeeds: it was not ruled out for good."""
    if not any(decision["text"].startswith(REFUSED_BY_USER) for decision in state["decisions"]):
        return
    path, script = (to_text(event["input"].get(key)) for key in ("file_path", "command"))
    heads = _find_heads(script)
    state["decisions"] = [
        decision
        for decision in state["decisions"]
        if not decision["text"].startswith(REFUSED_BY_USER)
        or not _is_same_call(decision, event["name"], path, heads)
    ]


def _is_same_call(decision: Decision, name: str, path: str, heads: set[str]) -> bool:
    """Whether a successful call does what this refused one would have done."""
    kind = decision["text"].removeprefix(REFUSED_BY_USER).partition(":")[0]
    for quote in decision.get("quotes", ()):
        if kind == "Bash":
            return name == "Bash" and not heads.isdisjoint(_find_heads(quote))
        return bool(path) and name != "Read" and quote == one_line(path, MAX_TARGET_CHARS)
    return False


def _find_heads(script: str) -> set[str]:
    """Return the first words of each command without options: `gh pr comment`, `git push`."""
    heads = set()
    for command in shell_parser.parse_commands(script):
        words = [word for word in command.words[:3] if word and not word.startswith("-")]
        if words[:1] != ["cd"]:
            heads.add(" ".join(words[:2] if words[:1] == ["git"] else words))
    return heads


def _add_decision(
    state: State,
    text: str,
    kind: Literal["chosen", "rejected"],
    by: Literal["user", "agent"],
    line: int,
    *,
    over: str = "",
    why: str = "",
    label: str = "",
    quotes: list[str] | None = None,
    call: int = 0,
) -> None:
    """Add a decision unless it is known; `quotes` are given only for one from a tool call."""
    text = redact_and_clip(text, MAX_DECISION_CHARS)
    decisions = state["decisions"]
    if any(decision["text"] == text for decision in decisions):
        return
    # Alternatives and reasons are searched for in sentences only: those of a call are given.
    sentence = text if quotes is None else ""
    over = over or _find_part(sentence, _find_alternative_cues(sentence))
    decision: Decision = {
        "text": text,
        "kind": kind,
        "by": by,
        "line": line,
        "over": redact_and_clip(over, MAX_REASON_CHARS),
        "why": redact_and_clip(why or _find_part(sentence, REASON_CUES), MAX_REASON_CHARS),
    }
    if quotes is not None:
        decision["label"], decision["source_line"] = label, call or line
        decision["quotes"] = [redact_and_clip(quote, MAX_DECISION_CHARS) for quote in quotes]
    decisions.append(decision)
    if len(decisions) > MAX_DECISIONS:
        # The agent's decisions are dropped before the user's.
        by_agent = [i for i, known in enumerate(decisions) if known["by"] == "agent"]
        del decisions[by_agent[0] if by_agent else 0]


def _find_alternative_cues(text: str) -> tuple[str, ...]:
    is_choice = " over " in text and CHOICE_WORDS.match(TokenizedText(text))
    return (*ALTERNATIVE_CUES, " over ") if is_choice else ALTERNATIVE_CUES


def _find_part(text: str, cues: tuple[str, ...]) -> str:
    """Return what follows the first of the cues, up to the end of that clause."""
    starts = [(at, cue) for cue in cues if (at := text.find(cue)) > 0]
    if not starts:
        return ""
    at, cue = min(starts)
    rest = text[at + len(cue) :]
    separators = (", ", "; ", ". ", *REASON_CUES, *ALTERNATIVE_CUES)
    ends = [end for separator in separators if (end := rest.find(separator)) > 0]
    return clip(rest[: min(ends, default=len(rest))].strip().rstrip("."), MAX_REASON_CHARS)
