"""Messages in one shape, whichever API they come from: a role, and blocks as Anthropic has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.errors import BadUsage
from holdfast.redact import redact_value

Block = dict[str, Any]
ROLES = ("user", "assistant", "tool")
# A signature covers these word for word, so they are kept as they are or not at all.
SIGNED = ("thinking", "redacted_thinking")
# Arguments of a call that are no JSON object are carried under this name.
RAW = "_raw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message; `ordinal` is its place in the conversation, counted from 1."""

    role: str
    blocks: tuple[Block, ...]
    ordinal: int = 0
    tokens: int = 0
    compacted_in: int | None = None

    @property
    def text(self) -> str:
        """What was said, without calls and results."""
        said = (block.get("text") for block in self.blocks if block.get("type") == "text")
        return "\n".join(text for text in said if isinstance(text, str))

    @property
    def calls(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.get("type") == "tool_use")

    @property
    def results(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.get("type") == "tool_result")


def stored(row: Mapping[str, Any]) -> Message:
    """A message as the store keeps it."""
    return Message(
        role=row["role"],
        blocks=tuple(json.loads(row["content"])),
        ordinal=row["ordinal"],
        tokens=row["tokens"],
        compacted_in=row["compacted_in"],
    )


def normalise(
    role: Any, content: Any = None, *, tool_call_id: str = "", tool_calls: Any = ()
) -> Message:
    """A message of the Anthropic or the OpenAI shape, of an SDK's own type, or a role and words."""
    if not isinstance(role, str):
        given = plain(role)
        if not isinstance(given, dict):
            raise BadUsage("a message is a role with its content, or a mapping that has both")
        return normalise(
            str(given.get("role", "")),
            given.get("content"),
            tool_call_id=str(given.get("tool_call_id") or ""),
            tool_calls=given.get("tool_calls") or (),
        )
    if role not in ROLES:
        raise BadUsage(
            f"a message is of {', '.join(ROLES)}, not of {role!r}",
            hint="what the agent is told about itself goes to set_agent_description",
        )
    if role == "tool" and tool_call_id:
        blocks: list[Block] = [result_of(tool_call_id, content)]
    else:
        blocks = [*_blocks(content), *_calls(tool_calls)]
    return Message(role=role, blocks=tuple(_clean(block) for block in blocks))


def result_of(call: str, content: Any, *, is_error: bool = False) -> Block:
    """The result of one tool call."""
    value = plain(content)
    block: Block = {"type": "tool_result", "tool_use_id": call}
    block["content"] = value if isinstance(value, str | list) else json.dumps(value)
    return {**block, "is_error": True} if is_error else block


def plain(value: Any) -> Any:
    """What JSON can hold: an SDK's objects become mappings, tuples lists."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json", exclude_none=True))
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return [plain(part) for part in value]
    return str(value)


def _blocks(content: Any) -> list[Block]:
    value = plain(content)
    if value is None or value == "":
        return []
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    parts = value if isinstance(value, list) else [value]
    return [
        part if isinstance(part, dict) else {"type": "text", "text": str(part)} for part in parts
    ]


def _calls(calls: Any) -> list[Block]:
    """OpenAI's tool calls, whose arguments are JSON in a string."""
    found: list[Block] = []
    for call in plain(calls) or ():
        body = call.get("function") or call.get("custom") if isinstance(call, dict) else None
        if isinstance(body, dict):
            given = _arguments(body.get("arguments", body.get("input")))
            name = str(body.get("name", ""))
            ident = str(call.get("id", ""))
            found.append({"type": "tool_use", "id": ident, "name": name, "input": given})
    return found


def _arguments(raw: Any) -> dict[str, Any]:
    if isinstance(raw, dict):
        return raw
    try:
        value = json.loads(raw or "{}")
    except (ValueError, TypeError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {RAW: str(raw)}


def _clean(block: Block) -> Block:
    """Without secrets: everything that is stored passes `redact`."""
    return block if block.get("type") in SIGNED else redact_value(block)


def text_of_result(block: Block) -> str:
    """What a tool answered, as text."""
    content = block.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    said = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in said if isinstance(text, str))
