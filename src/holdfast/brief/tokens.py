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
        total = 0.0
        for word in text.split():
            length = len(word)
            if not word.isascii():
                strange = sum(1 for sign in word if sign > "\x7f")
                total += strange
                length -= strange
            total += (length + 1) / (self._prose if self.is_prose(word) else self._dense)
        return self.scale * (total + 0.4 * text.count("\n"))

    @staticmethod
    def is_prose(word: str) -> bool:
        """A word of a language, and no name, path or number."""
        plain = word.isalpha() and (word.islower() or word.istitle())
        return plain or _mostly_letters(word)

    def estimate(self, text: str) -> int:
        """Estimated tokens, rounded up."""
        whole = self.cost(text)
        return int(whole) + (whole > int(whole))


def generation(model: str) -> str:
    """Which tokenizer counts for a model."""
    return "earlier" if model.startswith(EARLIER_MODELS) else "newest"


def _mostly_letters(word: str) -> bool:
    """Prose with a sign at its end: `done,` or `“it`."""
    inner = word.strip("\"'“”‘’.,;:!?()*`—…")
    return inner.isalpha() and (inner.islower() or inner.istitle())


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
