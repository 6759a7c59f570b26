"""How much fits: limits by model, thresholds as presets, and what a message takes of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.brief.tokens import Estimator
from holdfast.errors import BadUsage
from holdfast.session.message import Block, Message, text_of_result

# What APIs put around a message, and around a call or a result.
PER_MESSAGE, PER_CALL = 10, 8
# An image of the largest size that is not scaled down; a page of a document.
PER_IMAGE, PER_DOCUMENT = 1600, 3000
SMALLEST_LIMIT = 1000
# Windows by the beginning of a model's name, the longest that fits. Whatever is not known here
# gets the smallest common one: a request that is too small works, one that is too large does not.
WINDOWS = {
    "claude-": 200_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_000_000,
    "gpt-5": 272_000,
    "o3": 200_000,
    "o4": 200_000,
}
UNKNOWN = 100_000
# What servers call the size of a window in their lists of models.
TOLD_AS = ("max_input_tokens", "context_length", "context_window", "max_model_len", "n_ctx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A window, and the share of it from which a conversation is compacted."""

    limit: int = 100_000
    threshold: float = 0.9

    def __post_init__(self) -> None:
        if self.limit < SMALLEST_LIMIT:
            raise BadUsage(f"a limit is at least {SMALLEST_LIMIT} tokens, not {self.limit}")
        if not 0 < self.threshold <= 1:
            raise BadUsage(f"a threshold is a share between 0 and 1, not {self.threshold}")

    @property
    def trigger(self) -> int:
        return int(self.limit * self.threshold)


# 90 % of 100k, as the guide to checkpoint compaction has it; 83.5 % of 200k, as Claude Code does.
PRESETS = {
    "guide": Budget(limit=100_000, threshold=0.9),
    "claude-code": Budget(limit=200_000, threshold=0.835),
}


def window_of(model: str, told: Any = None) -> int:
    """The window of a model: as its provider tells it, else as it is known here."""
    said = _said(told)
    if said:
        return said
    known = [name for name in WINDOWS if model.startswith(name)]
    return WINDOWS[max(known, key=len)] if known else UNKNOWN


def _said(told: Any) -> int:
    """From an entry of a provider's list of models, whatever the provider calls it."""
    if hasattr(told, "model_dump"):
        told = told.model_dump()
    if not isinstance(told, Mapping):
        return 0
    for name in TOLD_AS:
        if isinstance(size := told.get(name), int) and size >= SMALLEST_LIMIT:
            return size
    return max((_said(part) for part in (told.get("meta"), told.get("top_provider"))), default=0)


class Counter:
    """Estimated tokens of messages for one model; never short (docs/why/tokens.md)."""

    def __init__(self, model: str = "") -> None:
        self._estimator = Estimator.for_model(model)

    def text(self, text: str) -> int:
        return self._estimator.estimate(text)

    def message(self, message: Message) -> int:
        return self.blocks(message.blocks) + PER_MESSAGE

    def blocks(self, blocks: Iterable[Block]) -> int:
        return sum(self._block(block) for block in blocks)

    def _block(self, block: Block) -> int:
        kind = block.get("type")
        if kind in ("text", "thinking"):
            return self.text(str(block.get(str(kind), "")))
        if kind == "tool_use":
            given = json.dumps(block.get("input"), ensure_ascii=False)
            return self.text(f"{block.get('name')} {given}") + PER_CALL
        if kind == "tool_result":
            return self._result(block) + PER_CALL
        if kind in ("image", "image_url"):
            return PER_IMAGE
        if kind == "document":
            return PER_DOCUMENT
        return self.text(json.dumps(block, ensure_ascii=False))

    def _result(self, block: Block) -> int:
        content = block.get("content")
        parts = content if isinstance(content, list) else []
        others = [part for part in parts if isinstance(part, dict) and part.get("type") != "text"]
        return self.text(text_of_result(block)) + self.blocks(others)
