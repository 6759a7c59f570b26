"""Text functions that the rules share: redact, shorten, split into sentences, find cue words."""

from __future__ import annotations

from holdfast.redaction import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

REDACTION_MARK = "[redacted:"
_PUNCTUATION = b'\t\n\r.,;:!?()[]{}"`*_/'
_TO_SPACES = bytes.maketrans(_PUNCTUATION, b" " * len(_PUNCTUATION))
_TO_LOWER_WORDS = bytes(range(256)).lower().translate(_TO_SPACES)
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ "
_BULLETS = "-*•+> \t#"
_OPENING_QUOTES = "\"'“‘(["
_STOP_WORDS = frozenset((
    "a", "an", "the", "to", "of", "in", "on", "at", "for", "from", "into", "and", "or", "with",
    "by", "as", "is", "are", "was", "be", "it", "its", "this", "that", "we", "i", "you", "so",
    "then", "also", "task", "tasks", "step",
))  # fmt: skip
# A longer word at the end is cut in the middle, because its beginning still says something.
MAX_DROPPED_WORD_CHARS = 20

# Commands and names occur again and again, so short redacted texts are cached.
_redacted: dict[str, str] = {}
MAX_CACHED_CHARS, MAX_CACHED_TEXTS = 300, 1000


def to_text(value: Any) -> str:
    """Return foreign JSON as text: strings and numbers; "" for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else ""


def redact_and_clip(text: str, max_chars: int) -> str:
    """Return text as it may be stored in the state: without secrets, and not too long."""
    if len(text) > MAX_CACHED_CHARS:
        return clip(redact(text), max_chars)
    redacted = _redacted.get(text)
    if redacted is None:
        if len(_redacted) > MAX_CACHED_TEXTS:
            _redacted.clear()
        redacted = _redacted[text] = redact(text)
    return clip(redacted, max_chars)


def clip(text: str, max_chars: int) -> str:
    """Shorten a text to `max_chars`, with an ellipsis."""
    if len(text) <= max_chars:
        return text
    head = text[: max_chars - 1]
    # Do not leave half of the mark that replaces a secret.
    at = head.rfind("[")
    if at >= 0 and "]" not in head[at:] and text.startswith(REDACTION_MARK, at):
        head = head[:at]
    return head.rstrip() + "…"


def one_line(text: str, max_chars: int) -> str:
    """Join the lines of a text and shorten it, between words unless a word is very long."""
    flat = " ".join(text.split())
    if len(flat) <= max_chars:
        return flat
    head = clip(flat, max_chars)
    cuts_word = flat[len(head) - 1 : len(head)] not in ("", " ")
    whole_words = head[:-1].rpartition(" ")[0]
    if cuts_word and whole_words and len(head) - len(whole_words) <= MAX_DROPPED_WORD_CHARS:
        return f"{whole_words}…"
    return head


def split_sentences(text: str) -> list[str]:
    """Return the sentences of prose, verbatim; fenced code is left out."""
    sentences: list[str] = []
    in_fence = False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            in_fence = not in_fence
        elif not in_fence:
            sentences.extend(_split_line(line.strip().lstrip(_BULLETS).strip()))
    return sentences


def _split_line(line: str) -> list[str]:
    """Split at punctuation, unless a lower-case letter follows: `e.g. this` stays whole."""
    if not any(end in line for end in (". ", "! ", "? ", "。", "！", "？")):
        return [line] if line else []
    sentences: list[str] = []
    start = 0
    for end, char in enumerate(line):
        if char in "。！？" or (char in ".!?" and _starts_sentence(line, end + 1)):
            sentences.append(line[start : end + 1].strip())
            start = end + 1
    sentences.append(line[start:].strip())
    return [sentence for sentence in sentences if sentence]


def _starts_sentence(line: str, at: int) -> bool:
    """Whether a space and a new sentence follow."""
    if not line[at : at + 1].isspace():
        return False
    first = line[at:].lstrip().lstrip(_OPENING_QUOTES)[:1]
    # Many scripts have no capitals, so anything but a lower-case letter counts.
    return not first.islower()


def count_letters(text: str) -> int:
    """Return how many characters are letters or spaces."""
    if text.isascii():
        return len(text) - len(text.encode().translate(None, _LETTERS))
    return sum(char.isalpha() or char == " " for char in text)


def has_digit(text: str) -> bool:
    """Whether a text contains an ASCII digit."""
    data = text.encode("utf-8", "replace")
    return len(data.translate(None, b"0123456789")) < len(data)


def padded_words(text: str) -> str:
    """Return the lower-case words between single spaces, so that ` never ` finds the word."""
    return f" {' '.join(_split_words(text))} "


def _split_words(text: str) -> list[str]:
    if text.isascii():
        return text.encode().translate(_TO_LOWER_WORDS).decode("ascii").split()
    text = text.lower().replace("’", "'").replace("—", " ").replace("–", " ")
    # Translating bytes is fifty times faster than translating text beyond ASCII.
    data = text.encode("utf-8", "surrogatepass").translate(_TO_SPACES)
    return data.decode("utf-8", "surrogatepass").split()


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text without stop words."""
    return frozenset(padded_words(text).split()) - _STOP_WORDS


class TokenizedText:
    """The words of a text, prepared for matching many `Cues`."""

    __slots__ = ("cue_words", "words")

    def __init__(self, text: str) -> None:
        self.words = _split_words(text)
        self.cue_words = _first_cue_words.intersection(self.words)
        """Those of its words that begin a cue: few or none."""

    @property
    def padded(self) -> str:
        """The words between single spaces, to search for a phrase."""
        return f" {' '.join(self.words)} "


def tokenize(text: str) -> TokenizedText:
    """Tokenize a text; the last result is cached, because several rules ask in turn."""
    if text not in _last_tokenized:
        _last_tokenized.clear()
        _last_tokenized[text] = TokenizedText(text)
    return _last_tokenized[text]


_last_tokenized: dict[str, TokenizedText] = {}
# The first words of all cues.
_first_cue_words: set[str] = set()


class Cues:
    """Words and phrases that show what kind of sentence a text is."""

    __slots__ = ("_phrases", "_substrings", "_words")

    def __init__(self, *phrases: str, anywhere: tuple[str, ...] = ()) -> None:
        """`anywhere` are cues in scripts that do not separate words by spaces."""
        self._words = frozenset(phrase for phrase in phrases if " " not in phrase)
        self._phrases: dict[str, list[str]] = {}
        """Phrases by their first word."""
        for phrase in phrases:
            if " " in phrase:
                self._phrases.setdefault(phrase.split()[0], []).append(f" {phrase} ")
        self._substrings = anywhere
        _first_cue_words.update(self._words, self._phrases)
        _last_tokenized.clear()

    def match(self, text: TokenizedText) -> bool:
        """Whether the text contains one of the cues."""
        if not self._words.isdisjoint(text.cue_words):
            return True
        if first_words := self._phrases.keys() & text.cue_words:
            padded = text.padded
            if any(phrase in padded for first in first_words for phrase in self._phrases[first]):
                return True
        return bool(self._substrings) and self._match_substring(text.padded)

    def _match_substring(self, padded: str) -> bool:
        return not padded.isascii() and any(cue in padded for cue in self._substrings)
