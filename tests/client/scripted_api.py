"""What plays a model on loopback: it answers from a script, and writes down what it was sent.

Run as a program, in the namespace of the client that asks it.
"""

import argparse
import json
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Json = dict[str, Any]

NOTHING_LEFT: Json = {"text": "The script has no step left for this request."}
DEFAULT_USAGE = 1_000


class ScriptedHandler(BaseHTTPRequestHandler):
    """Sends whole responses, as JSON or as a stream of events."""

    protocol_version = "HTTP/1.1"
    script: Any

    def send_json(self, status: int, body: Json) -> None:
        """Send one JSON document."""
        self.send_body(status, "application/json", json.dumps(body).encode())

    def send_events(self, events: Iterable[Json]) -> None:
        """Send what the client reads as a stream."""
        told = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.send_body(200, "text/event-stream", "".join(told).encode())

    def send_body(self, status: int, content_type: str, body: bytes) -> None:
        """Send one whole response."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet: the record is the log."""


def serve(handler: type[ScriptedHandler], made: Callable[[Json, Path], object]) -> None:
    """Serve one script until told to stop; the port file appears once the port is open."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port-file", type=Path, required=True)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--record", type=Path, required=True)
    options = parser.parse_args()
    script = made(json.loads(options.script.read_text(encoding="utf-8")), options.record)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Scripted", (handler,), {"script": script}))
    unfinished = options.port_file.with_suffix(".part")
    unfinished.write_text(str(server.server_address[1]), encoding="utf-8")
    unfinished.rename(options.port_file)
    server.serve_forever()
