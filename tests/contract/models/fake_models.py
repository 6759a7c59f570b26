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
class Response:
    """One response: a body, optionally truncated, or delayed until the server stops."""

    body: Json | str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    is_truncated: bool = False
    is_delayed: bool = False


@dataclass
class ModelServer:
    """Sends the responses in order, repeats the last one, and records the requests."""

    url: str
    responses: list[Response]
    requests: list[tuple[str, Json, dict[str, str]]] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def next_response(self) -> Response:
        return self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]


@contextmanager
def run_model_server(*responses: Response) -> Iterator[ModelServer]:
    """Run a server on loopback that sends these responses."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            server.requests.append((self.path, body, dict(self.headers)))
            self.write_response(server.next_response())

        def do_GET(self) -> None:
            server.requests.append((self.path, {}, dict(self.headers)))
            self.write_response(server.next_response())

        def write_response(self, response: Response) -> None:
            if response.is_delayed:
                server.stopped.wait(MAX_DELAY_SECONDS)
            text = response.body if isinstance(response.body, str) else json.dumps(response.body)
            data = text.encode()
            self.send_response(response.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in response.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if response.is_truncated else data)
            if response.is_truncated:
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True

        def log_message(self, *args: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = ModelServer(f"http://127.0.0.1:{http.server_port}", list(responses))
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


def make_anthropic_response(text: str, stop: str = "end_turn") -> Response:
    content = [{"type": "text", "text": text}] if text else []
    return Response({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
        "content": content, "stop_reason": stop, "stop_sequence": None, "usage": USAGE,
    })  # fmt: skip


def make_compaction_response(content: str | None) -> Response:
    """The response to a compaction request: only the compaction block."""
    usage = {"type": "compaction", "input_tokens": 900, "output_tokens": 70}
    usage |= {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return Response({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
        "content": [{"type": "compaction", "content": content, "signature": "c2ln"}],
        "stop_reason": "compaction", "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0, "iterations": [usage]},
    })  # fmt: skip


def make_model_info_response(supported: bool) -> Response:
    """The description of a model that does or does not support compaction."""
    compaction = {"supported": supported, "summarize": {"supported": supported}}
    return Response({
        "id": "claude-haiku-4-5", "type": "model", "display_name": "Claude Haiku 4.5",
        "created_at": "2026-01-01T00:00:00Z", "lifecycle": "active",
        "max_input_tokens": 200_000, "max_tokens": 64_000,
        "capabilities": {"compaction": compaction},
    })  # fmt: skip


def make_openai_response(
    text: str | None, finish: str = "stop", refusal: str | None = None
) -> Response:
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return Response({
        "id": "c1", "object": "chat.completion", "created": 1, "model": "local",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1200, "completion_tokens": 80, "total_tokens": 1280},
    })  # fmt: skip


def make_error_response(status: int) -> Response:
    """An error response, with a short time to retry after."""
    error_type = {429: "rate_limit_error", 529: "overloaded_error"}.get(status, "api_error")
    error = {"type": "error", "error": {"type": error_type, "message": f"status {status}"}}
    return Response(error, status=status, headers={"retry-after-ms": "5"})
