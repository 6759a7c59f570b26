"""One compaction: what was known, what the host's summary says, what the brief put back, and what
forgetting cost."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Annotated, Any

from litestar import MediaType, Response, get
from litestar.params import QueryParameter
from litestar.response import Template

from holdfast.brief.template import SECTIONS
from holdfast.redaction import redact
from holdfast.reports.forgetting import Figure, ForgettingCost
from holdfast.reports.loss import KnownItem
from holdfast.server.dependencies import CallerDatabases, PageSettings
from holdfast.server.web import rendering
from holdfast.server.web.marked_text import Mark, mark_text
from holdfast.server.web.session_access import Number, SessionId, require_session, title_of
from holdfast.services.compaction.report import (
    REBUILT,
    CompactionReport,
    list_roles,
    load_report,
    rebuild_brief,
)
from holdfast.services.sessions import refresh_session
from holdfast.settings import Settings
from holdfast.store.protocols import SessionRow

# The groups of items: the colour, the word on the tag, and what the legend says.
GROUPS = {
    "kept": ("kept", "kept", "kept by the summary"),
    "restored": ("restored", "put back", "put back by the brief"),
    "differs": ("differs", "differs", "the summary says otherwise"),
    "to_recall": ("lost", "lookup", "one lookup away"),
}
# How receipts are told.
RECEIPTS = {
    "whole": ("ok", "brief arrived whole, once"),
    "cut": ("bad", "brief arrived truncated"),
    "twice": ("note", "brief arrived twice"),
    "never": ("bad", "brief did not arrive"),
    "none": ("bad", "no brief was sent"),
    "pending": ("", "no message since, so not known yet"),
    "unproven": ("", "not known: this host does not record it"),
}
BRIEF_TITLES = {
    "sent": "The brief that was put back",
    "rebuilt": "The brief, built again",
    "would be": "The brief that Holdfast would put back",
}
DEFAULT_ROLE = "session"
MIN_BRIEF_TOKENS, MAX_BRIEF_TOKENS = 100, 3000
BriefTokens = Annotated[
    int | None,
    QueryParameter(ge=MIN_BRIEF_TOKENS, le=MAX_BRIEF_TOKENS, description="budget of the brief"),
]
Role = Annotated[str, QueryParameter(max_length=80, description="role to write the brief for")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostCard:
    """One figure of what forgetting cost."""

    title: str
    number: str
    note: str
    before: str
    lines: list[tuple[str, int]]
    """What was counted, with its line."""


@get("/sessions/{ident:str}/compactions/{number:int}", sync_to_thread=True)
def show_compaction(
    databases: CallerDatabases,
    page_settings: PageSettings,
    ident: SessionId,
    number: Number,
    role: Role = "",
    tokens: BriefTokens = None,
) -> Template:
    """Show what one compaction did, with the brief that was sent or one for a role and budget."""
    with databases.connect() as db:
        row = require_session(db, ident)
        state = refresh_session(db.store, row).state
        report = load_report(db.store, row, state, number, page_settings)
        if role or tokens:
            made = rebuild_brief(
                db.store, row, state, number, page_settings,
                role=role or DEFAULT_ROLE, tokens=tokens or page_settings.brief_tokens,
            )  # fmt: skip
            report = replace(report, brief=made.text if made else "", brief_source=REBUILT)
    return _render(row, report, len(state["compactions"]), page_settings, role, tokens)


@get("/sessions/{ident:str}/compactions/{number:int}/file", sync_to_thread=True)
def download_compaction(
    databases: CallerDatabases, page_settings: PageSettings, ident: SessionId, number: Number
) -> Response[str]:
    """Send the same as one file that needs nothing else, to share."""
    with databases.connect() as db:
        row = require_session(db, ident)
        state = refresh_session(db.store, row).state
        report = load_report(db.store, row, state, number, page_settings)
    name = f"compaction-{number}-of-{ident[:8]}.html"
    return Response(
        render_file(row, report),
        media_type=MediaType.HTML,
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "X-Content-Type-Options": "nosniff",
        },
    )


def render_file(row: SessionRow, report: CompactionReport) -> str:
    """Return the view of a compaction as one HTML file without scripts and links."""
    values = _to_context(row, report)
    return redact(rendering.render_text("compaction.html", layout="file.html", **values))


def _render(
    row: SessionRow,
    report: CompactionReport,
    total: int,
    settings: Settings,
    role: str,
    tokens: int | None,
) -> Template:
    return rendering.render(
        "compaction.html",
        section="sessions",
        layout="base.html",
        total=total,
        roles=list_roles(row, settings),
        role=role or DEFAULT_ROLE,
        tokens=tokens or settings.brief_tokens,
        **_to_context(row, report),
    )


def _to_context(row: SessionRow, report: CompactionReport) -> dict[str, Any]:
    """Return what the template shows."""
    ident, number, entry = row["id"], report.entry["ordinal"], report.entry
    counts = report.counts().items()
    return {
        "title": f"compaction {number}",
        "crumbs": [
            (os.path.basename(row["project"]), "/sessions"),
            (title_of(row, 60), f"/sessions/{ident}"),
        ],
        "heading": f"Compaction {number} of “{title_of(row)}”",
        "session": ident,
        "entry": entry,
        "number": number,
        "receipt": RECEIPTS.get(entry["receipt"] or "", ("", "")),
        "report": report,
        "groups": GROUPS,
        "counts": [(GROUPS[name][0], count) for name, count in counts],
        "legend": [(GROUPS[name][0], GROUPS[name][2], count) for name, count in counts],
        "sections": group_items(report.items),
        "summary": mark_text(report.summary.everything, summary_marks(report)),
        "brief": mark_text(report.brief, brief_marks(report)),
        "brief_title": BRIEF_TITLES[report.brief_source],
        "costs": to_cost_cards(report.cost) if report.cost else [],
    }


def group_items(items: list[KnownItem]) -> list[tuple[str, list[KnownItem]]]:
    """Return the items by the heading under which a brief lists them, in the order of a brief."""
    by_kind: dict[str, list[KnownItem]] = {}
    for item in items:
        by_kind.setdefault(KIND_HEADINGS.get(item.kind, "Other"), []).append(item)
    order = [*SECTIONS.values(), "Other"]
    return sorted(by_kind.items(), key=lambda pair: order.index(pair[0]))


# The heading of each kind of item.
KIND_HEADINGS = {
    "disagreement": SECTIONS["disagree"],
    "request": SECTIONS["asked"],
    "prohibition": SECTIONS["rules"],
    "requirement": SECTIONS["rules"],
    "command rules": SECTIONS["force"],
    "note": SECTIONS["notes"],
    "error": SECTIONS["failing"],
    "progress": SECTIONS["progress"],
    **dict.fromkeys(("plan", "done", "plan file", "task text"), SECTIONS["plan"]),
    **dict.fromkeys(
        ("doing", "unfinished", "command", "question", "verdict", "server"), SECTIONS["now"]
    ),
    **dict.fromkeys(("chosen", "rejected"), SECTIONS["decided"]),
    **dict.fromkeys(("workaround", "statement", "record"), SECTIONS["found"]),
    "stretch": SECTIONS["earlier"],
    **dict.fromkeys(("languages", "manifests"), SECTIONS["code"]),
    **dict.fromkeys(("branch", "uncommitted", "commit", "unpushed", "link"), SECTIONS["git"]),
    **dict.fromkeys(("agent", "handoffs"), SECTIONS["agents"]),
    **dict.fromkeys(("counts", "file"), SECTIONS["files"]),
    "shell": SECTIONS["commands"],
}


def summary_marks(report: CompactionReport) -> list[Mark]:
    """Return the lines of the summary that say an item, or say something else."""
    return [
        Mark(item.summary_says, GROUPS[item.group][0])
        for item in report.items
        if item.summary_says and item.group in ("kept", "differs")
    ]


def brief_marks(report: CompactionReport) -> list[Mark]:
    return [
        Mark(item.brief_says, GROUPS[item.group][0])
        for item in report.items
        if item.brief_says and item.group in ("restored", "differs")
    ]


def to_cost_cards(cost: ForgettingCost) -> list[CostCard]:
    """Return the figures after the compaction, each beside the same session's own before it."""
    after, before = cost.after, cost.before
    missing = f"before it: {cost.no_before_reason}" if cost.no_before_reason else ""

    def card(title: str, name: str, unit: str) -> CostCard:
        figure: Figure = getattr(after, name)
        own = getattr(before, name) if before else None
        return CostCard(
            title=title,
            number=render_count(figure),
            note=_render_note(figure, unit),
            before=f"before it: {render_count(own)}" if own else missing,
            lines=[(item.text, item.line) for item in figure.items],
        )

    shown = cost.files_shown_by_host
    return [
        card("Until the first edit", "first_edit", "actions"),
        card("Files read again", "files_read_again", "files read before"),
        card("Commands repeated", "commands_repeated", "commands"),
        card("Questions asked again", "questions_asked_again", "questions"),
        CostCard(
            title="Files shown by the host", number=render_count(shown),
            note=_render_note(shown, "files"), before="",
            lines=[(item.text, item.line) for item in shown.items],
        ),
    ]  # fmt: skip


def render_count(figure: Figure) -> str:
    if figure.count is None:
        return "–"
    return f"at least {figure.count}" if figure.is_minimum else str(figure.count)


def _render_note(figure: Figure, unit: str) -> str:
    """Return what a figure is out of, or why it cannot be told."""
    if figure.count is None:
        return figure.reason
    parts = [f"of {figure.out_of} {unit}"] if figure.out_of else []
    if figure.tokens:
        parts.append(f"about {rendering.format_count(figure.tokens)} tokens")
    if figure.changed_since:
        parts.append(f"{figure.changed_since} more had changed since")
    return ", ".join(parts)
