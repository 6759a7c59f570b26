"""Fixtures: a sandbox for each version of the real client, and conversations in it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .claude_code import VERSIONS, install_client
from .conversation import Conversation
from .sandbox import Sandbox
from .scripted_api import Json
from .story import SUMMARY

StartConversation = Callable[..., Conversation]

NEWEST, *OLDER = VERSIONS


@pytest.fixture(
    params=[NEWEST, *(pytest.param(version, marks=pytest.mark.slow) for version in OLDER)]
)
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    """A fresh home and project for one version of the client."""
    return Sandbox.create(tmp_path, install_client(request.param))


@pytest.fixture
def start_conversation(sandbox: Sandbox) -> Iterator[StartConversation]:
    """Return a function that starts a conversation in which the model follows these steps."""
    with ExitStack() as open_conversations:

        def start(
            *steps: Json,
            subagent: tuple[Json, ...] = (),
            options: tuple[str, ...] = (),
            summary: str = SUMMARY,
            **env: str,
        ) -> Conversation:
            script = {"steps": steps, "subagent": subagent, "summaries": [summary]}
            conversation = Conversation(sandbox=sandbox, script=script, env=env, options=options)
            return open_conversations.enter_context(conversation)

        yield start
