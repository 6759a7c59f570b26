"""Summaries through the Claude Agent SDK, for users with Claude Code but without an API key.
Needs `pip install 'holdfast[claude-agent]'`.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from holdfast.conversations.budget import TokenCounter, find_window
from holdfast.conversations.summarizers import Price, Reply, Usage, Work
from holdfast.conversations.summarizers.prices import find_price
from holdfast.conversations.summarizers.prompt import SYSTEM, SummaryFailed, build_prompt
from holdfast.errors import InvalidInput

TIMEOUT_SECONDS = 180.0


class ClaudeAgentSummarizer:
    """One turn without tools and without settings files, so that no hook runs in it."""

    name = "claude-agent"

    def __init__(
        self,
        model: str = "claude-haiku-4-5",
        *,
        max_tokens: int = 4096,
        window: int = 0,
        seconds: float = TIMEOUT_SECONDS,
        price: tuple[float, float] | None = None,
        env: dict[str, str] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        try:
            import claude_agent_sdk  # noqa: F401
        except ImportError:
            raise InvalidInput(
                "The Claude Agent SDK is not installed", hint="pip install 'holdfast[claude-agent]'"
            ) from None
        self.model = model
        self._room = (window or find_window(model)) - max_tokens
        self._counter = TokenCounter(model)
        self._seconds = seconds
        self._price = find_price(model, max_tokens, price)
        limits = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_tokens), "CLAUDE_CODE_MAX_RETRIES": "1"}
        self._env = {**limits, **(env or {})}
        self._options = options or {}

    def price(self) -> Price | None:
        return self._price

    def summarize(self, work: Work) -> Reply:
        text = build_prompt(work, self._room, self._counter)
        # In a thread, because the caller may already run an event loop.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, self._query_with_timeout(text)).result()

    async def _query_with_timeout(self, text: str) -> Reply:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._query(text)
        except TimeoutError:
            usage = Usage(model=self.model, input_tokens=self._counter.text(text))
            raise SummaryFailed("the model took too long", usage=usage) from None

    async def _query(self, text: str) -> Reply:
        from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKError, ResultMessage, query

        options: dict[str, Any] = {
            "model": self.model,
            "tools": [],
            "max_turns": 1,
            "system_prompt": SYSTEM,
            "setting_sources": [],
            "env": self._env,
            # Thinking would use up output tokens. The client's own structured output needs a tool
            # and a second turn; JSON in the reply is parsed just as well.
            "thinking": {"type": "disabled"},
            **self._options,
        }
        result: ResultMessage | None = None
        try:
            async for message in query(prompt=text, options=ClaudeAgentOptions(**options)):
                if isinstance(message, ResultMessage):
                    result = message
        except ClaudeSDKError as problem:
            if result is None:
                raise SummaryFailed(f"{type(problem).__name__}: {str(problem)[:300]}") from None
        if result is None:
            raise SummaryFailed("the agent ended without a result")
        return self._to_reply(result)

    def _to_reply(self, result: Any) -> Reply:
        usage = _to_usage(self.model, result.usage or {})
        content = result.result or ""
        if result.is_error:
            raise SummaryFailed(content[:300] or result.subtype, usage=usage)
        if not content.strip():
            raise SummaryFailed("the reply is empty", usage=usage)
        return Reply(content=content, usage=usage)


def _to_usage(model: str, usage: dict[str, Any]) -> Usage:
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(
        model=model,
        input_tokens=sum(usage.get(name) or 0 for name in names),
        output_tokens=usage.get("output_tokens") or 0,
    )
