"""Tool calls with what came of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

# How the text of a call that was refused or cut short begins. A command's own output may well
# begin with "Error", so that word counts in the host's account only.
FAILED_TEXT = (
    "InputValidationError",
    "<tool_use_error>",
    "[Request interrupted",
    "User rejected",
    "The user doesn't want to",
)
FAILED_ACCOUNT = ("Error", *FAILED_TEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call and its result; `result` is the host's structured account of it."""

    tool: str
    given: dict[str, Any]
    cwd: str
    ok: bool = False
    result: dict[str, Any] = field(default_factory=dict)
    text: str = ""


class Calls:
    """Pairs calls with results as lines come in, and remembers those still without one."""

    def __init__(self) -> None:
        self.open: dict[str, Call] = {}
        self._answered: set[str] = set()

    def finished_by(self, line: dict[str, Any]) -> Iterator[Call]:
        """The calls whose results this line brings, a batch taken apart."""
        blocks = _blocks(line)
        for block in blocks:
            if block.get("type") == "tool_use":
                self._begin(block, _text(line.get("cwd")))
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            # The account belongs to the line; with several results nobody knows to which.
            account = line.get("toolUseResult") if len(results) == 1 else None
            call = self._end(block, account, line)
            if call:
                yield from _taken_apart(call)

    def _begin(self, block: dict[str, Any], cwd: str) -> None:
        name, given, key = block.get("name"), block.get("input"), block.get("id")
        if isinstance(name, str) and isinstance(key, str) and key not in self._answered:
            self.open[key] = Call(
                tool=name, given=given if isinstance(given, dict) else {}, cwd=cwd
            )

    def _end(self, block: dict[str, Any], account: Any, line: dict[str, Any]) -> Call | None:
        key = block.get("tool_use_id")
        if not isinstance(key, str) or key in self._answered:
            return None
        self._answered.add(key)
        result = account if isinstance(account, dict) else {}
        begun = self.open.pop(key, None) or _from_account(result, _text(line.get("cwd")))
        if begun is None:
            return None
        text = _result_text(block.get("content"))
        denied = bool(line.get("toolDenialKind"))
        ok = not denied and _succeeded(block.get("is_error"), account, text)
        return Call(
            tool=begun.tool, given=begun.given, cwd=begun.cwd, ok=ok, result=result, text=text
        )


def _succeeded(is_error: Any, account: Any, text: str) -> bool:
    if is_error or text.startswith(FAILED_TEXT):
        return False
    if isinstance(account, str):
        return not account.startswith(FAILED_ACCOUNT)
    return not (isinstance(account, dict) and (account.get("interrupted") or _refused(account)))


def _refused(account: dict[str, Any]) -> bool:
    """NotebookEdit reports what went wrong in its account alone."""
    return bool(account.get("error")) and "cell_type" in account


def _from_account(result: dict[str, Any], cwd: str) -> Call | None:
    """A call whose own line is lost or unreadable: its result still says what it was."""
    file = result.get("file")
    if isinstance(file, dict) and isinstance(file.get("filePath"), str):
        return Call(tool="Read", given={"file_path": file["filePath"]}, cwd=cwd)
    if not isinstance(result.get("filePath"), str):
        return None
    given = {"file_path": result["filePath"]}
    if "oldString" in result:
        return Call(tool="Edit", given=given, cwd=cwd)
    if "edits" in result:
        return Call(tool="MultiEdit", given=given, cwd=cwd)
    if result.get("type") in ("create", "update"):
        return Call(tool="Write", given=given, cwd=cwd)
    return None


def _taken_apart(call: Call) -> Iterator[Call]:
    """The calls inside the Batch tool of early clients; any other call as it is."""
    if call.tool != "Batch":
        yield call
        return
    asked = call.result.get("resolvedInvocations") or call.given.get("invocations")
    answers = call.result.get("orderedToolResults")
    if not (call.ok and isinstance(asked, list) and isinstance(answers, list)):
        return
    for invocation, answer in zip(asked, answers, strict=False):
        if isinstance(invocation, dict):
            yield _inner(invocation, answer, call.cwd)


def _inner(invocation: dict[str, Any], answer: Any, cwd: str) -> Call:
    name = next(
        (invocation[key] for key in ("tool_name", "toolName", "name") if key in invocation), ""
    )
    given = invocation.get("input")
    account, is_error, text = _answer(answer)
    return Call(
        tool=_text(name),
        given=given if isinstance(given, dict) else {},
        cwd=cwd,
        ok=_succeeded(is_error, account, text),
        result=account if isinstance(account, dict) else {},
        text=text,
    )


def _answer(answer: Any) -> tuple[Any, Any, str]:
    """Account, error mark and text of one answer: a message, a result block or a bare account."""
    if not isinstance(answer, dict):
        return answer, False, _text(answer)
    block = next((each for each in _blocks(answer) if each.get("type") == "tool_result"), answer)
    account = next(
        (answer[key] for key in ("toolUseResult", "data", "result") if key in answer), answer
    )
    is_error = block.get("is_error") or answer.get("isError") or answer.get("type") == "error"
    return account, is_error, _result_text(block.get("content"))


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
