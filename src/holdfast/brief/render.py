"""Builds the brief: Markdown that a model reads well, within a token and a character limit."""

from __future__ import annotations

import zlib

from holdfast.brief import (
    activity,
    changes,
    checks,
    conflicts,
    findings,
    header_footer,
    history,
    instructions,
    plan,
    roles,
    user_words,
)
from holdfast.brief.packing import BriefBudget, pack_items
from holdfast.brief.summary_overlap import SearchableSummary
from holdfast.tokens.estimate import Estimator, utf16_units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.brief.items import Item
    from holdfast.brief.template import Template
    from holdfast.state.types import State

# A second limit in case the token estimate is too low: prose has about this many characters per
# token on the newest tokenizers, and no brief may have more.
MAX_CHARS_PER_TOKEN = 3.0
# Above this budget conflicts with the summary are required; below it, requests and rules come
# first.
CONFLICTS_REQUIRED_TOKENS = 850
# Beside a summary, text is shown if at least this share of its words is new. What is needed word by
# word, such as a command or a decision, and the task that is being worked on are shown even if the
# summary has most of their words.
MIN_NOVELTY = 0.4
EXACT_KINDS = ("shell", "verdict", "record", "task text", "chosen", "rejected", "file")


class Brief:
    """A rendered brief, and which items it shows, leaves out, or found in the summary already."""

    __slots__ = ("_estimator", "id", "in_summary", "left_out", "shown", "text")

    def __init__(
        self,
        text: str,
        ident: str,
        *,
        shown: list[Item],
        left_out: list[Item],
        in_summary: list[Item],
        estimator: Estimator,
    ) -> None:
        self.text = text
        self.id = ident
        self.shown = shown
        self.left_out = left_out
        self.in_summary = in_summary
        self._estimator = estimator

    @property
    def tokens(self) -> int:
        """Estimated tokens of the text."""
        return self._estimator.estimate(self.text)

    @property
    def units(self) -> int:
        """UTF-16 units of the text, which some hosts limit."""
        return utf16_units(self.text)


def build_brief(
    state: State,
    *,
    tokens: int,
    characters: int,
    commands: Sequence[tuple[str, str, str]] = (),
    notes: Sequence[str] = (),
    summary: str | None = None,
    template: Template = roles.SESSION_TEMPLATE,
    recall: str = "holdfast recall",
    session: str = "",
    scale: float = 1.0,
    compacted: bool = True,
    unread: tuple[int, int] | None = None,
) -> Brief:
    """Build the best brief of this state that stays within `tokens` and `characters`.

    `commands` are (name, rules, file) of active slash commands. `notes` are notes
    that people wrote. Items that `summary`, the host's summary, states already are left out.
    `recall` is the shell command that looks up transcript lines. `scale` is the calibrated factor
    of the model: counted tokens per estimated token. `unread` are the first and the last line that
    the state lacks. The brief is empty if nothing fits.
    """
    estimator = Estimator.for_model(state["usage"]["model"], scale)
    searchable = SearchableSummary(summary) if summary else None
    items = _apply_template(
        template,
        [
            *_find_conflicts(state, notes, searchable, tokens),
            *collect_items(state, searchable),
            *instructions.command_rule_items(state, commands),
            *instructions.note_items(notes),
        ],
    )
    in_summary = [item for item in items if searchable and searchable.covers(item)]
    in_summary_ids = {id(item) for item in in_summary}
    budget = BriefBudget(tokens, min(characters, int(MAX_CHARS_PER_TOKEN * tokens)), estimator.cost)
    opening, closing = header_footer.fit_opening_and_closing(
        state, template.title, recall, budget, compacted=compacted, summary=searchable,
        unread=unread,
    )  # fmt: skip
    if not closing:
        # Not even the hint how to look things up fits.
        return Brief("", "", shown=[], left_out=items, in_summary=[], estimator=estimator)
    candidates = [
        item
        for item in items
        if id(item) not in in_summary_ids and header_footer.adds_to_opening(opening, item, state)
    ]
    if searchable:
        candidates = _weigh_by_summary(candidates, searchable)
    shown, is_truncated = pack_items(candidates, budget, template.heading)
    if not is_truncated:
        closing = header_footer.render_closing(recall, truncated=False)
    shown_ids = {id(item) for item, _ in shown}
    left_out = [item for item in candidates if id(item) not in shown_ids]
    body = _render_body(template, opening, shown, closing)
    ident = f"{zlib.crc32((session + body).encode('utf-8', 'replace')):08x}"
    return Brief(
        header_footer.render_title(template.title, ident) + body,
        ident,
        shown=[item for item, _ in shown],
        left_out=left_out,
        in_summary=in_summary,
        estimator=estimator,
    )


def _weigh_by_summary(items: list[Item], summary: SearchableSummary) -> list[Item]:
    """Lower the value of what the summary says in part, and return the items that say enough that
    is new. The agent's last message counts as such an item if the summary describes the current
    work."""
    has_current_work = summary.has_current_work_heading()
    kept = []
    for item in items:
        if item.kind == "doing" and has_current_work:
            item.is_required, item.is_prose = False, True
        if item.is_prose:
            item.novelty = summary.novelty(item.quote)
        is_exact = item.kind in EXACT_KINDS or not item.is_prose
        if item.is_required or is_exact or item.novelty >= MIN_NOVELTY:
            kept.append(item)
    return kept


def collect_items(state: State, summary: SearchableSummary | None = None) -> list[Item]:
    """Every item that a brief of this state can show, in the order of the default sections.

    Of items with the same quote only the first is returned.
    """
    quotes: set[str] = set()
    items = []
    for item in _all_items(state, summary):
        if item.quote and item.quote in quotes:
            continue
        quotes.add(item.quote)
        items.append(item)
    return items


def _all_items(state: State, summary: SearchableSummary | None) -> list[Item]:
    return [
        *user_words.request_items(state, summary),
        *instructions.rule_items(state),
        *checks.failing_check_items(state),
        *checks.verdict_items(state),
        *plan.progress_items(state),
        *plan.plan_items(state, summary),
        *plan.plan_file_items(state, summary),
        *activity.current_work_items(state, summary),
        *findings.server_items(state),
        *instructions.decision_items(state),
        *findings.workaround_items(state),
        *findings.statement_items(state, summary),
        *findings.record_items(state, summary),
        *history.stretch_items(state),
        *changes.code_items(state),
        *changes.git_items(state),
        *activity.subagent_items(state, summary),
        *changes.file_count_items(state, summary),
        *changes.file_items(state, summary),
        *checks.command_items(state),
    ]


def _find_conflicts(
    state: State, notes: Sequence[str], summary: SearchableSummary | None, tokens: int
) -> Iterator[Item]:
    if summary is not None:
        required = tokens > CONFLICTS_REQUIRED_TOKENS
        yield from conflicts.find_conflicts(state, notes, summary, required=required)


def _apply_template(template: Template, items: list[Item]) -> list[Item]:
    """The items that have a section, in the order of the sections, with the role's weights."""
    order = {key: index for index, key in enumerate(template.sections)}
    kept = [item for item in items if item.section in order]
    for item in kept:
        item.value *= template.weights.get(item.section, 1.0)
    return sorted(kept, key=lambda item: order[item.section])


def _render_body(
    template: Template, opening: str, shown: list[tuple[Item, str]], closing: str
) -> str:
    lines = ["", opening] if opening else [""]
    for section in template.sections:
        section_lines = [form for item, form in shown if item.section == section]
        lines += [template.heading(section), *section_lines] if section_lines else []
    return "\n".join([*lines, closing, ""])
