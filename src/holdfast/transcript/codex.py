"""Codex's rollout lines as events.

A line is `{"timestamp", "type", "payload"}`. Unknown types and keys are passed over; nothing here
may raise. Where the client tells a thing twice, as the model's item and as an event for its
screen, the item counts.
"""

from __future__ import annotations

from holdfast.transcript import codex_output, codex_tools, patch
from holdfast.transcript.codex_tools import record, word
from holdfast.transcript.speech import LONGEST, event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.transcript.model import Event

NAME = "codex"
# Every brief of ours carries it.
MARKER = "holdfast:"
# Texts that the client writes in the user's name.
NOT_A_PERSON = (
    "# AGENTS.md instructions", "<user_instructions>", "<environment_context>", "<INSTRUCTIONS>",
    "<recommended_plugins>", "<permissions instructions>", "<turn_aborted>", "<skill>",
    "<skills_instructions>", "<user_shell_command>", "<model_switch>", "<collaboration_mode>",
    "<apps_instructions>", "<plugins_instructions>", "<personality_spec>", "<app-context>",
    "<multi_agent_mode>", "<subagent_notification>", "<user_action>", "<hook_prompt",
    "<token_budget>", "<goal_context>", "<image ", "</image>", "<realtime_",
    "Another language model started to solve this problem",
)  # fmt: skip
# An editor writes what is open in it before what the person asked.
REQUEST = "## My request for Codex:"
# A call inside a script, which has no item of its own.
INNER = "exec-"
FINAL = "Message Type: FINAL_ANSWER"


def place(line: dict[str, Any], number: int) -> dict[str, str]:
    """Where the session stands. A fork goes on with lines of its parent, so the first line counts
    for whose session it is."""
    kind, payload = line.get("type"), record(line.get("payload"))
    if kind == "turn_context":
        return _words(payload, {"cwd": "cwd"})
    if kind != "session_meta":
        return {}
    told = _words(payload, {"cwd": "cwd", "cli_version": "client"})
    told |= _words(record(payload.get("git")), {"branch": "branch"})
    if number == 1:
        told |= _words(payload, {"id": "session"}) | {"host": NAME}
    return told


def _words(payload: dict[str, Any], names: dict[str, str]) -> dict[str, str]:
    return {
        ours: value
        for theirs, ours in names.items()
        if isinstance(value := payload.get(theirs), str) and value
    }


def events(line: dict[str, Any], number: int) -> list[Event]:
    """The events of one line, in order."""
    kind, payload = line.get("type"), record(line.get("payload"))
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    found: list[Event] = []
    if told := place(line, number):
        found.append(event("place", place=told))
    if reader is not None:
        found += reader(payload, line)
    at = line.get("timestamp")
    for one in found:
        one["line"] = number
        if isinstance(at, str):
            one["at"] = at
    return found


def _turn(payload: dict[str, Any], line: dict[str, Any]) -> list[Event]:
    """Which model answers; how much it holds is told elsewhere."""
    model = word(payload.get("model"))
    return [event("usage", id="", model=model, context=0, output=0)] if model else []


def _item(payload: dict[str, Any], line: dict[str, Any]) -> list[Event]:
    kind = payload.get("type")
    if kind == "message":
        return _message(payload, line)
    if kind in ("function_call", "custom_tool_call", "local_shell_call", "web_search_call"):
        # Clients that number their lines also tell what the calls inside a script did.
        return codex_tools.called(payload, inner_told="ordinal" in line)
    if kind in ("function_call_output", "custom_tool_call_output"):
        return [codex_output.answered(payload)]
    return _from_agent(payload) if kind == "agent_message" else []


