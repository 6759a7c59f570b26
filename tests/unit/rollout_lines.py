"""Rollout lines as Codex writes them."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.transcript_lines import Line

ROOT = "/srv/app"
AT = "2026-01-05T10:00:00.000Z"
SESSION = "01a1e0c7-8c55-7dc2-8972-d138a14726ec"
MODEL = "gpt-5.1-codex"
WINDOW = 258_400


def line(kind: str, payload: Any, **fields: Any) -> Line:
    return {"timestamp": AT, "type": kind, "payload": payload, **fields}


def meta(**fields: Any) -> Line:
    payload = {"id": SESSION, "cwd": ROOT, "cli_version": "0.166.0", "originator": "codex_exec"}
    return line("session_meta", {**payload, "git": {"branch": "main"}, **fields})


def turn(**fields: Any) -> Line:
    return line("turn_context", {"turn_id": "t1", "cwd": ROOT, "model": MODEL, **fields})


def item(kind: str, **payload: Any) -> Line:
    return line("response_item", {"type": kind, **payload})


def message(role: str, *texts: str, **fields: Any) -> Line:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return line("response_item", {"type": "message", "role": role, "content": content}, **fields)


def prompt(text: str) -> Line:
    return message("user", text)


def reply(text: str) -> Line:
    return message("assistant", text)


def call(name: str, arguments: Any, call_id: str = "call_1") -> Line:
    return item("function_call", name=name, arguments=json.dumps(arguments), call_id=call_id)


def custom(name: str, text: str, call_id: str = "call_1") -> Line:
    return item("custom_tool_call", name=name, input=text, call_id=call_id, status="completed")


def output(text: Any, call_id: str = "call_1") -> Line:
    return item("function_call_output", call_id=call_id, output=text)


def command_output(code: int, text: str) -> str:
    """The output of a command, with the client's header."""
    head = f"Chunk ID: 3aa4ee\nWall time: 0.1 seconds\nProcess exited with code {code}"
    return f"{head}\nOriginal token count: 1\nOutput:\n{text}"


def exec_command(
    cmd: str, text: str = "", code: int = 0, call_id: str = "call_1", **arguments: Any
) -> list[Line]:
    """A call of a shell command and its output."""
    output_line = output(command_output(code, text), call_id)
    return [call("exec_command", {"cmd": cmd, **arguments}, call_id), output_line]


def patch(*parts: str) -> str:
    return "\n".join(("*** Begin Patch", *parts, "*** End Patch", ""))


def apply_patch(*parts: str, ok: bool = True, call_id: str = "call_1") -> list[Line]:
    """A call of `apply_patch` and its output."""
    success = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\n"
    failure = "apply_patch verification failed: Failed to find expected lines"
    return [
        custom("apply_patch", patch(*parts), call_id),
        output(success if ok else failure, call_id),
    ]


def plan(**steps: str) -> Line:
    items = [{"step": step.replace("_", " "), "status": status} for step, status in steps.items()]
    return call("update_plan", {"plan": items})


def tokens(context: int, window: int = WINDOW) -> Line:
    last = {"input_tokens": context, "cached_input_tokens": 0, "output_tokens": 7}
    info = {"last_token_usage": last, "model_context_window": window}
    return line("event_msg", {"type": "token_count", "info": info})


def compacted(text: str = "", *kept: Line, window: str = "w1") -> Line:
    history = [kept_line["payload"] for kept_line in kept]
    payload = {"message": text, "replacement_history": history, "window_id": window}
    return line("compacted", payload)


def from_hook(text: str) -> Line:
    """A message that Codex records for the context that a hook added."""
    hook_line = message("developer", text)
    kinds = {"content_item_kinds": ["hooks.additional_context"]}
    hook_line["payload"]["internal_chat_message_metadata_passthrough"] = kinds
    return hook_line
