"""Convert Codex's tool calls and their results into events with Claude Code's tool names.

A shell command becomes a `Bash` call, `update_plan` a `TodoWrite`; a patch lists its files.
"""

from __future__ import annotations

from holdfast import fast_json
from holdfast.lenient_json import as_dict, as_text
from holdfast.transcript import apply_patch
from holdfast.transcript.user_text import make_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.transcript.types import Event

PATCH_TOOL = "apply_patch"
PLAN_TOOL = "update_plan"
COMMAND_TOOLS = ("exec_command", "shell", "shell_command", "local_shell", "container.exec")
SHELL_OPTIONS = ("-lc", "-c", "-ic")
# A word of a command that consists of these needs no quotes.
UNQUOTED_CHARS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,"
)
# A header of a few lines precedes what a command printed.
OUTPUT_MARK = "\nOutput:\n"
MAX_HEADER_CHARS = 400
EXIT_CODE_LABELS = ("Process exited with code ", "Exit code: ")
RUNNING_PROCESS_LABEL, RUNNING_SCRIPT_LABEL = (
    "Process running with session ID ", "Script running with cell ID ",
)  # fmt: skip
# A script prints this before the id of a process that it started.
PRINTED_PROCESS_LABEL = "SESSION_ID="
# Prefixes of the results of calls that failed or that the client did not run.
ERROR_PREFIXES = (
    "aborted", "apply_patch verification failed", "Script failed", "Script error",
    "execution error", "exec_command failed", "failed to ", "unsupported ", "unknown ",
    "rejected", "write_stdin failed", "command timed out", "Error: ", "collab spawn failed",
    "Full-history forked agents",
)  # fmt: skip


def to_call_events(payload: dict[str, Any], *, logs_script_calls: bool = False) -> list[Event]:
    """Return the events of one call, in whichever of its forms the client wrote it.

    `logs_script_calls` says that the client logs the commands inside a script one by one.
    """
    ident, name = as_text(payload.get("call_id")), as_text(payload.get("name"))
    if payload.get("type") == "local_shell_call":
        action = as_dict(payload.get("action"))
        return [to_command_event(ident or as_text(payload.get("id")), action)]
    if payload.get("type") == "web_search_call":
        ident, action = as_text(payload.get("id")), as_dict(payload.get("action"))
        call = make_event("tool_call", id=ident, name="WebSearch", input=action)
        return [call, make_event("tool_result", id=ident, ok=True, text="")]
    arguments = payload.get("input") if "input" in payload else payload.get("arguments")
    if name == "exec" and isinstance(payload.get("input"), str):
        return _to_script_events(ident, as_text(arguments), logs_script_calls)
    if name == PATCH_TOOL:
        return [_to_patch_event(ident, _find_patch(arguments))]
    return _to_named_events(ident, name, _parse_arguments(arguments))


def _to_named_events(ident: str, name: str, arguments: dict[str, Any]) -> list[Event]:
    if name in COMMAND_TOOLS:
        return [to_command_event(ident, arguments)]
    if name == PLAN_TOOL:
        todos = {"todos": _to_todos(arguments)}
        return [make_event("tool_call", id=ident, name="TodoWrite", input=todos)]
    if name == "write_stdin":
        follow_up = {"continues": f"process {arguments.get('session_id')}"}
        return [make_event("tool_call", id=ident, name="Bash", input=follow_up)]
    if name == "wait" and "cell_id" in arguments:
        follow_up = {"continues": f"script {arguments['cell_id']}"}
        return [make_event("tool_call", id=ident, name="Bash", input=follow_up)]
    if name == "spawn_agent":
        task = arguments.get("task_name") or arguments.get("message")
        agent = {"description": task, "prompt": arguments.get("message")}
        agent["subagent_type"] = arguments.get("agent_type")
        return [make_event("tool_call", id=ident, name="Agent", input=agent)]
    if name == "request_user_input":
        return [make_event("tool_call", id=ident, name="AskUserQuestion", input=arguments)]
    if name == "view_image":
        image = {"file_path": arguments.get("path")}
        return [make_event("tool_call", id=ident, name="Read", input=image)]
    return [make_event("tool_call", id=ident, name=name, input=arguments)]


def _to_script_events(ident: str, script: str, logs_script_calls: bool) -> list[Event]:
    """Return the events of a script that calls tools.

    Its commands become one `Bash` call, since they have one outcome. Patches inside a script, and
    with newer clients its commands too, are logged by the client itself: see `codex.py`.
    """
    from holdfast.transcript.embedded_calls import find_calls

    commands: list[str] = []
    plans: list[Event] = []
    folder = ""
    for name, arguments in find_calls(script):
        if not isinstance(arguments, dict):
            continue
        if name in COMMAND_TOOLS:
            commands.append(_to_command_line(arguments))
            folder = folder or as_text(arguments.get("workdir"))
        elif name == PLAN_TOOL:
            plans.append(make_event("plan", detail=_to_todos(arguments)))
    if not commands or logs_script_calls:
        return [make_event("tool_call", id=ident, name="exec", input={"script": script}), *plans]
    call = make_event("tool_call", id=ident, name="Bash", input={"command": "\n".join(commands)})
    if folder:
        call["cwd"] = folder
    return [call, *plans]


def _to_patch_event(ident: str, patch: str, folder: str = "") -> Event:
    arguments = {**to_patch_input(apply_patch.parse_patch(patch)), "patch": patch}
    call = make_event("tool_call", id=ident, name=PATCH_TOOL, input=arguments)
    if folder:
        call["cwd"] = folder
    return call


