"""Items of what the user said: requests, rules, decisions, rules of slash commands, notes."""

from __future__ import annotations

from itertools import pairwise

from holdfast.brief.history import is_in_earlier_era
from holdfast.brief.items import Item, quote, ref
from holdfast.state.rules.decisions import REFUSED_BY_USER
from holdfast.state.rules.user_rules import PLAN_PROMPT_PREFIX
from holdfast.state.text import content_words, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.state.types import Decision, Request, Rule, State

# A shorter request is shown only if it is the first, the latest or the one before a short answer.
MIN_REQUEST_CHARS = 12
# A request of so many words can state a goal; one of so many is clear without the request before.
MIN_GOAL_WORDS, MIN_SELF_CONTAINED_WORDS = 4, 8
# Scripts without spaces between words, such as Chinese, have about so many characters per word.
CHARS_PER_CJK_WORD = 2
# If the user stops the agent and the next request shares this much with the stopped one, it
# replaces the stopped one.
MIN_SHARED_WORD_SHARE, MIN_SHARED_WORDS = 0.5, 3
MAX_QUESTION_CHARS = 60
# Decisions of the user are worth at least this much; those of the agent are worth less.
MIN_USER_DECISION_VALUE = 66.0
# Value and sizes (in characters of the quotation, one for each form) of labelled requests.
REQUEST_VALUES = {"latest: ": 100.0, "first: ": 95.0, "before: ": 96.0}
REQUEST_CHARS = {
    "latest: ": (1200, 500, 240, 120, 80),
    "first: ": (1200, 500, 240, 120, 80),
    "before: ": (500, 240, 120, 80, 60),
}


def request_items(state: State) -> Iterator[Item]:
    """The user's requests. The first, the latest, and before a short answer the request that it
    answers, are labelled and required; others of earlier eras are in `history.era_items`."""
    superseded = superseded_lines(state["requests"])
    requests = [request for request in state["requests"] if request["line"] not in superseded]
    last, first = len(requests) - 1, _find_goal(requests)
    pending = _find_pending_request(requests)
    for index, request in enumerate(requests):
        label = (
            "latest: " if index == last
            else "first: " if index == first
            else "before: " if index == pending
            else ""
        )  # fmt: skip
        if not label and is_in_earlier_era(state, request["line"]):
            continue
        text = _skip_plan_prefix(request["text"]) if label else _without_rules(state, request)
        if len(text) < MIN_REQUEST_CHARS and not label:
            continue
        value = REQUEST_VALUES.get(label, 40.0 + 20 * index / (last or 1))
        # A single request needs no label.
        shown_label = label if last else ""
        sizes = REQUEST_CHARS.get(label, (300, 120))
        yield Item(
            "asked",
            "request",
            value,
            request["line"],
            tuple(
                f"- {shown_label}{quote(text, size)}{render_question(request)} "
                f"{ref(request['line'])}"
                for size in sizes
            ),
            quote=request["text"],
            is_required=bool(label),
        )


def render_question(request: Request) -> str:
    """The agent's question that a request answers, or nothing: an answer alone says little."""
    question = request.get("question", "")
    return f", answering {quote(question, MAX_QUESTION_CHARS)}" if question else ""


def superseded_lines(requests: Sequence[Request]) -> set[int]:
    """The lines of interrupted requests that the user then sent again in similar words."""
    lines = set()
    for request, following in pairwise(requests):
        words, next_words = content_words(request["text"]), content_words(following["text"])
        shared = len(words & next_words)
        most_words = max(len(words), len(next_words))
        enough = max(MIN_SHARED_WORDS, MIN_SHARED_WORD_SHARE * most_words)
        if request.get("stopped") and shared >= enough:
            lines.add(request["line"])
    return lines


def _find_goal(requests: Sequence[Request]) -> int:
    """The index of the first request that states a goal rather than “hi”; a link is a goal too."""
    goals = (
        index
        for index, request in enumerate(requests)
        if _count_words(request["text"]) >= MIN_GOAL_WORDS or "://" in request["text"]
    )
    return next(goals, 0)


