"""`SessionManager`: the conversations of one store, each within one token budget."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast import settings
from holdfast.conversations.budget import PRESETS, Budget, TokenCounter, find_window
from holdfast.conversations.circuit_breaker import CircuitBreaker
from holdfast.conversations.compaction import CompactionContext
from holdfast.conversations.conversation import Conversation
from holdfast.conversations.cost_limit import Ceiling, SpendLedger
from holdfast.conversations.events import CompactionEvent, EventStream, Listeners
from holdfast.conversations.store import ConversationStore
from holdfast.conversations.summarizers import Summarizer
from holdfast.conversations.summarizers.rules import Rules
from holdfast.errors import InvalidInput

CHECKPOINT_TOKENS = 2000


class SessionManager:
    """Keeps every conversation within its model's window.

    The window is `limit` if given; else that of the `model`, from `told` (what the provider's API
    says of the model) or from a built-in table; else that of the preset. `store` is a file for the
    conversations; without it they are kept in Holdfast's own store.
    """

    def __init__(
        self,
        store: str | Path | None = None,
        *,
        limit: int | None = None,
        threshold: float | None = None,
        preset: str = "guide",
        model: str = "",
        told: Any = None,
        keep_recent: int = 10,
        checkpoint_tokens: int | None = None,
        summarizer: Summarizer | None = None,
        tries: int = 2,
        spend: Ceiling | None = None,
    ) -> None:
        budget = _budget(limit, threshold, preset, model, told)
        path = str(store) if store else settings.load(os.environ).database
        self.budget = budget
        self._listeners = Listeners()
        self._store = ConversationStore(path, own_folder=store is None)
        self._context = CompactionContext(
            store=self._store,
            ledger=SpendLedger(self._store, spend or Ceiling()),
            counter=TokenCounter(model),
            budget=budget,
            keep_recent=max(1, keep_recent),
            checkpoint_tokens=checkpoint_tokens or min(CHECKPOINT_TOKENS, budget.limit // 10),
            summarizer=summarizer or Rules(),
            tries=max(1, tries),
            breaker=CircuitBreaker(),
            emit=lambda kind, detail: None,
        )

    def get_or_create(self, session: str, feature: str = "") -> Conversation:
        """Return the conversation of a session and feature; it is created if there is none."""
        return Conversation(session, feature, self._context, self._listeners)

    def sessions(self) -> list[tuple[str, str]]:
        """Return session and feature of every conversation not archived, the latest first."""
        return [(row["session"], row["feature"]) for row in self._store.all("conversations")]

    def on(self, callback: Callable[[CompactionEvent], None]) -> Callable[[], None]:
        """Call `callback` for every event; returns a function that removes it."""
        return self._listeners.add(callback)

    def events(self) -> EventStream:
        """Return an iterator over the events from now on."""
        return self._listeners.stream()

    def close(self) -> None:
        """Close the store; `with SessionManager() as manager` does it too."""
        self._store.close()

    def __enter__(self) -> SessionManager:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def _budget(
    limit: int | None, threshold: float | None, preset: str, model: str, model_info: Any
) -> Budget:
    if preset not in PRESETS:
        raise InvalidInput(f"There is no preset {preset!r}", hint=f"one of: {', '.join(PRESETS)}")
    default = PRESETS[preset]
    window = find_window(model, model_info) if model or model_info is not None else default.limit
    return Budget(limit=limit or window, threshold=threshold or default.threshold)
