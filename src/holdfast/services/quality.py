"""How well Holdfast did in one's own sessions: briefs that arrived, what was lost and put back,
what forgetting cost, and what briefs and hooks took.

What the store knows is listed for many compactions at once; what has to be read from the logs is
measured for a few. A figure that cannot be decided is None and has a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from holdfast.errors import UnreadableTranscript
from holdfast.reports.forgetting import ForgettingCost, forgetting_cost
from holdfast.reports.loss import build_loss_report
from holdfast.services.compaction.history import (
    NO_BRIEF,
    list_compactions,
    list_deliveries,
    load_snapshot,
)
from holdfast.services.compaction.host_summary import load_host_summary
from holdfast.services.compaction.receipts import records_delivery
from holdfast.services.compaction.report import (
    NO_SUMMARY,
    NOT_IN_LOG,
    NOTHING_BEFORE,
    SEALED,
    load_activity,
)
from holdfast.services.recall.from_file import load_states_before
from holdfast.state.completeness import count_items
from holdfast.tokens.estimate import Estimator
from holdfast.tokens.scales import load_scale

if TYPE_CHECKING:
    from holdfast.settings import Settings
    from holdfast.state.types import State
    from holdfast.store.protocols import SessionRow, Store

MAX_COMPACTIONS = 200
# How many of the latest sessions are looked through for compactions, and how many are read at once.
MAX_SESSIONS = 500
SESSIONS_PER_READ = 50
BRIEF_NOT_KEPT = "the text of this brief is no longer kept"
NOT_SENT = "no brief was sent"
BEFORE_HOLDFAST = "Holdfast was not installed yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCompaction:
    """What the store knows of one compaction. Times are in seconds since 1970."""

    session: str
    folder: str
    host: str
    title: str
    """The first request of the session."""
    ordinal: int
    at: float | None
    line: int | None
    receipt: str | None
    """whole, cut, twice, never, pending, unproven, or none; None from before Holdfast."""
    brief_tokens: int | None
    no_tokens_reason: str
    tokens_before: int | None
    tokens_after: int | None
    seconds: float | None
    """How long the compaction took."""
    snapshot: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LossCounts:
    """How many items were known before a compaction, and where they were after it."""

    known: int
    kept: int
    restored: int | None
    """None if the text of the brief is no longer kept."""
    differs: int
    to_recall: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCompaction:
    """One compaction with what its session's log says."""

    record: RecordedCompaction
    counts: LossCounts | None
    no_counts_reason: str
    """Why there are no counts, or why some of them are None."""
    cost: ForgettingCost | None
    no_cost_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryTotals:
    """How the briefs of some compactions arrived."""

    whole: int
    failed: int
    """Cut, never arrived, or none was sent."""
    unknown: int
    """Not known yet, or the client does not log it."""
    before_holdfast: int

    @property
    def expected(self) -> int:
        return self.whole + self.failed + self.unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRun:
    """The last run of a hook; the store keeps no earlier durations."""

    host: str
    event: str
    times: int
    milliseconds: float
    at: float


def list_recorded(
    store: Store, settings: Settings, max_compactions: int = MAX_COMPACTIONS
) -> list[RecordedCompaction]:
    """Return the latest compactions of all sessions, the latest first."""
    found: list[RecordedCompaction] = []
    for row in _each_session(store):
        found += _record_session(store, row, settings)
        if len(found) >= max_compactions:
            break
    found.sort(key=lambda one: (one.at or 0.0, one.session, one.ordinal), reverse=True)
    return found[:max_compactions]


