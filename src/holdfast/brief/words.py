"""What was said and binds: requests, rules, decisions."""

from __future__ import annotations

from itertools import pairwise

from holdfast.brief.history import is_earlier
from holdfast.brief.item import Item, quoted, ref
from holdfast.state.rules.decisions import REFUSED_BY_USER
from holdfast.state.rules.rules_of_user import CARRY_OUT
from holdfast.state.wording import one_line as short
from holdfast.state.wording import weighty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.state.model import Decision, Request, Rule, State

SHORTEST_REQUEST = 12
# So many words say something, and so many say it without what was asked before.
TELLING, ALONE = 4, 8
# Writing that does not set words apart has about so many letters to a word.
LETTERS = 2
# Who stops the agent and says so much of it again means the second try.
SAME, FEWEST = 0.5, 3
LONGEST_QUESTION = 60
# What a decision of the user's is worth at least; those of the agent are worth less.
OF_USER = 66.0
LABELLED = {"latest: ": 100.0, "first: ": 95.0, "before: ": 96.0}
SIZES = {
    "latest: ": (1200, 500, 240, 120, 80),
    "first: ": (1200, 500, 240, 120, 80),
    "before: ": (500, 240, 120, 80, 60),
}


def requests(state: State) -> Iterator[Item]:
    again = said_again(state["requests"])
    requests = [one for one in state["requests"] if one["line"] not in again]
    last, first = len(requests) - 1, _goal(requests)
    standing = _standing(requests)
    for number, request in enumerate(requests):
        label = (
            "latest: " if number == last
            else "first: " if number == first
            else "before: " if number == standing
            else ""
        )  # fmt: skip
        if not label and is_earlier(state, request["line"]):
            continue
        text = _from_title(request["text"]) if label else _without_rules(state, request)
        if len(text) < SHORTEST_REQUEST and not label:
            continue
        value = LABELLED.get(label, 40.0 + 20 * number / (last or 1))
        told = label if last else ""
        sizes = SIZES.get(label, (300, 120))
        yield Item(
            "asked",
            "request",
            value,
            request["line"],
            tuple(
                f"- {told}{quoted(text, size)}{answering(request)} {ref(request['line'])}"
                for size in sizes
            ),
            quote=request["text"],
            floor=bool(label),
        )


def answering(request: Request) -> str:
    """An answer says little without what was asked."""
    question = request.get("question", "")
    return f", answering {quoted(question, LONGEST_QUESTION)}" if question else ""


def said_again(requests: Sequence[Request]) -> set[int]:
    """The lines of requests that the user took back by saying them again in other words."""
    found = set()
    for one, other in pairwise(requests):
        here, there = weighty(one["text"]), weighty(other["text"])
        same = len(here & there)
        if one.get("stopped") and same >= max(FEWEST, SAME * max(len(here), len(there))):
            found.add(one["line"])
    return found


def _goal(requests: Sequence[Request]) -> int:
    """The first that says what is wanted, not “hi”; a link says it too."""
    telling = (
        n
        for n, one in enumerate(requests)
        if _length(one["text"]) >= TELLING or "://" in one["text"]
    )
    return next(telling, 0)


def _standing(requests: Sequence[Request]) -> int:
    """Behind “ok” or a short answer stands what was asked for before it."""
    if not requests or _length(requests[-1]["text"]) >= ALONE:
        return -1
    before = range(len(requests) - 2, -1, -1)
    return next((n for n in before if _length(requests[n]["text"]) >= ALONE), -1)


def _length(text: str) -> int:
    """In words, whatever it is written in."""
    if text.isascii():
        return len(text.split())
    strange = sum(1 for sign in text if sign > "\u2e7f")
    return len(text.split()) + strange // LETTERS


def _from_title(text: str) -> str:
    """A plan is told from its title on."""
    if not text.startswith(CARRY_OUT):
        return text
    plan = text.removeprefix(CARRY_OUT).lstrip("# \n")
    return f"…{plan.removeprefix('Plan:').lstrip()}" if plan else text


