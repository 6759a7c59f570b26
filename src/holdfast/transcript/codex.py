"""Convert the lines of Codex's rollout files into events.

A line is `{"timestamp", "type", "payload"}`. Unknown types and keys are ignored; nothing here may
raise. Where the client logs the same thing twice, as the model's item and as an event for its
screen, the item counts.
"""

from __future__ import annotations

from holdfast.lenient_json import as_dict, as_text
from holdfast.transcript import apply_patch, codex_tools
from holdfast.transcript.user_text import (
    BRIEF_MARKER,
    MAX_TEXT_CHARS,
    make_event,
    strip_client_tags,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.transcript.types import Event

HOST_NAME = "codex"
# Prefixes of the texts that the client writes in the user's role.
CLIENT_TEXT_PREFIXES = (
    "# AGENTS.md instructions", "<user_instructions>", "<environment_context>", "<INSTRUCTIONS>",
    "<recommended_plugins>", "<permissions instructions>", "<turn_aborted>", "<skill>",
    "<skills_instructions>", "<user_shell_command>", "<model_switch>", "<collaboration_mode>",
    "<apps_instructions>", "<plugins_instructions>", "<personality_spec>", "<app-context>",
    "<multi_agent_mode>", "<subagent_notification>", "<user_action>", "<hook_prompt",
    "<token_budget>", "<goal_context>", "<image ", "</image>", "<realtime_",
    "Another language model started to solve this problem",
)  # fmt: skip
# Editors write which files are open before the user's request, which follows this heading.
REQUEST_HEADING = "## My request for Codex:"
# The prefix of the ids of calls inside a script, which have no item of their own.
SCRIPT_CALL_PREFIX = "exec-"
FINAL_ANSWER_PREFIX = "Message Type: FINAL_ANSWER"


def to_place(line: dict[str, Any], number: int) -> dict[str, str]:
    """Return the folder, branch, client version and session that a line states.

    The session's id is taken from the first line only: a forked session's log continues with
    lines of its parent.
    """
    kind, payload = line.get("type"), as_dict(line.get("payload"))
    if kind == "turn_context":
        return _pick_texts(payload, {"cwd": "cwd"})
    if kind != "session_meta":
        return {}
    place = _pick_texts(payload, {"cwd": "cwd", "cli_version": "client"})
    place |= _pick_texts(as_dict(payload.get("git")), {"branch": "branch"})
    if number == 1:
        place |= _pick_texts(payload, {"id": "session"}) | {"host": HOST_NAME}
    return place


def _pick_texts(payload: dict[str, Any], names: dict[str, str]) -> dict[str, str]:
    """Return the non-empty strings under these keys, with the keys renamed to ours."""
    return {
        ours: value
        for theirs, ours in names.items()
        if isinstance(value := payload.get(theirs), str) and value
    }


def to_events(line: dict[str, Any], number: int) -> list[Event]:
    """Return the events of one line, in order."""
    kind, payload = line.get("type"), as_dict(line.get("payload"))
    convert = _CONVERTERS.get(kind) if isinstance(kind, str) else None
    events: list[Event] = []
    if place := to_place(line, number):
        events.append(make_event("place", place=place))
    if convert is not None:
        events += convert(payload, line)
    at = line.get("timestamp")
    for event in events:
        event["line"] = number
        if isinstance(at, str):
            event["at"] = at
    return events


def _convert_turn_context(payload: dict[str, Any], line: dict[str, Any]) -> list[Event]:
    """The model of the turn; the size of its context is on other lines."""
    model = as_text(payload.get("model"))
    return [make_event("usage", id="", model=model, context=0, output=0)] if model else []


def _convert_item(payload: dict[str, Any], line: dict[str, Any]) -> list[Event]:
    kind = payload.get("type")
    if kind == "message":
        return _convert_message(payload, line)
    if kind in ("function_call", "custom_tool_call", "local_shell_call", "web_search_call"):
        # Clients that number their lines also log each command inside a script.
        return codex_tools.to_call_events(payload, logs_script_calls="ordinal" in line)
    if kind in ("function_call_output", "custom_tool_call_output"):
        return [codex_tools.to_result_event(payload)]
    return _convert_agent_message(payload) if kind == "agent_message" else []


def _convert_message(payload: dict[str, Any], line: dict[str, Any]) -> list[Event]:
    role, texts = payload.get("role"), _find_texts(payload.get("content"))
    if role == "assistant":
        # The summary of a compaction is taken from the `compacted` line instead.
        if as_dict(line.get("metadata")).get("compaction_output"):
            return []
        reply = "\n".join(texts)[:MAX_TEXT_CHARS]
        return [make_event("reply", text=reply)] if reply.strip() else []
    is_from_hook = "hooks.additional_context" in str(
        as_dict(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    )
    events: list[Event] = []
    for text in texts:
        if is_from_hook or (role == "developer" and BRIEF_MARKER in text):
            events.append(make_event("injected", hook="", text=text))
        elif role == "user" and (prompt := extract_prompt(text)):
            events.append(make_event("prompt", text=prompt))
    return events


def extract_prompt(text: str) -> str:
    """Return what the user wrote in a text in the user's role, or "" if the client wrote it."""
    text = text[:MAX_TEXT_CHARS].strip()
    if text.startswith(CLIENT_TEXT_PREFIXES):
        return ""
    if text.startswith("# ") and REQUEST_HEADING in text:
        text = text.partition(REQUEST_HEADING)[2]
    return strip_client_tags(text)


def _find_texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = [as_dict(part).get("text") for part in (content if isinstance(content, list) else ())]
    return [part for part in parts if isinstance(part, str)]


def _convert_agent_message(payload: dict[str, Any]) -> list[Event]:
    """A message from a sub-agent; only its final answer is its result."""
    text = "\n".join(_find_texts(payload.get("content")))
    if not text.startswith(FINAL_ANSWER_PREFIX):
        return []
    answer = text.partition("\nPayload:\n")[2].strip()
    agent = as_text(payload.get("author"))
    return [make_event("agent_done", id=agent, name="completed", text=answer)]


def _convert_event_message(payload: dict[str, Any], line: dict[str, Any]) -> list[Event]:
    kind = payload.get("type")
    if kind == "token_count":
        return _convert_token_count(as_dict(payload.get("info")))
    if kind == "patch_apply_end":
        ok = payload.get("success") is True
        return _convert_script_patch(as_text(payload.get("call_id")), payload, ok)
    item = as_dict(payload.get("item"))
    if kind == "item_completed" and item.get("type") == "FileChange":
        ok = item.get("status") == "completed"
        return _convert_script_patch(as_text(item.get("id")), item, ok)
    if kind == "item_completed" and item.get("type") == "CommandExecution":
        return _convert_script_command(as_text(item.get("id")), item)
    return []


def _convert_script_command(ident: str, report: dict[str, Any]) -> list[Event]:
    """A command that ran inside a script; other commands are items of their own."""
    if not ident.startswith(SCRIPT_CALL_PREFIX):
        return []
    folder = as_text(report.get("cwd")).removeprefix("file://")
    text, ok = as_text(report.get("aggregated_output")), report.get("exit_code") == 0
    return [
        codex_tools.to_command_event(ident, {"command": report.get("command"), "workdir": folder}),
        make_event("tool_result", id=ident, ok=ok, text=text),
    ]


def _convert_script_patch(ident: str, report: dict[str, Any], ok: bool) -> list[Event]:
    """A patch that was applied inside a script; other patches are items of their own."""
    changes = apply_patch.parse_reported_changes(report.get("changes"))
    if not ident.startswith(SCRIPT_CALL_PREFIX) or not changes:
        return []
    text, patch = as_text(report.get("stdout")), codex_tools.to_patch_input(changes)
    return [
        make_event("tool_call", id=ident, name=codex_tools.PATCH_TOOL, input=patch),
        make_event("tool_result", id=ident, ok=ok, text=text),
    ]


def _convert_token_count(info: dict[str, Any]) -> list[Event]:
    """The size of the last request; right after a compaction, the client's own estimate of it."""
    last, window = as_dict(info.get("last_token_usage")), info.get("model_context_window")
    context = last.get("input_tokens") or last.get("total_tokens")
    output = last.get("output_tokens")
    if not isinstance(context, int) or context <= 0:
        return []
    event = make_event("usage", id="", model="", context=context)
    event["output"] = output if isinstance(output, int) else 0
    if isinstance(window, int) and window > 0:
        event["window"] = window
    return [event]


def _convert_compacted(payload: dict[str, Any], line: dict[str, Any]) -> list[Event]:
    """A compaction and its summary, which is empty here if a server made it: see
    `has_encrypted_summary`.
    """
    return [
        make_event("compaction", trigger="", id=as_text(payload.get("window_id"))),
        make_event("summary", text=as_text(payload.get("message"))),
    ]


def render_remaining_context(payload: dict[str, Any]) -> str:
    """Return the readable text that a compaction leaves to the model: its summary and the kept
    prompts.
    """
    texts = [as_text(payload.get("message")), *find_kept_prompts(payload)]
    return "\n\n".join(dict.fromkeys(text for text in texts if text.strip()))


def find_kept_prompts(payload: dict[str, Any]) -> list[str]:
    """Return the user's earlier prompts, which a Codex compaction keeps verbatim."""
    kept = (
        _find_texts(item.get("content"))
        for item in _replacement_items(payload)
        if item.get("role") == "user"
    )
    return [prompt for texts in kept for prompt in map(extract_prompt, texts) if prompt.strip()]


def has_encrypted_summary(payload: dict[str, Any]) -> bool:
    """Whether a server made the summary, which only that server can read."""
    summary = as_text(payload.get("message")).strip()
    return not summary and any(
        item.get("encrypted_content") for item in _replacement_items(payload)
    )


def _replacement_items(payload: dict[str, Any]) -> list[dict[str, Any]]:
    history = payload.get("replacement_history")
    return [*map(as_dict, history)] if isinstance(history, list) else []


_CONVERTERS = {
    "turn_context": _convert_turn_context,
    "response_item": _convert_item,
    "event_msg": _convert_event_message,
    "compacted": _convert_compacted,
}