def _each_session(store: Store) -> Iterator[SessionRow]:
    before = None
    for _ in range(MAX_SESSIONS // SESSIONS_PER_READ):
        rows = store.sessions(None, SESSIONS_PER_READ, before)
        yield from rows
        if len(rows) < SESSIONS_PER_READ:
            return
        before = (rows[-1]["seen_at"], rows[-1]["id"])


def _record_session(
    store: Store, row: SessionRow, settings: Settings
) -> Iterator[RecordedCompaction]:
    state = row["state"]
    deliveries = list_deliveries(store, row, state)
    if not deliveries:
        return
    figures = {entry["ordinal"]: entry for entry in list_compactions(store, row, state)}
    briefs = {record["ordinal"]: record["brief"] for record in store.compactions(row["id"])}
    model = state["usage"]["model"]
    estimator = Estimator.for_model(model, load_scale(settings.home, model))
    requests = state["requests"]
    for delivery in deliveries:
        number = delivery["ordinal"]
        brief = briefs.get(number) or ""
        entry: dict[str, Any] = figures.get(number, {})
        yield RecordedCompaction(
            session=row["id"],
            folder=row["project"],
            host=row["host"],
            title=requests[0]["text"] if requests else "",
            ordinal=number,
            at=delivery["at"],
            line=delivery["line"],
            receipt=delivery["receipt"],
            brief_tokens=estimator.estimate(brief) if brief else None,
            no_tokens_reason="" if brief else _explain_no_brief(delivery),
            tokens_before=entry.get("tokens_before"),
            tokens_after=entry.get("tokens_after"),
            seconds=entry.get("seconds"),
            snapshot=delivery["snapshot"],
        )


def _explain_no_brief(delivery: dict[str, Any]) -> str:
    if delivery["brief_id"]:
        return BRIEF_NOT_KEPT
    return NOT_SENT if delivery["receipt"] else BEFORE_HOLDFAST


def sum_deliveries(records: Sequence[RecordedCompaction]) -> DeliveryTotals:
    """Count how the briefs arrived. A brief that came twice arrived."""
    receipts = [record.receipt for record in records]
    return DeliveryTotals(
        whole=sum(receipt in ("whole", "twice") for receipt in receipts),
        failed=sum(receipt in ("cut", "never", NO_BRIEF) for receipt in receipts),
        unknown=sum(receipt in ("pending", "unproven") for receipt in receipts),
        before_holdfast=receipts.count(None),
    )


def list_hook_runs(store: Store) -> list[HookRun]:
    """Return the last run of each hook, the slowest first."""
    runs = [
        HookRun(
            host=row["host"], event=row["event"], times=row["times"],
            milliseconds=row["last_milliseconds"], at=row["last_at"],
        )
        for row in store.hook_runs()
    ]  # fmt: skip
    return sorted(runs, key=lambda run: run.milliseconds, reverse=True)


def measure(
    store: Store, records: Sequence[RecordedCompaction], settings: Settings
) -> list[MeasuredCompaction]:
    """Read from the logs what these compactions lost and cost; each log is read once."""
    by_session = sorted(records, key=lambda record: (record.session, record.ordinal))
    measured: dict[tuple[str, int], MeasuredCompaction] = {}
    for session, group in groupby(by_session, key=lambda record: record.session):
        row = store.session(session)
        for one in _measure_session(store, row, [*group], settings) if row else ():
            measured[session, one.record.ordinal] = one
    keys = [(record.session, record.ordinal) for record in records]
    return [measured[key] for key in keys if key in measured]


def _measure_session(
    store: Store, row: SessionRow, records: list[RecordedCompaction], settings: Settings
) -> Iterator[MeasuredCompaction]:
    """Yield the compactions of one session, which must be in order."""
    costs = _measure_costs(row, records, settings)
    for record, before, reason in _load_states(store, row, records):
        counts = None
        if before is not None:
            counts, reason = _count_losses(store, row, record, before)
        cost, no_cost_reason = costs[record.ordinal]
        yield MeasuredCompaction(
            record=record, counts=counts, no_counts_reason=reason,
            cost=cost, no_cost_reason=no_cost_reason,
        )  # fmt: skip


def _load_states(
    store: Store, row: SessionRow, records: list[RecordedCompaction]
) -> Iterator[tuple[RecordedCompaction, State | None, str]]:
    """Yield the state before each compaction, from its snapshot or else from the log; if there is
    none, the third value says why.
    """
    folded = [record.line for record in records if record.line and not record.snapshot]
    states = load_states_before(row["transcript"], folded)
    problem = ""
    for record in records:
        state: State | None = None
        reason = problem
        if record.snapshot:
            snapshot = load_snapshot(store, {"snapshot": record.snapshot})
            state, reason = (snapshot["state"], "") if snapshot else (None, NOT_IN_LOG)
        elif record.line and not problem:
            try:
                state = next(states, None)
            except UnreadableTranscript as unreadable:
                problem = reason = unreadable.detail
        if state is not None and not count_items(state):
            state, reason = None, NOTHING_BEFORE
        yield record, state, reason or ("" if state is not None else NOT_IN_LOG)


def _count_losses(
    store: Store, row: SessionRow, record: RecordedCompaction, before: State
) -> tuple[LossCounts | None, str]:
    """Count what summary and brief have of a state; None and why if the summary is not known."""
    stored: Any = store.compaction(row["id"], record.ordinal) or {}
    summary = load_host_summary(row, row["state"], record.ordinal, stored.get("summary") or "")
    if not summary.text:
        return None, SEALED if summary.is_sealed else NO_SUMMARY
    losses = build_loss_report(before, summary.everything, stored.get("brief") or "")
    is_brief_gone = bool(stored.get("brief_id")) and not stored.get("brief")
    counts = LossCounts(
        known=sum(map(len, losses)),
        kept=len(losses.kept),
        restored=None if is_brief_gone else len(losses.restored),
        differs=len(losses.differs),
        to_recall=None if is_brief_gone else len(losses.to_recall),
    )
    return counts, BRIEF_NOT_KEPT if is_brief_gone else ""


def _measure_costs(
    row: SessionRow, records: list[RecordedCompaction], settings: Settings
) -> dict[int, tuple[ForgettingCost | None, str]]:
    """Return what each compaction cost, or None and why that cannot be told."""
    state = row["state"]
    boundaries = [compaction["line"] for compaction in state["compactions"]]
    last = records[-1].ordinal
    try:
        until = boundaries[last] if last < len(boundaries) else None
        activity = load_activity(row, state, until, settings)
    except UnreadableTranscript as problem:
        return {record.ordinal: (None, problem.detail) for record in records}
    is_logged = records_delivery(state, row["host"])
    return {
        record.ordinal: (
            (forgetting_cost(activity, boundaries, record.ordinal, logs_attachments=is_logged), "")
            if record.ordinal <= len(boundaries)
            else (None, NOT_IN_LOG)
        )
        for record in records
    }
