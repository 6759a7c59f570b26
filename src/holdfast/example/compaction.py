"""The lines the client writes when it has compacted, and the first turn after that."""

from __future__ import annotations

import json
from collections.abc import Sequence

from holdfast.example import attachments
from holdfast.example.attachments import Attachment
from holdfast.example.facts import SUMMARY
from holdfast.example.session import HOOK_COMMAND, Line, Session
from holdfast.example.steps import Reply
from holdfast.example.story import Story
from holdfast.example.writer import CHARS_PER_TOKEN, EMPTY_CONTEXT, Recorder

SLUG = "patient-mending-lamport"
DURATION_MS = 48_310
REATTACHED = ("src/courier/worker.py", "tests/test_worker.py")

CONTINUED = (
    "This session is being continued from a previous conversation that ran out of context. The"
    " summary below covers the earlier portion of the conversation.\n\n<system-reminder>\n"
    "<tools-used-before-summary>{tools}</tools-used-before-summary>\n</system-reminder>\n"
    "Summary:\n{summary}\n\n"
    "If you need specific details from before compaction (like exact code snippets, error"
    " messages, or content you generated), read the full transcript at: {transcript}\n"
    "Continue the conversation from where it left off without asking the user any further"
    " questions. Resume directly — do not acknowledge the summary, do not recap what was"
    ' happening, do not preface with "I\'ll continue" or similar. Pick up the last task as if the'
    " break never happened.\n\n"
    "The messages after this summary are the most recent messages from before compaction, kept"
    " verbatim. The summary was written without seeing them, so something it says has not happened"
    " yet may already have happened in them."
)


def hook_attachment(session: Session, text: str, command: str = "") -> list[Line]:
    """What the client records when a SessionStart hook answered with `additionalContext`.

    The raw answer stands in `hook_success`, which the model never sees; the text itself in
    `hook_additional_context`, which it does. `Example.after` hangs them where they belong.
    """
    output = {"hookEventName": "SessionStart", "additionalContext": text}
    success = {
        "type": "hook_success",
        "hookName": "SessionStart:compact",
        "toolUseID": session.uuid("hook", "call"),
        "hookEvent": "SessionStart",
        "content": "",
        "stdout": json.dumps({"hookSpecificOutput": output}, ensure_ascii=False) + "\n",
        "stderr": "",
        "exitCode": 0,
        "command": command or f"{HOOK_COMMAND} SessionStart",
        "durationMs": 38,
    }
    context = {"type": "hook_additional_context", "content": [text], "hookName": "SessionStart"}
    context |= {"toolUseID": "SessionStart", "hookEvent": "SessionStart"}
    recorder = Recorder(session, "hook")
    recorder.slug = SLUG
    recorder.attach(
        Attachment(success),
        Attachment(context, f"SessionStart hook additional context: {text}"),
    )
    return recorder.lines


def lines(before: Recorder, story: Story, brief: Sequence[Line], transcript: str) -> list[Line]:
    """Boundary, summary, attachments, the hook's lines, and the reply that goes on."""
    recorder, session = before.fork(SLUG), before.session
    compacted = before.clock + DURATION_MS / 1000
    text = CONTINUED.format(tools=", ".join(before.tools), summary=SUMMARY, transcript=transcript)
    anchor = recorder.new_uuid()
    held = int(len(text) / CHARS_PER_TOKEN) + 6_200
    # The client writes the boundary first but stamps it last, when the hooks are through.
    recorder.clock = compacted + 0.9
    boundary(recorder, anchor, held)
    recorder.attach(
        attachments.instructions(session, story.files["CLAUDE.md"]),
        attachments.git_status(),
        attachments.date(session, recorder.clock),
    )
    recorder.clock = compacted
    summary_line(recorder, anchor, text)
    recorder.attach(
        *(attachments.file(session, name, story.files[name]) for name in REATTACHED),
        attachments.deferred_tools(),
        attachments.agents(),
        attachments.environment(session),
        attachments.model(),
    )
    recorder.clock = compacted + 0.4
    for line in brief:
        stamp = session.stamp(recorder.clock)
        recorder.lines.append({**line, "parentUuid": recorder.leaf, "timestamp": stamp})
        recorder.leaf = line["uuid"]
    recorder.clock = compacted + 1.0
    recorder.context, recorder.unread = EMPTY_CONTEXT, int(held * CHARS_PER_TOKEN)
    for step in story.after:
        if isinstance(step, Reply):
            recorder.on_reply(step)
    return recorder.lines


def boundary(recorder: Recorder, anchor: str, held: int) -> None:
    kept, dropped = list(recorder.round), recorder.held - held
    ends = {"headUuid": kept[0], "anchorUuid": anchor, "tailUuid": kept[-1]}
    metadata = {
        "trigger": "auto",
        "preTokens": recorder.held,
        "postTokens": held,
        "cumulativeDroppedTokens": dropped,
        "durationMs": DURATION_MS,
        "preCompactDiscoveredTools": ["TaskCreate", "TaskUpdate"],
        "preservedSegment": ends,
        "preservedMessages": {"anchorUuid": anchor, "uuids": kept, "allUuids": kept},
        "runningTurnPrompt": {},
    }
    line: Line = {"parentUuid": None, "logicalParentUuid": recorder.leaf, "isSidechain": False}
    line |= {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
    line |= {"level": "info", "compactMetadata": metadata, "uuid": recorder.new_uuid()}
    line |= {"timestamp": recorder.session.stamp(recorder.clock)}
    recorder.lines.append(line | recorder.session.tail(recorder.slug))
    recorder.leaf = line["uuid"]


def summary_line(recorder: Recorder, anchor: str, text: str) -> None:
    head: Line = {"promptId": recorder.session.prompt_id(recorder.turn), "type": "user"}
    head |= {"message": {"role": "user", "content": text}}
    head |= {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
    rest: Line = {"turnPosition": recorder.position(), "turnOrigin": "human"}
    rest |= {"summarizedTurnPromptUuids": list(recorder.prompts)}
    recorder.chained(head, rest, anchor)
