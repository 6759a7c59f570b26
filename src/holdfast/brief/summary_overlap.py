"""Decides which items the host's summary states already, so that the brief does not repeat them."""

from __future__ import annotations

from holdfast.brief.summary_todos import is_marked_done
from holdfast.state.text import content_words, padded_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.brief.items import Item

# An item counts as stated if one line of the summary has this share of its words.
MIN_WORD_COVERAGE = 0.85
# Two texts are about the same task if each has this share of the other's content words, and the
# first has at least so many.
MIN_SHARED_WORD_SHARE, MIN_TASK_WORDS = 0.8, 3
# Headings under which a summary describes the current work.
CURRENT_WORK_HEADINGS = ("current work", "work in progress", "current state", "current task")
# Kinds of items that only a verbatim quotation states: the user's words bind as they were said, and
# a paraphrase does not replace them.
VERBATIM_KINDS = frozenset(
    {"request", "prohibition", "requirement", "error", "command rules", "note"}
)


# Names and numbers weigh so much more than other words.
NAME_WEIGHT = 2.0
# A text of which the summary lacks a smaller share of words counts as stated.
MIN_NOVELTY = 0.15
_STOP_WORDS = frozenset((
    "the", "and", "for", "with", "that", "this", "was", "were", "are", "has", "have", "had", "its",
    "not", "but", "from", "into", "than", "then", "they", "them", "you", "your", "our", "can",
    "will", "would", "should", "could", "been", "being", "also", "now", "all", "any", "when",
    "which", "what", "there", "here", "just", "only", "more", "some", "does", "did", "let",
))  # fmt: skip
_SEPARATORS = str.maketrans(dict.fromkeys("\t\n\r !\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~“”‘’—–…·", " "))


class SearchableText:
    """A text prepared for many searches for mentions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._flat = " ".join(text.split())
        self._identifiers = frozenset(text.translate(_SEPARATORS).split())

    def mentions(self, name: str, kind: str) -> bool:
        """Whether the text has exactly this name, not only as a part of a longer one."""
        if kind == "command":
            return name in self._flat
        if kind == "identifier":
            return name in self._identifiers
        start = self.text.find(name)
        while start >= 0:
            end = start + len(name)
            before, after = self.text[start - 1 : start], self.text[end : end + 1]
            if not (_is_name_char(before) or _is_name_char(after)):
                return True
            start = self.text.find(name, start + 1)
        return False


class SearchableSummary(SearchableText):
    """A host's summary prepared for many comparisons with items."""

    def __init__(self, text: str) -> None:
        super().__init__(_strip_analysis(text))
        self._words = padded_words(self.text)
        self._vocabulary = frozenset(
            word.strip("'") for word in self.text.lower().translate(_SEPARATORS).split()
        )
        self._words_by_line = [
            frozenset(padded_words(line).split()) for line in self.text.splitlines()
        ]

    def novelty(self, text: str) -> float:
        """The share of a text's words that the summary does not have, from 0 to 1. Names and
        numbers count more than other words."""
        total = new = 0.0
        for word in text.translate(_SEPARATORS).split():
            lower = word.lower().strip("'")
            if lower in _STOP_WORDS or (len(lower) < 3 and not lower.isdigit()):
                continue
            weight = NAME_WEIGHT if _is_name(word) else 1.0
            total += weight
            new += weight * (lower not in self._vocabulary)
        return new / total if total else 0.0

    def covers(self, item: Item) -> bool:
        """Whether nothing of this item would be lost if only the summary were left.

        An open plan item is not covered by a summary that calls it done.
        """
        if item.is_prose and self.novelty(item.quote) < MIN_NOVELTY:
            return True
        if item.quote:
            if self.quotes(item.quote):
                return self._mentions_all(item.names) and not self._calls_done(item)
            return (
                item.kind not in VERBATIM_KINDS
                and self.paraphrases(item.quote)
                and self._mentions_all(item.names)
                and not self._calls_done(item)
            )
        return bool(item.names) and self._mentions_all(item.names)

    def _mentions_all(self, names: tuple[str, ...]) -> bool:
        return all(self.mentions(name, "command" if " " in name else "") for name in names)

    def _calls_done(self, item: Item) -> bool:
        return item.kind == "plan" and bool(self.find_done_line(item.quote))

    def find_done_line(self, step: str) -> str:
        """The line that says that this step is done; empty if a line also lists it as open."""
        entries = (line.strip(" -*•\t") for line in self.text.splitlines())
        matches = [entry for entry in entries if is_same_task(step, entry.strip("✅☑✔ *"))]
        return matches[0] if matches and all(map(is_marked_done, matches)) else ""

    def find_similar_line(self, text: str) -> str:
        """The line that has most of the text's words, if it has at least half of them."""
        words = frozenset(padded_words(text).split())
        shared = [len(words & line) for line in self._words_by_line]
        best = max(shared, default=0)
        if not best or 2 * best < len(words):
            return ""
        return self.text.splitlines()[shared.index(best)].strip()

    def has_current_work_heading(self) -> bool:
        headings = (line.strip("#*:0123456789. ").lower() for line in self.text.splitlines())
        return any(heading.startswith(CURRENT_WORK_HEADINGS) for heading in headings)

    def quotes(self, text: str) -> bool:
        """Whether the summary has this text word for word."""
        return padded_words(text) in self._words

    def paraphrases(self, text: str) -> bool:
        """Whether one line of the summary has nearly all words of this text."""
        words = frozenset(padded_words(text).split())
        enough = MIN_WORD_COVERAGE * len(words)
        return bool(words) and any(len(words & line) >= enough for line in self._words_by_line)


def is_same_task(ours: str, theirs: str) -> bool:
    """Whether both texts are about the same task. Of `theirs` only the part before a colon, a dash
    or a bracket is compared: the rest explains it."""
    head = theirs
    for separator in (": ", " — ", " - ", " ("):
        head = head.partition(separator)[0]
    our_words, their_words = content_words(ours), content_words(head)
    shared = len(our_words & their_words)
    most_words = max(len(our_words), len(their_words))
    return len(our_words) >= MIN_TASK_WORDS and shared >= MIN_SHARED_WORD_SHARE * most_words


def _is_name(word: str) -> bool:
    """Whether a word is a number or an identifier rather than a word of a sentence."""
    return not word.isalpha() or (not word.islower() and not word.istitle())


def _is_name_char(char: str) -> bool:
    return char.isalnum() or char in ("_", "-")


def _strip_analysis(text: str) -> str:
    """The summary without the analysis before it, which the host does not show to the model."""
    before, tag, after = text.partition("<summary>")
    return after.partition("</summary>")[0] if tag else before.partition("</analysis>")[2] or before
