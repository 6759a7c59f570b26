"""Items of what was found out: closing reports, causes, workarounds, running servers, records."""

from __future__ import annotations

from holdfast.brief.items import Item, ref
from holdfast.state.text import (
    Cues,
    TokenizedText,
    content_words,
    one_line,
    padded_words,
    split_sentences,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.brief.summary_overlap import SearchableSummary
    from holdfast.state.types import Record, State

# Characters of a report's statements, one for each form.
REPORT_CHARS = (900, 450, 220, 110)
NEWEST_REPORT_VALUE, OLDEST_REPORT_VALUE = 62.0, 36.0
NEWEST_FINDING_VALUE, OLDEST_FINDING_VALUE = 50.0, 30.0
WORKAROUND_VALUE, SERVER_VALUE, RECORD_VALUE = 66.0, 60.0, 48.0
MAX_WORKAROUNDS, MAX_RECORDS = 10, 12
ANSWERED_SHARE = 0.8
MIN_STATEMENT_CHARS, MAX_STATEMENT_CHARS = 12, 320
# Words that make a statement of a report more important than its neighbours.
IMPORTANT = Cues(
    "root cause", "cause", "because", "fix", "fixed", "issue", "problem", "bug", "before", "after",
    "instead", "still", "remaining", "not", "never", "must", "need", "needs", "only", "decided",
    "passed", "pass", "failed", "fails", "failing", "verified", "changed", "added", "removed",
    "created", "deleted", "renamed", "next", "todo", "note", "important", "without", "default",
    "reverted", "pre-existing", "deferred", "rejected", "uncommitted", "committed", "pushed",
    "why", "result", "results", "found", "works", "now",
)  # fmt: skip
# Sentences that say nothing: greetings, offers and announcements.
EMPTY_STARTS = (
    "let me know", "would you like", "feel free", "great", "perfect", "excellent", "done!",
    "you're right", "sure", "here's", "here is", "i'll ", "let me ", "sorry", "good question",
)  # fmt: skip


def report_items(state: State, summary: SearchableSummary | None) -> Iterator[Item]:
    """The agent's closing reports, the newest first, with their most important statements."""
    last = state["doing"]["line"] if state["doing"] else 0
    reports = [report for report in state["reports"] if report["line"] != last]
    for age, report in enumerate(reversed(reports)):
        share = age / max(1, len(reports) - 1) if len(reports) > 1 else 0.0
        value = NEWEST_REPORT_VALUE - (NEWEST_REPORT_VALUE - OLDEST_REPORT_VALUE) * share
        if report["text"].rstrip().endswith(("?", "？")):
            # What it asks was answered: the answer, with the question, is among the user's words.
            value *= ANSWERED_SHARE
        forms = select_statements(report["text"], summary, REPORT_CHARS)
        texts = [f"- “{form}” {ref(report['line'])}" for form in forms]
        if texts:
            yield Item(
                "found", "report", value, report["line"], tuple(texts),
                quote=forms[0], is_prose=True,
            )  # fmt: skip


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
        plain = _render_table_row(sentence.replace("**", "").replace("__", "").strip())
        lower = plain.lower()
        letters = sum(char.isalnum() for char in plain)
        if letters * 2 < len(plain) or len(plain) < MIN_STATEMENT_CHARS:
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
    score += 0.4 * any(char.isdigit() for char in text) + 0.4 * ("`" in text)
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


def finding_items(state: State) -> Iterator[Item]:
    """Sentences between tool calls that state a cause or a result, the newest first."""
    findings = state["findings"]
    last = state["doing"]["line"] if state["doing"] else 0
    for age, finding in enumerate(reversed(findings)):
        if finding["line"] == last:
            continue
        share = age / max(1, len(findings) - 1)
        value = NEWEST_FINDING_VALUE - (NEWEST_FINDING_VALUE - OLDEST_FINDING_VALUE) * share
        text = f"- “{finding['text']}” {ref(finding['line'])}"
        yield Item(
            "found", "finding", value, finding["line"], (text,),
            quote=finding["text"], is_prose=True,
        )  # fmt: skip


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


def record_items(state: State) -> Iterator[Item]:
    """Texts that were written for the record, other than commit messages, the newest first."""
    subjects = {commit["subject"] for commit in state["commits"]}
    records = [one for one in state["records"] if one["text"].partition("\n")[0] not in subjects]
    kept: list[Record] = []
    for one in reversed(records):
        words = content_words(one["text"])
        if all(2 * len(words & content_words(other["text"])) < len(words) for other in kept):
            kept.append(one)
    for age, one in enumerate(kept[:MAX_RECORDS]):
        head = f"`{one['head']}`: " if one["head"] else ""
        text = one["text"]
        forms = tuple(f"- {head}“{one_line(text, size)}” {ref(one['line'])}" for size in (400, 160))
        yield Item(
            "found", "record", RECORD_VALUE - age, one["line"], forms, quote=text, is_prose=True
        )


def drop_repeated(items: list[Item]) -> list[Item]:
    """Without findings and purposes whose words a report that is kept already has."""
    texts = [padded_words(item.quote) for item in items if item.kind == "report"]
    return [
        item
        for item in items
        if item.kind != "finding" or not any(padded_words(item.quote) in text for text in texts)
    ]
