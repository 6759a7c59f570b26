"""Put back what the summary lost: build the brief, and remember what was sent."""

from __future__ import annotations

import os
import sys

from holdfast.actions.name_index import names_before
from holdfast.brief.render import build
from holdfast.state.richness import richness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.actions.catch_up import Session
    from holdfast.brief.render import Brief
    from holdfast.hosts.base import Host
    from holdfast.settings import Settings
    from holdfast.state.model import State
    from holdfast.store.base import Store


def best_state(store: Store, session: Session) -> State:
    """The state to restore: a log that was lost or cut does not make us forget."""
    saved = store.richest_snapshot(session.id)
    if saved and saved["line"] > session.state["lines"]:
        return saved["state"]
    return session.state


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
) -> str:
    """The brief for this compaction, recorded before it is sent; empty if nothing is known."""
    state = best_state(store, session)
    if not richness(state):
        return ""
    row = store.compaction(session.id, ordinal)
    if row is None:
        store.open_compaction(session.id, ordinal, trigger=None, snapshot=None, now=now)
    index = names_before(store, session.id, transcript, _before(state, ordinal))

    def built(characters: int) -> Brief:
        return build(
            state,
            index=index,
            commands=commands,
            notes=notes,
            tokens=settings.brief_tokens,
            characters=characters,
            summary=row["summary"] if row else None,
            recall=recall,
            session=session.id,
        )

    brief = fitting(built, host.CHARACTERS, host.BYTES)
    if brief.text:
        store.note_brief(
            session.id,
            ordinal,
            brief_id=brief.id,
            brief=brief.text,
            line=session.state["lines"],
            delivered_by=event,
            now=now,
        )
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
    known = state["compactions"]
    return known[ordinal - 1]["line"] if ordinal <= len(known) else state["lines"]


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
