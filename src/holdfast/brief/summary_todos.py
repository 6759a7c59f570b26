"""Finds what a host's summary lists as still to do, as done, and as not blocked."""

from __future__ import annotations

from holdfast.state.text import padded_words, split_sentences

# “Pending tasks from the list” is a heading; a longer line is a sentence.
MAX_HEADING_CHARS = 30
_BULLETS = "-*•+ \t"
_TODO_HEADINGS = (
    "pending task", "pending", "next step", "optional next", "remaining", "to do", "todo",
    "still to do", "open task", "upcoming",
)  # fmt: skip
_BLOCKER_HEADINGS = ("blocked on", "blocking on", "blockers", "blocker", "blocked by", "blocked")
_NOTHING_WORDS = frozenset(("none", "nothing", "no", "n/a", "na"))
# An entry with one of these words is done, doubtful or negated, and not a task that is still to do.
_CLOSED_WORDS = frozenset((
    "done", "complete", "completed", "finished", "resolved", "fixed", "merged", "already",
    "passed", "passing", "verified", "reopened", "again", "not", "no", "none", "never",
    "without", "unless", "until", "don't", "doesn't", "isn't", "won't", "cannot", "can't",
    "needn't", "nothing", "skip", "skipped",
))  # fmt: skip
_DONE_MARKS = ("✅", "☑", "✔", "[x]", "[X]")
_DONE_WORDS = frozenset(("done", "complete", "completed", "finished", "implemented"))
_DENYING_WORDS = frozenset(
    ("not", "no", "never", "until", "unless", "once", "when", "pending", "partly")
)
_CLOSED_MARKS = ("✅", "☑", "✔", "[x]", "[X]", "~~")


class SummaryTodo:
    """One task that a summary lists as still to do."""

    __slots__ = ("is_next", "text", "words")

    def __init__(self, text: str, is_next: bool) -> None:
        self.text = text
        self.words = frozenset(padded_words(text).split())
        self.is_next = is_next
        """Whether it stands under a heading such as “Next Step”."""


def parse_todos(summary: str) -> list[SummaryTodo]:
    """The entries under headings such as “Pending Tasks” and “Optional Next Step”."""
    todos: list[SummaryTodo] = []
    heading, in_code = "", False
    for line in summary.splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
        if in_code or not line.strip():
            continue
        title, rest = _split_heading(line)
        if title:
            heading = title
        if heading.startswith(_TODO_HEADINGS):
            is_next = "next" in heading
            todos += [SummaryTodo(text, is_next) for text in _split_entries(rest) if _is_open(text)]
    return todos


def find_no_blockers_line(summary: str) -> str:
    """The line in which a summary says that nothing blocks the work; empty if it has none."""
    for line in summary.splitlines():
        name, colon, rest = _strip_markup(line).partition(":")
        words = padded_words(rest).split()
        is_about_blockers = colon and name.strip().lower() in _BLOCKER_HEADINGS
        if is_about_blockers and words and words[0] in _NOTHING_WORDS:
            return _strip_markup(line)
    return ""


def is_marked_done(line: str) -> bool:
    """Whether a line has a done mark, or a word such as “completed” without a negation."""
    words = padded_words(line).split()
    return any(mark in line for mark in _DONE_MARKS) or not (
        _DONE_WORDS.isdisjoint(words) or not _DENYING_WORDS.isdisjoint(words)
    )


def _split_heading(line: str) -> tuple[str, str]:
    """The heading of a line in lower case, or nothing, and the rest of the line."""
    text = _strip_markup(line)
    name, _, rest = text.partition(":")
    name, rest = name.strip().lower(), rest.strip()
    if rest and name.startswith(_TODO_HEADINGS) and len(name) <= MAX_HEADING_CHARS:
        return name, rest
    if line[:1].isspace() or not (line.startswith("#") or text.endswith(":")):
        return "", line
    return text.rstrip(": ").lower(), ""


def _strip_markup(line: str) -> str:
    """The line without bullets, heading marks, numbering and bold type."""
    return line.replace("**", "").strip(f"{_BULLETS}#").lstrip("0123456789.) ").strip()


def _split_entries(line: str) -> list[str]:
    """A list item as one entry, prose as one entry for each sentence."""
    text = line.replace("**", "").strip()
    bare = _strip_markup(line)
    return [bare] if bare and bare != text else split_sentences(text)


def _is_open(text: str) -> bool:
    has_closed_mark = any(mark in text for mark in _CLOSED_MARKS)
    return not has_closed_mark and _CLOSED_WORDS.isdisjoint(padded_words(text).split())
