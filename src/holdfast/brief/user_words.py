"""Items of the user's own messages: the latest first, each with the question that it answers."""

from __future__ import annotations

from itertools import pairwise

from holdfast.brief.history import is_in_earlier_stretch
from holdfast.brief.items import Item, quote, ref
from holdfast.state.rules.user_rules import PLAN_PROMPT_PREFIX
from holdfast.state.text import content_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.state.types import Request, State

# A shorter message that answers no question, such as “ok”, says nothing by itself.
MIN_REQUEST_CHARS = 12
# A request of so many words can state a goal; one of so many is clear without the one before.
MIN_GOAL_WORDS, MIN_SELF_CONTAINED_WORDS = 4, 8
# What is left of a message beside its rules is not shown if it has fewer words.
MIN_REST_WORDS = 6
# Scripts without spaces between words, such as Chinese, have about so many characters per word.
CHARS_PER_CJK_WORD = 2
# If the user stops the agent and the next request shares this much with the stopped one, it
# replaces the stopped one.
MIN_SHARED_WORD_SHARE, MIN_SHARED_WORDS = 0.5, 3
MAX_QUESTION_CHARS = 160
# A message up to this length is shown whole; of a longer one, what was pasted is left out.
VERBATIM_CHARS = 300
# Characters of the quotation, one for each form.
QUOTE_CHARS = (1500, 700, 300)
# Values of the labelled messages, and from the newest of the others to the oldest.
LABEL_VALUES = {"latest: ": 100.0, "first: ": 88.0, "before: ": 96.0}
NEWEST_VALUE, OLDEST_VALUE, EARLIER_STRETCH_VALUE = 84.0, 62.0, 50.0
# A line of fewer words, or with fewer letters among its characters, is not prose.
MIN_PROSE_WORDS, MIN_LETTER_SHARE = 3, 0.7
# How lines of terminal output begin.
OUTPUT_STARTS = ("❯", "⏺", "⎿", "│", "╭", "╰", "├", "└", "┌", "$ ", "> ", "+ ", "at ", "@@")
LEFT_OUT = "[…]"


def request_items(state: State) -> Iterator[Item]:
    """The user's messages, the newest first. Required are the latest, the first that states a goal,
    and, before a short answer, the last message that can be understood by itself."""
    superseded = superseded_lines(state["requests"])
    requests = [request for request in state["requests"] if request["line"] not in superseded]
    last, first = len(requests) - 1, _find_goal(requests)
    pending = _find_pending(requests)
    for index in reversed(range(len(requests))):
        request = requests[index]
        text = find_prose(_skip_plan_prefix(request["text"]))
        label = (
            "latest: " if index == last
            else "first: " if index == first
            else "before: " if index == pending
            else ""
        )  # fmt: skip
        if not label:
            text = _without_rules(state, request, text)
        if not label and len(text) < MIN_REQUEST_CHARS and not request.get("question"):
            continue
        if not label and "…" in text and _count_words(text) < MIN_REST_WORDS:
            # Nearly all of it is listed as rules.
            continue
        yield Item(
            "asked",
            "request",
            LABEL_VALUES.get(label) or _value_by_age(state, request, (last - index) / (last or 1)),
            request["line"],
            tuple(
                f"- {label if last else ''}{quote(text, size)}{render_question(request)} "
                f"{ref(request['line'])}"
                for size in QUOTE_CHARS
            ),
            quote=request["text"],
            is_required=bool(label),
        )


def _without_rules(state: State, request: Request, text: str) -> str:
    """The text of a message without the sentences that are listed as rules."""
    for rule in state["rules"]:
        if rule["line"] == request["line"] and not rule["superseded"]:
            text = text.replace(rule["text"], "…")
    while "… …" in text:
        text = text.replace("… …", "…")
    return text


def _value_by_age(state: State, request: Request, age: float) -> float:
    """The value of a message, by its age from 0 (the newest) to 1 (the oldest)."""
    value = NEWEST_VALUE - (NEWEST_VALUE - OLDEST_VALUE) * age
    return (
        min(value, EARLIER_STRETCH_VALUE)
        if is_in_earlier_stretch(state, request["line"])
        else value
    )


def render_question(request: Request) -> str:
    """The agent's question that a message answers, or nothing: an answer alone says little."""
    question = request.get("question", "")
    return f", answering {quote(question, MAX_QUESTION_CHARS)}" if question else ""


def find_prose(text: str) -> str:
    """The user's own sentences in a message: a long one without pasted logs, code and output."""
    if len(text) <= VERBATIM_CHARS:
        return text
    kept: list[str] = []
    in_fence = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("```"):
            in_fence = not in_fence
        if in_fence or stripped.startswith("```") or not _is_prose(stripped):
            if stripped and kept[-1:] != [LEFT_OUT]:
                kept.append(LEFT_OUT)
        else:
            kept.append(stripped)
    prose = "\n".join(kept).strip()
    return prose if prose.replace(LEFT_OUT, "").strip() else text


def _is_prose(line: str) -> bool:
    """Whether a person typed this line, as far as its characters tell."""
    if not line:
        return True
    words = line.split()
    if line.startswith(OUTPUT_STARTS) or sum("=" in word for word in words) > 1:
        return False
    if any(word.count(":") > 1 and word[:1].isdigit() for word in words[:4]):
        # A log line with a time.
        return False
    letters = sum(char.isalpha() or char == " " for char in line)
    is_list = line[0] in "-*•" or line[0].isdigit()
    long_enough = len(words) >= MIN_PROSE_WORDS or not line.isascii() or is_list
    return long_enough and letters >= MIN_LETTER_SHARE * len(line)


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


def _find_pending(requests: Sequence[Request]) -> int:
    """The index of the last self-contained request if the latest is “ok” or another short answer;
    else -1."""
    if not requests or _count_words(requests[-1]["text"]) >= MIN_SELF_CONTAINED_WORDS:
        return -1
    for index in range(len(requests) - 2, -1, -1):
        if _count_words(requests[index]["text"]) >= MIN_SELF_CONTAINED_WORDS:
            return index
    return -1


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
