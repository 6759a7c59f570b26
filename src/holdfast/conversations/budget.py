"""Context windows by model, thresholds as presets, and the estimated tokens of messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.conversations.message import Block, Message, result_text
from holdfast.errors import InvalidInput
from holdfast.tokens.estimate import Estimator

# What APIs add to each message, and to each tool call or result.
MESSAGE_OVERHEAD_TOKENS, CALL_OVERHEAD_TOKENS = 10, 8
# The largest image that is not scaled down; a document of one page.
IMAGE_TOKENS, DOCUMENT_TOKENS = 1600, 3000
MIN_LIMIT_TOKENS = 1000
# Windows by the beginning of a model's name; the longest match counts. Unknown models get a small
# window: a request that is too small works, one that is too large does not.
WINDOWS = {
    "claude-": 200_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_000_000,
    "gpt-5": 272_000,
    "o3": 200_000,
    "o4": 200_000,
}
DEFAULT_WINDOW = 100_000
# The names that servers use for the window in their lists of models.
WINDOW_KEYS = ("max_input_tokens", "context_length", "context_window", "max_model_len", "n_ctx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A window in tokens, and the share of it at which a conversation is compacted."""

    limit: int = 100_000
    threshold: float = 0.9
    warning: float = 0.9
    """The share of the trigger at which a conversation warns that it will soon be compacted."""

    def __post_init__(self) -> None:
        if self.limit < MIN_LIMIT_TOKENS:
            raise InvalidInput(
                f"The limit must be at least {MIN_LIMIT_TOKENS} tokens, not {self.limit}"
            )
        if not 0 < self.threshold <= 1:
            raise InvalidInput(f"The threshold must be between 0 and 1, not {self.threshold}")
        if not 0 < self.warning <= 1:
            raise InvalidInput(f"The warning must be between 0 and 1, not {self.warning}")

    @property
    def trigger(self) -> int:
        """The tokens at which a conversation is compacted."""
        return int(self.limit * self.threshold)

    @property
    def warning_tokens(self) -> int:
        """The tokens at which a conversation warns."""
        return int(self.trigger * self.warning)


# 90 % of 100k, as in the guide to checkpoint compaction; 83.5 % of 200k, as in Claude Code.
PRESETS = {
    "guide": Budget(limit=100_000, threshold=0.9),
    "claude-code": Budget(limit=200_000, threshold=0.835),
}


def find_window(model: str, model_info: Any = None) -> int:
    """Return the window of a model in tokens.

    It comes from `model_info`, the provider's description of the model, or else from the table.
    """
    window = _window_from_model_info(model_info)
    if window:
        return window
    known = [name for name in WINDOWS if model.startswith(name)]
    return WINDOWS[max(known, key=len)] if known else DEFAULT_WINDOW


def _window_from_model_info(model_info: Any) -> int:
    """Return the window in an entry of a provider's list of models; 0 if it has none."""
    if hasattr(model_info, "model_dump"):
        model_info = model_info.model_dump()
    if not isinstance(model_info, Mapping):
        return 0
    for name in WINDOW_KEYS:
        if isinstance(size := model_info.get(name), int) and size >= MIN_LIMIT_TOKENS:
            return size
    return max(
        (
            _window_from_model_info(part)
            for part in (model_info.get("meta"), model_info.get("top_provider"))
        ),
        default=0,
    )


class TokenCounter:
    """Estimates the tokens of messages for one model, rather too high (docs/why/tokens.md)."""

    def __init__(self, model: str = "") -> None:
        self.model = model
        self._estimator = Estimator.for_model(model)

    def text(self, text: str) -> int:
        return self._estimator.estimate(text)

    def message(self, message: Message) -> int:
        return self.blocks(message.blocks) + MESSAGE_OVERHEAD_TOKENS

    def blocks(self, blocks: Iterable[Block]) -> int:
        return sum(self._block(block) for block in blocks)

    def _block(self, block: Block) -> int:
        kind = block.get("type")
        if kind in ("text", "thinking"):
            return self.text(str(block.get(str(kind), "")))
        if kind == "tool_use":
            arguments = json.dumps(block.get("input"), ensure_ascii=False)
            return self.text(f"{block.get('name')} {arguments}") + CALL_OVERHEAD_TOKENS
        if kind == "tool_result":
            return self._result(block) + CALL_OVERHEAD_TOKENS
        if kind in ("image", "image_url"):
            return IMAGE_TOKENS
        if kind == "document":
            return DOCUMENT_TOKENS
        return self.text(json.dumps(block, ensure_ascii=False))

    def _result(self, block: Block) -> int:
        content = block.get("content")
        parts = content if isinstance(content, list) else []
        others = [part for part in parts if isinstance(part, dict) and part.get("type") != "text"]
        return self.text(result_text(block)) + self.blocks(others)
