"""The first lines of a brief, which are complete by themselves, and the last line, which says how
to look things up."""

from __future__ import annotations

from holdfast.brief.checks import is_open_failure
from holdfast.brief.history import stretch_ends
from holdfast.brief.items import ref
from holdfast.brief.plan import is_outdated
from holdfast.brief.user_words import find_prose, render_question
from holdfast.state.quoting import code, plain_line, quote
from holdfast.state.rules.compactions import BRIEF_MARKER
from holdfast.state.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.brief.items import Item
    from holdfast.brief.packing import BriefBudget
    from holdfast.brief.summary_overlap import SearchableSummary
    from holdfast.state.types import State

# The share of the budget that the opening may take.
MAX_OPENING_SHARE = 0.25
# How many characters of the latest request the opening quotes: the first size that fits.
QUOTE_CHARS = (600, 400, 240, 120, 80)
# About how many characters of a request item are not the request's own words.
REQUEST_LABEL_CHARS = 30
NOT_READ_YET = (
    "Lines {} to {} were not read yet, so requests, rules and decisions may be missing here; the "
    "complete brief follows with a prompt."
)
HOW_TO_READ = "“…” is verbatim, (L12) its line 12."


def render_title(name: str, ident: str) -> str:
    """The heading of the brief with its id."""
    return f"# {name} ({BRIEF_MARKER}{ident})"


def fit_opening_and_closing(
    state: State,
    name: str,
    recall: str,
    budget: BriefBudget,
    *,
    compacted: bool,
    summary: SearchableSummary | None,
    unread: tuple[int, int] | None = None,
) -> tuple[str, str]:
    """The fullest opening within its share, and the longest closing; their budget and the title's
    is taken. Both are empty if not even the closing fits."""
    tokens = budget.tokens
    last = render_closing(recall, truncated=True)
    for quote_chars in QUOTE_CHARS:
        first = render_opening(
            state, quote_chars, compacted=compacted, summary=summary, unread=unread
        )
        if budget.cost(first) <= MAX_OPENING_SHARE * tokens and budget.take(
            _join_frame(name, first, last)
        ):
            return first, last
    for first in (HOW_TO_READ, ""):
        if budget.take(_join_frame(name, first, last)):
            return first, last
    return "", ""


def _join_frame(name: str, first: str, last: str) -> str:
    return "\n".join([render_title(name, "0" * 8), first, last, ""])


def render_opening(
    state: State,
    quote_chars: int,
    *,
    compacted: bool,
    summary: SearchableSummary | None = None,
    unread: tuple[int, int] | None = None,
) -> str:
    """The first paragraph, which is all that a host with a preview may show: where the lines come
    from, the latest request and what is open.

    A request that the summary has word for word is not quoted again.
    """
    # The number of the compaction is not known while lines are unread.
    which = f"compaction {len(stretch_ends(state)) + 1}" if unread is None else "a compaction"
    when = f"After {which}, from" if compacted else "From"
    parts = [f"{when} the log: {HOW_TO_READ}"]
    if unread is not None:
        parts.append(NOT_READ_YET.format(*unread))
    if state["requests"]:
        latest = state["requests"][-1]
        is_in_summary = summary is not None and summary.quotes(latest["text"])
        quoted = quote(find_prose(latest["text"]), quote_chars)
        if not is_in_summary:
            where = ref(latest["line"], latest.get("said_line", 0))
            parts.append(f"Latest request: {quoted}{render_question(latest)} {where}.")
    if open_now := _find_open_work(state):
        parts.append(f"Open now: {'; '.join(open_now)}.")
    return " ".join(parts)


def _find_open_work(state: State) -> list[str]:
    """The plan item that is in progress, and the check that fails."""
    open_now = []
    running = [item for item in state["plan"] if item["status"] == "in_progress"]
    if running and not is_outdated(state):
        item = running[-1]
        where = ref(item["source_line"], item["line"])
        open_now.append(f"in progress: {plain_line(item['text'], 100)} {where}")
    failing = [check for check in state["checks"] if is_open_failure(state, check)]
    if failing:
        command = code(failing[-1]["command"], 60)
        open_now.append(f"failing: {command} {ref(failing[-1]['call'])}")
    return open_now


def adds_to_opening(opening: str, item: Item, state: State) -> bool:
    """Whether an item says more than the opening does.

    Changes the item of the latest request: it is no longer required, and only the forms that are
    longer than the opening's quotation remain.
    """
    latest = state["requests"][-1]["line"] if state["requests"] else 0
    if item.kind != "request" or item.line != latest:
        return True
    text = find_prose(item.quote)
    quoted = next((size for size in QUOTE_CHARS if quote(text, size) in opening), 0)
    if quoted:
        item.is_required = False
        item.forms = tuple(form for form in item.forms if len(form) > quoted + REQUEST_LABEL_CHARS)
    return bool(item.forms) and len(one_line(text, 10_000)) > quoted


def render_closing(recall: str, *, truncated: bool) -> str:
    """The last line: how to look things up, and whether the budget left something out.

    Without a `recall` command there is only the conversation itself to look at.
    """
    if not recall:
        text = "(L12) is message 12 of the conversation"
        return f"*[Brief truncated due to token limit; {text}]*" if truncated else f"{text}."
    how = f"`{recall} L12` or words"
    if not truncated:
        return f"Look up more: {how}."
    return f"*[Brief truncated due to token limit: {how} finds the rest]*"
