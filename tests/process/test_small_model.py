"""A real small model behind both SDKs writes poor summaries; the checkpoint is still valid."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.conversations.events import CompactionEvent
from holdfast.conversations.manager import SessionManager
from holdfast.conversations.summarizers import Summarizer

from . import small_model

pytestmark = pytest.mark.skipif(
    bool(small_model.find_missing_package()), reason=small_model.find_missing_package()
)
CONSTRAINTS = ("Never push to main.", "Always run the linter before a commit.")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The URL of a server that runs the model."""
    command = [sys.executable, small_model.__file__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        lines = (line.split() for line in process.stdout)
        yield next(words[1] for words in lines if words[:1] == ["listening"])
        process.kill()


def make_summarizer(kind: str, address: str) -> tuple[Any, Summarizer]:
    options: dict[str, Any] = {"max_tokens": 100, "window": 900, "seconds": 300.0, "retries": 0}
    if kind == "openai":
        openai = pytest.importorskip("openai")
        from holdfast.conversations.summarizers.openai import OpenAISummarizer

        client = openai.OpenAI(base_url=f"{address}/v1", api_key="none")
        return client, OpenAISummarizer("smollm2", client=client, **options)
    anthropic = pytest.importorskip("anthropic")
    from holdfast.conversations.summarizers.anthropic import AnthropicSummarizer

    client = anthropic.Anthropic(base_url=address, api_key="none")
    return client, AnthropicSummarizer("smollm2", client=client, **options)


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_poor_model_still_yields_a_valid_checkpoint_with_every_constraint(
    kind: str, address: str, tmp_path: Path
) -> None:
    client, summarizer = make_summarizer(kind, address)
    received: list[CompactionEvent] = []
    path = tmp_path / "holdfast.db"
    with client, SessionManager(path, limit=1500, summarizer=summarizer, tries=1) as manager:
        manager.on(received.append)
        conversation = manager.get_or_create("s1")
        for text in CONSTRAINTS:
            conversation.add_message("user", f"{text}\nTODO: rotate the signing keys")
        while conversation.preview_request().headroom > 0:
            conversation.add_message(
                "user", "Please look at the retry queue in src/queue.py again."
            )
            conversation.add_message("assistant", "I changed next_delay and the tests pass now.")
        compaction = conversation.force_compact()
        checkpoint = conversation.checkpoint()
    events = [(event.kind, event.detail.get("error", "")) for event in received]
    print(f"{kind}: made by {compaction.made_by}; {events}\n{checkpoint.render()}")
    assert checkpoint.constraints == CONSTRAINTS
    assert "rotate the signing keys" in checkpoint.pending
    assert compaction.tokens_reclaimed > 0
    assert compaction.made_by in (kind, "rules")


def test_the_small_model_is_available(address: str) -> None:
    """Without a model the tests above would pass with a summary made by rules."""
    openai = pytest.importorskip("openai")
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none") as client:
        response = client.chat.completions.create(
            model="smollm2", max_tokens=8, messages=[{"role": "user", "content": "Say hello."}]
        )
    assert response.choices[0].message.content
    assert os.path.getsize(small_model.find_model()) > 50_000_000
