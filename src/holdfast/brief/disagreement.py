"""Where the host's summary says otherwise than the notes and the log: told one by one.

Deterministic and careful: a disagreement is told only where both sides use the same words.
"""

from __future__ import annotations

from holdfast.brief.gap import Summary, same_thing
from holdfast.brief.item import Item, ref
from holdfast.brief.noted import Note, read
from holdfast.brief.open_ends import OpenEnd, open_ends, says_nothing_blocks
from holdfast.state.wording import one_line as short
from holdfast.state.wording import weighty, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.state.model import State

    # What we know, the line where it stands (0 in the notes), and what the summary makes of it.
    Told = tuple[str, int, str]

MOST = 5
_NEGATIONS = frozenset((
    "not", "no", "never", "instead", "rather", "without", "don't", "doesn't", "isn't", "won't",
))  # fmt: skip


def disagreements(
    state: State, notes: Sequence[str], summary: Summary, *, always: bool = True
) -> Iterator[Item]:
    """One line each, with where both sides stand; told whatever else must go, if `always`."""
    ends, said = open_ends(summary.text), [read(note) for note in notes]
    told = [
        *_forbidden_but_next(said, ends),
        *_decided_otherwise([*_said_by_user(state), *((note, 0) for note in said)], summary, ends),
        *_blocked_but_free(said, summary.text),
        *_next_is_another(said, ends),
        *_finished_but_pending(state, said, ends),
        *_pending_but_finished(state, summary),
    ]
    for number, (ours, line, theirs) in enumerate([*dict.fromkeys(told)][:MOST]):
        where = ref(line) if line else "(notes.md)"
        forms = (f"- {ours} {where}; the summary {theirs}",)
        yield Item("disagree", "disagreement", 94.0 - number, line, forms, floor=always)


def _forbidden_but_next(notes: list[Note], ends: list[OpenEnd]) -> Iterator[Told]:
    for note in notes:
        needed = weighty(note.forbids)
        for end in ends:
            if len(needed) >= 2 and needed <= end.words:
                yield f"noted: {_quote(note.text)}", 0, f"wants it done: {_quote(end.text)}"


def _said_by_user(state: State) -> Iterator[tuple[Note, int]]:
    """Rules and decisions of the user's, each with its line."""
    for rule in state["rules"]:
        if not rule["superseded"]:
            yield Note("decision", rule["text"]), rule["line"]
    for decision in state["decisions"]:
        if decision["by"] == "user":
            yield Note("decision", decision["text"]), decision["line"]


def _decided_otherwise(
    said: list[tuple[Note, int]], summary: Summary, ends: list[OpenEnd]
) -> Iterator[Told]:
    for note, line in said:
        chosen, rejected = (weighty(part) for part in note.choice)
        if not chosen or not rejected:
            continue
        numbers = [{word for word in part if word.isdecimal()} for part in (chosen, rejected)]
        about = (chosen | rejected) - numbers[0] - numbers[1]
        if all(numbers) and about:
            found = _with_number(summary.text, numbers, about)
        else:
            found = _wanting(ends, chosen - rejected, rejected - chosen)
        for words_of_summary in found:
            yield f"decided: {_quote(note.text)}", line, f"says {_quote(words_of_summary)}"


def _with_number(summary: str, numbers: list[set[str]], about: frozenset[str]) -> Iterator[str]:
    """“5 attempts, not 8”, and a line of the summary that has 8 attempts."""
    ours, theirs = numbers
    for line in summary.splitlines():
        said = frozenset(words(line).split())
        if theirs <= said and about & said and not said & (ours | _NEGATIONS):
            yield line.strip(" -*•\t")


def _wanting(ends: list[OpenEnd], ours: frozenset[str], theirs: frozenset[str]) -> Iterator[str]:
    """“Redis instead of Postgres”, and a next step that has Postgres and no Redis."""
    for end in ends:
        if ours and theirs and theirs <= end.words and not ours & end.words:
            yield end.text


def _blocked_but_free(notes: list[Note], summary: str) -> Iterator[Told]:
    last = [note for note in notes if note.kind in ("blocker", "unblocked")][-1:]
    for note in last:
        free = says_nothing_blocks(summary) if note.kind == "blocker" else ""
        if free:
            yield f"blocked: {_quote(note.text)}", 0, f"says {_quote(free)}"


def _next_is_another(notes: list[Note], ends: list[OpenEnd]) -> Iterator[Told]:
    coming = [end for end in ends if end.is_next]
    for note in [note for note in notes if note.kind == "next"][-1:]:
        meant = weighty(note.text)
        if coming and not any(meant & end.words for end in ends):
            yield f"next: {_quote(note.text)}", 0, f"goes on with {_quote(coming[0].text)}"


def _finished_but_pending(state: State, notes: list[Note], ends: list[OpenEnd]) -> Iterator[Told]:
    done = [(item["text"], item["line"]) for item in state["plan"] if item["status"] == "completed"]
    done += [(note.done, 0) for note in notes if note.done]
    still_open = [item["text"] for item in state["plan"] if item["status"] != "completed"]
    for text, line in done:
        for end in ends:
            if same_thing(text, end.text) and not any(
                same_thing(other, end.text) for other in still_open
            ):
                yield f"done: {_quote(text)}", line, f"lists it as open: {_quote(end.text)}"


def _pending_but_finished(state: State, summary: Summary) -> Iterator[Told]:
    for item in state["plan"]:
        if item["status"] in ("pending", "in_progress") and (
            line := summary.finished(item["text"])
        ):
            yield (
                f"still open in the plan: {_quote(item['text'])}",
                item["line"],
                f"says {_quote(line)}",
            )


def _quote(text: str) -> str:
    return f"“{short(text, 160)}”"
