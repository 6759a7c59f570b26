"""The figures of one session: how full its context is now, with what, and how it came to that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.errors import UnreadableTranscript
from holdfast.reports.window import (
    MAX_POINTS,
    ContextPoint,
    WindowContents,
    find_context_points,
    measure_window,
)
from holdfast.services.compaction.history import list_compactions, list_deliveries
from holdfast.services.recall.from_file import read_events_from
from holdfast.services.sessions import refresh_session
from holdfast.state import gauge, thresholds
from holdfast.tokens.estimate import Estimator
from holdfast.tokens.scales import load_scale

if TYPE_CHECKING:
    from holdfast.settings import Settings
    from holdfast.state.types import State
    from holdfast.store.protocols import SessionRow, Store

MAX_SNAPSHOTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStatus:
    """How a session is now. Times are in seconds since 1970."""

    id: str
    host: str
    project: str
    transcript: str
    seen_at: float
    context_tokens: int | None
    """The host's own count; None before the first reply."""
    context_window: int
    percent: float | None
    zone: str | None
    """green, yellow, orange, red or critical."""
    model: str | None
    growth_per_turn: int | None
    turns_left: int | None
    """How many turns of the usual size fit before the host compacts; None if that is not known."""
    compacts_at: int | None
    """The size at which the host will probably compact."""
    lines: int
    bad_lines: list[int]
    last_save_at: float | None
    last_snapshot: str | None
    compactions: list[dict[str, Any]]
    """Every compaction in the log, and how its brief was delivered."""
    alarm: str | None
    """What is wrong with the last brief; None if nothing is."""


def load_status(
    store: Store, row: SessionRow, settings: Settings, environ: Mapping[str, str]
) -> SessionStatus:
    """Read the session's transcript to its end, and return its figures."""
    state = refresh_session(store, row).state
    row = store.session(row["id"]) or row
    usage = state["usage"]
    snapshots = store.snapshots(row["id"], 1)
    deliveries = list_deliveries(store, row, state)
    limit = gauge.compaction_limit(
        environ, thresholds.last_auto_compaction_tokens(state), usage["window"]
    )
    percent = thresholds.percent_used(usage) if usage["context"] else None
    return SessionStatus(
        id=row["id"],
        host=row["host"],
        project=row["project"],
        transcript=row["transcript"],
        seen_at=row["seen_at"],
        context_tokens=usage["context"] or None,
        context_window=usage["window"],
        percent=None if percent is None else round(percent, 1),
        zone=None if percent is None else gauge.zone_name(percent, settings.zones),
        model=usage["model"] or None,
        growth_per_turn=usage["growth"] or None,
        turns_left=gauge.turns_left(usage["context"], usage["growth"], limit),
        compacts_at=limit,
        lines=state["lines"],
        bad_lines=state["bad_lines"],
        last_save_at=snapshots[0]["created_at"] if snapshots else None,
        last_snapshot=snapshots[0]["id"] if snapshots else None,
        compactions=deliveries,
        alarm=gauge.ALARMS.get(deliveries[-1]["receipt"] or "") if deliveries else None,
    )


def load_window(row: SessionRow, state: State, settings: Settings) -> WindowContents | None:
    """Estimate what fills the window now; None if the log is gone or counts no tokens."""
    since = state["compactions"][-1]["line"] if state["compactions"] else 0
    model = state["usage"]["model"]
    cost = Estimator.for_model(model, load_scale(settings.home, model)).cost
    try:
        return measure_window(read_events_from(row["transcript"], since), cost, since)
    except UnreadableTranscript:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPoint:
    """A snapshot on the chart of a session."""

    line: int
    at: float
    tokens: int
    reason: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextHistory:
    """The size of a session's context over time, and what happened to it."""

    points: list[ContextPoint]
    """At most MAX_POINTS, in the order of the log."""
    compactions: list[dict[str, Any]]
    """As `list_compactions` has them: line, time, tokens before and after."""
    snapshots: list[SavedPoint]
    window: int
    zones: dict[str, int]
    """The size in tokens at which each zone begins."""
    compacts_at: int | None


def load_context_history(
    store: Store, row: SessionRow, state: State, settings: Settings, environ: Mapping[str, str]
) -> ContextHistory:
    """Read the size of the context at each request from the log.

    Raises UnreadableTranscript if the log is gone.
    """
    window = state["usage"]["window"]
    names = gauge.ZONES[1:]
    return ContextHistory(
        points=find_context_points(read_events_from(row["transcript"], 0), MAX_POINTS),
        compactions=list_compactions(store, row, state),
        snapshots=[
            SavedPoint(
                line=saved["line"],
                at=saved["created_at"],
                tokens=saved["context"],
                reason=saved["reason"],
                id=saved["id"],
            )
            for saved in reversed(store.snapshots(row["id"], MAX_SNAPSHOTS))
        ],
        window=window,
        zones={
            name: window * share // 100 for name, share in zip(names, settings.zones, strict=False)
        },
        compacts_at=gauge.compaction_limit(
            environ, thresholds.last_auto_compaction_tokens(state), window
        ),
    )
