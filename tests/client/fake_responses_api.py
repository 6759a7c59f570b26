"""A scripted Responses API on loopback: it stands in for Codex's model and records every request.

The script is a JSON object:

    {"steps":     [{"text": "...", "tool": "exec_command", "input": {...}, "usage": 1200}, ...],
     "summaries": ["the summary of the first compaction", ...]}

Each request of the conversation uses one step. A tool whose input is a string is a custom tool,
like `apply_patch`. Compactions use a summary and no step. If the client believes that it talks to
OpenAI, it leaves the compaction to the server, which returns the summary encrypted. The request for
the conversation's title uses no step either.
"""

import base64
import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

from tests.client.scripted_api import DEFAULT_USAGE, SCRIPT_EXHAUSTED, Json, ScriptedHandler, serve

COMPACTION_PROMPT = "CONTEXT CHECKPOINT COMPACTION"
ENCRYPTED_COMPACTION_TRIGGER = "compaction_trigger"
TITLE: Json = {"text": '{"title": "Back off"}'}


class Script:
    """Records every request and chooses the step that answers it."""

    def __init__(self, script: Json, record: Path) -> None:
        self.steps = iter(script.get("steps", []))
        self.summaries = list(script.get("summaries", ["Nothing worth keeping."]))
        self.record = record
        self.lock = threading.Lock()

    def answer(self, body: Json) -> Json:
        """Record one request and return the step that answers it."""
        kind = classify_request(body)
        with self.lock:
            with self.record.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"kind": kind, "agent_id": None, "body": body}) + "\n")
            if kind == "main":
                return next(self.steps, SCRIPT_EXHAUSTED)
            if kind == "title":
                return TITLE
            summary = self.summaries.pop(0) if len(self.summaries) > 1 else self.summaries[0]
            return {"text" if kind == "compaction" else "encrypted": summary}


def classify_request(body: Json) -> str:
    """Return main, compaction, encrypted compaction or title.

    A compaction is requested in the last user message or by an input item of its own type; only the
    request for a title demands an output format.
    """
    if "format" in (body.get("text") or {}):
        return "title"
    last = (body.get("input") or [{}])[-1]
    if last.get("type") == ENCRYPTED_COMPACTION_TRIGGER:
        return "encrypted compaction"
    return "compaction" if COMPACTION_PROMPT in json.dumps(last) else "main"


def encrypt(summary: str) -> str:
    """Make a summary unreadable, in place of real encryption."""
    return base64.b64encode(summary[::-1].encode()).decode()


def output_items(step: Json) -> Iterator[Json]:
    """The text, the summary and the tool call of one step, as output items."""
    if "text" in step:
        content = [{"type": "output_text", "text": step["text"], "annotations": []}]
        message = {"type": "message", "role": "assistant", "status": "completed"}
        yield {**message, "id": f"msg_{os.urandom(6).hex()}", "content": content}
    if "encrypted" in step:
        item_id = f"cmp_{os.urandom(6).hex()}"
        yield {"type": "compaction", "id": item_id, "encrypted_content": encrypt(step["encrypted"])}
    if "tool" in step:
        suffix, tool_input = os.urandom(6).hex(), step["input"]
        call = {"call_id": f"call_{suffix}", "name": step["tool"], "status": "completed"}
        if isinstance(tool_input, str):
            yield {"type": "custom_tool_call", "id": f"ctc_{suffix}", **call, "input": tool_input}
        else:
            arguments = json.dumps(tool_input)
            yield {"type": "function_call", "id": f"fc_{suffix}", **call, "arguments": arguments}


def server_sent_events(step: Json) -> Iterator[Json]:
    """The events of the streamed response to one request."""
    response = {"id": f"resp_{os.urandom(8).hex()}"}
    yield {"type": "response.created", "response": response}
    for item in output_items(step):
        yield {"type": "response.output_item.done", "item": item}
    input_tokens = step.get("usage", DEFAULT_USAGE)
    usage = {
        "input_tokens": input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 42,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input_tokens + 42,
    }
    yield {"type": "response.completed", "response": {**response, "usage": usage}}


class Handler(ScriptedHandler, BaseHTTPRequestHandler):
    """Implements the part of the Responses API that the client needs."""

    script: Script

    def do_GET(self) -> None:
        """Refuse the list of models, which this API does not have."""
        self.send_json(404, {})

    def do_POST(self) -> None:
        """Stream the next step."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if urlsplit(self.path).path != "/v1/responses":
            self.send_json(404, {})
            return
        self.send_events(server_sent_events(self.script.answer(body)))


if __name__ == "__main__":
    serve(Handler, Script)
