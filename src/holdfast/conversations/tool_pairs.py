"""Keeps tool calls and their results together: where a conversation may be cut, and how its
messages are ordered so that APIs accept them.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.conversations.message import Block, Message, result_text, tool_result_block

MISSING_RESULT_TEXT = "(no result was recorded)"
ORPHAN_RESULT_PREFIX = "(result of an earlier tool call)"


def find_call_spans(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Return for each call the indexes of its message and of the message with its result.

    A call of the last reply that has no result yet reaches to the end.
    """
    open_calls: dict[str, list[int]] = {}
    spans: list[tuple[int, int]] = []
    last_reply = -1
    for index, message in enumerate(messages):
        for call in message.calls:
            # Some servers number their calls from the start in each reply, so a result belongs to
            # the latest call with its id.
            open_calls.setdefault(str(call.get("id", "")), []).append(index)
        for result in message.results:
            if calls := open_calls.get(str(result.get("tool_use_id", ""))):
                spans.append((calls.pop(), index))
        if message.role == "assistant":
            last_reply = index
    for calls in open_calls.values():
        spans += [(index, len(messages)) for index in calls if index == last_reply]
    return spans


def find_safe_cut(messages: Sequence[Message], wanted: int) -> int:
    """Return the last index up to `wanted` where a cut separates no call from its result."""
    is_inside = [False] * (len(messages) + 1)
    for start, end in find_call_spans(messages):
        for index in range(start + 1, min(end, len(messages)) + 1):
            is_inside[index] = True
    index = max(0, min(wanted, len(messages)))
    while index and is_inside[index]:
        index -= 1
    return index


def pair_calls_with_results(messages: Sequence[Message]) -> list[tuple[str, list[Block]]]:
    """Return roles and blocks in which every call is followed immediately by its result.

    A call without a result gets one that says so; a result without a call becomes plain text.
    """
    results = _ResultsByCall(messages)
    ordered: list[tuple[str, list[Block]]] = []
    for index, message in enumerate(messages):
        role = "assistant" if message.role == "assistant" else "user"
        others = [block for block in message.blocks if block.get("type") != "tool_result"]
        orphans = [block for block in message.results if id(block) not in results.matched]
        _append_blocks(ordered, role, [*map(_result_to_text, orphans), *others])
        if message.calls:
            _append_blocks(ordered, "user", [results.get(index, call) for call in message.calls])
    return ordered


class _ResultsByCall:
    """The result of each tool call."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.matched: set[int] = set()
        """The `id()` of every block that is the result of a call."""
        self._by_call: dict[tuple[int, str], Block] = {}
        open_calls: dict[str, list[int]] = {}
        for index, message in enumerate(messages):
            for call in message.calls:
                open_calls.setdefault(str(call.get("id", "")), []).append(index)
            for block in message.results:
                ident = str(block.get("tool_use_id", ""))
                if calls := open_calls.get(ident):
                    self._by_call[calls.pop(), ident] = block
                    self.matched.add(id(block))

    def get(self, index: int, call: Block) -> Block:
        """Return the result of a call of message `index`, or one that says that there is none."""
        ident = str(call.get("id", ""))
        result = self._by_call.get((index, ident))
        return result or tool_result_block(ident, MISSING_RESULT_TEXT, is_error=True)


def _result_to_text(block: Block) -> Block:
    return {"type": "text", "text": f"{ORPHAN_RESULT_PREFIX} {result_text(block)}".strip()}


def _append_blocks(ordered: list[tuple[str, list[Block]]], role: str, blocks: list[Block]) -> None:
    """Append blocks to the last message if it has the same role, else as a new message."""
    if not blocks:
        return
    if ordered and ordered[-1][0] == role and not _has_calls(ordered[-1][1]):
        ordered[-1][1].extend(blocks)
    else:
        ordered.append((role, blocks))


def _has_calls(blocks: list[Block]) -> bool:
    return any(block.get("type") == "tool_use" for block in blocks)
