"""How much room a text takes: estimated tokens, and the units in which hosts count."""

from __future__ import annotations

# Characters per token on the newest tokenizers, rounded down so that an estimate is never
# short: paths and identifiers 2.4, prose 3.0 (docs/why/tokens.md).
DENSE, PROSE = 2.4, 3.0


def cost(text: str) -> float:
    """Estimated tokens; adds up over parts that end at white space."""
    total = 0.0
    for word in text.split():
        length = len(word)
        if not word.isascii():
            strange = sum(1 for sign in word if sign > "\x7f")
            total += strange
            length -= strange
        plain = word.isalpha() and (word.islower() or word.istitle())
        total += (length + 1) / (PROSE if plain or _mostly_letters(word) else DENSE)
    return total + 0.4 * text.count("\n")


def _mostly_letters(word: str) -> bool:
    """Prose with a sign at its end: `done,` or `“it`."""
    inner = word.strip("\"'“”‘’.,;:!?()*`—…")
    return inner.isalpha() and (inner.islower() or inner.istitle())


def estimate(text: str) -> int:
    """Estimated tokens, rounded up."""
    whole = cost(text)
    return int(whole) + (whole > int(whole))


def units(text: str) -> int:
    """UTF-16 units: what Claude Code's cap counts."""
    return len(text) + sum(1 for sign in text if sign > "\uffff")
