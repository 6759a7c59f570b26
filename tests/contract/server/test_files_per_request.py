"""A request runs code of only a few of our files, so that the code path stays readable."""

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
from holdfast.server.auth import accept_all
from holdfast.server.databases import Databases
from holdfast.server.event_feed import EventFeed
from holdfast.server.http_rules import LimitedHttpProtocol

PACKAGE_FOLDER = str(Path(holdfast.__file__).parent)
TIMEOUT_SECONDS = 30
MAX_SAVE_FILES = 11
MAX_RESTORE_FILES = 14
# A request as documented in docs/how-to/serve.md.
SNAPSHOT = {
    "session_id": "s1", "trigger": "auto", "context_summary": "Working on authentication",
    "modified_files": ["/app/src/login.py"], "key_decisions": ["tokens expire after an hour"],
}  # fmt: skip


class Recorder:
    """A profile function that records in which files of our package a function is called.

    It records all threads, and stops when one of `last_functions` is called.
    """

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self.last_functions: tuple[str, ...] = ()
        self.is_on = False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if self.is_on and event == "call" and code.co_filename.startswith(PACKAGE_FOLDER):
            file = code.co_filename.removeprefix(PACKAGE_FOLDER)
            # Redaction is one subject in several files, and its entry point is all that is read.
            self.files["/redaction" if file.startswith("/redaction/") else file] = None
            self.is_on = code.co_name not in self.last_functions

    def record(self, send_request: Callable[[], Any], *last_functions: str) -> list[str]:
        self.files, self.last_functions, self.is_on = {}, last_functions, True
        send_request()
        self.is_on = False
        return list(self.files)


@pytest.fixture
def recorder(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    # The feed polls for changes in the background; that is not part of a request.
    monkeypatch.setattr(EventFeed, "run", lambda _: asyncio.sleep(0))
    recorder = Recorder()
    threading.setprofile(recorder)
    yield recorder
    threading.setprofile(None)


@pytest.fixture
def url(recorder: Recorder, databases: Databases) -> Iterator[str]:
    """The application behind uvicorn, in a thread of this process."""
    app, _ = create_app(databases, identify=accept_all)
    config = uvicorn.Config(app, port=0, http=LimitedHttpProtocol, ws="none", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not server.started:
            assert thread.is_alive()
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(TIMEOUT_SECONDS)


def post(url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        return json.load(response)


def test_a_save_runs_code_of_few_files_until_its_commit(url: str, recorder: Recorder) -> None:
    post(f"{url}/api/compact/save", {**SNAPSHOT, "number": 1})
    files = recorder.record(lambda: post(f"{url}/api/compact/save", SNAPSHOT), "commit")
    assert len(files) <= MAX_SAVE_FILES, "\n".join(files)


def test_a_restore_runs_code_of_few_files(url: str, recorder: Recorder) -> None:
    post(f"{url}/api/compact/save", SNAPSHOT)
    body = {"session_id": "s1", "agent_type": "developer"}
    # The first restore also reads the role templates.
    post(f"{url}/api/compact/restore", body)
    files = recorder.record(lambda: post(f"{url}/api/compact/restore", body))
    assert len(files) <= MAX_RESTORE_FILES, "\n".join(files)
