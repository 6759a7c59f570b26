"""When even the messages that stay are too long for the window: the longest texts are cut in the
request. What is stored stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.errors import HoldfastError
from holdfast.session.budget import Counter
from holdfast.session.message import Block, Message, text_of_result

# Fewer characters than any tokenizer needs for a token of code.
CHARACTERS = 2.0
SHORTEST = 40
HEAD = 0.7


class RequestTooLarge(HoldfastError):
    """The request does not fit into the window, however much is cut."""

    hint = "raise `limit`, or shorten the agent description and the project context"


def fitted(messages: Sequence[Message], room: int, counter: Counter) -> list[Message]:
    """The messages within `room` tokens: as they are, or with their longest texts cut."""
    if sum(message.tokens for message in messages) <= room:
        return list(messages)
    sizes = [_size(block, counter) for message in messages for block in message.blocks]
    fixed = sum(message.tokens for message in messages) - sum(sizes)
    cap = _cap(sizes, room - fixed)
    if cap < SHORTEST:
        raise RequestTooLarge(f"{fixed + SHORTEST * len(sizes)} tokens at least, {room} are left")
    return [_shortened(message, cap, counter) for message in messages]


def _cap(sizes: list[int], room: int) -> int:
    """The most tokens a text may have so that all of them fit."""
    low, high = 0, max(sizes, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(size, middle) for size in sizes) <= room:
            low = middle
        else:
            high = middle - 1
    return low if sum(min(size, low) for size in sizes) <= room else 0


def _size(block: Block, counter: Counter) -> int:
    """What could be saved of a block; calls, images and signed thoughts stay as they are."""
    text = _text(block)
    return counter.text(text) if text else 0


def _text(block: Block) -> str:
    if block.get("type") == "text":
        return str(block.get("text", ""))
    return text_of_result(block) if block.get("type") == "tool_result" else ""


def _shortened(message: Message, cap: int, counter: Counter) -> Message:
    blocks = tuple(_short(block, cap, counter, message.ordinal) for block in message.blocks)
    made = replace(message, blocks=blocks)
    return replace(made, tokens=counter.message(made))


def _short(block: Block, cap: int, counter: Counter, ordinal: int) -> Block:
    text = _text(block)
    if not text or counter.text(text) <= cap:
        return block
    short = cut(text, cap, counter, f"message {ordinal}")
    if block.get("type") == "text":
        return {**block, "text": short}
    content = block.get("content")
    parts = content if isinstance(content, list) else []
    kept = [part for part in parts if isinstance(part, dict) and part.get("type") != "text"]
    return {**block, "content": [{"type": "text", "text": short}, *kept] if kept else short}


def cut(text: str, tokens: int, counter: Counter, where: str) -> str:
    """The beginning and the end of a text, and between them how much is missing."""
    length = int(tokens * CHARACTERS)
    while length > 0:
        head = int(length * HEAD)
        tail = length - head
        left_out = f"\n[… {len(text) - length:,} characters left out; {where} has them …]\n"
        short = text[:head] + left_out + (text[-tail:] if tail else "")
        if counter.text(short) <= tokens:
            return short
        length = length * 4 // 5 - 1
    return ""
