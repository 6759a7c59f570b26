"""One example session as data, and its loader: `holdfast demo` and `holdfast doctor --loop` run it.

A developer and an assistant work for two hours on a small job queue until the host compacts.
`session.jsonl` is the transcript as Claude Code 2.1.325 writes it, invented from start to end.
`details.json` holds the summary, the facts to find again, the hook payloads and hook attachments.
`{{placeholders}}` stand for the project folder, the session id, ids derived from it, and times.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, Literal

__all__ = ["DemoSession", "Fact", "Line", "append_lines", "load_demo"]

Line = dict[str, Any]
"""One line of a transcript, or one hook payload."""

FactKind = Literal[
    "goal", "request", "rule", "decision", "rejected", "plan", "error", "command", "git", "file",
    "question",
]  # fmt: skip
Fate = Literal["kept", "reworded", "lost"]

_PLACEHOLDER = re.compile(r"\{\{(\w+)(?::([^{}]*))?\}\}")


@dataclass(frozen=True, slots=True)
class Fact:
    """Words from the session that a good brief repeats exactly, and what the summary did to them.

    kept: the words are in the summary. reworded: only their meaning is. lost: neither is, or the
    summary says something that is no longer true.
    """

    name: str
    kind: FactKind
    text: str
    fate: Fate


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSession:
    """The example session in one folder, under one session id, from one start time."""

    project_dir: str
    session_id: str
    started: float
    before: list[Line]
    """The transcript up to the compaction."""
    turn_ends: list[int]
    """Indexes into `before`: a Stop hook fires when the line with that index has been written."""
    summary: str
    """The summariser's raw answer, with its analysis."""
    facts: tuple[Fact, ...]

    @property
    def turns(self) -> int:
        """How many prompts there are; the host compacts during the last one."""
        return len(self.turn_ends) + 1

    def transcript_path(self, config_dir: str) -> str:
        """Return where the host keeps this session's transcript."""
        slug = re.sub(r"[^A-Za-z0-9]", "-", self.project_dir)
        return f"{config_dir}/projects/{slug}/{self.session_id}.jsonl"

    def after(self, attached: Sequence[Line] = (), transcript_path: str = "") -> list[Line]:
        """Return the lines of the compaction and the turn after it.

        `attached` are lines from `hook_attachment`; they go between the host's own attachments and
        the reply. `transcript_path` is the one that the summary names.
        """
        path = transcript_path or self.transcript_path("~/.claude")
        lines = _fill_lines(self, _transcript()[1], transcript=path)
        reply = next(n for n, line in enumerate(lines) if line["type"] == "assistant")
        parent = lines[reply - 1]["uuid"]
        for line in attached:
            lines.insert(reply, {**line, "parentUuid": parent})
            reply, parent = reply + 1, line["uuid"]
        lines[reply]["parentUuid"] = parent
        return lines

    def hook_attachment(
        self, text: str, command: str = "", event: str = "SessionStart"
    ) -> list[Line]:
        """Return what the client records when a hook answered with `additionalContext`.

        The raw answer is in `hook_success`, which the model never sees; the text itself is in
        `hook_additional_context`, which it does. `after` puts both into the conversation.
        """
        answer = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
        return _fill_lines(
            self,
            _details("hook_attachment"),
            text=text,
            # As client 2.1.325 does: text inside a reminder cannot open another reminder.
            quoted=text.replace("<system-reminder>", "&lt;system-reminder>"),
            stdout=json.dumps(answer, ensure_ascii=False) + "\n",
            command=command or f"holdfast hook {event}",
            event=event,
        )

    def hook_payload(
        self, event: str, transcript_path: str, *, text: str = "", turn: int = 0, **fields: Any
    ) -> Line:
        """Return what the host writes to a hook's standard input.

        `text` is the prompt, the last message, or the summary. `turn` counts prompts from 1; the
        default is the turn in which the host compacts. `fields` replace the defaults or add to
        them: `source="compact"`, `trigger="manual"`, `reason="clear"`. Raises ValueError for an
        event that the demo does not have.
        """
        templates = _details("hook_payloads")
        if event not in templates:
            raise ValueError(f"no demo payload for the event {event!r}")
        if event in {"SubagentStop", "PostCompact"}:
            text = text or self.summary
        command, _, arguments = text.lstrip("/").partition(" ")
        (payload,) = _fill_lines(
            self,
            [templates[event]],
            transcript=transcript_path,
            transcript_folder=transcript_path.removesuffix(".jsonl"),
            prompt_id=_make_uuid(self.session_id, f"prompt/{turn or self.turns}"),
            text=text,
            command=command,
            arguments=arguments,
        )
        if event == "SessionStart":
            payload["source"] = source = fields.get("source", "startup")
            # Before the first prompt there is no prompt to name.
            if source == "startup":
                del payload["prompt_id"]
            if source != "compact":
                del payload["model"]
        return {**payload, **fields}


