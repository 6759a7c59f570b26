"""One sample for each host: the transcript of a short session, and its hook payloads.

A new host is an entry in `SAMPLES`. The samples of Claude Code and Codex are as their clients write
them; the others were written from documentation.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.unit import rollout_lines as codex
from tests.unit import transcript_lines as claude

Line = dict[str, Any]

REQUEST = "Make the retry back off. Never touch the migrations folder."
FILE = "src/retry.py"
COMMAND = "python3 -m unittest"
ERROR = "AssertionError: 6.0 != 4.0"
SUMMARY = "They worked on payments."
SESSION = "0a1b2c3d-0000-4000-8000-000000000009"
AT = "2026-01-05T10:00:00.000Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The transcript lines and hook payloads of one host."""

    log: str
    """The path of the transcript below the user's home."""
    before: Callable[[str], list[Line]]
    """The lines before the compaction, for a project at this path."""
    boundary: Callable[[], list[Line]]
    """The lines that the host writes for a compaction, before the hook that restores."""
    after: Callable[[], list[Line]]
    """The lines that the host writes for the next answer of the model."""
    events: dict[str, Line]
    """The own fields of each event that the host has: start, prompt, stop, save, restore, end."""
    common: Callable[[str, str], Line]
    """The fields of every payload, for a transcript and a project."""
    restores_with: str = "restore"
    """The event whose hook restores."""
    brief_lines: Callable[[str], list[Line]] = field(default=lambda brief: [])
    """The lines that the host writes for a brief that it received."""
    extract_brief: Callable[[Line], str] = field(
        default=lambda output: str(output["hookSpecificOutput"]["additionalContext"])
    )
    """Returns the brief from the JSON output of a hook."""


def _claude_payload(log: str, project: str) -> Line:
    return {"session_id": SESSION, "transcript_path": log, "cwd": project}


def _events(start: str, prompt: str, stop: str, save: str, end: str) -> dict[str, Line]:
    def event(name: str, **fields: Any) -> Line:
        return {"hook_event_name": name, **fields}

    return {
        "start": event(start, source="startup"),
        "prompt": event(prompt, prompt="Go on."),
        "stop": event(stop, stop_hook_active=False),
        "save": event(save, trigger="auto"),
        "restore": event(start, source="compact"),
        "end": event(end, reason="other"),
    }


