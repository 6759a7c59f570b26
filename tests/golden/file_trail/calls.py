"""Tool calls of a transcript, paired with their results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

# The text of a refused or interrupted call begins like this. The output of a command can begin with
# "Error" too, so that word counts only in the host's structured result.
FAILED_TEXT = (
    "InputValidationError",
    "<tool_use_error>",
    "[Request interrupted",
    "User rejected",
    "The user doesn't want to",
)
FAILED_STRUCTURED = ("Error", *FAILED_TEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call and its result; `result` is the structured part that the host adds."""

    tool: str
    tool_input: dict[str, Any]
    cwd: str
    ok: bool = False
    result: dict[str, Any] = field(default_factory=dict)
    text: str = ""


class CallTracker:
    """Pairs calls with results line by line; `pending` has the calls without a result."""

    def __init__(self) -> None:
        self.pending: dict[str, Call] = {}
        self._finished: set[str] = set()

    def finished_by(self, line: dict[str, Any]) -> Iterator[Call]:
        """Return the calls whose results are in this line; a batch is split into its calls."""
        blocks = _blocks(line)
        for block in blocks:
            if block.get("type") == "tool_use":
                self._start(block, _text(line.get("cwd")))
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            # The line has one structured result. With several results it is unclear whose it is.
            structured = line.get("toolUseResult") if len(results) == 1 else None
            call = self._finish(block, structured, line)
            if call:
                yield from _split_batch(call)

    def _start(self, block: dict[str, Any], cwd: str) -> None:
        name, tool_input, key = block.get("name"), block.get("input"), block.get("id")
        if isinstance(name, str) and isinstance(key, str) and key not in self._finished:
            self.pending[key] = Call(
                tool=name, tool_input=tool_input if isinstance(tool_input, dict) else {}, cwd=cwd
            )

    def _finish(self, block: dict[str, Any], structured: Any, line: dict[str, Any]) -> Call | None:
        key = block.get("tool_use_id")
        if not isinstance(key, str) or key in self._finished:
            return None
        self._finished.add(key)
        result = structured if isinstance(structured, dict) else {}
        started = self.pending.pop(key, None) or _call_from_result(result, _text(line.get("cwd")))
        if started is None:
            return None
        text = _result_text(block.get("content"))
        denied = bool(line.get("toolDenialKind"))
        ok = not denied and _succeeded(block.get("is_error"), structured, text)
        return Call(
            tool=started.tool,
            tool_input=started.tool_input,
            cwd=started.cwd,
            ok=ok,
            result=result,
            text=text,
        )


def _succeeded(is_error: Any, structured: Any, text: str) -> bool:
    if is_error or text.startswith(FAILED_TEXT):
        return False
    if isinstance(structured, str):
        return not structured.startswith(FAILED_STRUCTURED)
    return not (
        isinstance(structured, dict)
        and (structured.get("interrupted") or _has_notebook_error(structured))
    )


def _has_notebook_error(structured: dict[str, Any]) -> bool:
    """NotebookEdit reports errors only in its structured result."""
    return bool(structured.get("error")) and "cell_type" in structured


def _call_from_result(result: dict[str, Any], cwd: str) -> Call | None:
    """Reconstruct a call whose own line is lost or unreadable from its result."""
    file = result.get("file")
    if isinstance(file, dict) and isinstance(file.get("filePath"), str):
        return Call(tool="Read", tool_input={"file_path": file["filePath"]}, cwd=cwd)
    if not isinstance(result.get("filePath"), str):
        return None
    tool_input = {"file_path": result["filePath"]}
    if "oldString" in result:
        return Call(tool="Edit", tool_input=tool_input, cwd=cwd)
    if "edits" in result:
        return Call(tool="MultiEdit", tool_input=tool_input, cwd=cwd)
    if result.get("type") in ("create", "update"):
        return Call(tool="Write", tool_input=tool_input, cwd=cwd)
    return None


def _split_batch(call: Call) -> Iterator[Call]:
    """Return the calls inside the Batch tool of early clients, or the call itself."""
    if call.tool != "Batch":
        yield call
        return
    invocations = call.result.get("resolvedInvocations") or call.tool_input.get("invocations")
    answers = call.result.get("orderedToolResults")
    if not (call.ok and isinstance(invocations, list) and isinstance(answers, list)):
        return
    for invocation, answer in zip(invocations, answers, strict=False):
        if isinstance(invocation, dict):
            yield _batched_call(invocation, answer, call.cwd)


def _batched_call(invocation: dict[str, Any], answer: Any, cwd: str) -> Call:
    name = next(
        (invocation[key] for key in ("tool_name", "toolName", "name") if key in invocation), ""
    )
    tool_input = invocation.get("input")
    structured, is_error, text = _read_answer(answer)
    return Call(
        tool=_text(name),
        tool_input=tool_input if isinstance(tool_input, dict) else {},
        cwd=cwd,
        ok=_succeeded(is_error, structured, text),
        result=structured if isinstance(structured, dict) else {},
        text=text,
    )


def _read_answer(answer: Any) -> tuple[Any, Any, str]:
    """Return structured result, error flag and text of an answer in any of its three formats."""
    if not isinstance(answer, dict):
        return answer, False, _text(answer)
    block = next((block for block in _blocks(answer) if block.get("type") == "tool_result"), answer)
    structured = next(
        (answer[key] for key in ("toolUseResult", "data", "result") if key in answer), answer
    )
    is_error = block.get("is_error") or answer.get("isError") or answer.get("type") == "error"
    return structured, is_error, _result_text(block.get("content"))


def _blocks(line: dict[str, Any]) -> list[dict[str, Any]]:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict)]


def _result_text(content: Any) -> str:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return _text(content)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
