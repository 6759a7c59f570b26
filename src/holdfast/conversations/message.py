"""Messages in one shape for all APIs: a role, and content blocks as in the Anthropic API."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.errors import InvalidInput
from holdfast.redaction import redact_value

Block = dict[str, Any]
ROLES = ("user", "assistant", "tool")
# Signed blocks are valid only unchanged, so they are kept as they are or not at all.
SIGNED_BLOCK_TYPES = ("thinking", "redacted_thinking")
# The key for arguments of a tool call that are not a JSON object.
RAW_ARGUMENTS_KEY = "_raw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message; `ordinal` is its position in the conversation, counted from 1."""

    role: str
    blocks: tuple[Block, ...]
    ordinal: int = 0
    tokens: int = 0
    compacted_in: int | None = None

    @property
    def text(self) -> str:
        """The text blocks, without tool calls and results."""
        texts = (block.get("text") for block in self.blocks if block.get("type") == "text")
        return "\n".join(text for text in texts if isinstance(text, str))

    @property
    def calls(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.get("type") == "tool_use")

    @property
    def results(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.get("type") == "tool_result")


def message_from_row(row: Mapping[str, Any]) -> Message:
    """Return the message of a row in the store."""
    return Message(
        role=row["role"],
        blocks=tuple(json.loads(row["content"])),
        ordinal=row["ordinal"],
        tokens=row["tokens"],
        compacted_in=row["compacted_in"],
    )


def to_message(
    role: Any, content: Any = None, *, tool_call_id: str = "", tool_calls: Any = ()
) -> Message:
    """Convert a message of the Anthropic or OpenAI API, an SDK object, or a role and its content.

    Secrets are redacted. Raises `InvalidInput` for anything else.
    """
    if not isinstance(role, str):
        message = to_json_value(role)
        if not isinstance(message, dict):
            raise InvalidInput("A message needs a role and content, or a mapping that has both")
        return to_message(
            str(message.get("role", "")),
            message.get("content"),
            tool_call_id=str(message.get("tool_call_id") or ""),
            tool_calls=message.get("tool_calls") or (),
        )
    if role not in ROLES:
        raise InvalidInput(
            f"The role of a message is one of {', '.join(ROLES)}, not {role!r}",
            hint="pass a system prompt to set_agent_description",
        )
    if role == "tool" and tool_call_id:
        blocks: list[Block] = [tool_result_block(tool_call_id, content)]
    else:
        blocks = [*_to_blocks(content), *_convert_openai_calls(tool_calls)]
    return Message(role=role, blocks=tuple(_redact_block(block) for block in blocks))


def tool_result_block(call: str, content: Any, *, is_error: bool = False) -> Block:
    """Return the result of one tool call as a block."""
    value = to_json_value(content)
    block: Block = {"type": "tool_result", "tool_use_id": call}
    block["content"] = value if isinstance(value, str | list) else json.dumps(value)
    return {**block, "is_error": True} if is_error else block


def to_json_value(value: Any) -> Any:
    """Return the value with SDK objects as dicts, iterables as lists, and other types as text."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if hasattr(value, "model_dump"):
        return to_json_value(value.model_dump(mode="json", exclude_none=True))
    if isinstance(value, Mapping):
        return {str(name): to_json_value(part) for name, part in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return [to_json_value(part) for part in value]
    return str(value)


def _to_blocks(content: Any) -> list[Block]:
    value = to_json_value(content)
    if value is None or value == "":
        return []
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    parts = value if isinstance(value, list) else [value]
    return [
        part if isinstance(part, dict) else {"type": "text", "text": str(part)} for part in parts
    ]


def _convert_openai_calls(calls: Any) -> list[Block]:
    """Return the blocks of OpenAI tool calls, whose arguments are JSON in a string."""
    blocks: list[Block] = []
    for call in to_json_value(calls) or ():
        body = call.get("function") or call.get("custom") if isinstance(call, dict) else None
        if isinstance(body, dict):
            arguments = _parse_arguments(body.get("arguments", body.get("input")))
            name = str(body.get("name", ""))
            ident = str(call.get("id", ""))
            blocks.append({"type": "tool_use", "id": ident, "name": name, "input": arguments})
    return blocks


def _parse_arguments(raw: Any) -> dict[str, Any]:
    if isinstance(raw, dict):
        return raw
    try:
        value = json.loads(raw or "{}")
    except (ValueError, TypeError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {RAW_ARGUMENTS_KEY: str(raw)}


def _redact_block(block: Block) -> Block:
    """Return the block without secrets; signed blocks must stay unchanged."""
    return block if block.get("type") in SIGNED_BLOCK_TYPES else redact_value(block)


def result_text(block: Block) -> str:
    """Return the text of a tool result."""
    content = block.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
