"""`SessionManager`: conversations by session and feature, in one store, within one budget."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast import settings
from holdfast.errors import BadUsage
from holdfast.session.budget import PRESETS, Budget, Counter, window_of
from holdfast.session.compaction import Means
from holdfast.session.conversation import Conversation
from holdfast.session.events import Event, Listeners, Stream
from holdfast.session.rest import Rest
from holdfast.session.spend import Ceiling, Ledger
from holdfast.session.summarizers import Summarizer
from holdfast.session.summarizers.rules import Rules
from holdfast.store.conversations import Conversations

CHECKPOINT_TOKENS = 2000


class SessionManager:
    """Keeps every conversation within its model's window.

    Without a `limit` the window is that of the `model` as its provider tells it (`told`, an entry
    of its list of models) or as it is known here; without either, that of the preset. `store` is
    a file of its own; without one, conversations are kept in Holdfast's home.
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
        self._store = Conversations(path, own_folder=store is None)
        self._means = Means(
            store=self._store,
            ledger=Ledger(self._store, spend or Ceiling()),
            counter=Counter(model),
            budget=budget,
            keep_recent=max(1, keep_recent),
            checkpoint_tokens=checkpoint_tokens or min(CHECKPOINT_TOKENS, budget.limit // 10),
            summarizer=summarizer or Rules(),
            tries=max(1, tries),
            rest=Rest(),
            tell=lambda kind, detail: None,
        )

    def get_or_create(self, session: str, feature: str = "") -> Conversation:
        """The conversation of that session and feature."""
        return Conversation(session, feature, self._means, self._listeners)

    def sessions(self) -> list[tuple[str, str]]:
        """Session and feature of every conversation that is not archived, the latest first."""
        return [(row["session"], row["feature"]) for row in self._store.all("conversations")]

    def on(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call this at every event; returns what ends it."""
        return self._listeners.add(callback)

    def events(self) -> Stream:
        """An iterator over what happens from now on."""
        return self._listeners.stream()

    def close(self) -> None:
        """Let go of the store; `with SessionManager() as manager` does it too."""
        self._store.close()

    def __enter__(self) -> SessionManager:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def _budget(
    limit: int | None, threshold: float | None, preset: str, model: str, told: Any
) -> Budget:
    if preset not in PRESETS:
        raise BadUsage(f"there is no preset {preset!r}", hint=f"there are {', '.join(PRESETS)}")
    chosen = PRESETS[preset]
    known = window_of(model, told) if model or told is not None else chosen.limit
    return Budget(limit=limit or known, threshold=threshold or chosen.threshold)
