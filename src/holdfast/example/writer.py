"""Turns the story into transcript lines, in the form Claude Code 2.1.325 writes them."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import os
from collections.abc import Iterable
from typing import Any

from holdfast.example import attachments
from holdfast.example.attachments import Attachment
from holdfast.example.session import HOOK_COMMAND, MODEL, PERMISSION_MODE, Line, Session
from holdfast.example.steps import Prompt, Reply, Step, Typed, Use

# What a request holds before the first word is said: system prompt, tools, CLAUDE.md.
EMPTY_CONTEXT = 21_400
# Calibrated so that the story ends near 150k: thinking, and text this example leaves out.
TOKENS_PER_MESSAGE = 2_520
CHARS_PER_TOKEN = 2.6


class Recorder:
    """Keeps what the client keeps in mind between two lines: the leaf, the clock, the context."""

    def __init__(self, session: Session, series: str = "line") -> None:
        self.session = session
        self._series = series
        self.lines: list[Line] = []
        self.clock = 0.0
        self.context = EMPTY_CONTEXT
        self.unread = 0
        self.leaf: str | None = None
        self.slug = ""
        self.turn = 0
        self.prompt = ""
        self.prompts: tuple[str, ...] = ()
        self.tools: tuple[str, ...] = ()
        self.round: tuple[str, ...] = ()
        self.turn_ends: tuple[int, ...] = ()
        self._turn_began = 0.0
        self._serial = 0

    def fork(self, slug: str) -> Recorder:
        """The same moment with no lines yet, to go on from without changing this one."""
        fork = copy.copy(self)
        fork.lines, fork.slug = [], slug
        return fork

    def new_uuid(self) -> str:
        self._serial += 1
        return self.session.uuid(self._series, self._serial)

    def bookkeeping(self, kind: str, **fields: Any) -> None:
        """A line without uuid or parent."""
        self.lines.append({"type": kind, **fields, "sessionId": self.session.session_id})

    def chained(self, head: Line, rest: Line | None = None, uuid: str = "") -> str:
        """A line that hangs on the leaf and becomes it. `rest` stands after uuid and timestamp."""
        uuid = uuid or self.new_uuid()
        line = {"parentUuid": self.leaf, "isSidechain": False, **head, "uuid": uuid}
        line |= {"timestamp": self.session.stamp(self.clock), **(rest or {})}
        self.lines.append(line | self.session.tail(self.slug))
        self.leaf = uuid
        return uuid

    def attach(self, *items: Attachment) -> None:
        for item in items:
            self.chained({"attachment": item.body, "type": "attachment"}, item.fields())

    def remember_leaf(self) -> None:
        flat = " ".join(self.prompt.split())
        shown = flat if len(flat) <= 200 else flat[:200] + "…"
        self.bookkeeping("last-prompt", lastPrompt=shown, leafUuid=self.leaf)

    def on_prompt(self, step: Prompt) -> None:
        session = self.session
        self.clock = max(self.clock + 5, step.minute * 60)
        self.turn, self.prompt, self._turn_began = self.turn + 1, step.text, self.clock
        self.unread += len(step.text)
        if step.queued:
            stamp = session.stamp(self.clock)
            self.bookkeeping("queue-operation", operation="dequeue", timestamp=stamp)
        uuid = self.new_uuid()
        self.snapshot(uuid)
        head: Line = {"promptId": session.prompt_id(self.turn), "type": "user"}
        head |= {"message": {"role": "user", "content": step.text}}
        rest: Line = {"permissionMode": PERMISSION_MODE, "origin": {"kind": "human"}}
        rest |= {"promptSource": "queued" if step.queued else "typed", "turnOrigin": "human"}
        rest["turnPosition"] = self.position()
        self.prompts += (self.chained(head, rest, uuid),)

    def position(self) -> Line:
        return {"promptIndex": self.turn - 1, "turnIndex": self.turn}

    @property
    def held(self) -> int:
        """Tokens the next request would hold."""
        return self.context + int(self.unread / CHARS_PER_TOKEN)

    def on_typed(self, step: Typed) -> None:
        stamp = self.session.stamp(self.clock)
        self.bookkeeping("queue-operation", operation="enqueue", timestamp=stamp)
        self.lines[-1]["content"] = step.text

    def snapshot(self, message: str) -> None:
        """The client's checkpoint of edited files, written with every prompt, without session."""
        kept = {"messageId": message, "trackedFileBackups": {}}
        kept |= {"timestamp": self.session.stamp(self.clock)}
        line = {"type": "file-history-snapshot", "messageId": message, "snapshot": kept}
        self.lines.append({**line, "isSnapshotUpdate": False})

    def on_reply(self, step: Reply) -> None:
        blocks = self._blocks(step)
        said = len(json.dumps(blocks))
        self.clock += 3.5 + said / 180
        counts = self._usage(said)
        new_tools = [use.tool for use in step.uses if use.tool not in self.tools]
        if new_tools:
            self.tools += tuple(dict.fromkeys(new_tools))
            self.bookkeeping("tools-used", tools=list(self.tools))
        message = self.session.token("msg", self._serial)
        reason = "tool_use" if step.uses else "end_turn"
        uuids = [self._block(message, n, block, reason, counts) for n, block in enumerate(blocks)]
        # Parallel calls: every block hangs on the one before, every result on its own call.
        calls = [(b["id"], u) for b, u in zip(blocks, uuids, strict=True) if "id" in b]
        for use, (call, source) in zip(step.uses, calls, strict=True):
            self.leaf = source
            uuids.append(self._result(use, call, source))
        self.round = tuple(uuids)
        if not step.uses:
            self.end_turn()

    def _blocks(self, step: Reply) -> list[Line]:
        blocks: list[Line] = []
        if step.thinks:
            digest = hashlib.sha256(self.session.uuid("thought", self._serial).encode()).digest()
            signature = base64.b64encode(digest * 3).decode()
            blocks.append({"type": "thinking", "thinking": "", "signature": signature})
        if step.text:
            blocks.append({"type": "text", "text": step.text})
        for number, use in enumerate(step.uses):
            name = self.session.token("toolu", self._serial, number)
            blocks.append({"type": "tool_use", "id": name, "name": use.tool, "input": use.input})
        return blocks

    def _usage(self, said: int) -> Line:
        read = self.context
        self.context += TOKENS_PER_MESSAGE + int(self.unread / CHARS_PER_TOKEN)
        self.unread = said
        fresh = 4 + self._serial % 7
        return usage(fresh, read, self.context - read - fresh, 60 + said // 4)

    def _block(self, message: str, index: int, block: Line, reason: str, counts: Line) -> str:
        session = self.session
        body: Line = {"id": message, "type": "message", "role": "assistant", "model": MODEL}
        body |= {"content": [block], "stop_reason": reason}
        body |= {"stop_sequence": None, "usage": counts, "stop_details": None}
        head: Line = {"message": body}
        if block["type"] == "tool_use":
            head["toolInputStreamMs"] = 40 + len(json.dumps(block)) // 3
        head |= {"apiBlockIndex": index, "requestId": session.token("req", message)}
        head |= {"requestRef": session.uuid("request", message), "requestedModel": MODEL}
        head |= {"promptCacheRequested": "5m", "type": "assistant"}
        self.clock += 0.6
        return self.chained(head, {"perTurnEffort": None, "madeBy": "model"})

    def _result(self, use: Use, call: str, source: str) -> str:
        self.clock += use.seconds
        self.unread += len(json.dumps(use.content))
        block: Line = {"tool_use_id": call, "type": "tool_result", "content": use.content}
        if use.failed:
            block = {"type": "tool_result", "content": use.content, "is_error": True}
            block["tool_use_id"] = call
        elif use.tool == "Bash":
            block["is_error"] = False
        head: Line = {"promptId": self.session.prompt_id(self.turn), "type": "user"}
        head |= {"message": {"role": "user", "content": [block]}}
        rest: Line = {"toolUseResult": use.result}
        if use.tool == "Bash":
            rest["sandboxed"] = False
        decision = {"decision": "accept", "source": "config", "reasonType": "mode"}
        rest |= {"sourceToolAssistantUUID": source, "permissionDecision": decision}
        return self.chained(head, rest)

    def end_turn(self) -> None:
        self.turn_ends += (len(self.lines) - 1,)
        self.clock += 0.3
        info = {"command": f"{HOOK_COMMAND} Stop", "durationMs": 31}
        stamp = {"timestamp": self.session.stamp(self.clock)}
        head: Line = {"type": "system", "subtype": "stop_hook_summary", "hookCount": 1}
        head |= {"hookInfos": [info], "hookErrors": [], "hookAdditionalContext": []}
        head |= {"preventedContinuation": False, "stopReason": "", "hasOutput": False}
        call = {"toolUseID": self.session.uuid("stop", self.turn)}
        self.chained({**head, "level": "suggestion", **stamp}, call)
        took = int((self.clock - self._turn_began) * 1000)
        head = {"type": "system", "subtype": "turn_duration", "durationMs": took}
        self.chained({**head, "messageCount": len(self.lines), **stamp}, {"isMeta": False})
        self.remember_leaf()


def record(session: Session, steps: Iterable[Step], claude_md: str) -> Recorder:
    """Play the steps into a fresh transcript, up to where the client stops to compact."""
    recorder = Recorder(session)
    recorder.bookkeeping("mode", mode="normal")
    for step in steps:
        match step:
            case Prompt():
                recorder.on_prompt(step)
                if recorder.turn == 1:
                    recorder.attach(*attachments.opening(session, claude_md))
                    recorder.bookkeeping("ai-title", aiTitle="Stop the retry storm in courier")
                recorder.attach(attachments.tokens_left(recorder.held))
                recorder.bookkeeping("atis-latch", atis="")
            case Typed():
                recorder.on_typed(step)
            case Reply():
                recorder.on_reply(step)
    recorder.attach(attachments.tokens_left(recorder.held))
    recorder.round += (str(recorder.leaf),)
    recorder.remember_leaf()
    recorder.bookkeeping("atis-latch", atis="")
    return recorder


def usage(fresh: int, read: int, written: int, said: int) -> Line:
    """The API's token counts of one message."""
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "output_tokens": said,
        "output_tokens_details": {"thinking_tokens": 0},
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": written},
        "inference_geo": "",
        "iterations": [],
        "speed": "standard",
        "fallback_credit": None,
    }


def write(path: str | os.PathLike[str], lines: Iterable[Line]) -> None:
    """Append the lines to a transcript as the host does: one compact JSON object per line."""
    with open(path, "a", encoding="utf-8", newline="\n") as transcript:
        for line in lines:
            transcript.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
