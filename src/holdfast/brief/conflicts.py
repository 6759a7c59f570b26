"""Finds contradictions between the host's summary and what the notes and the transcript say.

Deterministic and careful: a conflict is reported only where both sides use the same words.
"""

from __future__ import annotations

from holdfast.brief.items import Item, ref
from holdfast.brief.summary_overlap import SearchableSummary, is_same_task
from holdfast.brief.summary_todos import SummaryTodo, find_no_blockers_line, parse_todos
from holdfast.state.quoting import quote
from holdfast.state.text import content_words, padded_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.state.types import State

    # What is known, its transcript line (0 for a note), and what the summary says instead.
    Conflict = tuple[str, int, str]

MAX_CONFLICTS = 5
MAX_QUOTE_CHARS = 160
NOTE_KINDS = ("decision", "blocker", "unblocked", "next", "note")
_NEGATIONS = frozenset((
    "not", "no", "never", "instead", "rather", "without", "don't", "doesn't", "isn't", "won't",
))  # fmt: skip
_PROHIBITION_STARTS = ("do not ", "don't ", "never ", "must not ", "stop ")
_PREFERENCE_MARKERS = (", not ", " instead of ", " rather than ")
_DONE_STARTS = ("done: ", "[x] ", "finished: ", "completed: ")
_DONE_ENDS = (" is done", " is finished", " is completed", " is fixed", " are done", " - done")
_CLAUSE_ENDS = ".,;:("


class ParsedNote:
    """What a note or a rule says; what it does not say is empty."""

    __slots__ = ("choice", "done", "forbidden", "kind", "text")

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.text = text
        plain = text.replace("’", "'")
        self.forbidden = _strip_start(plain, _PROHIBITION_STARTS)
        """What must not be done."""
        self.done = _find_done(plain)
        """What is called done."""
        self.choice = _find_choice(plain)
        """What was chosen, and what was rejected."""


def parse_note(note: str) -> ParsedNote:
    """Parse a note with its kind, `decision: 5 attempts, not 8`, or any other line."""
    kind, colon, text = note.partition(": ")
    if colon and kind in NOTE_KINDS:
        return ParsedNote(kind, text)
    return ParsedNote("note", note.strip("-*•+# \t"))


def _strip_start(text: str, starts: tuple[str, ...]) -> str:
    """The text behind one of these beginnings; empty if it has none of them."""
    for start in starts:
        if text.lower().startswith(start):
            return text[len(start) :]
    return ""


def _find_done(text: str) -> str:
    for end in _DONE_ENDS:
        if text.lower().rstrip(". ").endswith(end):
            return text.rstrip(". ")[: -len(end)]
    return _strip_start(text, _DONE_STARTS)


def _find_choice(text: str) -> tuple[str, str]:
    lower = text.lower()
    for marker in _PREFERENCE_MARKERS:
        start = lower.find(marker)
        if start > 0:
            rest = text[start + len(marker) :]
            end = min((rest.find(char) for char in _CLAUSE_ENDS if char in rest), default=len(rest))
            return text[:start], rest[:end]
    return "", ""


def find_conflicts(
    state: State, notes: Sequence[str], summary: SearchableSummary, *, required: bool = True
) -> Iterator[Item]:
    """One item for each conflict, at most MAX_CONFLICTS, with the source of our side."""
    todos, parsed = parse_todos(summary.text), [parse_note(note) for note in notes]
    decisions = [*_user_decisions(state), *((note, 0) for note in parsed)]
    conflicts = [
        *_forbidden_but_planned(parsed, todos),
        *_decided_otherwise(decisions, summary, todos),
        *_blocked_but_unblocked(parsed, summary.text),
        *_different_next_step(parsed, todos),
        *_finished_but_pending(state, parsed, todos),
        *_pending_but_finished(state, summary),
    ]
    for index, (ours, line, theirs) in enumerate([*dict.fromkeys(conflicts)][:MAX_CONFLICTS]):
        where = ref(line) if line else "(notes.md)"
        forms = (f"- {ours} {where}; the summary {theirs}",)
        yield Item("disagree", "disagreement", 94.0 - index, line, forms, is_required=required)