def to_patch_input(changes: list[dict[str, str]]) -> dict[str, Any]:
    """Return a patch as a tool's input; `path` is the first file, by which it is looked up."""
    return {"path": changes[0]["path"] if changes else "", "changes": changes}


def _to_todos(arguments: dict[str, Any]) -> list[dict[str, str]]:
    """Return the plan as todos; each call holds the whole plan."""
    steps = arguments.get("plan")
    return [
        {"content": as_text(step.get("step")), "status": as_text(step.get("status"))}
        for step in (steps if isinstance(steps, list) else ())
        if isinstance(step, dict)
    ]


def to_command_event(ident: str, arguments: dict[str, Any]) -> Event:
    """Return the call of a shell command, or of the patch that the command applies."""
    command = _to_command_line(arguments)
    folder = as_text(arguments.get("workdir")) or as_text(arguments.get("working_directory"))
    head, begin, _ = command.partition(apply_patch.BEGIN_PATCH)
    if begin and PATCH_TOOL in head:
        return _to_patch_event(ident, command, folder)
    call = make_event("tool_call", id=ident, name="Bash", input={"command": command})
    if folder:
        call["cwd"] = folder
    return call


def _to_command_line(arguments: dict[str, Any]) -> str:
    """Return the command as one line of shell, also if it is given as a list of words."""
    command = arguments.get("cmd") or arguments.get("command")
    if not isinstance(command, list):
        return as_text(command)
    words = [word for word in command if isinstance(word, str)]
    if len(words) == 3 and words[1] in SHELL_OPTIONS:
        return words[2]
    return " ".join(
        word if word and UNQUOTED_CHARS.issuperset(word) else _quote(word) for word in words
    )


def _quote(word: str) -> str:
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _find_patch(arguments: Any) -> str:
    """Return the patch: the arguments are the patch itself, or an object that holds it."""
    text = as_text(arguments)
    if apply_patch.BEGIN_PATCH in text[:200]:
        return text
    return as_text(_parse_arguments(arguments).get("input")) or text


def _parse_arguments(arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = fast_json.loads(arguments)
        except (ValueError, RecursionError):
            return {"input": arguments}
    return as_dict(arguments)


def to_result_event(payload: dict[str, Any]) -> Event:
    """Return the result of a call: its text, whether it succeeded, and what still runs."""
    ident, output = as_text(payload.get("call_id")), payload.get("output")
    text, ok = _find_output_text(output), True
    if isinstance(output, dict) and output.get("success") is False:
        ok = False
    if text.startswith("{"):
        text, ok, detail = _parse_json_result(text, ok)
        return make_event("tool_result", id=ident, ok=ok, text=text, detail=detail)
    header, mark, printed = text[:MAX_HEADER_CHARS].partition(OUTPUT_MARK)
    if not mark:
        ok = ok and not text.startswith(ERROR_PREFIXES)
        return make_event("tool_result", id=ident, ok=ok, text=text)
    if running := _find_running(header, printed):
        return make_event("tool_result", id=ident, ok=True, text=text, running=running)
    code = next(filter(None, (_number_after(header, label) for label in EXIT_CODE_LABELS)), "")
    ok = ok and code in ("", "0") and not header.startswith(ERROR_PREFIXES)
    return make_event("tool_result", id=ident, ok=ok, text=text[len(header) + len(OUTPUT_MARK) :])


def _find_running(header: str, printed: str) -> str:
    """Return the id of the process or script that still runs, or ""."""
    process = _number_after(header, RUNNING_PROCESS_LABEL)
    if process := process or _number_after(printed, PRINTED_PROCESS_LABEL):
        return f"process {process}"
    script = _number_after(header, RUNNING_SCRIPT_LABEL)
    return f"script {script}" if script else ""


def _number_after(text: str, label: str) -> str:
    """Return the digits, with their sign, after the label; "" if there are none."""
    after = text.partition(label)[2].lstrip()
    digits = after[:12].removeprefix("-")
    length = next((n for n, char in enumerate(digits) if not char.isdigit()), len(digits))
    return after[: length + len(after[:12]) - len(digits)] if length else ""


def _find_output_text(output: Any) -> str:
    if isinstance(output, dict):
        output = output.get("content")
    if isinstance(output, list):
        parts = [as_dict(part).get("text") for part in output]
        return "".join(part for part in parts if isinstance(part, str))
    return as_text(output)


def _parse_json_result(text: str, ok: bool) -> tuple[str, bool, Any]:
    """Return text, success and detail of a JSON result.

    Old clients wrap what a command printed in JSON; some tools answer with an object.
    """
    try:
        result = fast_json.loads(text)
    except (ValueError, RecursionError):
        return text, ok, None
    result = as_dict(result)
    metadata = result.get("metadata")
    if isinstance(metadata, dict) and isinstance(result.get("output"), str):
        return result["output"], ok and metadata.get("exit_code") in (0, None), None
    agent = as_text(result.get("agent_id")) or as_text(result.get("task_name"))
    if agent:
        return text, ok, {"status": "async_launched", "agentId": agent}
    if isinstance(answers := result.get("answers"), dict):
        answers = {
            question: answer.get("answers") if isinstance(answer, dict) else answer
            for question, answer in answers.items()
        }
        return text, ok, {"answers": answers}
    return text, ok, None