CLAUDE_EVENTS = _events("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
EVENTS_WITHOUT_RESTORE = {
    name: fields for name, fields in CLAUDE_EVENTS.items() if name != "restore"
}


def _claude_lines(project: str) -> list[Line]:
    lines = [
        claude.user(REQUEST),
        claude.call("Edit", {"file_path": f"{project}/{FILE}", "new_string": "x"}, "t1"),
        claude.result("done", call_id="t1"),
        claude.call("Bash", {"command": COMMAND}, "t2"),
        claude.result(ERROR, ok=False, call_id="t2"),
    ]
    return [{**line, "cwd": project, "sessionId": SESSION} for line in lines]


def _codex_lines(project: str) -> list[Line]:
    return [
        codex.meta(cwd=project, id=SESSION),
        codex.turn(cwd=project),
        codex.prompt(REQUEST),
        *codex.apply_patch(f"*** Update File: {FILE}", "@@", "+x", call_id="c1"),
        *codex.exec_command(COMMAND, ERROR, 1, call_id="c2"),
        codex.tokens(60_000),
    ]


def _messages(
    command_field: str, edit_tool: str, path_field: str, run_tool: str
) -> list[tuple[str, list[Line]]]:
    """The session as messages with content blocks: role and blocks of each."""

    def call(ident: str, name: str, tool_input: Line) -> Line:
        return {"type": "tool_use", "id": ident, "name": name, "input": tool_input}

    def result(ident: str, text: str, failed: bool) -> Line:
        block = {"type": "tool_result", "tool_use_id": ident, "content": text}
        return {**block, "is_error": failed}

    return [
        ("user", [{"type": "text", "text": REQUEST}]),
        ("assistant", [call("t1", edit_tool, {path_field: FILE, "new_string": "x"})]),
        ("user", [result("t1", "done", False)]),
        ("assistant", [call("t2", run_tool, {command_field: COMMAND})]),
        ("user", [result("t2", ERROR, True)]),
    ]


def _droid_lines(project: str) -> list[Line]:
    start = {"type": "session_start", "id": SESSION, "title": "retry", "cwd": project}
    messages = _messages("command", "Edit", "file_path", "Execute")
    return [start, *(_droid(role, content) for role, content in messages)]


def _droid(role: str, content: Any) -> Line:
    message = {"role": role, "content": content}
    return {"type": "message", "id": "m", "timestamp": AT, "message": message}


def _deep(role: str, content: Any, number: int, **fields: Any) -> Line:
    header = {"schema_version": 1, "sequence": number, "record_id": f"m{number}"}
    return {**header, "thread_id": SESSION, "role": role, "content": content, **fields}


def _deep_lines(project: str) -> list[Line]:
    return [
        _deep("user", REQUEST, 0),
        _deep("assistant", f"I ran `{COMMAND}` after I had changed {FILE}.", 1),
        _deep("tool", ERROR, 2, name="execute"),
    ]


def _gemini(kind: str, ident: str, content: str, **fields: Any) -> Line:
    return {"id": ident, "timestamp": AT, "type": kind, "content": content, **fields}


def _gemini_call(ident: str, name: str, args: Line, status: str, text: str) -> Line:
    response = {"functionResponse": {"id": ident, "name": name, "response": {"output": text}}}
    return {"id": ident, "name": name, "args": args, "status": status, "result": [response]}


def _gemini_lines(project: str) -> list[Line]:
    edit = {"file_path": f"{project}/{FILE}", "new_string": "x"}
    first = _gemini_call("c1", "replace", edit, "success", "done")
    second = _gemini_call("c2", "run_shell_command", {"command": COMMAND}, "error", ERROR)
    tokens = {"input": 60_000, "output": 7}
    return [
        {"sessionId": SESSION, "projectHash": "cafe", "startTime": AT, "lastUpdated": AT},
        _gemini("user", "m1", REQUEST),
        _gemini("gemini", "m2", "", toolCalls=[first]),
        {"$set": {"lastUpdated": AT}},
        # The same message again, with the second call and its result.
        _gemini("gemini", "m2", "", toolCalls=[first, second], tokens=tokens, model="gemini-3-pro"),
    ]


def _gemini_boundary() -> list[Line]:
    snapshot = _gemini("user", "m9", f"<state_snapshot>{SUMMARY}</state_snapshot>")
    return [{"$set": {"messages": [snapshot], "lastUpdated": AT}}]


def _copilot(kind: str, **data: Any) -> Line:
    return {"type": kind, "id": "e", "timestamp": AT, "parentId": None, "data": data}


def _copilot_lines(project: str) -> list[Line]:
    def call(ident: str, name: str, tool_input: Line) -> Line:
        request = {"toolCallId": ident, "name": name, "arguments": tool_input}
        return _copilot("assistant.message", content="", toolRequests=[request])

    def result(ident: str, text: str, ok: bool) -> Line:
        content = {"content": text}
        return _copilot("tool.execution_complete", toolCallId=ident, success=ok, result=content)

    context = {"cwd": project, "branch": "main"}
    return [
        _copilot("session.start", sessionId=SESSION, copilotVersion="1.0.70", context=context),
        _copilot("user.message", content=REQUEST),
        call("t1", "edit", {"path": f"{project}/{FILE}", "new_str": "x"}),
        result("t1", "done", True),
        call("t2", "bash", {"command": COMMAND}),
        result("t2", ERROR, False),
    ]


def _copilot_boundary() -> list[Line]:
    sizes = {"preCompactionTokens": 60_000, "postCompactionTokens": 6_000}
    return [_copilot("session.compaction_complete", success=True, summaryContent=SUMMARY, **sizes)]


def _cursor_lines(project: str) -> list[Line]:
    messages = _messages("command", "StrReplace", "path", "Shell")
    return [{"role": role, "message": {"content": content}} for role, content in messages]


def _cursor_payload(log: str, project: str) -> Line:
    return {
        "conversation_id": SESSION, "generation_id": "g1", "cursor_version": "2.4.0",
        "workspace_roots": [project], "transcript_path": log, "model": "gpt-5.5",
    }  # fmt: skip


def _gemini_payload(log: str, project: str) -> Line:
    return {**_claude_payload(log, project), "timestamp": AT}


def _codex_payload(log: str, project: str) -> Line:
    return {**_claude_payload(log, project), "model": "gpt-5.5", "permission_mode": "default"}


def _with_turn_id(events: dict[str, Line]) -> dict[str, Line]:
    return {
        name: fields if name in ("start", "restore", "end") else fields | {"turn_id": "t"}
        for name, fields in events.items()
    }


SAMPLES: dict[str, Sample] = {
    "claude-code": Sample(
        log=f".claude/projects/-project/{SESSION}.jsonl",
        before=_claude_lines, boundary=list, common=_claude_payload, events=CLAUDE_EVENTS,
        after=lambda: [claude.reply("On it."), claude.usage_line(9)],
        brief_lines=lambda brief: [
            claude.boundary(trigger="auto"), claude.summary(),
            claude.attachment("hook_additional_context", hookEvent="SessionStart", content=[brief]),
        ],
    ),
    "codex": Sample(
        log=f".codex/sessions/2026/01/05/rollout-2026-01-05T10-00-00-{SESSION}.jsonl",
        before=_codex_lines, boundary=lambda: [codex.compacted(SUMMARY)], common=_codex_payload,
        after=lambda: [codex.reply("On it."), codex.tokens(9)], events=_with_turn_id(CLAUDE_EVENTS),
        brief_lines=lambda brief: [codex.from_hook(brief)],
    ),
    "droid": Sample(
        log=f".factory/sessions/-project/{SESSION}.jsonl",
        before=_droid_lines, boundary=list, common=_claude_payload, events=CLAUDE_EVENTS,
        after=lambda: [_droid("assistant", [{"type": "text", "text": "On it."}])],
    ),
    "deepagents": Sample(
        log=f".deepagents/transcripts/{SESSION}.jsonl",
        before=_deep_lines, boundary=list, common=_claude_payload,
        # A PreCompact hook breaks this client, so there is none.
        events={name: fields for name, fields in CLAUDE_EVENTS.items() if name != "save"},
        after=lambda: [_deep("assistant", "On it.", 3)],
    ),
    "gemini": Sample(
        log=".gemini/tmp/project/chats/session-2026-01-05T10-00-0a1b2c3d.jsonl",
        before=_gemini_lines, boundary=_gemini_boundary, common=_gemini_payload,
        events={
            name: fields
            for name, fields in _events(
                "SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"
            ).items()
            if name != "restore"
        },
        after=lambda: [_gemini("gemini", "m10", "On it.", tokens={"input": 9})],
        restores_with="prompt",
    ),
    "copilot": Sample(
        log=f".copilot/session-state/{SESSION}/events.jsonl",
        before=_copilot_lines, boundary=_copilot_boundary, common=_gemini_payload,
        events=EVENTS_WITHOUT_RESTORE,
        after=lambda: [_copilot("assistant.message", content="On it.")],
        restores_with="prompt", extract_brief=lambda output: str(output["additionalContext"]),
    ),
    "cursor": Sample(
        log=f".cursor/projects/project/agent-transcripts/{SESSION}.jsonl",
        before=_cursor_lines, boundary=list, common=_cursor_payload,
        events={
            name: fields
            for name, fields in _events(
                "sessionStart", "beforeSubmitPrompt", "stop", "preCompact", "sessionEnd"
            ).items()
            if name not in ("restore", "prompt")
        },
        after=lambda: [{"role": "assistant", "message": {"content": "On it."}}],
        restores_with="save",
    ),
}  # fmt: skip


def to_jsonl(lines: list[Line]) -> str:
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
