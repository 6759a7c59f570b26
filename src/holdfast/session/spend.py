"""What summaries may cost: set aside before a call, settled after it, refused above the ceiling."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

from holdfast.errors import SpendRefused
from holdfast.session.summarizers import Price, Usage
from holdfast.store.conversations import Conversations

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """Dollars; None is no ceiling."""

    per_session: float | None = 1.0
    per_day: float | None = 5.0


class Ledger:
    """Every call of every process goes through it, so the ceiling holds for all of them."""

    def __init__(self, store: Conversations, ceiling: Ceiling) -> None:
        self._store = store
        self._ceiling = ceiling

    def set_aside(self, session: str, feature: str, price: Price, input_tokens: int) -> str:
        """Reserve the most that a call can cost; returns what to settle. A killed process leaves
        it reserved: the ceiling errs on the safe side.
        """
        most = price.micros(input_tokens, price.most_output)
        now = time.time()
        day = time.strftime("%Y-%m-%d", time.gmtime(now))
        ident = os.urandom(8).hex()
        with self._store.transaction():
            spent = self._store.one("spent", session=session, day=day) or {}
            self._check(spent, most)
            self._store.write(
                "set_aside", id=ident, session=session, feature=feature, day=day,
                model=price.model, micros=most, now=now,
            )  # fmt: skip
        return ident

    def _check(self, spent: dict[str, Any], most: int) -> None:
        for name, allowed, so_far in (
            ("this session", self._ceiling.per_session, spent.get("in_session", 0)),
            ("today", self._ceiling.per_day, spent.get("today", 0)),
        ):
            if allowed is not None and so_far + most > allowed * MILLION:
                raise SpendRefused(
                    f"${so_far / MILLION:.4f} were spent {name}, up to ${most / MILLION:.4f} more "
                    f"would be above ${allowed:.2f}"
                )

    def settle(self, ident: str, price: Price, usage: Usage) -> None:
        """What it really was, as the provider counted it."""
        micros = price.micros(usage.input_tokens, usage.output_tokens)
        self._store.write(
            "settle", id=ident, micros=micros, input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
        )  # fmt: skip
