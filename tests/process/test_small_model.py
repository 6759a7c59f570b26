"""A real small model behind both SDKs: its summaries are poor, the checkpoint is valid anyway."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.conversations.events import Event
from holdfast.conversations.manager import SessionManager
from holdfast.conversations.summarizers import Summarizer

from . import small_model

pytestmark = pytest.mark.skipif(bool(small_model.missing()), reason=small_model.missing())
CONSTRAINTS = ("Never push to main.", "Always run the linter before a commit.")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    program = [sys.executable, small_model.__file__]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stdout is not None
        lines = (line.split() for line in running.stdout)
        yield next(words[1] for words in lines if words[:1] == ["listening"])
        running.kill()


def summarizer(kind: str, address: str) -> tuple[Any, Summarizer]:
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
    client, made = summarizer(kind, address)
    found: list[Event] = []
    path = tmp_path / "holdfast.db"
    with client, SessionManager(path, limit=1500, summarizer=made, tries=1) as manager:
        manager.on(found.append)
        conversation = manager.get_or_create("s1")
        for text in CONSTRAINTS:
            conversation.add_message("user", f"{text}\nTODO: rotate the signing keys")
        while conversation.preview_request().headroom > 0:
            conversation.add_message(
                "user", "Please look at the retry queue in src/queue.py again."
            )
            conversation.add_message("assistant", "I changed next_delay and the tests pass now.")
        done = conversation.force_compact()
        checkpoint = conversation.checkpoint()
    told = [(event.kind, event.detail.get("error", "")) for event in found]
    print(f"{kind}: made by {done.made_by}; {told}\n{checkpoint.render()}")
    assert checkpoint.constraints == CONSTRAINTS
    assert "rotate the signing keys" in checkpoint.pending
    assert done.tokens_reclaimed > 0
    assert done.made_by in (kind, "rules")


def test_the_small_model_is_available(address: str) -> None:
    """Without this the tests above would pass with a server that answers nothing."""
    openai = pytest.importorskip("openai")
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none") as client:
        said = client.chat.completions.create(
            model="smollm2", max_tokens=8, messages=[{"role": "user", "content": "Say hello."}]
        )
    assert said.choices[0].message.content
    assert os.path.getsize(small_model.weights()) > 50_000_000
