"""Summaries by Claude: with our own prompt and structured output, or by the API's own compaction
where the model supports it. Needs `pip install 'holdfast[anthropic]'`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.conversations.budget import TokenCounter, find_window
from holdfast.conversations.message import Message
from holdfast.conversations.request import RequestParts, build_body
from holdfast.conversations.summarizers import Price, Reply, Usage, Work
from holdfast.conversations.summarizers.prices import find_price
from holdfast.conversations.summarizers.prompt import (
    SYSTEM,
    SummaryFailed,
    api_schema,
    build_instructions,
    build_prompt,
)
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    import anthropic

NATIVE_COMPACTION_BETA = "compact-2026-09-04"
# The timeout of a summary, and how often the SDK retries it.
TIMEOUT_SECONDS, MAX_RETRIES = 120.0, 1


class AnthropicSummarizer:
    """`native` says whether to use the API's own compaction; with None the API is asked once."""

    name = "anthropic"

    def __init__(
        self,
        model: str = "claude-haiku-4-5",
        *,
        client: anthropic.Anthropic | None = None,
        native: bool | None = False,
        max_tokens: int = 4096,
        window: int = 0,
        seconds: float = TIMEOUT_SECONDS,
        retries: int = MAX_RETRIES,
        price: tuple[float, float] | None = None,
    ) -> None:
        try:
            import anthropic
        except ImportError:
            raise InvalidInput(
                "The anthropic package is not installed", hint="pip install 'holdfast[anthropic]'"
            ) from None
        self.model = model
        self._client = (client or anthropic.Anthropic()).with_options(
            timeout=seconds, max_retries=retries
        )
        self._native = native
        self._max_tokens = max_tokens
        self._room = (window or find_window(model)) - max_tokens
        self._counter = TokenCounter(model)
        self._price = find_price(model, max_tokens, price)

    def price(self) -> Price | None:
        return self._price

    def summarize(self, work: Work) -> Reply:
        import anthropic

        try:
            return self._compact(work) if self._is_native() else self._prompt(work)
        except anthropic.APITimeoutError:
            # The cost is unknown; what was sent is counted.
            sent = sum(message.tokens for message in work.messages)
            usage = Usage(model=self.model, input_tokens=sent)
            raise SummaryFailed("the model took too long", usage=usage) from None
        except anthropic.APIError as problem:
            raise SummaryFailed(f"{type(problem).__name__}: {problem.message[:300]}") from None

    def _is_native(self) -> bool:
        if self._native is None:
            self._native = self._supports_compaction()
        return self._native

    def _supports_compaction(self) -> bool:
        import anthropic

        try:
            model = self._client.beta.models.retrieve(self.model).model_dump()
        except anthropic.APIError:
            return False
        compaction = (model.get("capabilities") or {}).get("compaction") or {}
        return bool((compaction.get("summarize") or {}).get("supported"))

    def _prompt(self, work: Work) -> Reply:
        """Return a reply to our own prompt."""
        reply = self._client.messages.create(
            model=self.model,
            max_tokens=self._max_tokens,
            system=SYSTEM,
            messages=[{"role": "user", "content": build_prompt(work, self._room, self._counter)}],
            output_config={"format": {"type": "json_schema", "schema": api_schema()}},
        )
        texts = [block.text for block in reply.content if block.type == "text"]
        return self._to_reply(reply, "".join(texts))

    def _compact(self, work: Work) -> Reply:
        """Return the result of the API's own compaction; our instructions replace its prompt."""
        parts = RequestParts(
            agent_description="",
            project_context="",
            checkpoint=work.checkpoint.render(),
            messages=_end_with_user_turn(work),
        )
        messages: Any = build_body(parts, "anthropic")["messages"]
        reply = self._client.beta.messages.create(
            model=self.model,
            max_tokens=self._max_tokens,
            betas=[NATIVE_COMPACTION_BETA],
            compaction={
                "type": "summarize",
                "instructions": f"{SYSTEM}\n\n{build_instructions(work)}",
            },
            messages=messages,
        )
        blocks = [block for block in reply.content if block.type == "compaction"]
        return self._to_reply(reply, "".join(block.content or "" for block in blocks))

    def _to_reply(self, reply: Any, text: str) -> Reply:
        usage = _to_usage(self.model, reply.usage)
        if reply.stop_reason == "refusal":
            raise SummaryFailed("the model refused", usage=usage)
        if not text.strip():
            raise SummaryFailed("the reply is empty", usage=usage)
        return Reply(content=text, usage=usage)


def _end_with_user_turn(work: Work) -> list[Message]:
    """Return the messages with a user's turn at the end: the API would continue a reply."""
    last = work.messages[-1]
    if last.role != "assistant":
        return list(work.messages)
    return [*work.messages, Message(role="user", blocks=({"type": "text", "text": "Summarise."},))]


def _to_usage(model: str, usage: Any) -> Usage:
    """Return all input tokens, cached or not, and the tokens of the API's own compaction."""
    counts = usage.model_dump() if hasattr(usage, "model_dump") else {}
    parts = [counts, *filter(_is_compaction, counts.get("iterations") or ())]
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(
        model=model,
        input_tokens=sum(part.get(name) or 0 for part in parts for name in names),
        output_tokens=sum(part.get("output_tokens") or 0 for part in parts),
    )


def _is_compaction(iteration: Any) -> bool:
    return isinstance(iteration, dict) and iteration.get("type") == "compaction"
