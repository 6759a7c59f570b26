"""Items of what was found out: closing reports, causes, workarounds, running servers, records."""

from __future__ import annotations

from holdfast.brief.items import Item, ref
from holdfast.state.text import (
    Cues,
    TokenizedText,
    content_words,
    count_letters,
    has_digit,
    one_line,
    split_sentences,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.brief.summary_overlap import SearchableSummary
    from holdfast.state.types import Record, State

NEWEST_STATEMENT_VALUE, OLDEST_STATEMENT_VALUE = 64.0, 44.0
WORKAROUND_VALUE, SERVER_VALUE, RECORD_VALUE, TASK_TEXT_VALUE = 66.0, 60.0, 50.0, 64.0
MAX_WORKAROUNDS, MAX_RECORDS = 6, 6
MIN_STATEMENT_CHARS, MAX_STATEMENT_CHARS = 12, 320
# A statement of fewer words does not stand alone.
MIN_STATEMENT_WORDS, MIN_PART_WORDS = 6, 4
# Beside a summary, a statement must have at least this share of new words.
MIN_NEW_SHARE = 0.4
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
    "possibly", "option", "options", "recommend", "suggest", "propose", "i think", "let me",
)  # fmt: skip
TEST_NAMES = ("`Test", "`test_", "Test", "test_")
# Letters from here on are of other scripts than Latin.
FIRST_OTHER_LETTER = "\u0370"
# Words of statements that stay true and useful: causes, negative results, decisions, open ends.
LASTING = Cues(
    "root cause", "because", "caused by", "due to", "turned out", "turns out", "the issue was",
    "the problem was", "the bug was", "the issue is", "the problem is", "the bug is", "the reason",
    "doesn't work", "does not work", "didn't work", "did not work", "can't", "cannot",
    "not available", "not installed", "not found", "doesn't exist", "does not exist", "only works",
    "must be", "must not", "instead of", "rather than", "decided", "deferred", "rejected",
    "pre-existing", "preexisting", "unrelated", "reverted", "remaining", "still need",
    "still needs",
    "still fails", "not yet", "no longer", "requires", "required", "workaround", "so that",
    "to avoid", "otherwise", "never", "without", "left for", "left to", "is missing", "was missing",
    "out of scope", "gave up", "ruled out", "on purpose", "intentional", "by design",
)  # fmt: skip
# Words that matter in a text of which only a part is shown.
IMPORTANT = Cues(
    "root cause", "because", "fix", "fixed", "issue", "problem", "bug", "instead", "still",
    "remaining", "not", "never", "must", "need", "needs", "only", "decided", "failed", "fails",
    "verified", "note", "important", "without", "default", "reverted", "deferred", "rejected",
)  # fmt: skip
# A statement that begins so refers to one that is not shown.
REFERRING_STARTS = frozenset((
    "it", "this", "that", "these", "those", "so", "but", "and", "then", "they", "which", "also",
    "however", "he", "she", "both", "or", "there", "here", "such", "its", "their", "want", "shall",
    "yes", "no", "ok", "right", "good", "now", "next", "first", "second", "finally", "same",
))  # fmt: skip
# Sentences that say nothing: greetings, offers and announcements.
EMPTY_STARTS = (
    "let me know", "would you like", "feel free", "great", "perfect", "excellent", "done!",
    "you're right", "sure", "here's", "here is", "i'll ", "let me ", "sorry", "good question",
)  # fmt: skip


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
            is_overtaken = names <= known if names else age >= RECENT_TEXTS
            if is_overtaken or not is_lasting(text):
                continue
            if summary and (_is_doubtful(text) or summary.novelty(text) < MIN_NEW_SHARE):
                continue
            kept |= names
            form = f"- “{text}” {ref(line)}"
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


def select_lasting(
    text: str, summary: SearchableSummary | None, sizes: tuple[int, ...]
) -> list[str]:
    """The statements of a text that stand alone, once for each size in characters.

    Beside a summary only those that say something new are taken.
    """
    lasting = [
        statement
        for statement in split_statements(text)
        if is_lasting(statement) and not (summary and summary.novelty(statement) < MIN_NEW_SHARE)
    ]
    scores = [_score(statement, at, summary) for at, statement in enumerate(lasting)]
    return [form for size in sizes if (form := _select(lasting, scores, size))]


def find_names(text: str) -> set[str]:
    """The identifiers, paths and quoted code in a statement."""
    words = (word.strip("`'\"“”.,:;()[]{}*") for word in text.split())
    return {word for word in words if len(word) > 2 and _is_name(word)}


def _is_name(word: str) -> bool:
    inner = word[1:]
    return (
        any(char in word for char in "_/")
        or "." in inner[:-1]
        or not (inner.islower() or not inner.isalpha())
    )


def is_lasting(text: str) -> bool:
    """Whether a statement stands alone and says something that outlasts its turn."""
    words = text.split()
    if len(words) < MIN_STATEMENT_WORDS and text.isascii():
        return False
    first = words[0].strip("`*“”\"',.").lower()
    if first in REFERRING_STARTS or first.startswith("#") or text.endswith((":", "…")):
        return False
    if sum(char >= FIRST_OTHER_LETTER and char.isalpha() for char in text) * 5 > len(text):
        # The cues are English; in other scripts, statements with figures or code are taken.
        return has_digit(text) or "`" in text
    return LASTING.match(TokenizedText(text))


