"""Tell what one compaction did: what was known, kept, put back and lost, and what forgetting cost.

A compaction from before Holdfast was installed is reported too: the log before it is folded again,
and the brief is the one that Holdfast would have sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from holdfast import hosts
from holdfast.brief import roles
from holdfast.brief.render import Brief, build_brief
from holdfast.brief.template import Template
from holdfast.errors import UnreadableTranscript
from holdfast.hosts import claude_code
from holdfast.reports.actions import Activity, collect_activity
from holdfast.reports.forgetting import ForgettingCost, forgetting_cost
from holdfast.reports.loss import (
    CompactionLosses,
    KnownItem,
    build_loss_report,
    describe_items,
)
from holdfast.services.compaction.history import get_entry, load_snapshot
from holdfast.services.compaction.host_summary import HostSummary, load_host_summary
from holdfast.services.compaction.receipts import records_delivery
from holdfast.services.compaction.templates import load_custom_templates
from holdfast.services.recall.from_file import load_states_before, read_events
from holdfast.settings import Settings
from holdfast.state.completeness import count_items
from holdfast.state.types import State
from holdfast.store.protocols import SessionRow, Store
from holdfast.tokens.estimate import Estimator
from holdfast.tokens.scales import load_scale
from holdfast.transcript.subagent_logs import merge_subagent_events

# Where a brief comes from.
SENT, REBUILT, WOULD_BE = "sent", "rebuilt", "would be"
NOT_IN_LOG = "the log does not show this compaction"
NOTHING_BEFORE = "the log has nothing from before it"
NO_SUMMARY = "the host's summary is not known"
SEALED = "the host's summary is encrypted"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionReport:
    """One compaction in full."""

    session: str
    entry: dict[str, Any]
    """Its figures, as `list_compactions` has them."""
    summary: HostSummary
    brief: str
    brief_source: str
    """sent; rebuilt if the text of the one that was sent is no longer kept; or would be, if none
    was sent and this is the one that Holdfast would send today."""
    losses: CompactionLosses | None
    no_losses_reason: str
    """Why there are no losses, or why what the summary kept is not known in full."""
    items: list[KnownItem]
    """All items of `losses` with what summary and brief say of each, in the order of the log."""
    cost: ForgettingCost | None
    no_cost_reason: str

    def counts(self) -> dict[str, int]:
        """Return the number of items in each group."""
        return {name: len(items) for name, items in (self.losses or _NONE)._asdict().items()}


_NONE = CompactionLosses([], [], [], [])


def load_report(
    store: Store, row: SessionRow, state: State, number: int, settings: Settings
) -> CompactionReport:
    """Report one compaction. Raises NotFound if the session has none of this number."""
    entry = get_entry(store, row, state, number)
    record: Any = store.compaction(row["id"], number) or {}
    summary = load_host_summary(row, state, number, record.get("summary") or "")
    before, reason = _load_state_before(store, row, entry)
    brief, source = record.get("brief") or "", SENT
    if before is not None and not brief:
        source = REBUILT if record.get("brief_id") else WOULD_BE
        brief = _build_brief(before, row, summary, settings)
    if not reason and not summary.text:
        reason = SEALED if summary.is_sealed else NO_SUMMARY
    losses = build_loss_report(before, summary.everything, brief) if before else None
    cost, no_cost_reason = load_cost(row, state, number, settings)
    return CompactionReport(
        session=row["id"],
        entry=entry,
        summary=summary,
        brief=brief,
        brief_source=source,
        losses=losses,
        no_losses_reason=reason,
        items=describe_items(losses, summary.everything, brief) if losses else [],
        cost=cost,
        no_cost_reason=no_cost_reason,
    )


def load_losses(
    store: Store, row: SessionRow, state: State, number: int
) -> CompactionLosses | None:
    """Compare the state before a compaction with its summary and the brief that was sent.

    None if that state is not known. Raises NotFound if the session has no such compaction.
    """
    entry = get_entry(store, row, state, number)
    record: Any = store.compaction(row["id"], number) or {}
    summary = load_host_summary(row, state, number, record.get("summary") or "")
    before, _ = _load_state_before(store, row, entry)
    if before is None:
        return None
    return build_loss_report(before, summary.everything, record.get("brief") or "")


def count_lost(row: SessionRow, state: State) -> tuple[int, int] | None:
    """Return how many items the summary of the last compaction lost, and how many were known.

    None if that is not known.
    """
    number = len(state["compactions"])
    summary = load_host_summary(row, state, number, "") if number else None
    if summary is None or not summary.text:
        return None
    try:
        before = next(_states_before(row, state["compactions"][-1]["line"]), None)
    except UnreadableTranscript:
        return None
    if before is None or not count_items(before):
        return None
    losses = build_loss_report(before, summary.everything, "")
    known = sum(map(len, losses))
    return known - len(losses.kept), known


def _load_state_before(
    store: Store, row: SessionRow, entry: dict[str, Any]
) -> tuple[State | None, str]:
    """Return the state before a compaction, from its snapshot or else from the log.

    If there is none, the second value says why.
    """
    snapshot = load_snapshot(store, entry)
    if snapshot is not None:
        return snapshot["state"], ""
    if not entry["line"]:
        return None, NOT_IN_LOG
    try:
        state = next(_states_before(row, entry["line"]), None)
    except UnreadableTranscript as problem:
        return None, problem.detail
    if state is None:
        return None, NOT_IN_LOG
    return (state, "") if count_items(state) else (None, NOTHING_BEFORE)


def _states_before(row: SessionRow, line: int) -> Iterator[State]:
    return islice(load_states_before(row["transcript"], [line]), 1)


def rebuild_brief(
    store: Store,
    row: SessionRow,
    state: State,
    number: int,
    settings: Settings,
    *,
    role: str,
    tokens: int,
) -> Brief | None:
    """Build the brief of a compaction again for a role and a budget; None if the state before it is
    not known. Raises NotFound if there is no such compaction, and InvalidInput for another role.
    """
    entry = get_entry(store, row, state, number)
    record: Any = store.compaction(row["id"], number) or {}
    summary = load_host_summary(row, state, number, record.get("summary") or "")
    before, _ = _load_state_before(store, row, entry)
    if before is None:
        return None
    templates, _ = load_custom_templates(row["project"], settings.home)
    template = roles.find_template(role, templates)
    return _render_brief(before, row, summary, settings, template, tokens)


def list_roles(row: SessionRow, settings: Settings) -> list[str]:
    """Return the names of the roles that a brief of this session can be written for."""
    return sorted(
        {*roles.built_in_templates(), *load_custom_templates(row["project"], settings.home)[0]}
    )


def _build_brief(before: State, row: SessionRow, summary: HostSummary, settings: Settings) -> str:
    tokens = settings.brief_tokens
    return _render_brief(before, row, summary, settings, roles.SESSION_TEMPLATE, tokens).text


def _render_brief(
    before: State,
    row: SessionRow,
    summary: HostSummary,
    settings: Settings,
    template: Template,
    tokens: int,
) -> Brief:
    host = hosts.find_host(row["host"]) or claude_code
    return build_brief(
        before,
        tokens=tokens,
        characters=host.MAX_BRIEF_UNITS,
        summary=summary.everything or None,
        template=template,
        session=row["id"],
        scale=load_scale(settings.home, before["usage"]["model"]),
    )


def load_cost(
    row: SessionRow, state: State, number: int, settings: Settings
) -> tuple[ForgettingCost | None, str]:
    """Measure in the log what a compaction cost; if that cannot be told, return why."""
    boundaries = [compaction["line"] for compaction in state["compactions"]]
    if number > len(boundaries):
        return None, NOT_IN_LOG
    following = boundaries[number] if number < len(boundaries) else None
    try:
        activity = load_activity(row, state, following, settings)
    except UnreadableTranscript as problem:
        return None, problem.detail
    logs_attachments = records_delivery(state, row["host"])
    cost = forgetting_cost(activity, boundaries, number, logs_attachments=logs_attachments)
    return cost, ""


def load_activity(
    row: SessionRow, state: State, until_line: int | None, settings: Settings
) -> Activity:
    """Read what the agent did, up to a line if one is given; raises UnreadableTranscript."""
    path, model = row["transcript"], state["usage"]["model"]
    estimator = Estimator.for_model(model, load_scale(settings.home, model))
    events = merge_subagent_events(read_events(path, until_line), path)
    return collect_activity(events, estimator.cost)