def _message(payload: dict[str, Any], line: dict[str, Any]) -> list[Event]:
    role, texts = payload.get("role"), _texts(payload.get("content"))
    if role == "assistant":
        # The summary of a compaction is told by the line of that compaction.
        if record(line.get("metadata")).get("compaction_output"):
            return []
        said = "\n".join(texts)[:LONGEST]
        return [event("reply", text=said)] if said.strip() else []
    from_hook = "hooks.additional_context" in str(
        record(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    )
    found: list[Event] = []
    for text in texts:
        if from_hook or (role == "developer" and MARKER in text):
            found.append(event("injected", hook="", text=text))
        elif role == "user" and (said := spoken(text)):
            found.append(event("prompt", text=said))
    return found


def spoken(text: str) -> str:
    """What a person said in a text that stands in the user's name; nothing if it is none."""
    text = text[:LONGEST].strip()
    if text.startswith(NOT_A_PERSON):
        return ""
    if text.startswith("# ") and REQUEST in text:
        return text.partition(REQUEST)[2].strip()
    return text


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = [record(part).get("text") for part in (content if isinstance(content, list) else ())]
    return [part for part in parts if isinstance(part, str)]


def _from_agent(payload: dict[str, Any]) -> list[Event]:
    """What a sub-agent sent; only its last words are its result."""
    text = "\n".join(_texts(payload.get("content")))
    if not text.startswith(FINAL):
        return []
    said = text.partition("\nPayload:\n")[2].strip()
    return [event("agent_done", id=word(payload.get("author")), name="completed", text=said)]


def _told(payload: dict[str, Any], line: dict[str, Any]) -> list[Event]:
    kind = payload.get("type")
    if kind == "token_count":
        return _usage(record(payload.get("info")))
    if kind == "patch_apply_end":
        return _inner_patch(word(payload.get("call_id")), payload, payload.get("success") is True)
    item = record(payload.get("item"))
    if kind == "item_completed" and item.get("type") == "FileChange":
        return _inner_patch(word(item.get("id")), item, item.get("status") == "completed")
    if kind == "item_completed" and item.get("type") == "CommandExecution":
        return _inner_command(word(item.get("id")), item)
    return []


def _inner_command(ident: str, told: dict[str, Any]) -> list[Event]:
    """A command that a script ran."""
    if not ident.startswith(INNER):
        return []
    folder = word(told.get("cwd")).removeprefix("file://")
    text, ok = word(told.get("aggregated_output")), told.get("exit_code") == 0
    return [
        codex_tools.run(ident, {"command": told.get("command"), "workdir": folder}),
        event("tool_result", id=ident, ok=ok, text=text),
    ]


def _inner_patch(ident: str, told: dict[str, Any], ok: bool) -> list[Event]:
    """A patch that a script applied. Others are items, and told as such."""
    changes = patch.told(told.get("changes"))
    if not ident.startswith(INNER) or not changes:
        return []
    text = word(told.get("stdout"))
    return [
        event("tool_call", id=ident, name=codex_tools.PATCH, input=codex_tools.changed(changes)),
        event("tool_result", id=ident, ok=ok, text=text),
    ]


def _usage(info: dict[str, Any]) -> list[Event]:
    """The last request's size. Right after a compaction only the client's own estimate is there."""
    last, window = record(info.get("last_token_usage")), info.get("model_context_window")
    context = last.get("input_tokens") or last.get("total_tokens")
    output = last.get("output_tokens")
    if not isinstance(context, int) or context <= 0:
        return []
    used = event("usage", id="", model="", context=context)
    used["output"] = output if isinstance(output, int) else 0
    if isinstance(window, int) and window > 0:
        used["window"] = window
    return [used]


def _compacted(payload: dict[str, Any], line: dict[str, Any]) -> list[Event]:
    """A compaction and its summary; one that was made on a server is sealed, and empty here."""
    return [
        event("compaction", trigger="", id=word(payload.get("window_id"))),
        event("summary", text=word(payload.get("message"))),
    ]


def left_over(payload: dict[str, Any]) -> str:
    """What the model is left with in words: the summary, and what people said before."""
    texts = [word(payload.get("message")), *kept_words(payload)]
    return "\n\n".join(dict.fromkeys(text for text in texts if text.strip()))


def kept_words(payload: dict[str, Any]) -> list[str]:
    """What people said before, which a compaction leaves as it is."""
    said = (_texts(item.get("content")) for item in _left(payload) if item.get("role") == "user")
    return [text for texts in said for text in map(spoken, texts) if text.strip()]


def is_sealed(payload: dict[str, Any]) -> bool:
    """Whether the summary was made on a server, which alone can read it."""
    told = word(payload.get("message")).strip()
    return not told and any(item.get("encrypted_content") for item in _left(payload))


def _left(payload: dict[str, Any]) -> list[dict[str, Any]]:
    history = payload.get("replacement_history")
    return [*map(record, history)] if isinstance(history, list) else []


_READERS = {
    "turn_context": _turn,
    "response_item": _item,
    "event_msg": _told,
    "compacted": _compacted,
}