def _is_doubtful(text: str) -> bool:
    """Whether a statement is a guess or a proposal, says what a test checks, or is a row of a
    table: beside a summary, such statements mislead more often than they help."""
    is_fragment = text.startswith(TEST_NAMES) or " — " in text
    return is_fragment or HEDGES.match(TokenizedText(text))


def select_statements(
    text: str,
    summary: SearchableSummary | None,
    sizes: tuple[int, ...],
    keeps_last: bool = False,
) -> list[str]:
    """The most important statements of a text in their order, once for each size in characters.

    Sizes that no statement fits are left out. With `keeps_last` the last statement, which says
    what comes next, is more important than the others.
    """
    statements = split_statements(text, keeps_questions=keeps_last)
    scores = [_score(statement, at, summary) for at, statement in enumerate(statements)]
    if keeps_last and scores:
        scores[-1] += 2.0
    return [form for size in sizes if (form := _select(statements, scores, size))]


def split_statements(text: str, *, keeps_questions: bool = False) -> list[str]:
    """The sentences, list items and table rows of a report, without empty phrases."""
    statements = []
    for sentence in split_sentences(text):
        if sentence.startswith("<"):
            continue
        plain = _render_table_row(sentence.replace("**", "").replace("__", "").strip())
        lower = plain.lower()
        if len(plain) < MIN_STATEMENT_CHARS or count_letters(plain) * 2 < len(plain):
            continue
        if plain.isascii() and len(plain.split()) < MIN_PART_WORDS and not find_names(plain):
            # A heading or a label.
            continue
        if plain.endswith(("?", "？")) and not keeps_questions:
            # The user has answered it.
            continue
        if not lower.startswith(EMPTY_STARTS) or any(char in plain for char in "`/0123456789"):
            statements.append(one_line(plain, MAX_STATEMENT_CHARS))
    return statements


def _render_table_row(text: str) -> str:
    """A row of a Markdown table as `first: second — third`; other text unchanged."""
    if not text.startswith("|"):
        return text
    cells = [cell.strip() for cell in text.strip("|").split("|")]
    first, *rest = [cell for cell in cells if cell] or [""]
    return f"{first}: {' — '.join(rest)}" if rest else first


def _score(text: str, position: int, summary: SearchableSummary | None) -> float:
    tokens = TokenizedText(text)
    score = 1.0 + (1.0 if IMPORTANT.match(tokens) else 0.0) + (0.8 if position == 0 else 0.0)
    score += 0.4 * has_digit(text) + 0.6 * bool(find_names(text))
    return score * (summary.novelty(text) if summary else 1.0)


def _select(statements: list[str], scores: list[float], max_chars: int) -> str:
    """The best statements that fit together, in their order."""
    chosen: set[int] = set()
    left = max_chars
    for at in sorted(range(len(statements)), key=lambda at: (-scores[at], at)):
        if scores[at] > MIN_SCORE and len(statements[at]) + 3 <= left:
            chosen.add(at)
            left -= len(statements[at]) + 3
    if not chosen and scores and max(scores) > MIN_SCORE:
        best = max(range(len(statements)), key=lambda at: scores[at])
        return one_line(statements[best], max_chars)
    parts: list[str] = []
    for at in sorted(chosen):
        gap = bool(parts) and at - 1 not in chosen
        parts.append(("… " if gap else "") + statements[at])
    return " ".join(parts)


MIN_SCORE = 0.35


def workaround_items(state: State) -> Iterator[Item]:
    """Commands that failed and the variants that worked, the newest first."""
    shown: set[str] = set()
    for one in reversed(state["workarounds"]):
        if one["text"] in shown or len(shown) >= MAX_WORKAROUNDS:
            continue
        shown.add(one["text"])
        where = ref(one["failed_line"], one["line"])
        error = f" (“{one_line(one['error'], 100)}”)" if one["error"] else ""
        forms = tuple(
            f"- `{one_line(one['failed'], size)}` failed{error}; this worked: "
            f"`{one_line(one['text'], size + 60)}` {where}"
            for size in (160, 70)
        )
        yield Item(
            "found", "workaround", WORKAROUND_VALUE - len(shown), one["line"], forms,
            quote=one["text"], names=(one["text"],), is_prose=True,
        )  # fmt: skip


def server_items(state: State) -> Iterator[Item]:
    """Commands that still run in the background, as far as the log shows."""
    for one in state["servers"]:
        text = f"- running in the background: `{one_line(one['text'], 160)}` {ref(one['line'])}"
        yield Item("now", "server", SERVER_VALUE, one["line"], (text,), names=(one["text"],))


def record_items(state: State, summary: SearchableSummary | None) -> Iterator[Item]:
    """Texts that were written for the record, other than the messages of commits, the newest
    first, and the task that was looked up last."""
    recent = state["requests"][-RECENT_TEXTS:]
    shown = state["task_shown"]
    if shown and (not recent or shown["line"] > recent[0]["line"]):
        forms = select_statements(shown["text"], summary, (700, 350))
        texts = tuple(f"- `{shown['head']}` says: “{form}” {ref(shown['line'])}" for form in forms)
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
        head = f"`{one['head']}`: " if one["head"] else ""
        forms = select_statements(one["text"], summary, (600, 250))
        if one["head"].startswith("git commit"):
            # No commit has this message: it was refused and will be used again.
            head, forms = "commit message without a commit: ", [one_line(one["text"], 900)]
        texts = tuple(f"- {head}“{form}” {ref(one['line'])}" for form in forms)
        if texts:
            yield Item(
                "found", "record", RECORD_VALUE - age, one["line"], texts, quote=forms[0],
                is_prose=True,
            )  # fmt: skip
