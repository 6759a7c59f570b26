"""What a host must bring along to be tested: its log of a small story, and its payloads.

A new host is a line in `SAMPLES`. Claude Code's and Codex's samples are as their clients write
them; the others are written from documentation.
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
    """One host: what it writes down, and what it sends when."""

    log: str
    """The name of a session's log below the user's home."""
    before: Callable[[str], list[Line]]
    """The story, in a project at this path."""
    boundary: Callable[[], list[Line]]
    """What it writes of a compaction before it asks for the brief."""
    after: Callable[[], list[Line]]
    """What it writes when the model has answered."""
    moments: dict[str, Line]
    """What each event says besides: start, prompt, stop, save, restore, end, if it fires them."""
    common: Callable[[str, str], Line]
    """The fields of every payload, for a log and a project."""
    restores_with: str = "restore"
    """The moment that brings the brief."""
    records: Callable[[str], list[Line]] = field(default=lambda brief: [])
    """What it writes of a brief that it was given."""
    shown: Callable[[Line], str] = field(
        default=lambda out: str(out["hookSpecificOutput"]["additionalContext"])
    )


def _claude_like(log: str, project: str) -> Line:
    return {"session_id": SESSION, "transcript_path": log, "cwd": project}


def _named(start: str, prompt: str, stop: str, save: str, end: str) -> dict[str, Line]:
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


CLAUDE_LIKE = _named("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
NO_RESTORE = {moment: fields for moment, fields in CLAUDE_LIKE.items() if moment != "restore"}


def _claude_story(project: str) -> list[Line]:
    lines = [
        claude.user(REQUEST),
        claude.call("Edit", {"file_path": f"{project}/{FILE}", "new_string": "x"}, "t1"),
        claude.result("done", ident="t1"),
        claude.call("Bash", {"command": COMMAND}, "t2"),
        claude.result(ERROR, ok=False, ident="t2"),
    ]
    return [{**line, "cwd": project, "sessionId": SESSION} for line in lines]


def _codex_story(project: str) -> list[Line]:
    return [
        codex.meta(cwd=project, id=SESSION),
        codex.turn(cwd=project),
        codex.prompt(REQUEST),
        *codex.patched(f"*** Update File: {FILE}", "@@", "+x", ident="c1"),
        *codex.ran(COMMAND, ERROR, 1, ident="c2"),
        codex.tokens(60_000),
    ]


def _blocks(call: str, edit: str, path: str, run: str) -> list[tuple[str, list[Line]]]:
    """The story as messages with blocks, by role."""

    def use(ident: str, name: str, given: Line) -> Line:
        return {"type": "tool_use", "id": ident, "name": name, "input": given}

    def answer(ident: str, text: str, failed: bool) -> Line:
        found = {"type": "tool_result", "tool_use_id": ident, "content": text}
        return {**found, "is_error": failed}

    return [
        ("user", [{"type": "text", "text": REQUEST}]),
        ("assistant", [use("t1", edit, {path: FILE, "new_string": "x"})]),
        ("user", [answer("t1", "done", False)]),
        ("assistant", [use("t2", run, {call: COMMAND})]),
        ("user", [answer("t2", ERROR, True)]),
    ]


def _droid_story(project: str) -> list[Line]:
    start = {"type": "session_start", "id": SESSION, "title": "retry", "cwd": project}
    said = _blocks("command", "Edit", "file_path", "Execute")
    return [start, *(_droid(role, content) for role, content in said)]


def _droid(role: str, content: Any) -> Line:
    message = {"role": role, "content": content}
    return {"type": "message", "id": "m", "timestamp": AT, "message": message}


def _deep(role: str, content: Any, number: int, **fields: Any) -> Line:
    known = {"schema_version": 1, "sequence": number, "record_id": f"m{number}"}
    return {**known, "thread_id": SESSION, "role": role, "content": content, **fields}


def _deep_story(project: str) -> list[Line]:
    return [
        _deep("user", REQUEST, 0),
        _deep("assistant", f"I ran `{COMMAND}` after I had changed {FILE}.", 1),
        _deep("tool", ERROR, 2, name="execute"),
    ]


def _gemini(kind: str, ident: str, content: str, **fields: Any) -> Line:
    return {"id": ident, "timestamp": AT, "type": kind, "content": content, **fields}


def _gemini_call(ident: str, name: str, args: Line, status: str, text: str) -> Line:
    answer = {"functionResponse": {"id": ident, "name": name, "response": {"output": text}}}
    return {"id": ident, "name": name, "args": args, "status": status, "result": [answer]}


def _gemini_story(project: str) -> list[Line]:
    edit = {"file_path": f"{project}/{FILE}", "new_string": "x"}
    first = _gemini_call("c1", "replace", edit, "success", "done")
    second = _gemini_call("c2", "run_shell_command", {"command": COMMAND}, "error", ERROR)
    tokens = {"input": 60_000, "output": 7}
    return [
        {"sessionId": SESSION, "projectHash": "cafe", "startTime": AT, "lastUpdated": AT},
        _gemini("user", "m1", REQUEST),
        _gemini("gemini", "m2", "", toolCalls=[first]),
        {"$set": {"lastUpdated": AT}},
        # The same message again, with what has come of it since.
        _gemini("gemini", "m2", "", toolCalls=[first, second], tokens=tokens, model="gemini-3-pro"),
    ]


def _gemini_boundary() -> list[Line]:
    snapshot = _gemini("user", "m9", f"<state_snapshot>{SUMMARY}</state_snapshot>")
    return [{"$set": {"messages": [snapshot], "lastUpdated": AT}}]


def _copilot(kind: str, **data: Any) -> Line:
    return {"type": kind, "id": "e", "timestamp": AT, "parentId": None, "data": data}


def _copilot_story(project: str) -> list[Line]:
    def asks(ident: str, name: str, given: Line) -> Line:
        request = {"toolCallId": ident, "name": name, "arguments": given}
        return _copilot("assistant.message", content="", toolRequests=[request])

    def told(ident: str, text: str, ok: bool) -> Line:
        result = {"content": text}
        return _copilot("tool.execution_complete", toolCallId=ident, success=ok, result=result)

    about = {"cwd": project, "branch": "main"}
    return [
        _copilot("session.start", sessionId=SESSION, copilotVersion="1.0.70", context=about),
        _copilot("user.message", content=REQUEST),
        asks("t1", "edit", {"path": f"{project}/{FILE}", "new_str": "x"}),
        told("t1", "done", True),
        asks("t2", "bash", {"command": COMMAND}),
        told("t2", ERROR, False),
    ]


def _copilot_boundary() -> list[Line]:
    sizes = {"preCompactionTokens": 60_000, "postCompactionTokens": 6_000}
    return [_copilot("session.compaction_complete", success=True, summaryContent=SUMMARY, **sizes)]


def _cursor_story(project: str) -> list[Line]:
    said = _blocks("command", "StrReplace", "path", "Shell")
    return [{"role": role, "message": {"content": content}} for role, content in said]


def _cursor_like(log: str, project: str) -> Line:
    return {
        "conversation_id": SESSION, "generation_id": "g1", "cursor_version": "2.4.0",
        "workspace_roots": [project], "transcript_path": log, "model": "gpt-5.5",
    }  # fmt: skip


def _gemini_like(log: str, project: str) -> Line:
    return {**_claude_like(log, project), "timestamp": AT}


def _codex_like(log: str, project: str) -> Line:
    return {**_claude_like(log, project), "model": "gpt-5.5", "permission_mode": "default"}


def _in_a_turn(moments: dict[str, Line]) -> dict[str, Line]:
    return {
        name: fields if name in ("start", "restore", "end") else fields | {"turn_id": "t"}
        for name, fields in moments.items()
    }


SAMPLES: dict[str, Sample] = {
    "claude-code": Sample(
        log=f".claude/projects/-project/{SESSION}.jsonl",
        before=_claude_story, boundary=list, common=_claude_like, moments=CLAUDE_LIKE,
        after=lambda: [claude.reply("On it."), claude.spent(9)],
        records=lambda brief: [
            claude.boundary(trigger="auto"), claude.summary(),
            claude.attachment("hook_additional_context", hookEvent="SessionStart", content=[brief]),
        ],
    ),
    "codex": Sample(
        log=f".codex/sessions/2026/01/05/rollout-2026-01-05T10-00-00-{SESSION}.jsonl",
        before=_codex_story, boundary=lambda: [codex.compacted(SUMMARY)], common=_codex_like,
        after=lambda: [codex.reply("On it."), codex.tokens(9)], moments=_in_a_turn(CLAUDE_LIKE),
        records=lambda brief: [codex.from_hook(brief)],
    ),
    "droid": Sample(
        log=f".factory/sessions/-project/{SESSION}.jsonl",
        before=_droid_story, boundary=list, common=_claude_like, moments=CLAUDE_LIKE,
        after=lambda: [_droid("assistant", [{"type": "text", "text": "On it."}])],
    ),
    "deepagents": Sample(
        log=f".deepagents/transcripts/{SESSION}.jsonl",
        before=_deep_story, boundary=list, common=_claude_like,
        # A hook for PreCompact breaks this client, so there is none.
        moments={name: fields for name, fields in CLAUDE_LIKE.items() if name != "save"},
        after=lambda: [_deep("assistant", "On it.", 3)],
    ),
    "gemini": Sample(
        log=".gemini/tmp/project/chats/session-2026-01-05T10-00-0a1b2c3d.jsonl",
        before=_gemini_story, boundary=_gemini_boundary, common=_gemini_like,
        moments={
            name: fields
            for name, fields in _named(
                "SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"
            ).items()
            if name != "restore"
        },
        after=lambda: [_gemini("gemini", "m10", "On it.", tokens={"input": 9})],
        restores_with="prompt",
    ),
    "copilot": Sample(
        log=f".copilot/session-state/{SESSION}/events.jsonl",
        before=_copilot_story, boundary=_copilot_boundary, common=_gemini_like,
        moments=NO_RESTORE, after=lambda: [_copilot("assistant.message", content="On it.")],
        restores_with="prompt", shown=lambda out: str(out["additionalContext"]),
    ),
    "cursor": Sample(
        log=f".cursor/projects/project/agent-transcripts/{SESSION}.jsonl",
        before=_cursor_story, boundary=list, common=_cursor_like,
        moments={
            name: fields
            for name, fields in _named(
                "sessionStart", "beforeSubmitPrompt", "stop", "preCompact", "sessionEnd"
            ).items()
            if name not in ("restore", "prompt")
        },
        after=lambda: [{"role": "assistant", "message": {"content": "On it."}}],
        restores_with="save",
    ),
}  # fmt: skip


def written(lines: list[Line]) -> str:
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
