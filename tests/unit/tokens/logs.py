"""Generated logs with known token counts."""

from __future__ import annotations

from functools import cache
from typing import Any

from holdfast.tokens.estimate import Estimator
from tests.unit.transcript_lines import Line, assistant, result, text

MODEL = "claude-opus-4-6"
CODE = "def requeue(self, job_id): return self.queue.put(job_id, delay=retry_cap) # see a.py:12 "
PROSE = "the worker puts a failed job back into the queue and waits for a while before it "


def model_message(
    context_tokens: int,
    ident: str,
    *blocks: Any,
    model: str = MODEL,
    output_tokens: int = 1,
    **fields: Any,
) -> Line:
    """A message of the model with the token usage of its call."""
    usage = {"cache_read_input_tokens": context_tokens}
    line = assistant(*blocks, usage=usage, uuid=f"u-{ident}", **fields)
    line["message"].update(id=ident, model=model)
    line["message"]["usage"]["output_tokens"] = output_tokens
    return line


@cache
def make_log(steps: int, ratio: float, *, name: str = "", model: str = MODEL) -> list[Line]:
    """A log in which tool results have `ratio` times their estimated tokens.

    Cached because estimating the text is slow; callers must not change the lines.
    """
    estimator = Estimator.for_model(model)
    lines: list[Line] = []
    context_tokens = 20_000
    for number in range(steps):
        comment = f"I look at part {number}. " * (1 + number % 3)
        extra_repeats = ord(name[:1] or "a") % 13
        code = f"{CODE} handle_part_{number}(x) \n" * (4 + 3 * (number % 11) + extra_repeats)
        output = code + PROSE * (3 * (number % 7) + extra_repeats) + "\n" * (number % 5)
        lines.append(model_message(context_tokens, f"{name}{number}", text(comment), model=model))
        lines.append(result(output, uuid=f"r-{name}{number}"))
        context_tokens += round(40 + estimator.cost(comment) + ratio * estimator.cost(output))
    return [*lines, model_message(context_tokens, f"{name}end", model=model)]
