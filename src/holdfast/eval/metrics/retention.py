"""Measure whether the user's sentences and the last unresolved error are in a text verbatim."""

from __future__ import annotations

from holdfast.eval.failures import CheckRun, find_error_lines, quotes_error
from holdfast.eval.instructions import Instruction, normalize
from holdfast.eval.matching import TextMatcher, collapse_spaces


def measure_retention(text: str, instructions: list[Instruction]) -> dict[str, float]:
    text = normalize(text)
    groups = {
        "instructions": instructions,
        "constraints": [sentence for sentence in instructions if sentence.constraint],
        "prohibitions": [sentence for sentence in instructions if sentence.prohibition],
    }
    return {
        name: sum(normalize(sentence.text) in text for sentence in group) / len(group)
        for name, group in groups.items()
        if group
    }


def measure_last_error(matcher: TextMatcher, error: CheckRun | None) -> dict[str, float]:
    """Return 1.0 or 0.0: whether the text quotes one of the error lines, and its command."""
    if error is None:
        return {}
    text = collapse_spaces(matcher.text)
    return {
        "last_error": float(
            any(quotes_error(text, line) for line in find_error_lines(error.output))
        ),
        "last_error_command": float(error.command in text),
    }
