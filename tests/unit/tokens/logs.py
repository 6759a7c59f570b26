"""Generated logs with known token counts."""

from __future__ import annotations

from functools import cache
from typing import Any

from holdfast.tokens.estimate import Estimator
from tests.unit.transcript_lines import Line, assistant, result, text

MODEL = "claude-opus-4-6"
WORDS = "def requeue(self, job_id): return self.queue.put(job_id, delay=retry_cap) # see a.py:12 "
PROSE = "the worker puts a failed job back into the queue and waits for a while before it "


def spoken(
    context: int, ident: str, *blocks: Any, model: str = MODEL, output: int = 1, **more: Any
) -> Line:
    """A message of the model with the context tokens of its call."""
    made = assistant(*blocks, usage={"cache_read_input_tokens": context}, uuid=f"u-{ident}", **more)
    made["message"].update(id=ident, model=model)
    made["message"]["usage"]["output_tokens"] = output
    return made


@cache
def log(steps: int, ratio: float, *, name: str = "", model: str = MODEL) -> list[Line]:
    """A log whose results take `ratio` times their estimated tokens, and everything else just them.

    Cached, because estimating so much text takes a while; callers must not change it.
    """
    estimator = Estimator.for_model(model)
    lines: list[Line] = []
    context = 20_000
    for number in range(steps):
        words = f"I look at part {number}. " * (1 + number % 3)
        more = ord(name[:1] or "a") % 13
        code = f"{WORDS} handle_part_{number}(x) \n" * (4 + 3 * (number % 11) + more)
        output = code + PROSE * (3 * (number % 7) + more) + "\n" * (number % 5)
        lines.append(spoken(context, f"{name}{number}", text(words), model=model))
        lines.append(result(output, uuid=f"r-{name}{number}"))
        context += round(40 + estimator.cost(words) + ratio * estimator.cost(output))
    return [*lines, spoken(context, f"{name}end", model=model)]
