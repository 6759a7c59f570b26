"""Summaries through the Claude Agent SDK, for those who have Claude Code but no key for the API.
Needs `pip install 'holdfast[claude-agent]'`.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from holdfast.errors import BadUsage
from holdfast.session.budget import Counter, window_of
from holdfast.session.summarizers import Price, Reply, Usage, Work
from holdfast.session.summarizers.prices import price_of
from holdfast.session.summarizers.prompt import SYSTEM, SummaryFailed, prompt

SECONDS = 180.0


class ClaudeAgentSummarizer:
    """One turn without tools and without anybody's settings, so that no hook runs in it."""

    name = "claude-agent"

    def __init__(
        self,
        model: str = "claude-haiku-4-5",
        *,
        max_tokens: int = 4096,
        window: int = 0,
        seconds: float = SECONDS,
        price: tuple[float, float] | None = None,
        env: dict[str, str] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        try:
            import claude_agent_sdk  # noqa: F401
        except ImportError:
            raise BadUsage(
                "the Claude Agent SDK is not here", hint="pip install 'holdfast[claude-agent]'"
            ) from None
        self.model = model
        self._room = (window or window_of(model)) - max_tokens
        self._counter = Counter(model)
        self._seconds = seconds
        self._price = price_of(model, max_tokens, price)
        limits = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_tokens), "CLAUDE_CODE_MAX_RETRIES": "1"}
        self._env = {**limits, **(env or {})}
        self._options = options or {}

    def price(self) -> Price | None:
        return self._price

    def summarize(self, work: Work) -> Reply:
        text = prompt(work, self._room, self._counter)
        # A thread of its own, because the caller may well run an event loop.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, self._timed(text)).result()

    async def _timed(self, text: str) -> Reply:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._asked(text)
        except TimeoutError:
            usage = Usage(model=self.model, input_tokens=self._counter.text(text))
            raise SummaryFailed("the model took too long", usage=usage) from None

    async def _asked(self, text: str) -> Reply:
        from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKError, ResultMessage, query

        given: dict[str, Any] = {
            "model": self.model,
            "tools": [],
            "max_turns": 1,
            "system_prompt": SYSTEM,
            "setting_sources": [],
            "env": self._env,
            # Thoughts would take of the same output tokens. The client's own structured output
            # needs a tool and a second turn; a reply with JSON in it is read just as well.
            "thinking": {"type": "disabled"},
            **self._options,
        }
        result: ResultMessage | None = None
        try:
            async for message in query(prompt=text, options=ClaudeAgentOptions(**given)):
                if isinstance(message, ResultMessage):
                    result = message
        except ClaudeSDKError as problem:
            if result is None:
                raise SummaryFailed(f"{type(problem).__name__}: {str(problem)[:300]}") from None
        if result is None:
            raise SummaryFailed("the agent ended without a result")
        return self._checked(result)

    def _checked(self, result: Any) -> Reply:
        usage = _usage(self.model, result.usage or {})
        content = result.result or ""
        if result.is_error:
            raise SummaryFailed(content[:300] or result.subtype, usage=usage)
        if not content.strip():
            raise SummaryFailed("the reply is empty", usage=usage)
        return Reply(content=content, usage=usage)


def _usage(model: str, told: dict[str, Any]) -> Usage:
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(
        model=model,
        input_tokens=sum(told.get(name) or 0 for name in names),
        output_tokens=told.get("output_tokens") or 0,
    )
