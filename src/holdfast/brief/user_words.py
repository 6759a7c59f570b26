"""Items of the user's own messages: the latest first, each with the question that it answers."""

from __future__ import annotations

from itertools import pairwise

from holdfast.brief.history import is_in_earlier_stretch
from holdfast.brief.items import Item, ref
from holdfast.state.quoting import quote
from holdfast.state.rules.user_rules import PLAN_PROMPT_PREFIX, is_quoted_line
from holdfast.state.text import Cues, TokenizedText, content_words, count_letters, split_sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.brief.summary_overlap import SearchableSummary
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
# Older messages than this that ask for one action were probably done.
RECENT_MESSAGES, ONE_OFF_VALUE = 3, 40.0
NEWEST_VALUE, OLDEST_VALUE, EARLIER_STRETCH_VALUE = 84.0, 62.0, 50.0
# A line of fewer words, or with fewer letters among its characters, is not prose.
MIN_PROSE_WORDS, MIN_LETTER_SHARE = 3, 0.7
# How lines of terminal output begin.
OUTPUT_STARTS = ("❯", "⏺", "⎿", "│", "╭", "╰", "├", "└", "┌", "$ ", ">", "+ ", "at ", "@@")
LEFT_OUT = "[…]"
# Of a long message, sentences are shown beside a summary if this share of their words is new.
MIN_NEW_SHARE = 0.4
# Words of sentences that bind: they are shown unless a line of the summary has all of their words.
BINDING = Cues(
    "not", "never", "must", "only", "always", "don't", "no", "without", "instead", "should", "want",
)  # fmt: skip
QUESTION_STARTS = (
    "can you ", "could you ", "can we ", "now can you ", "what ", "why ", "how ", "where ", "is ",
    "are ", "do ", "does ", "did ", "which ", "who ", "when ",
)  # fmt: skip


def request_items(state: State, summary: SearchableSummary | None = None) -> Iterator[Item]:
    """The user's messages, the newest first. Required are the latest, the first that states a goal,
    and, before a short answer, the last message that can be understood by itself."""
    superseded = superseded_lines(state["requests"])
    requests = [request for request in state["requests"] if request["line"] not in superseded]
    last, first = len(requests) - 1, _find_goal(requests)
    pending = _find_pending(requests)
    # Messages that set a rule or decide something, rather than asking for one action.
    binding_lines = {rule["line"] for rule in state["rules"]}
    binding_lines.update(one["line"] for one in state["decisions"] if one["by"] == "user")
    for index in reversed(range(len(requests))):
        request = requests[index]
        quoted = request["text"]
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
        age = (last - index) / (last or 1)
        value = LABEL_VALUES.get(label) or _value_by_age(state, request, age)
        is_old = not label and last - index > RECENT_MESSAGES
        if not label and LEFT_OUT in text and (is_old or _count_words(text) < MIN_REST_WORDS):
            # Nearly all of it was pasted, or it was about what was pasted.
            continue
        is_binding = request["line"] in binding_lines or bool(request.get("question"))
        is_one_off = is_old and not is_binding
        if is_old and summary is not None:
            text = _without_questions(text)
            if not text:
                continue
        if summary is not None and label != "latest: " and len(text) > VERBATIM_CHARS:
            quoted = text = _select_new_sentences(text, summary)
            if not text:
                continue
        if is_one_off:
            value = min(value, ONE_OFF_VALUE)
        yield Item(
            "asked",
            "request",
            value,
            request["line"],
            tuple(
                f"- {label if last else ''}{quote(text, size)}{render_question(request)} "
                f"{ref(request['line'], request.get('said_line', 0))}"
                for size in QUOTE_CHARS[is_old:]
            ),
            quote=quoted,
            is_required=bool(label) and not (summary and label == "first: "),
            is_prose=is_one_off or (label == "first: " and quoted is request["text"]),
        )


