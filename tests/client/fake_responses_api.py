"""A scripted Responses API on loopback: it plays the model for Codex, and writes down what it was
sent.

The script is a JSON object:

    {"steps":     [{"text": "...", "tool": "exec_command", "input": {...}, "usage": 1200}, ...],
     "summaries": ["what the first compaction is to say", ...]}

A step answers one request of the conversation. A tool whose input is a text is a custom tool, as
`apply_patch` is. Compactions take a summary and no step. One that the server is to make itself
(the client then takes it for OpenAI's) is answered with the summary sealed. The title that the
client shows of a conversation takes no step either.
"""

import base64
import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

from tests.client.scripted_api import DEFAULT_USAGE, NOTHING_LEFT, Json, ScriptedHandler, serve

COMPACTION_PROMPT = "CONTEXT CHECKPOINT COMPACTION"
SEALED_TRIGGER = "compaction_trigger"
TITLE: Json = {"text": '{"title": "Back off"}'}


class Script:
    """Writes down every request, and knows what comes next."""

    def __init__(self, script: Json, record: Path) -> None:
        self.steps = iter(script.get("steps", []))
        self.summaries = list(script.get("summaries", ["Nothing worth keeping."]))
        self.record = record
        self.lock = threading.Lock()

    def answer(self, body: Json) -> Json:
        """Record one request and return the step that answers it."""
        kind = kind_of(body)
        with self.lock:
            with self.record.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"kind": kind, "agent_id": None, "body": body}) + "\n")
            if kind == "main":
                return next(self.steps, NOTHING_LEFT)
            if kind == "title":
                return TITLE
            summary = self.summaries.pop(0) if len(self.summaries) > 1 else self.summaries[0]
            return {"text" if kind == "compaction" else "sealed": summary}


def kind_of(body: Json) -> str:
    """The client asks for a summary in a last message of the user's, or by an item of its own;
    only a title has a form that the answer must have."""
    if "format" in (body.get("text") or {}):
        return "title"
    last = (body.get("input") or [{}])[-1]
    if last.get("type") == SEALED_TRIGGER:
        return "sealed compaction"
    return "compaction" if COMPACTION_PROMPT in json.dumps(last) else "main"


def sealed(summary: str) -> str:
    """A summary as nobody but the server can read it."""
    return base64.b64encode(summary[::-1].encode()).decode()


def items(step: Json) -> Iterator[Json]:
    """What the model says and calls in one step."""
    if "text" in step:
        content = [{"type": "output_text", "text": step["text"], "annotations": []}]
        message = {"type": "message", "role": "assistant", "status": "completed"}
        yield {**message, "id": f"msg_{os.urandom(6).hex()}", "content": content}
    if "sealed" in step:
        ident = f"cmp_{os.urandom(6).hex()}"
        yield {"type": "compaction", "id": ident, "encrypted_content": sealed(step["sealed"])}
    if "tool" in step:
        ident, given = os.urandom(6).hex(), step["input"]
        called = {"call_id": f"call_{ident}", "name": step["tool"], "status": "completed"}
        if isinstance(given, str):
            yield {"type": "custom_tool_call", "id": f"ctc_{ident}", **called, "input": given}
        else:
            written = json.dumps(given)
            yield {"type": "function_call", "id": f"fc_{ident}", **called, "arguments": written}


def server_sent_events(step: Json) -> Iterator[Json]:
    """One answer as the stream of events that the client reads."""
    response = {"id": f"resp_{os.urandom(8).hex()}"}
    yield {"type": "response.created", "response": response}
    for item in items(step):
        yield {"type": "response.output_item.done", "item": item}
    count = step.get("usage", DEFAULT_USAGE)
    usage = {
        "input_tokens": count, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 42,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": count + 42,
    }  # fmt: skip
    yield {"type": "response.completed", "response": {**response, "usage": usage}}


class Handler(ScriptedHandler, BaseHTTPRequestHandler):
    """Speaks just enough of the Responses API for the client."""

    script: Script

    def do_GET(self) -> None:
        """There is no list of models here."""
        self.send_json(404, {})

    def do_POST(self) -> None:
        """Answer with the next step, as a stream."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if urlsplit(self.path).path != "/v1/responses":
            self.send_json(404, {})
            return
        self.send_events(server_sent_events(self.script.answer(body)))


if __name__ == "__main__":
    serve(Handler, Script)
