"""What the host's summary already says, asked of one item at a time."""

from __future__ import annotations

from holdfast.brief.open_ends import says_done
from holdfast.state.wording import weighty, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.brief.item import Item

# An item's words count as said when one line of the summary holds this share of them.
ENOUGH = 0.85
# The share of either side's words that the other must have to be about the same thing.
SAME, LEAST_WORDS = 0.8, 3
# Headings under which a summary says what was being done.
CURRENT = ("current work", "work in progress", "current state", "current task")
# The user's own words bind as they were said: a paraphrase does not stand for them.
VERBATIM = frozenset({"request", "prohibition", "requirement", "error", "command rules", "note"})


_NOT_IN_NAMES = str.maketrans(
    dict.fromkeys("\t\n\r !\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~“”‘’—–…·", " ")
)


class Text:
    """A text, prepared to be asked for names."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._flat = " ".join(text.split())
        self._identifiers = frozenset(text.translate(_NOT_IN_NAMES).split())

    def names(self, text: str, kind: str) -> bool:
        """Whether it has this very name."""
        if kind == "command":
            return text in self._flat
        if kind == "identifier":
            return text in self._identifiers
        at = self.text.find(text)
        while at >= 0:
            end = at + len(text)
            if not (_goes_on(self.text[at - 1 : at]) or _goes_on(self.text[end : end + 1])):
                return True
            at = self.text.find(text, at + 1)
        return False


class Summary(Text):
    """A summary, prepared for many questions."""

    def __init__(self, text: str) -> None:
        super().__init__(_summary_part(text))
        self._words = words(self.text)
        self._lines = [frozenset(words(line).split()) for line in self.text.splitlines()]

    def says(self, item: Item) -> bool:
        """Whether nothing of this item would be lost if only the summary were left."""
        if item.quote:
            if self.quotes(item.quote):
                return self._has_all(item.names) and not self._closes(item)
            return item.kind not in VERBATIM and self._covers(item.quote) and not self._closes(item)
        return bool(item.names) and self._has_all(item.names)

    def _has_all(self, names: tuple[str, ...]) -> bool:
        return all(self.names(name, "command" if " " in name else "") for name in names)

    def _closes(self, item: Item) -> bool:
        """Whether it takes a step of the plan that is open for one that is done."""
        return item.kind == "plan" and bool(self.finished(item.quote))

    def finished(self, step: str) -> str:
        """The line that says that this is done; one that also lists it as open does not count."""
        entries = (line.strip(" -*•\t") for line in self.text.splitlines())
        found = [entry for entry in entries if same_thing(step, entry.strip("✅☑✔ *"))]
        return found[0] if found and all(map(says_done, found)) else ""

    def tells_current_work(self) -> bool:
        """Whether a heading of its says what was being done when it was written."""
        headings = (line.strip("#*:0123456789. ").lower() for line in self.text.splitlines())
        return any(heading.startswith(CURRENT) for heading in headings)

    def quotes(self, text: str) -> bool:
        """Whether it says this word for word."""
        return words(text) in self._words

    def _covers(self, text: str) -> bool:
        wanted = frozenset(words(text).split())
        enough = ENOUGH * len(wanted)
        return bool(wanted) and any(len(wanted & line) >= enough for line in self._lines)


def same_thing(ours: str, theirs: str) -> bool:
    """Whether both are about one thing. What follows a colon or a dash only explains."""
    head = theirs
    for sign in (": ", " — ", " - ", " ("):
        head = head.partition(sign)[0]
    one, other = weighty(ours), weighty(head)
    shared = len(one & other)
    return len(one) >= LEAST_WORDS and shared >= SAME * max(len(one), len(other))


def _goes_on(sign: str) -> bool:
    """Whether a name goes on at this sign."""
    return sign.isalnum() or sign in ("_", "-")


def _summary_part(text: str) -> str:
    """The model is shown the summary without the analysis that came before it."""
    before, tag, after = text.partition("<summary>")
    return after.partition("</summary>")[0] if tag else before.partition("</analysis>")[2] or before
