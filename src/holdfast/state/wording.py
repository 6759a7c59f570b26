"""What rules share about text: how it is kept, cut into sentences, and matched by words."""

from __future__ import annotations

from holdfast.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = "[redacted:"
_MARKS = b'\t\n\r.,;:!?()[]{}"`*_/'
_NO_MARKS = bytes.maketrans(_MARKS, b" " * len(_MARKS))
_PLAIN = bytes(range(256)).lower().translate(_NO_MARKS)
_BULLETS = "-*•+> \t#"


def plain(value: Any) -> str:
    """Foreign JSON as text: what is neither text nor a number says nothing."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else ""


def without_colours(text: str) -> str:
    """What a terminal would show of it: no escape sequences."""
    if "\x1b" not in text:
        return text
    import re

    return re.sub(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[@-Z\\-_])", "", text)


def keep(text: str, most: int) -> str:
    """Text as it may stand in the state: without secrets, and no longer than `most`."""
    if len(text) > SHORT:
        return clip(redact(text), most)
    clean = _clean.get(text)
    if clean is None:
        if len(_clean) > MOST_CLEAN:
            _clean.clear()
        clean = _clean[text] = redact(text)
    return clip(clean, most)


# Commands and names come again and again: what was found clean is not looked over anew.
_clean: dict[str, str] = {}
SHORT, MOST_CLEAN = 300, 1000


def clip(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = text[: most - 1]
    # Half of a mark that stands for a secret says nothing.
    at = head.rfind("[")
    if at >= 0 and "]" not in head[at:] and text.startswith(MARK, at):
        head = head[:at]
    return head.rstrip() + "…"


def one_line(text: str, most: int) -> str:
    """Without line ends, and no longer than `most`: cut between words, unless one is very long."""
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    head = clip(flat, most)
    begun, kept = flat[len(head) - 1 : len(head)] not in ("", " "), head[:-1].rpartition(" ")[0]
    return f"{kept}…" if begun and kept and len(head) - len(kept) <= LONGEST_WORD else head


# Of a longer one that is cut the beginning says more than nothing.
LONGEST_WORD = 20


def sentences(text: str) -> list[str]:
    """Sentences of prose, verbatim; what stands between code fences is not prose."""
    found: list[str] = []
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            found.extend(_sentences_of(line.strip().lstrip(_BULLETS).strip()))
    return found


def _sentences_of(line: str) -> list[str]:
    """A sentence ends before a capital: `e.g. this` goes on, and so does who writes without any."""
    if not any(end in line for end in (". ", "! ", "? ", "。", "！", "？")):
        return [line] if line else []
    found: list[str] = []
    start = 0
    for end, sign in enumerate(line):
        if sign in "。！？" or (sign in ".!?" and _begins(line, end + 1)):
            found.append(line[start : end + 1].strip())
            start = end + 1
    found.append(line[start:].strip())
    return [sentence for sentence in found if sentence]


def _begins(line: str, at: int) -> bool:
    """Whether a new sentence begins here, after a space."""
    if not line[at : at + 1].isspace():
        return False
    first = line[at:].lstrip().lstrip(_OPENING)[:1]
    # A letter that is neither large nor small has no capitals to wait for.
    return not first.islower()


_OPENING = "\"'“‘(["


def words(text: str) -> str:
    """Lower-case words between single spaces, so that ` never ` finds the word."""
    return f" {' '.join(_in_order(text))} "


def _in_order(text: str) -> list[str]:
    if text.isascii():
        return text.encode().translate(_PLAIN).decode("ascii").split()
    text = text.lower().replace("’", "'").replace("—", " ").replace("–", " ")
    # By way of bytes, because translating text beyond ASCII is fifty times slower.
    data = text.encode("utf-8", "surrogatepass").translate(_NO_MARKS)
    return data.decode("utf-8", "surrogatepass").split()


_LITTLE = frozenset((
    "a", "an", "the", "to", "of", "in", "on", "at", "for", "from", "into", "and", "or", "with",
    "by", "as", "is", "are", "was", "be", "it", "its", "this", "that", "we", "i", "you", "so",
    "then", "also", "task", "tasks", "step",
))  # fmt: skip


def weighty(text: str) -> frozenset[str]:
    """The words of a text that tell what it is about."""
    return frozenset(words(text).split()) - _LITTLE


class Heard:
    """A text, prepared for many questions about its words."""

    __slots__ = ("in_order", "telling")

    def __init__(self, text: str) -> None:
        self.in_order = _in_order(text)
        self.telling = _vocabulary.intersection(self.in_order)
        """Those of its words that begin a cue: few, or none."""

    @property
    def padded(self) -> str:
        """The words between single spaces, in which a phrase can be looked up."""
        return f" {' '.join(self.in_order)} "


def heard(text: str) -> Heard:
    """What `Heard` makes of a text; several rules ask about the same one in turn."""
    if text not in _last_heard:
        _last_heard.clear()
        _last_heard[text] = Heard(text)
    return _last_heard[text]


_last_heard: dict[str, Heard] = {}


# The first words of all cues.
_vocabulary: set[str] = set()


class Cues:
    """Words and phrases that tell what a sentence is."""

    __slots__ = ("_anywhere", "_firsts", "_words")

    def __init__(self, *phrases: str, anywhere: tuple[str, ...] = ()) -> None:
        """`anywhere` is for writing that does not set words apart by spaces."""
        self._words = frozenset(phrase for phrase in phrases if " " not in phrase)
        self._firsts: dict[str, list[str]] = {}
        """Phrases by their first word."""
        for phrase in phrases:
            if " " in phrase:
                self._firsts.setdefault(phrase.split()[0], []).append(f" {phrase} ")
        self._anywhere = anywhere
        _vocabulary.update(self._words, self._firsts)
        _last_heard.clear()

    def among(self, heard: Heard) -> bool:
        if not self._words.isdisjoint(heard.telling):
            return True
        if begun := self._firsts.keys() & heard.telling:
            padded = heard.padded
            if any(phrase in padded for first in begun for phrase in self._firsts[first]):
                return True
        return bool(self._anywhere) and self._stands_anywhere(heard.padded)

    def _stands_anywhere(self, padded: str) -> bool:
        return not padded.isascii() and any(cue in padded for cue in self._anywhere)
