"""Tool calls and their results belong together: where a conversation may be cut, and how a part of
it is put in order so that no API refuses it.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.session.message import Block, Message, result_of, text_of_result

NEVER_ANSWERED = "(no result was recorded)"
WITHOUT_CALL = "(result of an earlier tool call)"


def spans(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """From the message of each call to that of its result; a call still waiting reaches the end."""
    waiting: dict[str, list[int]] = {}
    found: list[tuple[int, int]] = []
    last_reply = -1
    for place, message in enumerate(messages):
        for call in message.calls:
            # Some servers number their calls anew in each reply: the latest of an id is meant.
            waiting.setdefault(str(call.get("id", "")), []).append(place)
        for result in message.results:
            if calls := waiting.get(str(result.get("tool_use_id", ""))):
                found.append((calls.pop(), place))
        if message.role == "assistant":
            last_reply = place
    for calls in waiting.values():
        found += [(place, len(messages)) for place in calls if place == last_reply]
    return found


def cut(messages: Sequence[Message], wanted: int) -> int:
    """The last place up to `wanted` that parts no call from its result: what is before may go."""
    parted = [False] * (len(messages) + 1)
    for start, end in spans(messages):
        for place in range(start + 1, min(end, len(messages)) + 1):
            parted[place] = True
    place = max(0, min(wanted, len(messages)))
    while place and parted[place]:
        place -= 1
    return place


def in_order(messages: Sequence[Message]) -> list[tuple[str, list[Block]]]:
    """Roles and blocks in which every call is followed at once by its result.

    A call without one gets a word that says so; a result without a call becomes plain text.
    """
    answers = _Answers(messages)
    ordered: list[tuple[str, list[Block]]] = []
    for place, message in enumerate(messages):
        role = "assistant" if message.role == "assistant" else "user"
        rest = [block for block in message.blocks if block.get("type") != "tool_result"]
        loose = [block for block in message.results if id(block) not in answers.answering]
        _say(ordered, role, [*map(_as_text, loose), *rest])
        if message.calls:
            _say(ordered, "user", [answers.of(place, call) for call in message.calls])
    return ordered


class _Answers:
    """Which result answers which call."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.answering: set[int] = set()
        self._by_call: dict[tuple[int, str], Block] = {}
        waiting: dict[str, list[int]] = {}
        for place, message in enumerate(messages):
            for call in message.calls:
                waiting.setdefault(str(call.get("id", "")), []).append(place)
            for block in message.results:
                ident = str(block.get("tool_use_id", ""))
                if calls := waiting.get(ident):
                    self._by_call[calls.pop(), ident] = block
                    self.answering.add(id(block))

    def of(self, place: int, call: Block) -> Block:
        ident = str(call.get("id", ""))
        found = self._by_call.get((place, ident))
        return found or result_of(ident, NEVER_ANSWERED, is_error=True)


def _as_text(block: Block) -> Block:
    return {"type": "text", "text": f"{WITHOUT_CALL} {text_of_result(block)}".strip()}


def _say(ordered: list[tuple[str, list[Block]]], role: str, blocks: list[Block]) -> None:
    """Blocks of one speaker in a row are one message; nothing said is none."""
    if not blocks:
        return
    if ordered and ordered[-1][0] == role and not _has_calls(ordered[-1][1]):
        ordered[-1][1].extend(blocks)
    else:
        ordered.append((role, blocks))


def _has_calls(blocks: list[Block]) -> bool:
    return any(block.get("type") == "tool_use" for block in blocks)
