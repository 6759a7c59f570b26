"""The first lines of a brief, which are complete by themselves, and the last line, which says how
to look things up."""

from __future__ import annotations

from holdfast.brief.history import describe_earlier, era_end_lines
from holdfast.brief.instructions import render_question
from holdfast.brief.items import ref
from holdfast.brief.template import DEFAULT_TITLE
from holdfast.state.rules.compactions import BRIEF_MARKER
from holdfast.state.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.brief.items import Item
    from holdfast.brief.pack import BriefBudget
    from holdfast.brief.summary_overlap import SearchableSummary
    from holdfast.state.types import State

# The share of the budget that the opening may take.
MAX_OPENING_SHARE = 0.2
# How many characters of the latest request the opening quotes: the first size that fits.
QUOTE_CHARS = (400, 240, 120, 80)
# Of a brief of at most so many tokens, the 2 KB that a host may show as a preview hold everything
# before the files. Its opening does not list what is open, because the preview shows it anyway.
PREVIEW_TOKENS = 1000
# Up to this budget the opening and the closing are shorter.
SMALL_TOKENS = 1200
# Up to this budget earlier eras are only a line to look up, and mentions have hardly any words
# around them.
TERSE_TOKENS = 600
SHORT_TITLE = "This session"
# About how many characters of a request item are not the request's own words.
REQUEST_LABEL_CHARS = 30
HOW_TO_READ = "“…” is verbatim, (L12) its line 12."


def render_title(name: str, ident: str, tokens: float) -> str:
    """The heading of the brief with its id. Only the default title is shortened, never a role's."""
    title = SHORT_TITLE if name == DEFAULT_TITLE and tokens <= TERSE_TOKENS else name
    return f"# {title} ({BRIEF_MARKER}{ident})"


def fit_opening_and_closing(
    state: State,
    name: str,
    recall: str,
    budget: BriefBudget,
    *,
    compacted: bool,
    summary: SearchableSummary | None,
) -> tuple[str, str]:
    """The fullest opening within its share, and the closing; their budget and the title's is taken.

    Both are empty if not even the closing fits.
    """
    tokens = budget.tokens
    last = render_closing(recall, tokens, truncated=True)
    for quote_chars in QUOTE_CHARS:
        first = render_opening(state, quote_chars, tokens, compacted=compacted, summary=summary)
        if budget.cost(first) <= MAX_OPENING_SHARE * tokens and budget.take(
            _join_frame(name, first, last, tokens)
        ):
            return first, last
    for first in (HOW_TO_READ, ""):
        if budget.take(_join_frame(name, first, last, tokens)):
            return first, last
    return "", ""


def _join_frame(name: str, first: str, last: str, tokens: float) -> str:
    return "\n".join([render_title(name, "0" * 8, tokens), first, last, ""])


def render_reading_note(state: State, tokens: float, *, compacted: bool) -> str:
    """Where the lines of the brief come from, and the number of the compaction just made."""
    number = len(era_end_lines(state)) + 1
    # A larger brief has a section for earlier eras.
    is_repeated = number > 1 and tokens <= SMALL_TOKENS
    earlier = f" ({_describe_earlier(state, tokens)})" if is_repeated else ""
    when = f"After compaction {number}{earlier}, from" if compacted else "From"
    if tokens <= SMALL_TOKENS:
        return f"{when} the log, by line (L12)."
    return f"{when} the log: {HOW_TO_READ}"


def _describe_earlier(state: State, tokens: float) -> str:
    ends = era_end_lines(state)
    return describe_earlier(state) if tokens > TERSE_TOKENS else f"{len(ends)} at L{ends[-1]}"


def render_opening(
    state: State,
    quote_chars: int,
    tokens: float,
    *,
    compacted: bool,
    summary: SearchableSummary | None = None,
) -> str:
    """The first paragraph, which is all that a host with a preview may show.

    A request that the summary has word for word is not quoted again, and a brief that fits into a
    preview does not list what is open: its sections are visible too.
    """
    lead = [render_reading_note(state, tokens, compacted=compacted)]
    if state["requests"]:
        latest = state["requests"][-1]
        is_in_summary = summary is not None and summary.quotes(latest["text"])
        quoted = f"“{one_line(latest['text'], quote_chars)}”"
        request = "as in the summary" if is_in_summary else quoted
        if tokens > SMALL_TOKENS or not is_in_summary:
            lead.append(f"Latest request: {request}{render_question(latest)} (L{latest['line']}).")
    if tokens <= PREVIEW_TOKENS:
        return " ".join(lead)
    open_now: list[str] = []
    running = [item for item in state["plan"] if item["status"] == "in_progress"]
    if running:
        item = running[-1]
        where = ref(item["told"], item["line"])
        open_now.append(f"in progress: {one_line(item['text'], 100)} {where}")
    failing = [check for check in state["checks"] if not check["ok"] and check["kind"] != "run"]
    if failing:
        command = one_line(failing[-1]["command"], 60)
        open_now.append(f"failing: `{command}` {ref(failing[-1]['call'])}")
    return " ".join([*lead, f"Open now: {'; '.join(open_now)}."] if open_now else lead)


def adds_to_opening(opening: str, item: Item, state: State, tokens: float) -> bool:
    """Whether an item says more than the opening does.

    Changes the item where the opening says part of it: it is no longer required, and of the latest
    request only the forms that are longer than the opening's quotation remain.
    """
    if item.kind == "era" and f"({_describe_earlier(state, tokens)})" in opening:
        item.is_required = False
    latest = state["requests"][-1]["line"] if state["requests"] else 0
    if item.kind != "request" or item.line != latest:
        return True
    quoted = next((size for size in QUOTE_CHARS if f"“{one_line(item.quote, size)}”" in opening), 0)
    if quoted:
        item.is_required = False
        item.forms = tuple(form for form in item.forms if len(form) > quoted + REQUEST_LABEL_CHARS)
    return bool(item.forms) and len(one_line(item.quote, 10_000)) > quoted


def render_closing(recall: str, tokens: float, *, truncated: bool, pointers: str = "") -> str:
    """The last line: how to look things up, and whether and what the budget left out."""
    is_small = tokens <= SMALL_TOKENS
    how = f"`{recall} L12` or words" if is_small else f'`{recall} L12` or `{recall} "words"`'
    if not truncated:
        return f"Look up more: {how}." if is_small else f"Look up what stands behind it: {how}."
    left_out = f"{pointers}; " if pointers else ""
    finds = "" if tokens <= TERSE_TOKENS else " finds the rest"
    return f"*[Brief truncated due to token limit: {left_out}{how}{finds}]*"
