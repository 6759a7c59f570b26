"""Divides the budget: required items first, then mentions, then longer forms and other items.

A mention is the name of a file, a command, an identifier or a link. The shares were chosen with
`holdfast eval` (docs/why/quality.md): in a small brief, once the rules are known, an agent misses
mentions most; in a larger one sentences are worth more.
"""

from __future__ import annotations

from holdfast.brief.instructions import MIN_USER_DECISION_VALUE
from holdfast.brief.items import Item
from holdfast.brief.mention_layout import MentionLayout, failing_checks_by_file
from holdfast.brief.mention_ranking import AMPLE_TOKENS, ENOUGH_TOKENS
from holdfast.brief.pack import pack_items
from holdfast.brief.summary_overlap import SearchableText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.brief.mention_ranking import RankedMention
    from holdfast.brief.pack import BriefBudget
    from holdfast.brief.summary_overlap import SearchableSummary
    from holdfast.brief.template import Template
    from holdfast.state.types import Check, State

# Required items leave at least this share of the budget to the rest.
MIN_FREE_SHARE = 0.2
# The share of the remaining budget that goes to mentions: all of it up to ENOUGH_TOKENS, and for
# each token above that less by this much, without or with a summary, down to the minimum.
MENTION_DECLINE_ALONE, MENTION_DECLINE_WITH_SUMMARY, MIN_MENTION_SHARE = 0.00015, 0.00007, 0.5
# A budget up to SCARCE_TOKENS has required items only. Up to the second limit a request may be cut
# to its shortest form, up to the third to its second shortest.
SCARCE_TOKENS, ONE_LINE_GOAL_TOKENS, SHORT_GOAL_TOKENS = 400, 450, 500
# How much of the tokens above SCARCE_TOKENS the user's rules, the user's decisions and the open
# items of a long plan may take before mentions do, and how much of the tokens above ENOUGH_TOKENS
# the requests between the first and the latest may take.
RULES_SHARE, DECISIONS_SHARE, PLAN_SHARE, REQUESTS_SHARE = 0.5, 0.1, 0.3, 0.1
# When a mention does not fit, this many of the following ones are tried: a shorter one may fit.
MAX_SHORTER_TRIED = 10
# Sums of token costs are rounded: what fitted once must fit again.
ROUNDING_TOKENS = 0.01
# A budget above this has pointers to the items left out; up to AMPLE_TOKENS only the first few.
POINTERS_FROM_TOKENS, FEW_POINTERS = 700, 2
# What a pointer calls an item of each section.
SECTION_NOUNS = {
    "asked": "request", "rules": "rule", "failing": "failure", "plan": "plan item", "now": "step",
    "decided": "decision", "earlier": "earlier stage", "agents": "sub-agent", "notes": "note",
}  # fmt: skip

ItemForms = list[tuple[Item, str]]
SectionLines = dict[str, list[str]]


class Allocation:
    """What a brief shows: items with their forms, mentions and their lines, and pointers."""

    __slots__ = ("is_complete", "items", "mention_lines", "mentions", "pointers")

    def __init__(
        self,
        items: ItemForms,
        mentions: Sequence[RankedMention],
        mention_lines: SectionLines,
        pointers: str,
        *,
        is_complete: bool,
    ) -> None:
        self.items = items
        self.mentions = mentions
        self.mention_lines = mention_lines
        self.pointers = pointers
        self.is_complete = is_complete
        """Whether nothing was left out."""


def allocate(
    state: State,
    items: list[Item],
    mentions: list[RankedMention],
    budget: BriefBudget,
    *,
    template: Template,
    opening: str,
    summary: SearchableSummary | None,
    terse: bool = False,
) -> Allocation:
    """As many of the items and of the mentions as the budget holds.

    Mentions that the opening or a shown item has already are left out, except files. A `terse`
    allocation writes mentions with as few words around them as possible.
    """
    heading = template.heading
    required = _select_required(items, budget, summary)
    required_budget = budget.with_tokens(budget.tokens * (1 - MIN_FREE_SHARE))
    available = required_budget.tokens
    required_forms = pack_items(required, required_budget, heading, shortest=True)
    free = budget.tokens - (available - required_budget.tokens)
    share = _mention_share(budget.tokens, summary is not None) * template.weights.get("names", 1.0)
    reserved = free * min(share, 1.0) if mentions else 0.0
    item_budget = budget.with_tokens(budget.tokens - reserved + ROUNDING_TOKENS)
    shown = pack_items(items, item_budget, heading, required=[item for item, _ in required_forms])
    left = item_budget.with_tokens(item_budget.tokens + reserved - ROUNDING_TOKENS)
    pointers = render_pointers(items, shown, budget.tokens)
    pointers = pointers if left.take(pointers) else ""
    open_sections = {item.section for item, _ in shown}
    mentions = _not_mentioned_in(mentions, [opening, *(form for _, form in shown)])
    fitting, lines = _fit_mentions(state, mentions, left, heading, open_sections, terse=terse)
    has_all_mentions = len(fitting) == len(mentions)
    if has_all_mentions:
        # Items get what mentions did not need, as long as no item that was shown goes.
        left = budget.without(join_sections(lines, heading, set())).without(pointers)
        repacked = pack_items(items, left, heading, required=required)
        if {id(item) for item, _ in shown} <= {id(item) for item, _ in repacked}:
            shown = repacked
            fewer = render_pointers(items, shown, budget.tokens)
            pointers = fewer if budget.cost(fewer) <= budget.cost(pointers) else ""
    is_complete = has_all_mentions and len(shown) == len(items)
    return Allocation(shown, fitting, lines, pointers, is_complete=is_complete)


