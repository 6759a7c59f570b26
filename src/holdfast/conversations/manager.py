"""`SessionManager`: the conversations of one store, each within one token budget."""

from __future__ import annotations

import difflib
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
from holdfast.errors import InvalidInput, NotFound

CHECKPOINT_TOKENS = 2000
# An error names at most so many other conversations.
MAX_NAMED = 5


class SessionManager:
    """Keeps every conversation within its model's window.

    The window is `limit` if given; else that of the `model`, from `told` (what the provider's API
    says of the model) or from a built-in table; else that of the preset. `store` is a file for the
    conversations; without it they are kept in Holdfast's own store. `warning` is the share of the
    threshold at which a conversation warns that its window is nearly full; it is 0.9.
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
        warning: float | None = None,
    ) -> None:
        budget = _budget(limit, threshold, preset, model, told, warning)
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

    def get(self, session: str, feature: str = "") -> Conversation:
        """Return the conversation of a session and feature; raises `NotFound` if there is none.

        The hint of the error names conversations that exist.
        """
        if self._store.one("conversation", session=session, feature=feature) is None:
            raise self._not_found(session, feature)
        return self.get_or_create(session, feature)

    def _not_found(self, session: str, feature: str) -> NotFound:
        rows = self._store.all("all_conversations")
        features = [row["feature"] for row in rows if row["session"] == session]
        if features:
            names = ", ".join(repr(name) for name in features[:MAX_NAMED])
            what = f"the feature {feature!r}" if feature else "a conversation without a feature"
            return NotFound(
                f"Session {session!r} does not have {what}", hint=f"its features are: {names}"
            )
        sessions = list(dict.fromkeys(row["session"] for row in rows))
        close = difflib.get_close_matches(session, sessions, n=MAX_NAMED) or sessions[:MAX_NAMED]
        names = ", ".join(repr(name) for name in close)
        hint = f"there are: {names}" if names else "the store is empty"
        return NotFound(
            f"There is no session {session!r}", hint=f"{hint}; `get_or_create` makes a new one"
        )

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
    limit: int | None,
    threshold: float | None,
    preset: str,
    model: str,
    model_info: Any,
    warning: float | None,
) -> Budget:
    if preset not in PRESETS:
        raise InvalidInput(f"There is no preset {preset!r}", hint=f"one of: {', '.join(PRESETS)}")
    default = PRESETS[preset]
    window = find_window(model, model_info) if model or model_info is not None else default.limit
    return Budget(
        limit=limit or window,
        threshold=threshold or default.threshold,
        warning=default.warning if warning is None else warning,
    )
