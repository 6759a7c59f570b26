"""Items of what was found out: closing reports, causes, workarounds, running servers, records."""

from __future__ import annotations

from holdfast.brief.items import Item, ref
from holdfast.brief.statements import (
    MIN_NEW_SHARE,
    find_names,
    is_lasting,
    is_vague,
    select_statements,
    split_statements,
)
from holdfast.state.quoting import code, quote
from holdfast.state.text import Cues, TokenizedText, content_words, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.brief.summary_overlap import SearchableSummary
    from holdfast.state.types import Record, State

NEWEST_STATEMENT_VALUE, OLDEST_STATEMENT_VALUE = 64.0, 44.0
WORKAROUND_VALUE, SERVER_VALUE, RECORD_VALUE, TASK_TEXT_VALUE = 66.0, 60.0, 50.0, 64.0
MAX_WORKAROUNDS, MAX_RECORDS = 6, 6
MAX_HEAD_CHARS = 200
# Statements that name nothing are shown only from so many of the newest texts: later ones may have
# overtaken them.
RECENT_TEXTS = 3
# How a message begins, or what it contains, that rejects what the agent has just said.
DISAGREEMENT_STARTS = ("no ", "no,", "nope", "still ", "wrong", "not ", "that's not", "hmm, no")
DISAGREEMENTS = (
    "doesn't work", "does not work", "didn't work", "still not", "still fails", "still does",
)  # fmt: skip
# Words of guesses and proposals.
HEDGES = Cues(
    "might", "maybe", "probably", "perhaps", "seems", "could", "would", "should", "likely", "may",
    "possibly", "option", "options", "recommend", "suggest", "propose", "i", "i'm", "let me",
)  # fmt: skip
LIST_MARKS = ("- ", "* ", "• ", "1", "2", "3", "4", "5", "6", "7", "8", "9")
TEST_NAMES = ("`Test", "`test_", "Test", "test_")


def statement_items(state: State, summary: SearchableSummary | None) -> Iterator[Item]:
    """Statements of closing reports and findings that stand alone and are still true, as far as
    can be told, the newest first.

    Of statements about the same names only the newest is kept.
    """
    last = state["doing"]["line"] if state["doing"] else 0
    sources = {one["line"]: one["text"] for one in state["findings"] if one["line"] != last}
    sources |= {one["line"]: one["text"] for one in state["reports"] if one["line"] != last}
    known: set[str] = set()
    rejected = _find_rejected_lines(state, sources)
    for age, line in enumerate(sorted(sources, reverse=True)):
        if line in rejected:
            continue
        share = age / max(1, len(sources) - 1)
        value = NEWEST_STATEMENT_VALUE - (NEWEST_STATEMENT_VALUE - OLDEST_STATEMENT_VALUE) * share
        kept: set[str] = set()
        for text in split_statements(sources[line]):
            names = find_names(text)
            is_overtaken = names <= known if names else age >= RECENT_TEXTS or is_vague(text)
            if is_overtaken or not is_lasting(text):
                continue
            if summary and (_is_doubtful(text) or summary.novelty(text) < MIN_NEW_SHARE):
                continue
            kept |= names
            form = f"- {quote(text)} {ref(line)}"
            yield Item("found", "statement", value, line, (form,), quote=text, is_prose=True)
        known |= kept


def _find_rejected_lines(state: State, sources: dict[int, str]) -> set[int]:
    """The last texts before messages in which the user disagrees."""
    rejected = set()
    for request in state["requests"]:
        text = request["text"].lower()
        if text.startswith(DISAGREEMENT_STARTS) or any(part in text for part in DISAGREEMENTS):
            rejected.add(max((line for line in sources if line < request["line"]), default=0))
    return rejected


def _is_doubtful(text: str) -> bool:
    """Whether a statement is a guess or a proposal, says what a test checks, or is a row of a
    table: beside a summary, such statements mislead more often than they help."""
    is_fragment = text.startswith(TEST_NAMES) or " — " in text
    return is_fragment or HEDGES.match(TokenizedText(text))


def workaround_items(state: State) -> Iterator[Item]:
    """Commands that failed and the variants that worked, the newest first."""
    shown: set[str] = set()
    for one in reversed(state["workarounds"]):
        if one["text"] in shown or len(shown) >= MAX_WORKAROUNDS:
            continue
        shown.add(one["text"])
        where = ref(one["failed_line"], one["line"])
        error = f" ({quote(one['error'], 100)})" if one["error"] else ""
        forms = tuple(
            f"- {code(one['failed'], size)} failed{error}; this worked: "
            f"{code(one['text'], size + 60)} {where}"
            for size in (160, 70)
        )
        yield Item(
            "found", "workaround", WORKAROUND_VALUE - len(shown), one["line"], forms,
            quote=one["text"], names=(one["text"],), is_prose=True,
        )  # fmt: skip


def server_items(state: State) -> Iterator[Item]:
    """Commands that still run in the background, as far as the log shows."""
    for one in state["servers"]:
        text = f"- running in the background: {code(one['text'], 160)} {ref(one['line'])}"
        yield Item("now", "server", SERVER_VALUE, one["line"], (text,), names=(one["text"],))


def _find_list_items(text: str) -> str:
    """The lists of a task: what to make, and what to respect. The text if it has none; what a task
    is good for stands in its paragraphs."""
    items = [line.strip() for line in text.splitlines() if line.lstrip().startswith(LIST_MARKS)]
    return "\n".join(items) if items else text


def record_items(state: State, summary: SearchableSummary | None) -> Iterator[Item]:
    """Texts that were written for the record, other than the messages of commits, the newest
    first, and the task that was looked up last."""
    recent = state["requests"][-RECENT_TEXTS:]
    shown = state["task_shown"]
    if shown and (not recent or shown["line"] > recent[0]["line"]):
        forms = select_statements(_find_list_items(shown["text"]), summary, (900, 450))
        head = f"- {code(shown['head'], MAX_HEAD_CHARS)} says: "
        texts = tuple(f"{head}{quote(form)} {ref(shown['line'])}" for form in forms)
        if texts:
            yield Item(
                "plan", "task text", TASK_TEXT_VALUE, shown["line"], texts, quote=forms[0],
                is_prose=True,
            )  # fmt: skip
    subjects = {commit["subject"] for commit in state["commits"]}
    records = [one for one in state["records"] if one["text"].partition("\n")[0] not in subjects]
    kept: list[Record] = []
    for one in reversed(records):
        words = content_words(one["text"])
        if all(2 * len(words & content_words(other["text"])) < len(words) for other in kept):
            kept.append(one)
    for age, one in enumerate(kept[:MAX_RECORDS]):
        head = f"{code(one['head'], MAX_HEAD_CHARS)}: " if one["head"] else ""
        forms = select_statements(one["text"], summary, (300, 150) if summary else (600, 250))
        if one["head"].startswith("git commit"):
            # No commit has this message: it was refused and will be used again.
            head, forms = "commit message without a commit: ", [one_line(one["text"], 900)]
        texts = tuple(f"- {head}{quote(form)} {ref(one['line'])}" for form in forms)
        if texts:
            yield Item(
                "found", "record", RECORD_VALUE - age, one["line"], texts, quote=forms[0],
                is_prose=True,
            )  # fmt: skip
