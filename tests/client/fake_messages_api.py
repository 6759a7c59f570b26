"""A scripted Messages API on loopback: it stands in for the model and records every request.

The script is a JSON object:

    {"steps":     [{"text": "...", "tool": "Bash", "input": {...}, "usage": 1200}, ...],
     "subagent":  [the same kind of steps, for the requests of sub-agents in order],
     "summaries": ["the summary of the first compaction", ...]}

Each request of the main conversation uses one step; ``{"error": "prompt is too long"}`` is sent as
a 400. Compactions, titles and other side requests use no step, and the compaction of a sub-agent
uses no summary.
"""

import json
import os
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

from tests.client.scripted_api import DEFAULT_USAGE, SCRIPT_EXHAUSTED, Json, ScriptedHandler, serve

COMPACTION_PROMPT = "Your task is to create a detailed summary"
SUBAGENT_HEADER = "x-claude-code-agent-id"
SUBAGENT_SUMMARY = "The sub-agent looked around."
# The client flushes its transcript every 100 ms, and a real model takes seconds. Without a delay
# the client's hooks would run before the flush.
SUMMARY_DELAY_SECONDS = 0.2


def text_blocks(message: Json) -> list[str]:
    """The text blocks of one message, whether its content is a string or a list."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    return [block.get("text", "") for block in content or [] if block.get("type") == "text"]


def format_summary(summary: str) -> str:
    """Format a summary as the model does."""
    return (
        f"<analysis>\nThe session, step by step.\n</analysis>\n\n<summary>\n{summary}\n</summary>"
    )


class Script:
    """Records every request and chooses the step that answers it."""

    def __init__(self, script: Json, record: Path) -> None:
        self.main = iter(script.get("steps", []))
        self.subagent = iter(script.get("subagent", []))
        self.summaries = list(script.get("summaries", ["Nothing worth keeping."]))
        self.record = record
        self.lock = threading.Lock()

    def answer(self, body: Json, agent_id: str | None) -> Json:
        """Record one request and return the step that answers it."""
        kind = classify_request(body, agent_id)
        if kind == "compaction":
            time.sleep(SUMMARY_DELAY_SECONDS)
        with self.lock:
            request = {"kind": kind, "agent_id": agent_id, "body": body}
            with self.record.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(request) + "\n")
            return self.next_step(kind, agent_id)

    def next_step(self, kind: str, agent_id: str | None) -> Json:
        """Take the next step of a conversation; the last summary serves all later compactions."""
        if kind == "compaction" and agent_id:
            return {"text": format_summary(SUBAGENT_SUMMARY)}
        if kind == "compaction":
            summary = self.summaries.pop(0) if len(self.summaries) > 1 else self.summaries[0]
            return {"text": format_summary(summary)}
        if kind == "side":
            return {"text": "A title"}
        return next(self.subagent if kind == "subagent" else self.main, SCRIPT_EXHAUSTED)


def classify_request(body: Json, agent_id: str | None) -> str:
    """Return main, compaction, side or subagent."""
    user_messages = [m for m in body.get("messages", []) if m.get("role") == "user"]
    if user_messages and COMPACTION_PROMPT in "\n".join(text_blocks(user_messages[-1])):
        return "compaction"
    if not body.get("tools"):
        return "side"
    return "subagent" if agent_id else "main"


def build_message(step: Json, model: str, message_id: str) -> Json:
    """Build the API's message object for one step."""
    content: list[Json] = []
    if "text" in step:
        content.append({"type": "text", "text": step["text"]})
    if "tool" in step:
        tool_use_id = f"toolu_{message_id}"
        call = {"type": "tool_use", "id": tool_use_id, "name": step["tool"], "input": step["input"]}
        content.append(call)
    return {
        "id": f"msg_{message_id}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if "tool" in step else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": step.get("usage", DEFAULT_USAGE), "output_tokens": 10},
    }


def server_sent_events(answer: Json) -> Iterator[Json]:
    """Split a message into the events of a streamed response."""
    opening = answer | {"content": [], "stop_reason": None}
    yield {"type": "message_start", "message": opening}
    for index, block in enumerate(answer["content"]):
        if block["type"] == "text":
            empty, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            arguments = json.dumps(block["input"])
            empty = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": arguments}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": answer["usage"]}
    yield {"type": "message_stop"}


class Handler(ScriptedHandler, BaseHTTPRequestHandler):
    """Implements the part of the Messages API that the client needs."""

    script: Script

    def do_HEAD(self) -> None:
        """Answer the client's probe."""
        self.send_body(200, "text/plain", b"")

    def do_POST(self) -> None:
        """Answer a request for a message or a token count."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = urlsplit(self.path).path
        if path == "/v1/messages/count_tokens":
            self.send_json(200, {"input_tokens": DEFAULT_USAGE})
        elif path == "/v1/messages":
            self.answer_message(body)
        else:
            self.send_json(404, {"type": "error", "error": {"type": "not_found_error"}})

    def answer_message(self, body: Json) -> None:
        """Send the next step, as a stream if the client asked for one."""
        step = self.script.answer(body, self.headers.get(SUBAGENT_HEADER))
        if "error" in step:
            error = {"type": "invalid_request_error", "message": step["error"]}
            self.send_json(400, {"type": "error", "error": error})
            return
        answer = build_message(step, body.get("model", "unknown"), os.urandom(8).hex())
        if not body.get("stream"):
            self.send_json(200, answer)
            return
        self.send_events(server_sent_events(answer))


if __name__ == "__main__":
    serve(Handler, Script)
