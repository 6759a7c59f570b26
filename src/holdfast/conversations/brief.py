"""Turns messages of an API into events for the fold, and into a brief.

The rules that summarize a conversation read the same events, so a checkpoint and a brief of the
same messages agree.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from holdfast.brief.render import MAX_CHARS_PER_TOKEN, Brief
from holdfast.brief.render import build_brief as render_brief
from holdfast.conversations.message import Message, result_text, to_json_value, to_message
from holdfast.errors import InvalidInput
from holdfast.state.fold import fold, new_state
from holdfast.transcript.other_hosts import TOOL_NAMES, to_call_event

if TYPE_CHECKING:
    from holdfast.state.types import State
    from holdfast.transcript.types import Event

DEFAULT_BRIEF_TOKENS = 2000
MIN_BRIEF_TOKENS = 50
# Their messages describe the agent, and not the work.
SYSTEM_ROLES = ("system", "developer")
# Anthropic's text editor tool names its operation in the argument `command`.
TEXT_EDITOR_TOOLS = ("str_replace_based_edit_tool", "str_replace_editor")
TEXT_EDITOR_OPERATIONS = {"view": "view", "create": "create", "insert": "edit"}
# Parts of the names of tools that run a shell command.
SHELL_TOOL_WORDS = ("bash", "shell", "terminal", "command", "exec")


def build_brief(
    messages: Iterable[Any],
    *,
    budget: int = DEFAULT_BRIEF_TOKENS,
    summary: str | None = None,
    model: str = "",
) -> Brief:
    """Build a brief of a conversation: what was asked, decided, found out, changed, and what fails.

    `messages` are those of the Anthropic or the OpenAI API, as dictionaries or as objects of the
    SDKs; system messages are skipped. The text has at most `budget` tokens, counted for `model`.
    What `summary`, the text that replaces the older messages, already says is left out. `(L12)` in
    the text is message 12. The result has the `text`, its `tokens`, and the items that are `shown`
    and `left_out`. Raises `InvalidInput` for anything that is no message.
    """
    if budget < MIN_BRIEF_TOKENS:
        raise InvalidInput(
            f"A brief needs a budget of at least {MIN_BRIEF_TOKENS} tokens, not {budget}",
            hint=f"the default is {DEFAULT_BRIEF_TOKENS}",
        )
    state = fold_messages(_number_messages(messages))
    state["usage"]["model"] = model
    return render_brief(
        state,
        tokens=budget,
        characters=int(MAX_CHARS_PER_TOKEN * budget),
        summary=summary,
        recall="",
        compacted=False,
    )


def fold_messages(messages: Iterable[Message]) -> State:
    """Return the state of a session that consists of these messages."""
    return fold(new_state(), to_events(messages))


def _number_messages(messages: Iterable[Any]) -> Iterator[Message]:
    """Yield the messages with their position in the list as their number."""
    if isinstance(messages, str | bytes | dict):
        raise InvalidInput(
            f"Messages are a list, not {type(messages).__name__}",
            hint='for example [{"role": "user", "content": "Fix the parser."}]',
        )
    for number, given in enumerate(messages, 1):
        if isinstance(given, Message):
            message = given
        else:
            value = to_json_value(given)
            if isinstance(value, dict) and value.get("role") in SYSTEM_ROLES:
                continue
            message = to_message(value)
        yield Message(role=message.role, blocks=message.blocks, ordinal=number)


def to_events(messages: Iterable[Message]) -> Iterator[Event]:
    """Yield the messages as transcript events; the number of a message is its line."""
    for position, message in enumerate(messages, 1):
        yield from message_to_events(message, message.ordinal or position)


def message_to_events(message: Message, line: int) -> Iterator[Event]:
    """Yield the events of one message: its tool results, its text, its tool calls."""
    for block in message.results:
        ident, ok = str(block.get("tool_use_id", "")), not block.get("is_error")
        text = result_text(block)
        yield {"kind": "tool_result", "id": ident, "ok": ok, "text": text, "line": line}
    if text := message.text.strip():
        if message.role == "assistant":
            yield {"kind": "reply", "text": text, "line": line}
        elif message.role == "user":
            yield {"kind": "prompt", "text": text, "line": line, "at": ""}
    for block in message.calls:
        arguments = block.get("input")
        name, converted = _rename_tool(
            str(block.get("name", "")), arguments if isinstance(arguments, dict) else {}
        )
        event = to_call_event(str(block.get("id", "")), name, converted)
        event["line"] = line
        yield event


def _rename_tool(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a name that the fold knows for a tool of any agent, and its arguments.

    Other tools keep their name.
    """
    if name in TEXT_EDITOR_TOOLS:
        operation = str(arguments.get("command", ""))
        return TEXT_EDITOR_OPERATIONS.get(operation, operation or name), arguments
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, list):
        command = shlex.join(str(word) for word in command)
    is_known = name.lower() in TOOL_NAMES and TOOL_NAMES[name.lower()] != "Bash"
    is_shell = not is_known and any(word in name.lower() for word in SHELL_TOOL_WORDS)
    if is_shell and isinstance(command, str):
        return "Bash", {**arguments, "command": command}
    return name, arguments