def _without_questions(text: str) -> str:
    """An older message without its questions, which were answered; empty if nothing is left."""
    if "?" not in text and not text.lower().lstrip().startswith(QUESTION_STARTS):
        return text
    sentences = split_sentences(text)
    kept = [
        sentence
        for sentence in sentences
        if not sentence.endswith(("?", "？"))
        and not sentence.lower().startswith(QUESTION_STARTS)
        and sentence.strip("0123456789.) ")
    ]
    rest = " ".join(kept)
    return rest if _count_words(rest) >= MIN_GOAL_WORDS else ""


def _select_new_sentences(text: str, summary: SearchableSummary) -> str:
    """The sentences of a long message that say something the summary does not say; empty if they
    are too short to be understood."""
    parts: list[str] = []
    for sentence in split_sentences(text):
        is_new = summary.novelty(sentence) >= MIN_NEW_SHARE
        binds = BINDING.match(TokenizedText(sentence)) and not summary.paraphrases(sentence)
        if is_new or binds:
            parts.append(sentence.replace("**", ""))
        elif parts[-1:] != ["…"]:
            parts.append("…")
    new = " ".join(parts)
    return new if _count_words(new) >= MIN_REST_WORDS else ""


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
    """The agent's question that a message answers, or the sentence that it refers to, or nothing:
    an answer alone says little."""
    if question := request.get("question", ""):
        return f", answering {quote(question, MAX_QUESTION_CHARS)}"
    context = request.get("context", "")
    return f", after {quote(context, MAX_QUESTION_CHARS)}" if context else ""


def find_prose(text: str) -> str:
    """The user's own sentences in a message: a long one without pasted logs, code and output."""
    if len(text) <= VERBATIM_CHARS:
        return _without_quoted_lines(text)
    kept: list[str] = []
    in_fence = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("```"):
            in_fence = not in_fence
        # Text that is copied from the terminal is indented.
        is_copied = line.startswith("  ") and stripped[:1].isalpha()
        if in_fence or is_copied or stripped.startswith("```") or not _is_prose(stripped):
            if stripped and kept[-1:] != [LEFT_OUT]:
                kept.append(LEFT_OUT)
        else:
            kept.append(stripped)
    prose = "\n".join(kept).strip()
    while f"{LEFT_OUT}\n\n{LEFT_OUT}" in prose:
        prose = prose.replace(f"{LEFT_OUT}\n\n{LEFT_OUT}", LEFT_OUT)
    return prose if prose.replace(LEFT_OUT, "").strip() else text


def _without_quoted_lines(text: str) -> str:
    """A message without its lines of quoted mail, unless nothing else is left."""
    if ">" not in text and "&gt;" not in text:
        return text
    lines = [LEFT_OUT if is_quoted_line(line) else line for line in text.split("\n")]
    if not any(line.strip() for line in lines if line != LEFT_OUT):
        return text
    return "\n".join(
        line
        for at, line in enumerate(lines)
        if line != LEFT_OUT or lines[at - 1 : at] != [LEFT_OUT]
    )


def _is_prose(line: str) -> bool:
    """Whether a person typed this line, as far as its characters tell."""
    if not line:
        return True
    words = line.split()
    if line.startswith(OUTPUT_STARTS) or line.count("=") > 1:
        return False
    if ":" in line and any(word.count(":") > 1 and word[:1].isdigit() for word in words[:4]):
        # A log line with a time.
        return False
    is_list = line[0] in "-*•" or line[0].isdigit()
    long_enough = len(words) >= MIN_PROSE_WORDS or not line.isascii() or is_list
    return long_enough and count_letters(line) >= MIN_LETTER_SHARE * len(line)


def superseded_lines(requests: Sequence[Request]) -> set[int]:
    """The lines of interrupted requests that the user then sent again in similar words."""
    lines = set()
    for request, following in pairwise(requests):
        if not request.get("stopped"):
            continue
        words, next_words = content_words(request["text"]), content_words(following["text"])
        shared = len(words & next_words)
        most_words = max(len(words), len(next_words))
        enough = max(MIN_SHARED_WORDS, MIN_SHARED_WORD_SHARE * most_words)
        if shared >= enough:
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
