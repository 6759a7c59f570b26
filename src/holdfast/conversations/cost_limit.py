"""Limits what summaries cost: the maximum is reserved before a call and settled after it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

from holdfast.conversations.store import ConversationStore
from holdfast.conversations.summarizers import Price, Usage
from holdfast.errors import CostLimitExceeded

MICROS_PER_DOLLAR = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The limits in dollars; None means no limit."""

    per_session: float | None = 1.0
    per_day: float | None = 5.0


class SpendLedger:
    """Records the cost of every call in the store, so the ceiling holds for all processes."""

    def __init__(self, store: ConversationStore, ceiling: Ceiling) -> None:
        self._store = store
        self._ceiling = ceiling

    def reserve(self, session: str, feature: str, price: Price, input_tokens: int) -> str:
        """Reserve the maximum cost of a call; returns the id to settle.

        Raises `CostLimitExceeded` above the ceiling. If the process is killed, the amount stays
        reserved, so the ceiling errs on the safe side.
        """
        maximum = price.micros(input_tokens, price.most_output)
        now = time.time()
        day = time.strftime("%Y-%m-%d", time.gmtime(now))
        ident = os.urandom(8).hex()
        with self._store.transaction():
            spent = self._store.one("spent", session=session, day=day) or {}
            self._check(spent, maximum)
            self._store.write(
                "reserve_spend", id=ident, session=session, feature=feature, day=day,
                model=price.model, micros=maximum, now=now,
            )  # fmt: skip
        return ident

    def _check(self, spent: dict[str, Any], maximum: int) -> None:
        for name, allowed, so_far in (
            ("this session", self._ceiling.per_session, spent.get("in_session", 0)),
            ("today", self._ceiling.per_day, spent.get("today", 0)),
        ):
            if allowed is not None and so_far + maximum > allowed * MICROS_PER_DOLLAR:
                raise CostLimitExceeded(
                    f"${so_far / MICROS_PER_DOLLAR:.4f} were spent {name}, "
                    f"up to ${maximum / MICROS_PER_DOLLAR:.4f} more would be above ${allowed:.2f}"
                )

    def settle(self, ident: str, price: Price, usage: Usage) -> None:
        """Replace a reservation by the real cost, from the provider's token counts."""
        micros = price.micros(usage.input_tokens, usage.output_tokens)
        self._store.write(
            "settle_spend", id=ident, micros=micros, input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
        )  # fmt: skip
