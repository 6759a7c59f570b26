"""Items of the plan: open items with their descriptions, finished ones, the plan file."""

from __future__ import annotations

from holdfast.brief.items import Item, cite_lines, ref
from holdfast.brief.statements import select_statements
from holdfast.state.quoting import plain_line, quote
from holdfast.state.text import one_line, split_sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.brief.summary_overlap import SearchableSummary
    from holdfast.state.types import PlanItem, State

OPEN_STATUSES = ("in_progress", "pending")
# This many of the next pending plan items are required.
MIN_PENDING_SHOWN = 3
# Characters of an item's description, one for each form.
DETAIL_CHARS = (500, 200)
PLAN_FILE_VALUE, STALE_VALUE = 62.0, 46.0
# After so many messages since its last change, a plan may no longer be followed.
OUTDATED_AFTER = 3
MAX_PATH_CHARS = 300


def plan_items(state: State, summary: SearchableSummary | None) -> Iterator[Item]:
    """The open items of the plan, and one item for those that are done."""
    pending_count = 0
    stale = is_outdated(state)
    changed = max((item["line"] for item in state["plan"]), default=0)
    for item in state["plan"]:
        details = _select_details(item.get("detail", ""), summary)
        if item["status"] not in OPEN_STATUSES or (stale and summary and not details):
            # A summary tells better what became of a plan that is no longer followed.
            continue
        is_running = item["status"] == "in_progress"
        pending_count += not is_running
        status = "in progress" if is_running else "pending"
        status += f" when the plan was last changed (L{changed})" if stale else ""
        yield Item(
            "plan",
            "plan",
            STALE_VALUE if stale else 86.0 if is_running else 66.0,
            item["line"],
            tuple(
                f"- {status}: {plain_line(item['text'], size)}{_render_dependencies(state, item)}"
                f"{detail} "
                f"{ref(item['source_line'], item['line'], *_dependency_lines(state, item))}"
                for size, detail in (
                    *((240, f": {quote(detail)}") for detail in details),
                    (240, ""),
                    (100, ""),
                )
            ),
            quote=item["text"],
            names=tuple(details[:1]),
            is_required=not stale and (is_running or pending_count <= MIN_PENDING_SHOWN),
        )
    done = [item for item in state["plan"] if item["status"] == "completed"]
    if done and summary is None:
        yield Item(
            "plan",
            "done",
            48.0,
            done[-1]["line"],
            tuple(_render_done(done, count, chars) for count, chars in ((8, 90), (3, 60))),
        )


def _render_done(done: list[PlanItem], count: int, max_chars: int) -> str:
    """The titles of the items that were finished last."""
    shown = done[-count:]
    titles = "; ".join(plain_line(item["text"], max_chars) for item in shown)
    lines = ref(*(line for item in shown for line in (item["source_line"], item["line"])))
    return f"- done ({len(done)}): {titles}{'; …' if len(done) > count else ''} {lines}"


def _select_details(detail: str, summary: SearchableSummary | None) -> list[str]:
    """What the description of an open item adds to the summary, at two lengths."""
    new = [
        sentence
        for sentence in split_sentences(detail)
        if summary is None or not summary.paraphrases(sentence)
    ]
    text = " ".join(new)
    return [one_line(text, size) for size in DETAIL_CHARS] if text else []


def is_outdated(state: State) -> bool:
    """Whether the user has sent several messages since the plan was last changed."""
    changed = max((item["line"] for item in state["plan"]), default=0)
    return sum(request["line"] > changed for request in state["requests"]) >= OUTDATED_AFTER


def plan_file_items(state: State, summary: SearchableSummary | None) -> Iterator[Item]:
    """The most important statements of the plan that the host keeps in a file."""
    plan = state["plan_file"]
    since = sum(request["line"] > plan["line"] for request in state["requests"]) if plan else 0
    if plan and plan["text"] and (summary is None or since < OUTDATED_AFTER):
        path = plain_line(plan["path"], MAX_PATH_CHARS)
        forms = [
            f"- plan{f' in {path}' if path else ''}: {quote(form)} {ref(plan['line'])}"
            for form in select_statements(plan["text"], summary, (900, 450, 200))
        ]
        if forms:
            yield Item(
                "plan", "plan file", PLAN_FILE_VALUE, plan["line"], tuple(forms),
                quote=plan["text"], is_prose=True,
            )  # fmt: skip


def progress_items(state: State) -> Iterator[Item]:
    """How many items of the plan are done, in total and for each wave."""
    waves: dict[int, list[PlanItem]] = {}
    for item in state["plan"]:
        if item["status"] in (*OPEN_STATUSES, "completed"):
            waves.setdefault(item["wave"], []).append(item)
    all_items = [item for items in waves.values() for item in items]
    if all_items:
        yield _progress_item("plan", all_items, 67.0)
    for wave, items in sorted(waves.items()):
        if wave:
            yield _progress_item(f"wave {wave}", items, 65.0)


def _progress_item(name: str, items: list[PlanItem], value: float) -> Item:
    done = sum(item["status"] == "completed" for item in items)
    is_begun = any(item["status"] == "in_progress" for item in items) or 0 < done < len(items)
    status = "completed" if done == len(items) else "in progress" if is_begun else "not begun"
    where = cite_lines([[item["line"]] for item in items])
    line = max(item["line"] for item in items)
    text = f"- {name}: {status}, {done} of {len(items)} {where}"
    return Item("progress", "progress", value, line, (text,))


def _render_dependencies(state: State, item: PlanItem) -> str:
    """The open plan items that this one waits for."""
    open_texts = {
        other["id"]: other["text"] for other in state["plan"] if other["status"] in OPEN_STATUSES
    }
    waits_for = [ident for ident in item["blocked_by"] if ident in open_texts]
    texts = [plain_line(open_texts[ident], 60) for ident in waits_for]
    return f" (waits for: {'; '.join(texts)})" if texts else ""


def _dependency_lines(state: State, item: PlanItem) -> list[int]:
    """The transcript lines of the open plan items that this one waits for."""
    open_lines = {
        other["id"]: other["source_line"]
        for other in state["plan"]
        if other["status"] in OPEN_STATUSES
    }
    return [open_lines[ident] for ident in item["blocked_by"] if ident in open_lines]
