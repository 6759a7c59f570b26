"""The HTTP part of a fake model on loopback: it answers from a script and records every request.

It runs as a program, in the network namespace of the client.
"""

import argparse
import json
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Json = dict[str, Any]

SCRIPT_EXHAUSTED: Json = {"text": "The script has no step left for this request."}
DEFAULT_USAGE = 1_000


class ScriptedHandler(BaseHTTPRequestHandler):
    """Sends whole responses, as JSON or as a stream of events."""

    protocol_version = "HTTP/1.1"
    script: Any

    def send_json(self, status: int, body: Json) -> None:
        """Send one JSON document."""
        self.send_body(status, "application/json", json.dumps(body).encode())

    def send_events(self, events: Iterable[Json]) -> None:
        """Send events in the format of server-sent events."""
        blocks = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.send_body(200, "text/event-stream", "".join(blocks).encode())

    def send_body(self, status: int, content_type: str, body: bytes) -> None:
        """Send one whole response."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: requests are recorded in a file."""


def serve(handler: type[ScriptedHandler], make_script: Callable[[Json, Path], object]) -> None:
    """Serve one script until the process ends; the port file appears when the port is open."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port-file", type=Path, required=True)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--record", type=Path, required=True)
    options = parser.parse_args()
    script = make_script(json.loads(options.script.read_text(encoding="utf-8")), options.record)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Scripted", (handler,), {"script": script}))
    unfinished = options.port_file.with_suffix(".part")
    unfinished.write_text(str(server.server_address[1]), encoding="utf-8")
    unfinished.rename(options.port_file)
    server.serve_forever()
