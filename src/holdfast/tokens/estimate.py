"""The size of a text: estimated tokens, and the UTF-16 units that hosts count."""

from __future__ import annotations

# Characters per token of paths and identifiers, and of prose. They are rounded down so that an
# estimate is never too low (docs/why/tokens.md). Tokenizers of 2026 make more tokens of the same
# text.
NEWEST_RATES = (2.4, 3.0)
EARLIER_RATES = (2.8, 3.6)
RATES = {"newest": NEWEST_RATES, "earlier": EARLIER_RATES}
# Models whose tokenizer is as economical as the earlier one; unknown models count by the newest.
EARLIER_MODELS = (
    "claude-2", "claude-3", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2",
    "claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-0", "claude-sonnet-4-2",
    "claude-sonnet-4-5", "claude-sonnet-4-6", "claude-haiku-4-5", "gpt-",
)  # fmt: skip
# A longer word is not counted as prose.
MAX_WORD_CHARS = 32
# How many words are cached, and how long a cached word may be.
MAX_CACHED_WORDS, MAX_CACHED_WORD_CHARS = 1 << 13, 100


class Estimator:
    """Estimates tokens by the rates of one tokenizer generation and a calibrated scale."""

    __slots__ = ("_dense", "_prose", "scale")

    def __init__(self, dense: float, prose: float, scale: float = 1.0) -> None:
        self._dense = dense
        self._prose = prose
        self.scale = scale

    @classmethod
    def for_model(cls, model: str, scale: float = 1.0) -> Estimator:
        """Return the estimator of a model; `scale` is its counted tokens per estimated token."""
        return cls(*RATES[tokenizer_generation(model)], scale)

    def cost(self, text: str) -> float:
        """Return the estimated tokens; the costs of parts that end at white space add up."""
        names, prose, non_ascii = count_characters(text)
        total = names / self._dense + prose / self._prose + non_ascii + 0.4 * text.count("\n")
        return self.scale * total

    def estimate(self, text: str) -> int:
        """Return the estimated tokens, rounded up."""
        cost = self.cost(text)
        return int(cost) + (cost > int(cost))


def tokenizer_generation(model: str) -> str:
    """Return the tokenizer generation of a model: `earlier` or `newest`."""
    return "earlier" if model.startswith(EARLIER_MODELS) else "newest"


def count_characters(text: str) -> tuple[int, int, int]:
    """Return the number of characters of names, of prose, and outside ASCII.

    Names are all that is not prose: identifiers, paths, code and numbers.

    A space counts with the word before it.
    """
    words = text.split()
    total = sum(map(len, words))
    prose = sum(map(PROSE_CHARS.__getitem__, words))
    non_ascii = 0 if text.isascii() else total - len("".join(words).encode("ascii", "ignore"))
    return total + len(words) - non_ascii - prose, prose, non_ascii


class _ProseCharsCache(dict[str, int]):
    """The ASCII characters of a prose word and its space; 0 for names, paths and numbers.

    Words are repeated often, so the answer is cached.
    """

    def __missing__(self, word: str) -> int:
        if len(word) > MAX_CACHED_WORD_CHARS:
            return 0
        if len(self) >= MAX_CACHED_WORDS:
            self.clear()
        # Punctuation around a word does not make it a name: `done,`.
        inner = word.strip("\"'“”‘’.,;:!?()*`—…") if len(word) <= MAX_WORD_CHARS else ""
        is_prose = inner.isalpha() and (inner.islower() or inner.istitle())
        plain = word if word.isascii() else word.encode("ascii", "ignore")
        count = self[word] = len(plain) + 1 if is_prose else 0
        return count


PROSE_CHARS = _ProseCharsCache()


def token_cost(text: str) -> float:
    """Return the estimated tokens as a fraction, by the newest tokenizers."""
    return Estimator(*NEWEST_RATES).cost(text)


def estimate_tokens(text: str) -> int:
    """Return the estimated tokens, rounded up, by the newest tokenizers."""
    return Estimator(*NEWEST_RATES).estimate(text)


def utf16_units(text: str) -> int:
    """Return the number of UTF-16 units, which Claude Code's limit counts."""
    if text.isascii() or max(text) <= "\uffff":
        return len(text)
    return len(text) + sum(1 for char in text if char > "\uffff")