def _not_mentioned_in(mentions: list[RankedMention], texts: list[str]) -> list[RankedMention]:
    """The mentions that these texts do not have. Files stay: only their own line says whether
    they were created, edited or deleted."""
    text = SearchableText("\n".join(texts))
    return [one for one in mentions if one.kind == "file" or not text.mentions(one.text, one.kind)]


def render_pointers(items: list[Item], shown: ItemForms, tokens: float) -> str:
    """How many items of each section were left out, and the transcript line of the last of them;
    empty in a small brief."""
    shown_ids = {id(item) for item, _ in shown}
    left_out = [item for item in items if id(item) not in shown_ids and item.line]
    lines_by_section: dict[str, list[int]] = {}
    for item in sorted(left_out, key=lambda item: -item.value):
        lines_by_section.setdefault(item.section, []).append(item.line)
    limit = (
        0 if tokens <= POINTERS_FROM_TOKENS
        else FEW_POINTERS if tokens <= AMPLE_TOKENS
        else len(lines_by_section)
    )  # fmt: skip
    return ", ".join(
        f"{_count_items(section, len(lines))} L{max(lines)}"
        for section, lines in list(lines_by_section.items())[:limit]
    )


def _count_items(section: str, count: int) -> str:
    noun = SECTION_NOUNS.get(section, f"{section} line")
    return noun if count == 1 else f"{count} {noun}s to"


def _select_required(
    items: list[Item], budget: BriefBudget, summary: SearchableSummary | None
) -> list[Item]:
    """The required items, and as many of the user's rules, decisions and requests and of the open
    plan items as their shares of the budget hold.

    In a larger budget the shortest forms of required requests are removed.
    """
    optional_kinds = _optional_kinds(summary, budget) if summary else ()
    required = [item for item in items if item.is_required and item.kind not in optional_kinds]
    dropped_forms = (budget.tokens > ONE_LINE_GOAL_TOKENS) + (budget.tokens > SHORT_GOAL_TOKENS)
    for item in required if dropped_forms else ():
        if item.kind == "request":
            item.forms = item.forms[:-dropped_forms] or item.forms
    by_value = sorted(items, key=lambda item: -item.value)
    rules = [item for item in by_value if item.section == "rules" and not item.is_required]
    requests = [item for item in by_value if item.kind == "request" and not item.is_required]
    decisions = [
        item
        for item in by_value
        if item.section == "decided" and item.value >= MIN_USER_DECISION_VALUE
    ]
    plan = [item for item in by_value if item.kind == "plan" and not item.is_required]
    above_scarce = budget.tokens - SCARCE_TOKENS
    above_enough = budget.tokens - ENOUGH_TOKENS
    required += _select_affordable(rules, RULES_SHARE * above_scarce, budget)
    required += _select_affordable(decisions, DECISIONS_SHARE * above_scarce, budget)
    required += _select_affordable(plan, PLAN_SHARE * above_scarce, budget)
    required += _select_affordable(requests, REQUESTS_SHARE * above_enough, budget)
    return required


def _select_affordable(items: list[Item], tokens: float, budget: BriefBudget) -> Iterator[Item]:
    """The items whose shortest forms fit together into so many tokens."""
    for item in items:
        needed = budget.cost(item.forms[-1] + "\n")
        if needed <= tokens:
            tokens -= needed
            yield item


def _optional_kinds(summary: SearchableSummary, budget: BriefBudget) -> set[str]:
    """Kinds of required items that this summary makes optional: the current work, if the summary
    has a heading for it, and the number of changed files where the budget is scarce."""
    scarce = {"counts"} if budget.tokens <= SCARCE_TOKENS else set()
    return scarce | ({"doing"} if summary.has_current_work_heading() else set())


def _mention_share(tokens: float, has_summary: bool) -> float:
    decline = MENTION_DECLINE_WITH_SUMMARY if has_summary else MENTION_DECLINE_ALONE
    return min(1.0, max(MIN_MENTION_SHARE, 1.0 - decline * (tokens - ENOUGH_TOKENS)))


def _fit_mentions(
    state: State,
    mentions: list[RankedMention],
    budget: BriefBudget,
    heading: Callable[[str], str],
    open_sections: set[str],
    *,
    terse: bool,
) -> tuple[Sequence[RankedMention], SectionLines]:
    """As many mentions as fit, the highest ranked first, with their lines by section."""
    failing = failing_checks_by_file(state)

    def lines(candidates: Sequence[RankedMention]) -> SectionLines:
        return render_mention_lines(state, candidates, failing, terse=terse)

    def fits(candidates: Sequence[RankedMention]) -> bool:
        return budget.fits(join_sections(lines(candidates), heading, open_sections))

    low, high = 0, len(mentions)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(mentions[:middle]) else (low, middle - 1)
    fitting = mentions[:low]
    for mention in mentions[low + 1 : low + 1 + MAX_SHORTER_TRIED]:
        if fits([*fitting, mention]):
            fitting.append(mention)
    return fitting, lines(fitting)


def render_mention_lines(
    state: State,
    mentions: Sequence[RankedMention],
    failing: dict[str, Check],
    *,
    terse: bool = False,
) -> SectionLines:
    """The lines that list these mentions, by section; sections without lines are missing."""
    if not mentions:
        return {}
    layout = MentionLayout(state, mentions, failing, terse=terse)
    lines = {"files": layout.files(), "commands": layout.commands(), "names": layout.others()}
    return {section: texts for section, texts in lines.items() if texts}


def join_sections(
    lines: SectionLines, heading: Callable[[str], str], open_sections: set[str]
) -> str:
    """The sections as text, without headings of the sections that the brief has already."""
    parts = [[*([] if key in open_sections else [heading(key)]), *lines[key]] for key in lines]
    return "\n".join(line for part in parts for line in part)