def _find_pending_request(requests: Sequence[Request]) -> int:
    """The index of the last self-contained request if the latest is “ok” or another short answer;
    else -1."""
    if not requests or _count_words(requests[-1]["text"]) >= MIN_SELF_CONTAINED_WORDS:
        return -1
    earlier = range(len(requests) - 2, -1, -1)
    return next(
        (
            index
            for index in earlier
            if _count_words(requests[index]["text"]) >= MIN_SELF_CONTAINED_WORDS
        ),
        -1,
    )


def _count_words(text: str) -> int:
    """The number of words; in scripts without spaces it is estimated from the characters."""
    if text.isascii():
        return len(text.split())
    cjk_chars = sum(1 for char in text if char > "\u2e7f")
    return len(text.split()) + cjk_chars // CHARS_PER_CJK_WORD


def _skip_plan_prefix(text: str) -> str:
    """A request that hands over a plan, from the title of the plan on; other text unchanged."""
    if not text.startswith(PLAN_PROMPT_PREFIX):
        return text
    plan = text.removeprefix(PLAN_PROMPT_PREFIX).lstrip("# \n")
    return f"…{plan.removeprefix('Plan:').lstrip()}" if plan else text


def _without_rules(state: State, request: Request) -> str:
    """The request's text without the sentences that are listed as rules."""
    text = request["text"]
    for rule in state["rules"]:
        if rule["line"] == request["line"] and not rule["superseded"]:
            text = text.replace(rule["text"], "…")
    while "… …" in text:
        text = text.replace("… …", "…")
    return text


def rule_items(state: State) -> Iterator[Item]:
    """The user's rules that still hold; clear prohibitions are required."""
    superseded = superseded_lines(state["requests"])
    rules = [
        rule for rule in state["rules"] if not rule["superseded"] and rule["line"] not in superseded
    ]
    for index, rule in enumerate(rules):
        is_prohibition = rule["kind"] == "prohibition"
        yield Item(
            "rules",
            rule["kind"],
            _rule_value(rule) + 5 * index / len(rules),
            rule["line"],
            (f"- {quote(rule['text'], 400)} {ref(rule['line'])}",),
            quote=rule["text"],
            is_required=is_prohibition and not rule["weak"],
        )


def _rule_value(rule: Rule) -> float:
    """Prohibitions are worth more than requirements, and clear rules more than possible ones."""
    if rule["kind"] == "prohibition":
        return 72.0 if rule.get("weak") else 90.0
    return 70.0 if rule.get("weak") else 79.0


def decision_items(state: State) -> Iterator[Item]:
    """Decisions and rejected approaches; those of the user are worth more."""
    count = len(state["decisions"]) or 1
    for index, decision in enumerate(state["decisions"]):
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
                f"{ref(decision.get('told', 0), decision['line'])}"
                for size in (300, 140)
            ),
            quote=decision["text"],
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
        return f"“{one_line(decision['text'], max_chars)}”"
    quoted = " — ".join(f"“{one_line(text, max_chars)}”" for text in quotes)
    text = ": ".join(filter(None, (decision.get("label", ""), quoted)))
    why = one_line(decision["why"], max_chars)
    return f"{text}, saying “{why}”" if why and text.startswith(REFUSED_BY_USER) else text


def command_rule_items(state: State, commands: Sequence[tuple[str, str, str]]) -> Iterator[Item]:
    """The rules of active slash commands, given as (name, rules, file); they bind like the user's
    own rules and are required."""
    lines = {started["name"]: started["line"] for started in state["commands"]}
    for name, text, source in commands:
        line = lines.get(name, 0)
        where = ref(line) if line else f"({source})"
        indented = "\n".join(f"  {part.strip()}" for part in text.splitlines() if part.strip())
        yield Item(
            "force",
            "command rules",
            92.0,
            line,
            (f"- /{name} {where}\n{indented}",),
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
            tuple(f"- “{one_line(note, size)}” (notes.md)" for size in (300, 120)),
            quote=note,
        )
