"""Build the brief that restores what the summary lost, and record what was sent."""

from __future__ import annotations

import os
import sys

from holdfast.brief.render import build_brief
from holdfast.brief.roles import SESSION_TEMPLATE
from holdfast.services.compaction.handoffs import with_handoffs
from holdfast.services.compaction.receipts import UNPROVEN, can_prove_delivery
from holdfast.services.compaction.status import INCOMPLETE_BRIEF_MARK
from holdfast.state.completeness import count_items
from holdfast.tokens.scales import load_scale

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.brief.render import Brief
    from holdfast.brief.template import Template
    from holdfast.hosts.base import Host
    from holdfast.services.compaction.ingest import IngestedSession
    from holdfast.settings import Settings
    from holdfast.state.types import State
    from holdfast.store.protocols import Store


def choose_state(store: Store, session: IngestedSession) -> State:
    """Return the state to restore, with handoffs.

    If the log was lost or truncated, the richest snapshot holds more than the current state.
    """
    snapshot = store.richest_snapshot(session.id)
    if snapshot is not None and snapshot["line"] > session.state["lines"]:
        return with_handoffs(store, session.id, snapshot["state"])
    return with_handoffs(store, session.id, session.state)


def prepare_brief(
    store: Store,
    session: IngestedSession,
    ordinal: int,
    *,
    event: str,
    host: Host,
    settings: Settings,
    recall: str,
    now: float,
    commands: Sequence[tuple[str, str, str]] = (),
    notes: Sequence[str] = (),
    template: Template = SESSION_TEMPLATE,
) -> str:
    """Build the brief for this compaction and record it before it is sent; empty if no state.

    With ordinal 0 the brief is not recorded, and gets no receipt: there is no compaction, or its
    number is not known yet. In that case it is marked as incomplete until `find_incomplete` has
    found it.
    """
    state = choose_state(store, session)
    if not count_items(state):
        return ""
    has_mark = bool(store.get_mark(session.id, INCOMPLETE_BRIEF_MARK))
    if has_mark == session.is_complete:
        mark = {} if session.is_complete else {"line": session.state["lines"]}
        store.set_mark(session.id, INCOMPLETE_BRIEF_MARK, mark, is_redacted=True)
    row = store.compaction(session.id, ordinal)
    if row is None and ordinal:
        store.open_compaction(session.id, ordinal, trigger=None, snapshot=None, now=now)

    def build(characters: int) -> Brief:
        return build_brief(
            _without_compaction(state, ordinal) if session.is_complete else state,
            commands=commands,
            notes=notes,
            template=template,
            tokens=settings.brief_tokens,
            characters=characters,
            summary=row["summary"] if row else None,
            recall=recall,
            session=session.id,
            scale=load_scale(settings.home, state["usage"]["model"]),
            compacted=bool(ordinal) or not session.is_complete,
            unread=session.unread,
        )

    brief = build_within_bytes(build, host.MAX_BRIEF_UNITS, host.MAX_BRIEF_BYTES)
    if brief.text and ordinal:
        store.note_brief(
            session.id,
            ordinal,
            brief_id=brief.id,
            brief=brief.text,
            line=session.state["lines"],
            delivered_by=event,
            now=now,
        )
        if not can_prove_delivery(host):
            store.note_receipt(session.id, ordinal, UNPROVEN, None)
    return brief.text


def build_within_bytes(build: Callable[[int], Brief], characters: int, max_bytes: int) -> Brief:
    """Build a brief of at most so many characters and, unless it is 0, `max_bytes` bytes."""
    brief = build(characters)
    while max_bytes and (size := len(brief.text.encode("utf-8", "replace"))) > max_bytes:
        characters = min(characters - 1, characters * max_bytes // size)
        brief = build(characters)
    return brief


def _without_compaction(state: State, ordinal: int) -> State:
    """Return the state without this compaction, or with ordinal 0 without the last one.

    The brief counts the compaction that it is for itself.
    """
    compactions = state["compactions"]
    return {**state, "compactions": compactions[: ordinal - 1 if ordinal else -1]}


def find_recall_command() -> str:
    """Return the shell command for a lookup: by name if `holdfast` is on the PATH.

    With -P Python does not import modules from the working directory, which a cloned repository
    could provide.
    """
    for folder in filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep)):
        program = os.path.join(folder, "holdfast")
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return "holdfast recall"
    return f"{quote_path(sys.executable)} -P -m holdfast recall"


def quote_path(path: str) -> str:
    """Quote like `shlex.quote`, which would import `re`."""
    is_plain = path.replace("/", "").replace(".", "").replace("-", "").replace("_", "").isalnum()
    return path if is_plain and path.isascii() else "'" + path.replace("'", "'\"'\"'") + "'"
