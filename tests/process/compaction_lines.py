"""Transcript lines that a host writes at a compaction, and briefs to compare."""

from __future__ import annotations

import json
import re
from itertools import chain, takewhile

from holdfast.demo import Line

from .hook_session import HookSession

# The demo's transcript is of this client, which records the context that hooks add.
DEMO_VERSION = "2.1.325"
# This client does not record it.
OLD_VERSION = "2.1.100"


def make_attachment(session: HookSession, brief: str, event: str = "SessionStart") -> list[Line]:
    """The lines that record that the model was shown this text of a hook."""
    return session.demo.hook_attachment(brief, event=event)


def make_lines_after_compaction(session: HookSession, *attachments: list[Line]) -> list[Line]:
    """The boundary, the summary, these attachments, and the model's next reply."""
    return session.demo.after(list(chain(*attachments)), str(session.transcript))


def take_before_reply(lines: list[Line]) -> list[Line]:
    """The lines before the model's first reply: what the transcript contains until then."""
    return list(takewhile(lambda line: line["type"] != "assistant", lines))


def take_from_reply(lines: list[Line]) -> list[Line]:
    """The model's first reply and all lines after it."""
    return lines[len(take_before_reply(lines)) :]


def with_new_uuids(lines: list[Line]) -> list[Line]:
    """The same messages as new ones: a message with a uuid that was seen already is ignored."""
    return [{**line, "uuid": f"{line['uuid']}-2"} if "uuid" in line else line for line in lines]


def as_old_client(lines: list[Line], version: str = OLD_VERSION) -> list[Line]:
    text = json.dumps(lines).replace(f'"version": "{DEMO_VERSION}"', f'"version": "{version}"')
    old_lines: list[Line] = json.loads(text)
    return old_lines


def make_undamaged_brief(session: HookSession) -> str:
    """The normalized brief of another session with the same lines, whose files are intact."""
    other = HookSession(root=session.root, session_id="undamaged")
    save_before_compaction(other)
    return normalize_brief(other.run_hook("SessionStart", source="compact").brief)


def normalize_brief(brief: str) -> str:
    """A brief without the ids that differ between sessions: the first line, and sub-agents' ids."""
    assert "Never touch anything under migrations/" in brief
    return re.sub(r"\ba[0-9a-f]{16}\b", "<agent>", brief.partition("\n")[2])


def save_before_compaction(session: HookSession) -> None:
    """Write the session and run PreCompact, but none of the hooks after a compaction."""
    session.write(session.demo.before)
    assert session.run_hook("PreCompact").exit_code == 0


def truncate_transcript(session: HookSession) -> None:
    lines = session.transcript.read_bytes().splitlines(keepends=True)
    session.transcript.write_bytes(b"".join(lines[:12]))
