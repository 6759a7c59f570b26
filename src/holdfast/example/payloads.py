"""What the host writes to a hook's standard input, with the fields of Claude Code 2.1.325."""

from __future__ import annotations

from typing import Any

from holdfast.example.facts import RAW_SUMMARY
from holdfast.example.session import MODEL, PERMISSION_MODE, Line, Session
from holdfast.example.story import TURNS

# Events of a running turn also say how permissions are granted.
IN_A_TURN = {"UserPromptSubmit", "Stop", "SubagentStop"}
NOTHING_RUNNING: Line = {"background_tasks": [], "session_crons": []}


def payload(
    event: str,
    session: Session,
    transcript_path: str,
    *,
    text: str = "",
    turn: int = TURNS,
    **fields: Any,
) -> Line:
    """The payload of one hook call.

    `text` is what was said: the prompt, the last message, or the summary. `turn` counts prompts
    from 1; without it, it is the turn in which the host compacts. `fields` replace the defaults or
    add to them: `source="compact"`, `trigger="manual"`, `reason="clear"`.
    """
    common = {"session_id": session.session_id, "transcript_path": transcript_path}
    common |= {"cwd": session.project_dir}
    # Before the first prompt there is no prompt to name.
    if event != "SessionStart" or fields.get("source", "startup") != "startup":
        common["prompt_id"] = session.prompt_id(turn)
    if event in IN_A_TURN:
        common["permission_mode"] = PERMISSION_MODE
    if event == "SubagentStop":
        common |= {"agent_id": fork_id(session), "agent_type": ""}
    own = _own_fields(event, session, transcript_path, text, fields.get("source", "startup"))
    return {**common, "hook_event_name": event, **own, **fields}


def fork_id(session: Session) -> str:
    """The id of the fork that writes the summary."""
    return "a" + session.uuid("compaction").replace("-", "")[:16]


def _own_fields(event: str, session: Session, transcript: str, text: str, source: str) -> Line:
    match event:
        case "SessionStart":
            return {"source": source, **({"model": MODEL} if source == "compact" else {})}
        case "UserPromptSubmit":
            return {"prompt": text}
        case "UserPromptExpansion":
            name, _, rest = text.lstrip("/").partition(" ")
            told = {"expansion_type": "slash_command", "command_name": name, "command_args": rest}
            return {**told, "command_source": "projectSettings", "prompt": text}
        case "Stop":
            said = {"stop_hook_active": False, "last_assistant_message": text}
            return {**said, **NOTHING_RUNNING}
        case "SubagentStop":
            folder = transcript.removesuffix(".jsonl")
            own: Line = {"stop_hook_active": False}
            own |= {"agent_transcript_path": f"{folder}/subagents/agent-{fork_id(session)}.jsonl"}
            return {**own, "last_assistant_message": text or RAW_SUMMARY, **NOTHING_RUNNING}
        case "PreCompact":
            return {"trigger": "auto", "custom_instructions": None}
        case "PostCompact":
            return {"trigger": "auto", "compact_summary": text or RAW_SUMMARY}
        case "SessionEnd":
            return {"reason": "prompt_input_exit"}
    raise ValueError(f"no example payload for the event {event!r}")
