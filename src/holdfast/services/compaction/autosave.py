"""Take snapshots: at thresholds of context use, before a compaction, and on request.

Each threshold saves once, and a compaction is suggested once, until the next compaction resets
them.
"""

from __future__ import annotations

from holdfast.state import thresholds as rules
from holdfast.state.completeness import count_items
from holdfast.state.quoting import code
from holdfast.state.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hosts.hook_event import HookEvent
    from holdfast.services.compaction.ingest import IngestedSession
    from holdfast.settings import Settings
    from holdfast.state.types import State
    from holdfast.store.protocols import Store


def save_snapshot(store: Store, session: IngestedSession, reason: str, now: float) -> str:
    """Take a verified snapshot of the session's state; return its id."""
    return store.add_snapshot(session.id, reason, session.state, now)


def prune_snapshots(store: Store, session: str, settings: Settings) -> None:
    """Delete old threshold snapshots and old briefs, so that a long session stays small."""
    store.prune(session, snapshots=settings.keep_snapshots, compactions=settings.keep_compactions)


def save_at_thresholds(
    store: Store, session: IngestedSession, settings: Settings, now: float
) -> str:
    """Save if the last turn passed a threshold; return a suggestion for the user, or nothing.

    Runs in the caller's transaction, so that of two concurrent hooks only one saves. Does nothing
    while lines of the transcript are unread: a later turn saves.
    """
    if not session.is_complete:
        return ""
    state, usage = session.state, session.state["usage"]
    before = store.get_mark(session.id, rules.GUARD_KEY)
    guard = dict(rules.reset_after_compaction(before, len(state["compactions"])))
    remaining = 100 - rules.percent_used(usage)
    names = (
        rules.due_thresholds(guard, usage["context"], remaining, settings)
        if usage["context"]
        else []
    )
    names += rules.due_growth_threshold(guard, usage, settings)
    _save_thresholds(store, session, guard, names, settings, now)
    why = rules.suggest_compaction(guard, state, settings)
    guard["growth"], guard["limit"] = usage["growth"], rules.last_auto_compaction_tokens(state)
    if guard != before:
        store.set_mark(session.id, rules.GUARD_KEY, guard)
    if not why or not settings.suggest:
        return ""
    return f"Holdfast: {why}. A good moment for: {suggest_compact_command(state)}"


def _save_thresholds(
    store: Store,
    session: IngestedSession,
    guard: dict[str, object],
    names: list[str],
    settings: Settings,
    now: float,
) -> None:
    """Take one snapshot for all thresholds passed at once, unless the state is empty."""
    if names and count_items(session.state):
        save_snapshot(store, session, f"threshold: {names[0]}", now)
        prune_snapshots(store, session.id, settings)
    saved = guard.get("saved")
    guard["saved"] = [*(saved if isinstance(saved, list) else []), *names]


def save_from_status_line(
    store: Store, event: HookEvent, tokens: int, remaining: float, settings: Settings, now: float
) -> float:
    """Ingest and save when the status line saw a threshold passed.

    Returns the time of the snapshot, or 0.0 if none was taken.
    """
    from holdfast.services.compaction.ingest import ingest_transcript

    session = ingest_transcript(store, event, now)
    before = store.get_mark(session.id, rules.GUARD_KEY)
    guard = dict(rules.reset_after_compaction(before, len(session.state["compactions"])))
    names = rules.due_thresholds(guard, tokens, remaining, settings)
    _save_thresholds(store, session, guard, names, settings, now)
    store.set_mark(session.id, rules.GUARD_KEY, guard)
    store.commit()
    return now if names and count_items(session.state) else 0.0


def reset_thresholds(store: Store, session: str, ordinal: int) -> None:
    """Reset the thresholds at a compaction, so that the next turn counts from there."""
    before = store.get_mark(session, rules.GUARD_KEY)
    guard = rules.reset_after_compaction(before, ordinal)
    if guard is not before:
        store.set_mark(session, rules.GUARD_KEY, {**before, **guard})


def suggest_compact_command(state: State) -> str:
    """Return a `/compact` command to paste, with what the summary should focus on."""
    in_progress = [item["text"] for item in state["plan"] if item["status"] == "in_progress"]
    requests = [request["text"] for request in state["requests"]]
    focus = (in_progress or requests or ["the current task"])[-1]
    failing = [
        check["command"] for check in state["checks"] if not check["ok"] and check["kind"] != "run"
    ]
    also = f", and the failing {code(failing[-1], 60)}" if failing else ""
    return f"/compact focus on {one_line(focus, 120).rstrip('.')}{also}"
