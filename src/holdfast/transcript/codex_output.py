"""What Codex's tools answered: the text, whether it went well, and whether it still goes on."""

from __future__ import annotations

from holdfast import quick_json
from holdfast.transcript.codex_tools import record, word
from holdfast.transcript.speech import event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.transcript.model import Event

# A heading of a few lines stands before what a command printed.
OUTPUT = "\nOutput:\n"
LONGEST_HEAD = 400
EXITED, EXIT_CODE = "Process exited with code ", "Exit code: "
RUNNING, SCRIPT_RUNNING = "Process running with session ID ", "Script running with cell ID "
TOLD_RUNNING = "SESSION_ID="
# How answers begin that no command gave.
REFUSED = (
    "aborted", "apply_patch verification failed", "Script failed", "Script error",
    "execution error", "exec_command failed", "failed to ", "unsupported ", "unknown ",
    "rejected", "write_stdin failed", "command timed out", "Error: ", "collab spawn failed",
    "Full-history forked agents",
)  # fmt: skip


def answered(payload: dict[str, Any]) -> Event:
    """The result of a call."""
    ident, output = word(payload.get("call_id")), payload.get("output")
    text, ok = _text(output), True
    if isinstance(output, dict) and output.get("success") is False:
        ok = False
    if text.startswith("{"):
        text, ok, detail = _json(text, ok)
        return event("tool_result", id=ident, ok=ok, text=text, detail=detail)
    head, found, rest = text[:LONGEST_HEAD].partition(OUTPUT)
    if not found:
        return event("tool_result", id=ident, ok=ok and not text.startswith(REFUSED), text=text)
    if running := _running(head, rest):
        return event("tool_result", id=ident, ok=True, text=text, running=running)
    code = _number(head, EXITED) or _number(head, EXIT_CODE)
    ok = ok and code in ("", "0") and not head.startswith(REFUSED)
    return event("tool_result", id=ident, ok=ok, text=text[len(head) + len(OUTPUT) :])


def _running(head: str, rest: str) -> str:
    """The name of what still runs."""
    if process := _number(head, RUNNING) or _number(rest, TOLD_RUNNING):
        return f"process {process}"
    script = _number(head, SCRIPT_RUNNING)
    return f"script {script}" if script else ""


def _number(text: str, before: str) -> str:
    after = text.partition(before)[2].lstrip()
    digits = after[:12].removeprefix("-")
    length = next((n for n, sign in enumerate(digits) if not sign.isdigit()), len(digits))
    return after[: length + len(after[:12]) - len(digits)] if length else ""


def _text(output: Any) -> str:
    if isinstance(output, dict):
        output = output.get("content")
    if isinstance(output, list):
        parts = [record(part).get("text") for part in output]
        return "".join(part for part in parts if isinstance(part, str))
    return word(output)


def _json(text: str, ok: bool) -> tuple[str, bool, Any]:
    """Old clients wrap what a command printed; others answer with a record."""
    try:
        told = quick_json.loads(text)
    except (ValueError, RecursionError):
        return text, ok, None
    told = record(told)
    about = told.get("metadata")
    if isinstance(about, dict) and isinstance(told.get("output"), str):
        return told["output"], ok and about.get("exit_code") in (0, None), None
    agent = word(told.get("agent_id")) or word(told.get("task_name"))
    if agent:
        return text, ok, {"status": "async_launched", "agentId": agent}
    if isinstance(answers := told.get("answers"), dict):
        return text, ok, {"answers": {name: _answers(said) for name, said in answers.items()}}
    return text, ok, None


def _answers(said: Any) -> Any:
    return said.get("answers") if isinstance(said, dict) else said
