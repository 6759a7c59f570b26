"""How many of our files a request passes through: few enough to read before changing one."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import uvicorn

import holdfast
from holdfast.server.app import create_app
from holdfast.server.databases import Databases
from holdfast.server.event_feed import EventFeed
from holdfast.server.http_rules import LimitedHttpProtocol

HOME = str(Path(holdfast.__file__).parent)
MAX_SAVE_FILES = 10
MAX_RESTORE_FILES = 12
# As the hooks of the first users send it: see docs/how-to/serve.md.
SNAPSHOT = {
    "session_id": "s1", "trigger": "auto", "context_summary": "Working on authentication",
    "modified_files": ["/app/src/login.py"], "key_decisions": ["tokens expire after an hour"],
}  # fmt: skip


class Recorder:
    """Notes our files in which any thread calls a function, until `end` is called."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self.end: tuple[str, ...] = ()
        self.is_on = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if self.is_on and event == "call" and code.co_filename.startswith(HOME):
            self.files[code.co_filename.removeprefix(HOME)] = None
            self.is_on = code.co_name not in self.end

    def record(self, ask: Callable[[], Any], *end: str) -> list[str]:
        self.files, self.end, self.is_on = {}, end, True
        ask()
        self.is_on = False
        return list(self.files)


@pytest.fixture
def recorder(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    # It looks for changes now and then, whatever is asked.
    monkeypatch.setattr(EventFeed, "run", lambda _: asyncio.sleep(0))
    recorder = Recorder()
    threading.setprofile(recorder)
    yield recorder
    threading.setprofile(None)


@pytest.fixture
def url(recorder: Recorder, databases: Databases) -> Iterator[str]:
    """The application behind uvicorn, in a thread of this process."""
    app, _ = create_app(databases)
    config = uvicorn.Config(app, port=0, http=LimitedHttpProtocol, ws="none", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)


def post(url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def test_a_save_passes_few_files_from_the_socket_to_the_commit(
    url: str, recorder: Recorder
) -> None:
    post(f"{url}/api/compact/save", {**SNAPSHOT, "number": 1})
    files = recorder.record(lambda: post(f"{url}/api/compact/save", SNAPSHOT), "commit")
    assert len(files) <= MAX_SAVE_FILES, "\n".join(files)


def test_a_restore_passes_few_files(url: str, recorder: Recorder) -> None:
    post(f"{url}/api/compact/save", SNAPSHOT)
    asked = {"session_id": "s1", "agent_type": "developer"}
    # The first one also reads the templates of the roles.
    post(f"{url}/api/compact/restore", asked)
    files = recorder.record(lambda: post(f"{url}/api/compact/restore", asked))
    assert len(files) <= MAX_RESTORE_FILES, "\n".join(files)
