"""Summaries by any server that speaks the OpenAI protocol, a local one included. Needs
`pip install 'holdfast[openai]'`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from holdfast.errors import BadUsage
from holdfast.session.budget import Counter, window_of
from holdfast.session.summarizers import Price, Reply, Usage, Work
from holdfast.session.summarizers.prices import price_of
from holdfast.session.summarizers.prompt import SYSTEM, SummaryFailed, prompt, wire_schema

if TYPE_CHECKING:
    import openai

SECONDS, RETRIES = 120.0, 1
OWN_MACHINE = ("127.0.0.1", "localhost", "::1")


class OpenAISummarizer:
    """A server on this machine costs nothing; for another, `price` says what its tokens do."""

    name = "openai"

    def __init__(
        self,
        model: str,
        *,
        client: openai.OpenAI | None = None,
        base_url: str | None = None,
        max_tokens: int = 4096,
        window: int = 0,
        seconds: float = SECONDS,
        retries: int = RETRIES,
        price: tuple[float, float] | None = None,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise BadUsage(
                "the openai package is not here", hint="pip install 'holdfast[openai]'"
            ) from None
        self.model = model
        made = client or openai.OpenAI(base_url=base_url)
        self._client = made.with_options(timeout=seconds, max_retries=retries)
        self._max_tokens = max_tokens
        self._room = (window or window_of(model)) - max_tokens
        self._counter = Counter(model)
        host = urlsplit(str(made.base_url)).hostname or ""
        free = price is None and host in OWN_MACHINE
        self._price = None if free else price_of(model, max_tokens, price)
        # Not every server can be held to a schema, or knows the newer name of the limit.
        self._options: dict[str, Any] = {
            "max_completion_tokens": max_tokens,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "checkpoint", "schema": wire_schema(), "strict": True},
            },
        }

    def price(self) -> Price | None:
        return self._price

    def summarize(self, work: Work) -> Reply:
        import openai

        try:
            try:
                return self._asked(work)
            except openai.BadRequestError:
                if "response_format" not in self._options:
                    raise
                self._options = {"max_tokens": self._max_tokens}
                return self._asked(work)
        except openai.APITimeoutError:
            sent = sum(message.tokens for message in work.messages)
            usage = Usage(model=self.model, input_tokens=sent)
            raise SummaryFailed("the model took too long", usage=usage) from None
        except openai.APIError as problem:
            raise SummaryFailed(f"{type(problem).__name__}: {problem.message[:300]}") from None

    def _asked(self, work: Work) -> Reply:
        reply = self._client.chat.completions.create(
            model=self.model,
            messages=[
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": prompt(work, self._room, self._counter)},
            ],
            **self._options,
        )
        told = reply.usage
        usage = Usage(
            model=self.model,
            input_tokens=told.prompt_tokens if told else 0,
            output_tokens=told.completion_tokens if told else 0,
        )
        if not reply.choices:
            raise SummaryFailed("the reply is empty", usage=usage)
        choice = reply.choices[0]
        if choice.message.refusal or choice.finish_reason == "content_filter":
            raise SummaryFailed("the model refused", usage=usage)
        if not (choice.message.content or "").strip():
            raise SummaryFailed("the reply is empty", usage=usage)
        return Reply(content=choice.message.content or "", usage=usage)
