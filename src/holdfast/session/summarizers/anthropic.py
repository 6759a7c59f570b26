"""Summaries by Claude: with our own prompt held to the JSON schema, or by the API's own compaction
where the model supports it. Needs `pip install 'holdfast[anthropic]'`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import BadUsage
from holdfast.session.budget import Counter, window_of
from holdfast.session.message import Message
from holdfast.session.request import Parts, body
from holdfast.session.summarizers import Price, Reply, Usage, Work
from holdfast.session.summarizers.prices import price_of
from holdfast.session.summarizers.prompt import (
    SYSTEM,
    SummaryFailed,
    instructions,
    prompt,
    wire_schema,
)

if TYPE_CHECKING:
    import anthropic

NATIVE = "compact-2026-09-04"
# What a summary may take to come, and how often the SDK tries again by itself when it is told to.
SECONDS, RETRIES = 120.0, 1


class AnthropicSummarizer:
    """`native` says whether to use the API's own compaction; None asks the API once."""

    name = "anthropic"

    def __init__(
        self,
        model: str = "claude-haiku-4-5",
        *,
        client: anthropic.Anthropic | None = None,
        native: bool | None = False,
        max_tokens: int = 4096,
        window: int = 0,
        seconds: float = SECONDS,
        retries: int = RETRIES,
        price: tuple[float, float] | None = None,
    ) -> None:
        try:
            import anthropic
        except ImportError:
            raise BadUsage(
                "the anthropic package is not here", hint="pip install 'holdfast[anthropic]'"
            ) from None
        self.model = model
        self._client = (client or anthropic.Anthropic()).with_options(
            timeout=seconds, max_retries=retries
        )
        self._native = native
        self._max_tokens = max_tokens
        self._room = (window or window_of(model)) - max_tokens
        self._counter = Counter(model)
        self._price = price_of(model, max_tokens, price)

    def price(self) -> Price | None:
        return self._price

    def summarize(self, work: Work) -> Reply:
        import anthropic

        try:
            return self._compacted(work) if self._is_native() else self._asked(work)
        except anthropic.APITimeoutError:
            # Nobody tells what it cost; what was sent is counted.
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
            told = self._client.beta.models.retrieve(self.model).model_dump()
        except anthropic.APIError:
            return False
        able = ((told.get("capabilities") or {}).get("compaction") or {}).get("summarize") or {}
        return bool(able.get("supported"))

    def _asked(self, work: Work) -> Reply:
        reply = self._client.messages.create(
            model=self.model,
            max_tokens=self._max_tokens,
            system=SYSTEM,
            messages=[{"role": "user", "content": prompt(work, self._room, self._counter)}],
            output_config={"format": {"type": "json_schema", "schema": wire_schema()}},
        )
        texts = [block.text for block in reply.content if block.type == "text"]
        return self._checked(reply, "".join(texts))

    def _compacted(self, work: Work) -> Reply:
        """The API summarises the messages as they are; the instructions replace its prompt."""
        parts = Parts(
            agent_description="",
            project_context="",
            checkpoint=work.checkpoint.render(),
            messages=_ending_with_user(work),
        )
        sent: Any = body(parts, "anthropic")["messages"]
        reply = self._client.beta.messages.create(
            model=self.model,
            max_tokens=self._max_tokens,
            betas=[NATIVE],
            compaction={"type": "summarize", "instructions": f"{SYSTEM}\n\n{instructions(work)}"},
            messages=sent,
        )
        found = [block for block in reply.content if block.type == "compaction"]
        return self._checked(reply, "".join(block.content or "" for block in found))

    def _checked(self, reply: Any, text: str) -> Reply:
        usage = _usage(self.model, reply.usage)
        if reply.stop_reason == "refusal":
            raise SummaryFailed("the model refused", usage=usage)
        if not text.strip():
            raise SummaryFailed("the reply is empty", usage=usage)
        return Reply(content=text, usage=usage)


def _ending_with_user(work: Work) -> list[Message]:
    """A conversation ends with the user's turn, or the API would have the reply continued."""
    last = work.messages[-1]
    if last.role != "assistant":
        return list(work.messages)
    return [*work.messages, Message(role="user", blocks=({"type": "text", "text": "Summarise."},))]


def _usage(model: str, told: Any) -> Usage:
    """Everything that was read counts, cached or not, and what compacting itself took."""
    counted = told.model_dump() if hasattr(told, "model_dump") else {}
    parts = [counted, *(one for one in counted.get("iterations") or () if _is_compaction(one))]
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(
        model=model,
        input_tokens=sum(part.get(name) or 0 for part in parts for name in names),
        output_tokens=sum(part.get("output_tokens") or 0 for part in parts),
    )


def _is_compaction(iteration: Any) -> bool:
    return isinstance(iteration, dict) and iteration.get("type") == "compaction"
