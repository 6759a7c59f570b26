"""Put back what the summary lost: build the brief, and remember what was sent."""

from __future__ import annotations

import os
import sys

from holdfast.actions.handoffs import with_handoffs
from holdfast.actions.learned_tokens import scale_of
from holdfast.actions.name_index import names_before
from holdfast.actions.receipt import UNPROVEN, can_prove
from holdfast.brief.render import build
from holdfast.brief.roles import SESSION
from holdfast.state.richness import richness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.actions.catch_up import Session
    from holdfast.brief.render import Brief
    from holdfast.brief.template import Template
    from holdfast.hosts.base import Host
    from holdfast.settings import Settings
    from holdfast.state.model import State
    from holdfast.store.base import Store


def best_state(store: Store, session: Session) -> State:
    """The state to restore: a log that was lost or cut does not make us forget."""
    saved = store.richest_snapshot(session.id)
    lost = saved is not None and saved["line"] > session.state["lines"]
    return with_handoffs(store, session.id, saved["state"] if saved and lost else session.state)


def restore(
    store: Store,
    session: Session,
    ordinal: int,
    *,
    event: str,
    host: Host,
    settings: Settings,
    recall: str,
    now: float,
    transcript: str = "",
    commands: Sequence[tuple[str, str, str]] = (),
    notes: Sequence[str] = (),
    template: Template = SESSION,
) -> str:
    """The brief for this compaction, recorded before it is sent; empty if nothing is known.

    With no compaction (0) it is not recorded, because there is nothing to prove.
    """
    state = best_state(store, session)
    if not richness(state):
        return ""
    row = store.compaction(session.id, ordinal)
    if row is None and ordinal:
        store.open_compaction(session.id, ordinal, trigger=None, snapshot=None, now=now)
    index = names_before(store, session.id, transcript, _before(state, ordinal))

    def built(characters: int) -> Brief:
        return build(
            _as_of(state, ordinal),
            index=index,
            commands=commands,
            notes=notes,
            template=template,
            tokens=settings.brief_tokens,
            characters=characters,
            summary=row["summary"] if row else None,
            recall=recall,
            session=session.id,
            scale=scale_of(settings.home, state["usage"]["model"]),
            compacted=bool(ordinal),
        )

    brief = fitting(built, host.CHARACTERS, host.BYTES)
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
        if not can_prove(host):
            store.note_receipt(session.id, ordinal, UNPROVEN, None)
    return brief.text


def fitting(built: Callable[[int], Brief], characters: int, most: int) -> Brief:
    """A brief of so many characters, and of at most so many bytes where the host counts those."""
    brief = built(characters)
    while most and (size := len(brief.text.encode("utf-8", "replace"))) > most:
        characters = min(characters - 1, characters * most // size)
        brief = built(characters)
    return brief


def _before(state: State, ordinal: int) -> int:
    """The line at which this compaction begins, if the log has it already."""
    known = state["compactions"][ordinal - 1 : ordinal] if ordinal else []
    return known[0]["line"] if known else state["lines"]


def _as_of(state: State, ordinal: int) -> State:
    """The state without this compaction, or the last one: a brief must not count it twice."""
    known = state["compactions"]
    return {**state, "compactions": known[: ordinal - 1 if ordinal else -1]}


def recall_command() -> str:
    """How the agent can call us from its own shell: by name if that is on its path."""
    for folder in filter(os.path.isabs, os.environ.get("PATH", "").split(os.pathsep)):
        program = os.path.join(folder, "holdfast")
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return "holdfast recall"
    return f"{_quoted(sys.executable)} -m holdfast recall"


def _quoted(path: str) -> str:
    """As `shlex.quote`, which would bring `re` along."""
    plain = path.replace("/", "").replace(".", "").replace("-", "").replace("_", "").isalnum()
    return path if plain and path.isascii() else "'" + path.replace("'", "'\"'\"'") + "'"
