"""Extracts samples from a transcript: texts added between two model calls, and the tokens counted.

The context of a call is its input, cached or not. The difference between the contexts of two calls
without a compaction between them is what was added: the model's own text and tool calls, tool
results, and the user's prompts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from holdfast.tokens.estimate import Estimator, count_characters, token_cost

CONTENT_CLASSES = ("reply", "call", "result", "prompt")
# The kinds of characters of a text: names, paths, code and numbers; words; and the rest.
CHARACTER_KINDS = ("names", "prose", "beyond ASCII", "line breaks", "white space")
CONTEXT_USAGE_KEYS = (
    "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
)  # fmt: skip
# Types of host lines that stand for text which the transcript does not have, or not as it was sent.
UNLOGGED_TEXT_TYPES = ("attachment",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One step: the counted tokens, the characters of each content class, and the characters of
    each kind in the tool results."""

    model: str
    tokens: int
    characters: tuple[int, ...]
    result_characters: tuple[int, ...]
    blocks: int  # texts, calls and results: each has an overhead
    has_thinking: bool = False  # thinking is counted, but not all of it is in the transcript


@dataclass(frozen=True, slots=True)
class _Call:
    """A model call, and the tokens of the context that it was given."""

    message: str
    model: str
    context: int


@dataclass(slots=True)
class _Step:
    """What was added since the last call."""

    cost: Callable[[str], float] = token_cost
    characters: list[int] = field(default_factory=lambda: [0] * len(CONTENT_CLASSES))
    result_characters: list[int] = field(default_factory=lambda: [0] * len(CHARACTER_KINDS))
    estimated: float = 0.0
    blocks: int = 0
    has_thinking: bool = False
    is_complete: bool = True
    """Whether the transcript has all the text that was added."""

    def add(self, content_class: str, text: str) -> None:
        self.characters[CONTENT_CLASSES.index(content_class)] += len(text)
        self.estimated += self.cost(text)
        self.blocks += 1
        if content_class == "result":
            counts = count_character_kinds(text)
            self.result_characters = [
                old + new for old, new in zip(self.result_characters, counts, strict=True)
            ]


def count_character_kinds(text: str) -> list[int]:
    """Return the number of characters of each of CHARACTER_KINDS."""
    names, prose, non_ascii = count_characters(text)
    breaks = text.count("\n")
    white_space = max(0, len(text) - names - prose - non_ascii - breaks)
    return [names, prose, non_ascii, breaks, white_space]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSamples:
    """The samples of one transcript, and for each compaction the tokens before it: estimated by
    us, and counted by the host."""

    steps: tuple[Sample, ...]
    compactions: tuple[tuple[float, int], ...]


def extract_samples(lines: Iterable[dict[str, Any]]) -> LogSamples:
    """Return the samples of the main chain, without steps that the transcript cannot explain."""
    steps: list[Sample] = []
    compactions: list[tuple[float, int]] = []
    last: _Call | None = None
    step = _Step()
    for line in _main_chain(lines):
        if _is_compaction(line) or _has_several_iterations(line):
            if last and (before := _tokens_before_compaction(line)):
                compactions.append((last.context + step.estimated, before))
            last, step = None, _Step()
            continue
        call = _parse_call(line)
        if call and (last is None or call.message != last.message):
            added = call.context - last.context if last else 0
            if last and last.model == call.model and step.is_complete and added > 0:
                steps.append(_to_sample(call.model, added, step))
            last, step = call, _Step(cost=Estimator.for_model(call.model).cost)
        _add_line(step, line)
    return LogSamples(steps=tuple(steps), compactions=tuple(compactions))


def _main_chain(lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the lines outside of sub-agents, each once.

    A client that resumes a session writes some of its lines again.
    """
    seen: set[str] = set()
    for line in lines:
        ident = line.get("uuid")
        if line.get("isSidechain") or (isinstance(ident, str) and ident in seen):
            continue
        if isinstance(ident, str):
            seen.add(ident)
        yield line


def _to_sample(model: str, tokens: int, step: _Step) -> Sample:
    return Sample(
        model=model,
        tokens=tokens,
        characters=tuple(step.characters),
        result_characters=tuple(step.result_characters),
        blocks=step.blocks,
        has_thinking=step.has_thinking,
    )


def _is_compaction(line: dict[str, Any]) -> bool:
    boundary = ("compact_boundary", "microcompact_boundary")
    return line.get("subtype") in boundary or line.get("isCompactSummary") is True


def _has_several_iterations(line: dict[str, Any]) -> bool:
    """Return whether the counts are those of several iterations.

    The server compacted the context or called another model during the call.
    """
    message = line.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    iterations = usage.get("iterations") if isinstance(usage, dict) else None
    return isinstance(iterations, list) and len(iterations) > 1


def _tokens_before_compaction(line: dict[str, Any]) -> int:
    metadata = line.get("compactMetadata")
    count = metadata.get("preTokens") if isinstance(metadata, dict) else 0
    return count if isinstance(count, int) else 0


def _parse_call(line: dict[str, Any]) -> _Call | None:
    """Return the call that a line belongs to. All lines of one message have the same context."""
    message = line.get("message")
    if line.get("type") != "assistant" or not isinstance(message, dict):
        return None
    usage, ident, model = message.get("usage"), message.get("id"), message.get("model")
    if not isinstance(usage, dict) or not isinstance(ident, str) or not isinstance(model, str):
        return None
    context = sum(count for key in CONTEXT_USAGE_KEYS if isinstance(count := usage.get(key), int))
    is_real = context and model != "<synthetic>"
    return _Call(f"{ident} {line.get('requestId')}", model, context) if is_real else None


def _add_line(step: _Step, line: dict[str, Any]) -> None:
    if line.get("type") in UNLOGGED_TEXT_TYPES:
        step.is_complete = False
    message = line.get("message")
    if line.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return
    text_class = "reply" if line["type"] == "assistant" else "prompt"
    content = message.get("content")
    for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        if isinstance(block, dict):
            _add_block(step, block, text_class)


def _add_block(step: _Step, block: dict[str, Any], text_class: str) -> None:
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        step.add(text_class, block["text"])
    elif kind == "tool_use":
        arguments = json.dumps(block.get("input"), ensure_ascii=False)
        step.add("call", f"{block.get('name')} {arguments}")
    elif kind == "tool_result":
        _add_result(step, block.get("content"))
    elif kind in ("thinking", "redacted_thinking"):
        step.has_thinking = True
    elif kind != "text":
        step.is_complete = False


def _add_result(step: _Step, content: Any) -> None:
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for part in parts:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            step.add("result", part["text"])
        elif content:
            # An image takes tokens, but has no characters.
            step.is_complete = False