def load_demo(project_dir: str, session_id: str, started: float) -> DemoSession:
    """Return the session in that folder; the same arguments always give the same lines."""
    demo = DemoSession(
        project_dir=project_dir,
        session_id=session_id,
        started=started,
        before=[],
        turn_ends=[],
        summary="\n".join(_details("summary")),
        facts=tuple(Fact(**fact) for fact in _details("facts")),
    )
    demo.before.extend(_fill_lines(demo, _transcript()[0]))
    demo.turn_ends.extend(
        index
        for index, (_, following) in enumerate(pairwise(demo.before))
        if following.get("subtype") == "stop_hook_summary"
    )
    return demo


def append_lines(path: str | os.PathLike[str], lines: Iterable[Line]) -> None:
    """Append the lines to a transcript as the host does: one compact JSON object per line."""
    with open(path, "a", encoding="utf-8", newline="\n") as transcript:
        for line in lines:
            transcript.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


@cache
def _transcript() -> tuple[list[str], list[str]]:
    """The lines with their placeholders: before the compaction, and from its boundary on."""
    lines = files(__name__).joinpath("session.jsonl").read_text("utf-8").rstrip("\n").split("\n")
    boundary = next(n for n, line in enumerate(lines) if '"subtype":"compact_boundary"' in line)
    return lines[:boundary], lines[boundary:]


@cache
def _details(part: str) -> Any:
    """One part of `details.json`; objects to fill in are kept as JSON text."""
    value = json.loads(files(__name__).joinpath("details.json").read_text("utf-8"))[part]
    match part:
        case "hook_attachment":
            return [json.dumps(line, ensure_ascii=False) for line in value]
        case "hook_payloads":
            return {event: json.dumps(line, ensure_ascii=False) for event, line in value.items()}
    return value


def _fill_lines(demo: DemoSession, templates: Iterable[str], **values: str) -> list[Line]:
    """Parse the lines with a value for every placeholder: one of `values`, or an id or a time."""
    known = {"project": demo.project_dir, "session": demo.session_id, **values}

    def to_json_text(match: re.Match[str]) -> str:
        kind, name = match.groups()
        value = known[kind] if name is None else _make_value(demo, kind, name)
        return json.dumps(value, ensure_ascii=False)[1:-1]

    return [json.loads(_PLACEHOLDER.sub(to_json_text, line)) for line in templates]


def _make_value(demo: DemoSession, kind: str, name: str) -> str:
    """Return the id of that kind and name, or the moment that many seconds into the session."""
    match kind:
        case "uuid":
            return _make_uuid(demo.session_id, name)
        case "time" | "date":
            moment = datetime.fromtimestamp(demo.started + float(name), UTC)
            stamp = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            return stamp if kind == "time" else stamp[:10]
        case "agent":
            return "a" + _make_uuid(demo.session_id, name).replace("-", "")[:16]
    # The API's own style: msg_01…, toolu_01…, req_01….
    return f"{kind}_01{_make_uuid(demo.session_id, f'{kind}/{name}').replace('-', '')[:22]}"


def _make_uuid(session_id: str, name: str) -> str:
    """Return the same uuid for the same name within one session."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{session_id}/{name}"))
