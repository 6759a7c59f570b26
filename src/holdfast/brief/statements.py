"""Statements of a text: its sentences and list items, and which of them say something by
themselves."""

from __future__ import annotations

from holdfast.state.text import (
    Cues,
    TokenizedText,
    count_letters,
    has_digit,
    one_line,
    split_sentences,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.brief.summary_overlap import SearchableSummary

MIN_STATEMENT_CHARS, MAX_STATEMENT_CHARS = 12, 320
# A statement of fewer words does not stand alone.
MIN_STATEMENT_WORDS, MIN_PART_WORDS, MIN_NAMELESS_WORDS = 6, 4, 8
# Beside a summary, a statement must have at least this share of new words.
MIN_NEW_SHARE = 0.4
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
    "you're right", "you're absolutely right", "sure", "here's", "here is", "i'll ", "let me ",
    "sorry", "good question",
)  # fmt: skip
# A statement with a lower score is not worth its room.
MIN_SCORE = 0.35


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


def is_lasting(text: str) -> bool:
    """Whether a statement stands alone and says something that outlasts its turn."""
    if not stands_alone(text):
        return False
    if sum(char >= FIRST_OTHER_LETTER and char.isalpha() for char in text) * 5 > len(text):
        # The cues are English; in other scripts, statements with figures or code are taken.
        return has_digit(text) or "`" in text
    return LASTING.match(TokenizedText(text))


def is_vague(text: str) -> bool:
    """Whether a statement that names nothing is too short to say what it is about."""
    return text.isascii() and len(text.split()) < MIN_NAMELESS_WORDS


def stands_alone(text: str) -> bool:
    """Whether a statement can be understood without the one before."""
    words = text.split()
    if len(words) < MIN_STATEMENT_WORDS and text.isascii():
        return False
    first = words[0].strip("`*“”\"',.").lower()
    is_reference = first in REFERRING_STARTS or first.startswith("#")
    return not is_reference and not text.endswith((":", "…"))


def find_names(text: str) -> set[str]:
    """The identifiers, paths and quoted code in a statement."""
    words = (word.strip("`'\"“”.,:;()[]{}*") for word in text.split())
    return {word for word in words if len(word) > 2 and _is_name(word)}


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


def _is_name(word: str) -> bool:
    inner = word[1:]
    return (
        "_" in word
        or "/" in word
        or "." in inner[:-1]
        or not (inner.islower() or not inner.isalpha())
    )


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
