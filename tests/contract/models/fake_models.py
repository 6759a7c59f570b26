"""A local model server for both wire formats, with configurable faults."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
MAX_DELAY_SECONDS = 20


@dataclass(frozen=True)
class Answer:
    """One response: a body, optionally truncated, or delayed until the server stops."""

    body: Json | str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    is_truncated: bool = False
    is_delayed: bool = False


@dataclass
class Server:
    """Sends the responses in order, repeats the last one, and records the requests."""

    url: str
    answers: list[Answer]
    asked: list[tuple[str, Json, dict[str, str]]] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def next(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def serving(*answers: Answer) -> Iterator[Server]:
    """Run a server on loopback that sends these responses."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            server.asked.append((self.path, body, dict(self.headers)))
            self.send_answer(server.next())

        def do_GET(self) -> None:
            server.asked.append((self.path, {}, dict(self.headers)))
            self.send_answer(server.next())

        def send_answer(self, answer: Answer) -> None:
            if answer.is_delayed:
                server.stopped.wait(MAX_DELAY_SECONDS)
            text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
            data = text.encode()
            self.send_response(answer.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if answer.is_truncated else data)
            if answer.is_truncated:
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True

        def log_message(self, *args: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{http.server_port}", list(answers))
    # The poll interval for the shutdown; the default would delay every test by half a second.
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        http.shutdown()
        http.server_close()
        thread.join()


USAGE = {"input_tokens": 1200, "output_tokens": 80}


def claude(text: str, stop: str = "end_turn") -> Answer:
    content = [{"type": "text", "text": text}] if text else []
    return Answer({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
        "content": content, "stop_reason": stop, "stop_sequence": None, "usage": USAGE,
    })  # fmt: skip


def compaction_answer(content: str | None) -> Answer:
    """The response to a compaction request: only the compaction block."""
    usage = {"type": "compaction", "input_tokens": 900, "output_tokens": 70}
    usage |= {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return Answer({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
        "content": [{"type": "compaction", "content": content, "signature": "c2ln"}],
        "stop_reason": "compaction", "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0, "iterations": [usage]},
    })  # fmt: skip


def model_info(supported: bool) -> Answer:
    """The description of a model that does or does not support compaction."""
    compaction = {"supported": supported, "summarize": {"supported": supported}}
    return Answer({
        "id": "claude-haiku-4-5", "type": "model", "display_name": "Claude Haiku 4.5",
        "created_at": "2026-01-01T00:00:00Z", "lifecycle": "active",
        "max_input_tokens": 200_000, "max_tokens": 64_000,
        "capabilities": {"compaction": compaction},
    })  # fmt: skip


def gpt(text: str | None, finish: str = "stop", refusal: str | None = None) -> Answer:
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return Answer({
        "id": "c1", "object": "chat.completion", "created": 1, "model": "local",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1200, "completion_tokens": 80, "total_tokens": 1280},
    })  # fmt: skip


def error_answer(status: int) -> Answer:
    """An error response, with a short time to retry after."""
    error_type = {429: "rate_limit_error", 529: "overloaded_error"}.get(status, "api_error")
    error = {"type": "error", "error": {"type": error_type, "message": f"status {status}"}}
    return Answer(error, status=status, headers={"retry-after-ms": "5"})
