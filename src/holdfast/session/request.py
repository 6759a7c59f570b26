"""Request bodies: what is known and what was said, as the Anthropic and the OpenAI API want it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.errors import BadUsage
from holdfast.session.message import RAW, SIGNED, Block, Message, text_of_result
from holdfast.session.pairs import in_order

FORMATS = ("anthropic", "openai")
GOES_ON = "(The conversation goes on.)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything that a request is made of."""

    agent_description: str
    project_context: str
    checkpoint: str
    messages: Sequence[Message]


def body(parts: Parts, shape: str) -> dict[str, Any]:
    """`system` and `messages` for Anthropic, `messages` for OpenAI: the rest is the caller's."""
    if shape not in FORMATS:
        raise BadUsage(f"a request is for {' or '.join(FORMATS)}, not for {shape!r}")
    turns = in_order([*_opening(parts), *parts.messages])
    known = [text for text in (parts.agent_description, parts.project_context) if text.strip()]
    if shape == "openai":
        system = [{"role": "system", "content": "\n\n".join(known)}] if known else []
        return {"messages": [*system, *(one for turn in turns for one in _openai(*turn))]}
    said = [{"role": role, "content": _anthropic(blocks)} for role, blocks in turns]
    made: dict[str, Any] = {"messages": [one for one in said if one["content"]]}
    return {"system": "\n\n".join(known), **made} if known else made


def _opening(parts: Parts) -> list[Message]:
    """The checkpoint speaks first, and as the user: what follows may begin with a reply."""
    text = parts.checkpoint
    if not text and parts.messages and parts.messages[0].role == "assistant":
        text = GOES_ON
    return [Message(role="user", blocks=({"type": "text", "text": text},))] if text else []


def _anthropic(blocks: list[Block]) -> list[Block]:
    return [_image_as_block(block) for block in blocks if not _is_blank(block)]


def _is_blank(block: Block) -> bool:
    """The API refuses texts without a letter."""
    return block.get("type") == "text" and not str(block.get("text", "")).strip()


def _image_as_block(block: Block) -> Block:
    if block.get("type") != "image_url":
        return block
    given = block.get("image_url")
    url = str(given.get("url", "")) if isinstance(given, dict) else str(given)
    if not url.startswith("data:"):
        return {"type": "image", "source": {"type": "url", "url": url}}
    kind, _, data = url.removeprefix("data:").partition(";base64,")
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def _openai(role: str, blocks: list[Block]) -> list[dict[str, Any]]:
    if role == "assistant":
        text = "\n".join(str(b.get("text", "")) for b in blocks if b.get("type") == "text")
        calls = [_call(block) for block in blocks if block.get("type") == "tool_use"]
        made: dict[str, Any] = {"role": role, "content": text or None}
        if calls:
            made["tool_calls"] = calls
        return [made] if text or calls else []
    results = [_tool(block) for block in blocks if block.get("type") == "tool_result"]
    parts = [_part(b) for b in blocks if b.get("type") not in ("tool_result", *SIGNED)]
    parts = [part for part in parts if not _is_blank(part)]
    if all(part.get("type") == "text" for part in parts):
        text = "\n".join(str(part["text"]) for part in parts)
        return [*results, {"role": role, "content": text}] if text else results
    return [*results, {"role": role, "content": parts}]


def _call(block: Block) -> dict[str, Any]:
    given = block.get("input")
    raw = isinstance(given, dict) and set(given) == {RAW}
    arguments = given[RAW] if isinstance(given, dict) and raw else json.dumps(given or {})
    function = {"name": block.get("name", ""), "arguments": arguments}
    return {"id": block.get("id", ""), "type": "function", "function": function}


def _tool(block: Block) -> dict[str, Any]:
    call = block.get("tool_use_id", "")
    return {"role": "tool", "tool_call_id": call, "content": text_of_result(block)}


def _part(block: Block) -> Block:
    source = block.get("source")
    if block.get("type") != "image" or not isinstance(source, dict):
        return block
    url = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
    return {"type": "image_url", "image_url": {"url": url}}
