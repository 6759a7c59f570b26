"""Is the last error that nobody resolved there, as it was printed?"""

from __future__ import annotations

from holdfast.eval.failures import Run, quotes, signatures
from holdfast.eval.matching import Said, flat


def last_error(said: Said, error: Run | None) -> dict[str, float]:
    """1 if one of the lines that say what is wrong stands there by its first 60 characters."""
    if error is None:
        return {}
    text = flat(said.text)
    return {
        "last_error": float(any(quotes(text, line) for line in signatures(error.output))),
        "last_error_command": float(error.command in text),
    }
