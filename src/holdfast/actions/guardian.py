"""Save at thresholds and suggest a compaction; each once, until a compaction begins them anew."""

from __future__ import annotations

from holdfast.actions.save import prune, save
from holdfast.state import guard as rules
from holdfast.state.richness import richness
from holdfast.state.wording import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.hosts.call import HookCall
    from holdfast.settings import Settings
    from holdfast.state.model import State
    from holdfast.store.base import Store


def watch(store: Store, session: Session, chosen: Settings, now: float) -> str:
    """After a turn: save if a threshold was passed; the words to say to the person, or none.

    Within the caller's transaction, so that of two hooks at once only one saves.
    """
    state, usage = session.state, session.state["usage"]
    before = store.mark(session.id, rules.MARK)
    guard = dict(rules.renewed(before, len(state["compactions"])))
    remaining = 100 - rules.percent_of(usage)
    names = rules.due(guard, usage["context"], remaining, chosen) if usage["context"] else []
    names += rules.growth_due(guard, usage, chosen)
    save_for(store, session, guard, names, chosen, now)
    why = rules.suggestion(guard, state, chosen)
    guard["growth"], guard["limit"] = usage["growth"], rules.limit(state)
    if guard != before:
        store.set_mark(session.id, rules.MARK, guard)
    if not why or not chosen.suggest:
        return ""
    return f"Holdfast: {why}. A good moment for: {focus_line(state)}"


def save_for(
    store: Store,
    session: Session,
    guard: dict[str, object],
    names: list[str],
    chosen: Settings,
    now: float,
) -> None:
    """One snapshot for all thresholds that were passed at once; a state that knows nothing none."""
    if names and richness(session.state):
        save(store, session, f"threshold: {names[0]}", now)
        prune(store, session.id, chosen)
    saved = guard.get("saved")
    guard["saved"] = [*(saved if isinstance(saved, list) else []), *names]


def at_gauge(
    store: Store, call: HookCall, tokens: int, remaining: float, chosen: Settings, now: float
) -> float:
    """The status line saw a threshold passed: fold, save, and say when; 0.0 if not saved."""
    from holdfast.actions.catch_up import catch_up

    session = catch_up(store, call, now)
    before = store.mark(session.id, rules.MARK)
    guard = dict(rules.renewed(before, len(session.state["compactions"])))
    names = rules.due(guard, tokens, remaining, chosen)
    save_for(store, session, guard, names, chosen, now)
    store.set_mark(session.id, rules.MARK, guard)
    store.commit()
    return now if names and richness(session.state) else 0.0


def compacted(store: Store, session: str, ordinal: int) -> None:
    """A compaction is going on: the next turn counts from there."""
    before = store.mark(session, rules.MARK)
    guard = rules.renewed(before, ordinal)
    if guard is not before:
        store.set_mark(session, rules.MARK, {**before, **guard})


def focus_line(state: State) -> str:
    """The command to paste: what the summary should be about."""
    running = [item["text"] for item in state["plan"] if item["status"] == "in_progress"]
    asked = [request["text"] for request in state["requests"]]
    focus = (running or asked or ["the current task"])[-1]
    failing = [
        check["command"] for check in state["checks"] if not check["ok"] and check["kind"] != "run"
    ]
    also = f", and the failing `{one_line(failing[-1], 60)}`" if failing else ""
    return f"/compact focus on {one_line(focus, 120).rstrip('.')}{also}"