def _without_rules(state: State, request: Request) -> str:
    """A request between the first and the latest, less the sentences that stand as rules."""
    text = request["text"]
    for rule in state["rules"]:
        if rule["line"] == request["line"] and not rule["superseded"]:
            text = text.replace(rule["text"], "…")
    while "… …" in text:
        text = text.replace("… …", "…")
    return text


def rules(state: State) -> Iterator[Item]:
    again = said_again(state["requests"])
    rules = [
        rule for rule in state["rules"] if not rule["superseded"] and rule["line"] not in again
    ]
    for number, rule in enumerate(rules):
        prohibition = rule["kind"] == "prohibition"
        yield Item(
            "rules",
            rule["kind"],
            _binds(rule) + 5 * number / len(rules),
            rule["line"],
            (f"- {quoted(rule['text'], 400)} {ref(rule['line'])}",),
            quote=rule["text"],
            floor=prohibition and not rule["weak"],
        )


def _binds(rule: Rule) -> float:
    """What may be meant as a rule comes after what is one."""
    if rule["kind"] == "prohibition":
        return 72.0 if rule.get("weak") else 90.0
    return 70.0 if rule.get("weak") else 79.0


def decisions(state: State) -> Iterator[Item]:
    count = len(state["decisions"]) or 1
    for number, decision in enumerate(state["decisions"]):
        rejected, user = decision["kind"] == "rejected", decision["by"] == "user"
        value = (OF_USER if user else OF_USER - 18) + 10 * rejected + 6 * number / count
        if _is_mere_refusal(decision):
            # Not now, perhaps: only a reason makes it a rule for later.
            value = 30.0 + 6 * number / count
        who = "the user" if user else "the agent"
        label = f"{'ruled out' if rejected else 'decided'} by {who}: "
        if decision["text"].startswith(REFUSED_BY_USER):
            label = ""
        yield Item(
            "decided",
            decision["kind"],
            value,
            decision["line"],
            tuple(
                f"- {label}{_told(decision, size)} {ref(decision.get('told', 0), decision['line'])}"
                for size in (300, 140)
            ),
            quote=decision["text"],
        )


def _is_mere_refusal(decision: Decision) -> bool:
    """A call that the user refused without a word; a plan that was refused is not the plan."""
    refused = decision["text"].startswith(REFUSED_BY_USER) and not decision["why"]
    return refused and not decision["text"].startswith(f"{REFUSED_BY_USER}plan")


def _told(decision: Decision, size: int) -> str:
    """A sentence in quotes; of what came of a call only others' words are quoted."""
    quotes = decision.get("quotes")
    if quotes is None:
        return f"“{short(decision['text'], size)}”"
    told = " — ".join(f"“{short(quote, size)}”" for quote in quotes)
    said = ": ".join(filter(None, (decision.get("label", ""), told)))
    why = short(decision["why"], size)
    return f"{said}, saying “{why}”" if why and said.startswith(REFUSED_BY_USER) else said


def in_force(state: State, commands: Sequence[tuple[str, str, str]]) -> Iterator[Item]:
    """What active slash commands ask to be kept: it binds like a rule of the user's."""
    lines = {started["name"]: started["line"] for started in state["commands"]}
    for name, text, source in commands:
        line = lines.get(name, 0)
        where = ref(line) if line else f"({source})"
        told = "\n".join(f"  {part.strip()}" for part in text.splitlines() if part.strip())
        yield Item(
            "force",
            "command rules",
            92.0,
            line,
            (f"- /{name} {where}\n{told}",),
            quote=text,
            floor=True,
        )


def noted(notes: Sequence[str]) -> Iterator[Item]:
    """People's own notes are trusted where a summary says otherwise."""
    for number, note in enumerate(notes):
        yield Item(
            "notes",
            "note",
            85.0 + 4 * number / len(notes),
            0,
            tuple(f"- “{short(note, size)}” (notes.md)" for size in (300, 120)),
            quote=note,
        )
