"""Codex's tools in our words: a command is `Bash`, a patch names its files, a plan is a plan."""

from __future__ import annotations

from holdfast import quick_json
from holdfast.transcript import patch
from holdfast.transcript.speech import event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.transcript.model import Event

PATCH = "apply_patch"
PLAN = "update_plan"
RUNS = ("exec_command", "shell", "shell_command", "local_shell", "container.exec")
SHELLS = ("-lc", "-c", "-ic")
# Signs that a word of a command needs no quotes.
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,")


def called(payload: dict[str, Any], *, inner_told: bool = False) -> list[Event]:
    """The events of one call, whichever of the ways to write one it is.

    `inner_told` says that the client tells the commands inside a script one by one.
    """
    ident, name = word(payload.get("call_id")), word(payload.get("name"))
    if payload.get("type") == "local_shell_call":
        return [run(ident or word(payload.get("id")), record(payload.get("action")))]
    if payload.get("type") == "web_search_call":
        ident, given = word(payload.get("id")), record(payload.get("action"))
        asked = event("tool_call", id=ident, name="WebSearch", input=given)
        return [asked, event("tool_result", id=ident, ok=True, text="")]
    written = payload.get("input") if "input" in payload else payload.get("arguments")
    if name == "exec" and isinstance(payload.get("input"), str):
        return scripted(ident, word(written), inner_told)
    if name == PATCH:
        return [patched(ident, _patch_in(written))]
    return _named(ident, name, _arguments(written))


def _named(ident: str, name: str, given: dict[str, Any]) -> list[Event]:
    if name in RUNS:
        return [run(ident, given)]
    if name == PLAN:
        return [event("tool_call", id=ident, name="TodoWrite", input={"todos": planned(given)})]
    if name == "write_stdin":
        follows = {"continues": f"process {given.get('session_id')}"}
        return [event("tool_call", id=ident, name="Bash", input=follows)]
    if name == "wait" and "cell_id" in given:
        follows = {"continues": f"script {given['cell_id']}"}
        return [event("tool_call", id=ident, name="Bash", input=follows)]
    if name == "spawn_agent":
        task = given.get("task_name") or given.get("message")
        asked = {"description": task, "prompt": given.get("message")}
        asked["subagent_type"] = given.get("agent_type")
        return [event("tool_call", id=ident, name="Agent", input=asked)]
    if name == "request_user_input":
        return [event("tool_call", id=ident, name="AskUserQuestion", input=given)]
    if name == "view_image":
        seen = {"file_path": given.get("path")}
        return [event("tool_call", id=ident, name="Read", input=seen)]
    return [event("tool_call", id=ident, name=name, input=given)]


def scripted(ident: str, script: str, inner_told: bool) -> list[Event]:
    """A script that calls tools: its commands are one command, since they have one outcome.

    Patches inside a script, and by newer clients its commands too, are told by the client itself:
    see `codex.py`.
    """
    from holdfast.transcript.script import calls

    commands: list[str] = []
    plans: list[Event] = []
    folder = ""
    for name, given in calls(script):
        if not isinstance(given, dict):
            continue
        if name in RUNS:
            commands.append(_command(given))
            folder = folder or word(given.get("workdir"))
        elif name == PLAN:
            plans.append(event("plan", detail=planned(given)))
    if not commands or inner_told:
        return [event("tool_call", id=ident, name="exec", input={"script": script}), *plans]
    run = event("tool_call", id=ident, name="Bash", input={"command": "\n".join(commands)})
    if folder:
        run["cwd"] = folder
    return [run, *plans]


def patched(ident: str, text: str, folder: str = "") -> Event:
    given = {**changed(patch.changes(text)), "patch": text}
    made = event("tool_call", id=ident, name=PATCH, input=given)
    if folder:
        made["cwd"] = folder
    return made


def changed(changes: list[dict[str, str]]) -> dict[str, Any]:
    """A patch as a tool's input; the first of its files is the one that it is looked up by."""
    return {"path": changes[0]["path"] if changes else "", "changes": changes}


def planned(given: dict[str, Any]) -> list[dict[str, str]]:
    """The whole plan, told each time."""
    steps = given.get("plan")
    return [
        {"content": word(step.get("step")), "status": word(step.get("status"))}
        for step in (steps if isinstance(steps, list) else ())
        if isinstance(step, dict)
    ]


def run(ident: str, given: dict[str, Any]) -> Event:
    """A command, or a patch that was applied by way of one."""
    command = _command(given)
    folder = word(given.get("workdir")) or word(given.get("working_directory"))
    head, found, _ = command.partition(patch.BEGIN)
    if found and PATCH in head:
        return patched(ident, command, folder)
    made = event("tool_call", id=ident, name="Bash", input={"command": command})
    if folder:
        made["cwd"] = folder
    return made


def _command(given: dict[str, Any]) -> str:
    """A command line, also where a list of words is given."""
    command = given.get("cmd") or given.get("command")
    if not isinstance(command, list):
        return word(command)
    words = [part for part in command if isinstance(part, str)]
    if len(words) == 3 and words[1] in SHELLS:
        return words[2]
    return " ".join(part if part and PLAIN.issuperset(part) else _quoted(part) for part in words)


def _quoted(part: str) -> str:
    return "'" + part.replace("'", "'\"'\"'") + "'"


def _patch_in(written: Any) -> str:
    """A patch stands in the call as it is, or as the only argument."""
    text = word(written)
    return text if patch.BEGIN in text[:200] else word(_arguments(written).get("input")) or text


def _arguments(written: Any) -> dict[str, Any]:
    if isinstance(written, str):
        try:
            written = quick_json.loads(written)
        except (ValueError, RecursionError):
            return {"input": written}
    return record(written)


def record(value: Any) -> dict[str, Any]:
    """An object; what is none holds nothing."""
    return value if isinstance(value, dict) else {}


def word(value: Any) -> str:
    """A text; what is none says nothing."""
    return value if isinstance(value, str) else ""
