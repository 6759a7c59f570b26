"""Summaries by any server with the OpenAI protocol, also a local one. Needs
`pip install 'holdfast[openai]'`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from holdfast.conversations.budget import TokenCounter, find_window
from holdfast.conversations.summarizers import Price, Reply, Usage, Work
from holdfast.conversations.summarizers.prices import find_price
from holdfast.conversations.summarizers.prompt import (
    SYSTEM,
    SummaryFailed,
    api_schema,
    build_prompt,
)
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    import openai

TIMEOUT_SECONDS, MAX_RETRIES = 120.0, 1
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


class OpenAISummarizer:
    """A server on this machine is free; for others `price` gives dollars per million tokens."""

    name = "openai"

    def __init__(
        self,
        model: str,
        *,
        client: openai.OpenAI | None = None,
        base_url: str | None = None,
        max_tokens: int = 4096,
        window: int = 0,
        seconds: float = TIMEOUT_SECONDS,
        retries: int = MAX_RETRIES,
        price: tuple[float, float] | None = None,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise InvalidInput(
                "The openai package is not installed", hint="pip install 'holdfast[openai]'"
            ) from None
        self.model = model
        base_client = client or openai.OpenAI(base_url=base_url)
        self._client = base_client.with_options(timeout=seconds, max_retries=retries)
        self._max_tokens = max_tokens
        self._room = (window or find_window(model)) - max_tokens
        self._counter = TokenCounter(model)
        host = urlsplit(str(base_client.base_url)).hostname or ""
        is_free = price is None and host in LOOPBACK_HOSTS
        self._price = None if is_free else find_price(model, max_tokens, price)
        # Not every server supports a schema or the newer name of the limit; without them the
        # request is repeated once.
        self._options: dict[str, Any] = {
            "max_completion_tokens": max_tokens,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "checkpoint", "schema": api_schema(), "strict": True},
            },
        }

    def price(self) -> Price | None:
        return self._price

    def summarize(self, work: Work) -> Reply:
        import openai

        try:
            try:
                return self._request(work)
            except openai.BadRequestError:
                if "response_format" not in self._options:
                    raise
                self._options = {"max_tokens": self._max_tokens}
                return self._request(work)
        except openai.APITimeoutError:
            sent = sum(message.tokens for message in work.messages)
            usage = Usage(model=self.model, input_tokens=sent)
            raise SummaryFailed("the model took too long", usage=usage) from None
        except openai.APIError as problem:
            raise SummaryFailed(f"{type(problem).__name__}: {problem.message[:300]}") from None

    def _request(self, work: Work) -> Reply:
        reply = self._client.chat.completions.create(
            model=self.model,
            messages=[
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": build_prompt(work, self._room, self._counter)},
            ],
            **self._options,
        )
        counts = reply.usage
        usage = Usage(
            model=self.model,
            input_tokens=counts.prompt_tokens if counts else 0,
            output_tokens=counts.completion_tokens if counts else 0,
        )
        if not reply.choices:
            raise SummaryFailed("the reply is empty", usage=usage)
        choice = reply.choices[0]
        if choice.message.refusal or choice.finish_reason == "content_filter":
            raise SummaryFailed("the model refused", usage=usage)
        if not (choice.message.content or "").strip():
            raise SummaryFailed("the reply is empty", usage=usage)
        return Reply(content=choice.message.content or "", usage=usage)
