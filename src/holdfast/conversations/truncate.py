"""Cuts the longest texts of a request if even the kept messages are too long for the window.

The stored messages stay complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.conversations.budget import TokenCounter
from holdfast.conversations.message import Block, Message, result_text
from holdfast.errors import HoldfastError

# The first guess for a cut: with any tokenizer code has at least this many characters per token.
CHARS_PER_TOKEN = 2.0
MIN_TEXT_TOKENS = 40
HEAD_SHARE = 0.7


class RequestTooLarge(HoldfastError):
    """The request does not fit into the window, however much is cut."""

    hint = "raise `limit`, or shorten the agent description and the project context"


def fit_messages(messages: Sequence[Message], room: int, counter: TokenCounter) -> list[Message]:
    """Return the messages within `room` tokens: unchanged, or with their longest texts cut.

    Raises `RequestTooLarge` if the texts would have to be cut below MIN_TEXT_TOKENS.
    """
    if sum(message.tokens for message in messages) <= room:
        return list(messages)
    sizes = [_text_tokens(block, counter) for message in messages for block in message.blocks]
    fixed = sum(message.tokens for message in messages) - sum(sizes)
    max_tokens = _find_text_limit(sizes, room - fixed)
    if max_tokens < MIN_TEXT_TOKENS:
        raise RequestTooLarge(
            f"{fixed + MIN_TEXT_TOKENS * len(sizes)} tokens at least, {room} are left"
        )
    return [_shorten_message(message, max_tokens, counter) for message in messages]


def _find_text_limit(sizes: list[int], room: int) -> int:
    """Return the greatest number of tokens per text with which all texts fit."""
    low, high = 0, max(sizes, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(size, middle) for size in sizes) <= room:
            low = middle
        else:
            high = middle - 1
    return low if sum(min(size, low) for size in sizes) <= room else 0


def _text_tokens(block: Block, counter: TokenCounter) -> int:
    """Return the tokens of a block that can be cut; 0 for calls, images and signed thinking."""
    text = _get_text(block)
    return counter.text(text) if text else 0


def _get_text(block: Block) -> str:
    if block.get("type") == "text":
        return str(block.get("text", ""))
    return result_text(block) if block.get("type") == "tool_result" else ""


def _shorten_message(message: Message, max_tokens: int, counter: TokenCounter) -> Message:
    blocks = tuple(
        _shorten_block(block, max_tokens, counter, message.ordinal) for block in message.blocks
    )
    shortened = replace(message, blocks=blocks)
    return replace(shortened, tokens=counter.message(shortened))


def _shorten_block(block: Block, max_tokens: int, counter: TokenCounter, ordinal: int) -> Block:
    text = _get_text(block)
    if not text or counter.text(text) <= max_tokens:
        return block
    short = truncate_text(text, max_tokens, counter, f"message {ordinal}")
    if block.get("type") == "text":
        return {**block, "text": short}
    content = block.get("content")
    parts = content if isinstance(content, list) else []
    kept = [part for part in parts if isinstance(part, dict) and part.get("type") != "text"]
    return {**block, "content": [{"type": "text", "text": short}, *kept] if kept else short}


def truncate_text(text: str, tokens: int, counter: TokenCounter, where: str) -> str:
    """Return the beginning and the end of a text within this many tokens.

    Between them stands how much is left out; `where` says where all of it is.
    """
    length = int(tokens * CHARS_PER_TOKEN)
    while length > 0:
        head = int(length * HEAD_SHARE)
        tail = length - head
        left_out = f"\n[… {len(text) - length:,} characters left out; {where} has them …]\n"
        short = text[:head] + left_out + (text[-tail:] if tail else "")
        if counter.text(short) <= tokens:
            return short
        length = length * 4 // 5 - 1
    return ""
