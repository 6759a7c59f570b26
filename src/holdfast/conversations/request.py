"""Builds request bodies for the Anthropic and the OpenAI API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.conversations.message import (
    RAW_ARGUMENTS_KEY,
    SIGNED_BLOCK_TYPES,
    Block,
    Message,
    result_text,
)
from holdfast.conversations.tool_pairs import pair_calls_with_results
from holdfast.errors import InvalidInput

API_SHAPES = ("anthropic", "openai")
PLACEHOLDER_TEXT = "(The conversation goes on.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestParts:
    """The parts of a request."""

    agent_description: str
    project_context: str
    checkpoint: str
    messages: Sequence[Message]


def build_body(parts: RequestParts, shape: str) -> dict[str, Any]:
    """Return `system` and `messages` for Anthropic, or `messages` for OpenAI.

    Callers add the model and other options.
    """
    if shape not in API_SHAPES:
        raise InvalidInput(f"The format of a request is {' or '.join(API_SHAPES)}, not {shape!r}")
    turns = pair_calls_with_results([*_first_message(parts), *parts.messages])
    system_texts = [
        text for text in (parts.agent_description, parts.project_context) if text.strip()
    ]
    if shape == "openai":
        system = [{"role": "system", "content": "\n\n".join(system_texts)}] if system_texts else []
        return {
            "messages": [*system, *(message for turn in turns for message in _to_openai(*turn))]
        }
    messages = [{"role": role, "content": _to_anthropic(blocks)} for role, blocks in turns]
    body: dict[str, Any] = {"messages": [message for message in messages if message["content"]]}
    return {"system": "\n\n".join(system_texts), **body} if system_texts else body


def _first_message(parts: RequestParts) -> list[Message]:
    """Return the checkpoint as a user message, to be put first.

    Without a checkpoint it is a placeholder if the messages begin with a reply, because APIs want
    a user message first; otherwise nothing.
    """
    text = parts.checkpoint
    if not text and parts.messages and parts.messages[0].role == "assistant":
        text = PLACEHOLDER_TEXT
    return [Message(role="user", blocks=({"type": "text", "text": text},))] if text else []


def _to_anthropic(blocks: list[Block]) -> list[Block]:
    return [_to_anthropic_image(block) for block in blocks if not _is_blank(block)]


def _is_blank(block: Block) -> bool:
    """Return whether this is an empty text, which the API refuses."""
    return block.get("type") == "text" and not str(block.get("text", "")).strip()


def _to_anthropic_image(block: Block) -> Block:
    if block.get("type") != "image_url":
        return block
    image = block.get("image_url")
    url = str(image.get("url", "")) if isinstance(image, dict) else str(image)
    if not url.startswith("data:"):
        return {"type": "image", "source": {"type": "url", "url": url}}
    media_type, _, data = url.removeprefix("data:").partition(";base64,")
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def _to_openai(role: str, blocks: list[Block]) -> list[dict[str, Any]]:
    if role == "assistant":
        text = "\n".join(str(b.get("text", "")) for b in blocks if b.get("type") == "text")
        calls = [_to_openai_call(block) for block in blocks if block.get("type") == "tool_use"]
        message: dict[str, Any] = {"role": role, "content": text or None}
        if calls:
            message["tool_calls"] = calls
        return [message] if text or calls else []
    results = [_to_openai_result(block) for block in blocks if block.get("type") == "tool_result"]
    parts = [
        _to_openai_part(b)
        for b in blocks
        if b.get("type") not in ("tool_result", *SIGNED_BLOCK_TYPES)
    ]
    parts = [part for part in parts if not _is_blank(part)]
    if all(part.get("type") == "text" for part in parts):
        text = "\n".join(str(part["text"]) for part in parts)
        return [*results, {"role": role, "content": text}] if text else results
    return [*results, {"role": role, "content": parts}]


def _to_openai_call(block: Block) -> dict[str, Any]:
    given = block.get("input")
    is_raw = isinstance(given, dict) and set(given) == {RAW_ARGUMENTS_KEY}
    arguments = (
        given[RAW_ARGUMENTS_KEY] if isinstance(given, dict) and is_raw else json.dumps(given or {})
    )
    function = {"name": block.get("name", ""), "arguments": arguments}
    return {"id": block.get("id", ""), "type": "function", "function": function}


def _to_openai_result(block: Block) -> dict[str, Any]:
    call = block.get("tool_use_id", "")
    return {"role": "tool", "tool_call_id": call, "content": result_text(block)}


def _to_openai_part(block: Block) -> Block:
    source = block.get("source")
    if block.get("type") != "image" or not isinstance(source, dict):
        return block
    url = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
    return {"type": "image_url", "image_url": {"url": url}}
