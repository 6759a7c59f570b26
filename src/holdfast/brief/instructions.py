"""Items of what the user said: requests, rules, decisions, rules of slash commands, notes."""

from __future__ import annotations

from holdfast.brief.items import Item, ref
from holdfast.brief.user_words import superseded_lines
from holdfast.state.quoting import block_quote, plain_line, quote
from holdfast.state.rules.decisions import REFUSED_BY_USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.state.types import Decision, Rule, State

PLAN_APPROVED = "plan approved"
MAX_LABEL_CHARS, MAX_PATH_CHARS = 120, 300
# A message up to this length that decides something is shown whole.
SHOWN_WHOLE_CHARS = 700
# Decisions of the user are worth at least this much; those of the agent are worth less.
MIN_USER_DECISION_VALUE = 66.0


def rule_items(state: State) -> Iterator[Item]:
    """The user's standing rules that still hold; they are required."""
    superseded = superseded_lines(state["requests"])
    rules = [
        rule for rule in state["rules"] if not rule["superseded"] and rule["line"] not in superseded
    ]
    for index, rule in enumerate(rules):
        yield Item(
            "rules",
            rule["kind"],
            _rule_value(rule) + 5 * index / len(rules),
            rule["line"],
            (f"- {quote(rule['text'], 400)} {ref(rule['line'])}",),
            quote=rule["text"],
            is_required=True,
        )


def _rule_value(rule: Rule) -> float:
    return 90.0 if rule["kind"] == "prohibition" else 84.0


def decision_items(state: State) -> Iterator[Item]:
    """Decisions and rejected approaches; those of the user are worth more."""
    count = len(state["decisions"]) or 1
    short = {one["line"] for one in state["requests"] if len(one["text"]) <= SHOWN_WHOLE_CHARS}
    for index, decision in enumerate(state["decisions"]):
        if decision["line"] in short and "quotes" not in decision:
            # The whole message is shown among the user's words.
            continue
        if decision.get("label") == PLAN_APPROVED and state["plan_file"]:
            # The plan file is shown with the plan.
            continue
        is_rejected, is_users = decision["kind"] == "rejected", decision["by"] == "user"
        base = MIN_USER_DECISION_VALUE if is_users else MIN_USER_DECISION_VALUE - 18
        value = base + 10 * is_rejected + 6 * index / count
        if _is_refusal_without_reason(decision):
            # It may have meant “not now”; only with a reason is it a rule for later.
            value = 30.0 + 6 * index / count
        author = "the user" if is_users else "the agent"
        label = f"{'ruled out' if is_rejected else 'decided'} by {author}: "
        if decision["text"].startswith(REFUSED_BY_USER):
            label = ""
        yield Item(
            "decided",
            decision["kind"],
            value,
            decision["line"],
            tuple(
                f"- {label}{_render_decision(decision, size)} "
                f"{ref(decision.get('source_line', 0), decision['line'])}"
                for size in (300, 140)
            ),
            quote=decision["text"],
            is_prose=True,
        )


def _is_refusal_without_reason(decision: Decision) -> bool:
    """Whether the user refused a tool call without comment. A refused plan does not count: it says
    that this is not the plan."""
    is_refusal = decision["text"].startswith(REFUSED_BY_USER) and not decision["why"]
    return is_refusal and not decision["text"].startswith(f"{REFUSED_BY_USER}plan")


def _render_decision(decision: Decision, max_chars: int) -> str:
    """The decision in quotation marks. Where it comes from a tool call, our label is not quoted,
    only the words of the user or the agent are."""
    quotes = decision.get("quotes")
    if quotes is None:
        return quote(decision["text"], max_chars)
    quoted = " — ".join(quote(text, max_chars) for text in quotes)
    label = plain_line(decision.get("label", ""), MAX_LABEL_CHARS)
    text = ": ".join(filter(None, (label, quoted)))
    if decision["why"] and text.startswith(REFUSED_BY_USER):
        return f"{text}, saying {quote(decision['why'], max_chars)}"
    return text


def command_rule_items(state: State, commands: Sequence[tuple[str, str, str]]) -> Iterator[Item]:
    """The rules of active slash commands, given as (name, rules, file); they bind like the user's
    own rules and are required. They are quoted: a repository's file must not write sections."""
    lines = {started["name"]: started["line"] for started in state["commands"]}
    for name, text, source in commands:
        line = lines.get(name, 0)
        where = ref(line) if line else f"({plain_line(source, MAX_PATH_CHARS)})"
        yield Item(
            "force",
            "command rules",
            92.0,
            line,
            (f"- /{plain_line(name, MAX_LABEL_CHARS)} {where}\n{block_quote(text)}",),
            quote=text,
            is_required=True,
        )


def note_items(notes: Sequence[str]) -> Iterator[Item]:
    """Notes that people wrote; they are trusted where a summary contradicts them."""
    for index, note in enumerate(notes):
        yield Item(
            "notes",
            "note",
            85.0 + 4 * index / len(notes),
            0,
            tuple(f"- {quote(note, size)} (notes.md)" for size in (300, 120)),
            quote=note,
        )