def _forbidden_but_planned(notes: list[ParsedNote], todos: list[SummaryTodo]) -> Iterator[Conflict]:
    for note in notes:
        words = content_words(note.forbidden)
        for todo in todos:
            if len(words) >= 2 and words <= todo.words:
                yield f"noted: {_quote(note.text)}", 0, f"wants it done: {_quote(todo.text)}"


def _user_decisions(state: State) -> Iterator[tuple[ParsedNote, int]]:
    """The user's rules and decisions, each with its transcript line."""
    for rule in state["rules"]:
        if not rule["superseded"]:
            yield ParsedNote("decision", rule["text"]), rule["line"]
    for decision in state["decisions"]:
        if decision["by"] == "user":
            yield ParsedNote("decision", decision["text"]), decision["line"]


def _decided_otherwise(
    decisions: list[tuple[ParsedNote, int]], summary: SearchableSummary, todos: list[SummaryTodo]
) -> Iterator[Conflict]:
    for note, line in decisions:
        chosen, rejected = (content_words(part) for part in note.choice)
        if not chosen or not rejected:
            continue
        numbers = [{word for word in part if word.isdecimal()} for part in (chosen, rejected)]
        subject = (chosen | rejected) - numbers[0] - numbers[1]
        if all(numbers) and subject:
            statements = _lines_with_rejected_number(summary.text, numbers, subject)
        else:
            statements = _todos_with_rejected_choice(todos, chosen - rejected, rejected - chosen)
        for statement in statements:
            yield f"decided: {_quote(note.text)}", line, f"says {_quote(statement)}"


def _lines_with_rejected_number(
    summary: str, numbers: list[set[str]], subject: frozenset[str]
) -> Iterator[str]:
    """For “5 attempts, not 8”: the lines of the summary that have 8 attempts."""
    chosen, rejected = numbers
    for line in summary.splitlines():
        words = frozenset(padded_words(line).split())
        if rejected <= words and subject & words and not words & (chosen | _NEGATIONS):
            yield line.strip(" -*•\t")


def _todos_with_rejected_choice(
    todos: list[SummaryTodo], chosen: frozenset[str], rejected: frozenset[str]
) -> Iterator[str]:
    """For “Redis instead of Postgres”: the tasks that have Postgres and not Redis."""
    for todo in todos:
        if chosen and rejected and rejected <= todo.words and not chosen & todo.words:
            yield todo.text


def _blocked_but_unblocked(notes: list[ParsedNote], summary: str) -> Iterator[Conflict]:
    last = [note for note in notes if note.kind in ("blocker", "unblocked")][-1:]
    for note in last:
        statement = find_no_blockers_line(summary) if note.kind == "blocker" else ""
        if statement:
            yield f"blocked: {_quote(note.text)}", 0, f"says {_quote(statement)}"


def _different_next_step(notes: list[ParsedNote], todos: list[SummaryTodo]) -> Iterator[Conflict]:
    next_todos = [todo for todo in todos if todo.is_next]
    for note in [note for note in notes if note.kind == "next"][-1:]:
        words = content_words(note.text)
        if next_todos and not any(words & todo.words for todo in todos):
            yield f"next: {_quote(note.text)}", 0, f"goes on with {_quote(next_todos[0].text)}"


def _finished_but_pending(
    state: State, notes: list[ParsedNote], todos: list[SummaryTodo]
) -> Iterator[Conflict]:
    done = [(item["text"], item["line"]) for item in state["plan"] if item["status"] == "completed"]
    done += [(note.done, 0) for note in notes if note.done]
    still_open = [item["text"] for item in state["plan"] if item["status"] != "completed"]
    for text, line in done:
        for todo in todos:
            if is_same_task(text, todo.text) and not any(
                is_same_task(other, todo.text) for other in still_open
            ):
                yield f"done: {_quote(text)}", line, f"lists it as open: {_quote(todo.text)}"


def _pending_but_finished(state: State, summary: SearchableSummary) -> Iterator[Conflict]:
    for item in state["plan"]:
        is_open = item["status"] in ("pending", "in_progress")
        if is_open and (line := summary.find_done_line(item["text"])):
            yield (
                f"still open in the plan: {_quote(item['text'])}",
                item["line"],
                f"says {_quote(line)}",
            )


def _quote(text: str) -> str:
    return quote(text, MAX_QUOTE_CHARS)
