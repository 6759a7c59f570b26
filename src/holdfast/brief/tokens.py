"""How much room a text takes: estimated tokens, and the units in which hosts count."""

from __future__ import annotations

# Characters per token, rounded down so that an estimate is never short (docs/why/tokens.md):
# paths and identifiers, then prose. Tokenizers of 2026 make more tokens of the same text.
NEWEST = (2.4, 3.0)
EARLIER = (2.8, 3.6)
RATES = {"newest": NEWEST, "earlier": EARLIER}
# Models that count by the earlier tokenizer, or as loosely; what is not known counts by the newest.
EARLIER_MODELS = (
    "claude-2", "claude-3", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2",
    "claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-0", "claude-sonnet-4-2",
    "claude-sonnet-4-5", "claude-sonnet-4-6", "claude-haiku-4-5", "gpt-",
)  # fmt: skip
# No word of a language is longer.
LONGEST = 32
# So many words are remembered, if they are no longer than this.
MOST, KEPT = 1 << 13, 100


class Estimator:
    """Estimates tokens for one generation of tokenizers, or for a model that was learned about."""

    __slots__ = ("_dense", "_prose", "scale")

    def __init__(self, dense: float, prose: float, scale: float = 1.0) -> None:
        self._dense = dense
        self._prose = prose
        self.scale = scale

    @classmethod
    def for_model(cls, model: str, scale: float = 1.0) -> Estimator:
        """`scale` is what logs have shown: tokens counted for each that is estimated."""
        return cls(*RATES[generation(model)], scale)

    def cost(self, text: str) -> float:
        """Estimated tokens; adds up over parts that end at white space."""
        names, prose, beyond = parts(text)
        total = names / self._dense + prose / self._prose + beyond + 0.4 * text.count("\n")
        return self.scale * total

    def estimate(self, text: str) -> int:
        """Estimated tokens, rounded up."""
        whole = self.cost(text)
        return int(whole) + (whole > int(whole))


def generation(model: str) -> str:
    """Which tokenizer counts for a model."""
    return "earlier" if model.startswith(EARLIER_MODELS) else "newest"


def parts(text: str) -> tuple[int, int, int]:
    """Characters of names, paths, code and numbers; of words; and beyond ASCII. A space belongs to
    the word before it.
    """
    words = text.split()
    whole = sum(map(len, words))
    prose = sum(map(KNOWN_WORDS.__getitem__, words))
    beyond = 0 if text.isascii() else whole - len("".join(words).encode("ascii", "ignore"))
    return whole + len(words) - beyond - prose, prose, beyond


class _Prose(dict[str, int]):
    """How many characters of ASCII a word of a language has, with its space; none for names, paths
    and numbers. Words come again, so what they are is remembered.
    """

    def __missing__(self, word: str) -> int:
        if len(word) > KEPT:
            return 0
        if len(self) >= MOST:
            self.clear()
        # There may be signs around it: `done,`.
        inner = word.strip("\"'“”‘’.,;:!?()*`—…") if len(word) <= LONGEST else ""
        is_prose = inner.isalpha() and (inner.islower() or inner.istitle())
        plain = word if word.isascii() else word.encode("ascii", "ignore")
        found = self[word] = len(plain) + 1 if is_prose else 0
        return found


KNOWN_WORDS = _Prose()


def cost(text: str) -> float:
    """By the newest tokenizers."""
    return Estimator(*NEWEST).cost(text)


def estimate(text: str) -> int:
    return Estimator(*NEWEST).estimate(text)


def units(text: str) -> int:
    """UTF-16 units: what Claude Code's cap counts."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for sign in text if sign > "\uffff")
