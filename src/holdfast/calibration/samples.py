"""What was added to the context between two calls of the model, and what the host counted for it.

The context of a call is its input, cached or not. What two calls of one stretch differ by is what
was said between them: the model's own words and calls, results, and what the user said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from holdfast.brief import tokens
from holdfast.brief.tokens import Estimator, cost

CLASSES = ("reply", "call", "result", "prompt")
# What a text consists of: names, paths, code and numbers; words; and what is neither.
PARTS = ("names", "prose", "beyond ASCII", "line breaks", "white space")
CONTEXT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
# Host lines that put text before the model which the log does not hold, or not as it was sent.
UNCLEAR = ("attachment",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One step: the tokens counted, the characters of each class, and what results consist of."""

    model: str
    tokens: int
    characters: tuple[int, ...]
    parts: tuple[int, ...]
    blocks: int  # texts, calls and results: each has an overhead
    thought: bool = False  # thinking counts, but is not all in the log


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of the model, and the context that it was given."""

    message: str
    model: str
    context: int


@dataclass(slots=True)
class _Step:
    """What has been said since the last call."""

    cost: Callable[[str], float] = cost
    characters: list[int] = field(default_factory=lambda: [0] * len(CLASSES))
    parts: list[int] = field(default_factory=lambda: [0] * len(PARTS))
    estimated: float = 0.0
    blocks: int = 0
    thought: bool = False
    clear: bool = True

    def add(self, kind: str, text: str) -> None:
        at = CLASSES.index(kind)
        self.characters[at] += len(text)
        self.estimated += self.cost(text)
        self.blocks += 1
        if kind == "result":
            self.parts = [old + new for old, new in zip(self.parts, parts(text), strict=True)]


def parts(text: str) -> list[int]:
    """The characters of each part."""
    names, prose, beyond = tokens.parts(text)
    breaks = text.count("\n")
    return [names, prose, beyond, breaks, max(0, len(text) - names - prose - beyond - breaks)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What one log tells: steps, and at compactions what we make of the context and the host."""

    steps: tuple[Sample, ...]
    compactions: tuple[tuple[float, int], ...]


def read(lines: Iterable[dict[str, Any]]) -> Log:
    """The steps of one log's main chain; what cannot be accounted for is left out."""
    steps: list[Sample] = []
    compactions: list[tuple[float, int]] = []
    last: _Call | None = None
    step = _Step()
    for line in _main_chain(lines):
        if _compacts(line) or _in_several_goes(line):
            if last and (before := _counted_before(line)):
                compactions.append((last.context + step.estimated, before))
            last, step = None, _Step()
            continue
        call = _call(line)
        if call and (last is None or call.message != last.message):
            if last and last.model == call.model and step.clear and call.context > last.context:
                steps.append(_sample(call.model, call.context - last.context, step))
            last, step = call, _Step(cost=Estimator.for_model(call.model).cost)
        _tell(step, line)
    return Log(steps=tuple(steps), compactions=tuple(compactions))


def _main_chain(lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each line once: a client that resumes a session writes some of them again."""
    seen: set[str] = set()
    for line in lines:
        ident = line.get("uuid")
        if line.get("isSidechain") or (isinstance(ident, str) and ident in seen):
            continue
        if isinstance(ident, str):
            seen.add(ident)
        yield line


def _sample(model: str, tokens: int, step: _Step) -> Sample:
    return Sample(
        model=model,
        tokens=tokens,
        characters=tuple(step.characters),
        parts=tuple(step.parts),
        blocks=step.blocks,
        thought=step.thought,
    )


def _compacts(line: dict[str, Any]) -> bool:
    boundary = ("compact_boundary", "microcompact_boundary")
    return line.get("subtype") in boundary or line.get("isCompactSummary") is True


def _in_several_goes(line: dict[str, Any]) -> bool:
    """Whether a server compacted or asked another model meanwhile: the counts are of all of it."""
    message = line.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    goes = usage.get("iterations") if isinstance(usage, dict) else None
    return isinstance(goes, list) and len(goes) > 1


def _counted_before(line: dict[str, Any]) -> int:
    told = line.get("compactMetadata")
    count = told.get("preTokens") if isinstance(told, dict) else 0
    return count if isinstance(count, int) else 0


def _call(line: dict[str, Any]) -> _Call | None:
    """The call that a line belongs to. All lines of one message have the same context."""
    message = line.get("message")
    if line.get("type") != "assistant" or not isinstance(message, dict):
        return None
    usage, ident, model = message.get("usage"), message.get("id"), message.get("model")
    if not isinstance(usage, dict) or not isinstance(ident, str) or not isinstance(model, str):
        return None
    context = sum(count for name in CONTEXT if isinstance(count := usage.get(name), int))
    known = context and model != "<synthetic>"
    return _Call(f"{ident} {line.get('requestId')}", model, context) if known else None


def _tell(step: _Step, line: dict[str, Any]) -> None:
    if line.get("type") in UNCLEAR:
        step.clear = False
    message = line.get("message")
    if line.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return
    said = "reply" if line["type"] == "assistant" else "prompt"
    content = message.get("content")
    for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        if isinstance(block, dict):
            _tell_block(step, block, said)


def _tell_block(step: _Step, block: dict[str, Any], said: str) -> None:
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        step.add(said, block["text"])
    elif kind == "tool_use":
        step.add(
            "call", f"{block.get('name')} {json.dumps(block.get('input'), ensure_ascii=False)}"
        )
    elif kind == "tool_result":
        _tell_result(step, block.get("content"))
    elif kind in ("thinking", "redacted_thinking"):
        step.thought = True
    elif kind != "text":
        step.clear = False


def _tell_result(step: _Step, content: Any) -> None:
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for part in parts:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            step.add("result", part["text"])
        elif content:
            # A picture has tokens, but no characters.
            step.clear = False
