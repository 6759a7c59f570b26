"""A report taken apart: sentences and list items, each with what it is and what it names."""

from __future__ import annotations

from holdfast.brief.tokens import cost
from holdfast.names.words import FILE, names
from holdfast.state.wording import Cues, Heard, sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.names.words import Name

# What a unit is worth to whoever goes on with the work.
PROCESS, PLAIN, FINDING, NEXT, CONSTRAINT = 0.0, 2.0, 3.0, 5.0, 6.0
LONGEST = 600

BINDING = Cues(
    "must", "must not", "mustn't", "never", "do not", "don't", "constraint", "constraints",
    "required", "requires", "not allowed", "forbidden", "cannot", "breaking", "off limits",
)  # fmt: skip
COMES_NEXT = Cues(
    "proceed", "stop", "clarify", "decision", "decided", "chose", "chosen", "recommend",
    "recommended", "recommendation", "should", "next step", "next steps", "todo", "remaining",
    "follow", "follow-up", "need to", "needs to", "extend", "blocked", "blocker", "conclusion",
)  # fmt: skip
FOUND = Cues(
    "found", "root cause", "because", "bug", "missing", "conflict", "conflicts", "pattern",
    "issue", "issues", "exists", "exist", "uses", "used by", "defined in", "implemented",
    "added", "created", "modified", "changed", "removed", "fails", "passes", "verified",
)  # fmt: skip
# How something was found: searches, steps of thinking, politeness.
BEGINS = (
    "i searched", "i looked", "i checked", "i also", "i ran ", "i used ", "i started", "i began",
    "i examined", "i read ", "i then", "i first", "first i", "first, i", "then i", "then, i",
    "next i", "next, i", "after that", "after analyzing", "after reviewing", "after looking",
    "let me", "now i", "now let", "i'll now", "i will now", "i think", "searching", "perfect",
    "great!", "excellent", "here's", "here is", "here are", "based on my", "there was also",
)  # fmt: skip
SEARCH = (
    "grep ", "`rg ", "ripgrep", "searched for", "search for", "search quer", "search pattern",
    "glob pattern", "git log --",
)  # fmt: skip
NOT_CHOSEN = (
    "alternatively", "another option", "an alternative", "alternative approach", "other option",
    "considered but", "not chosen", "could also have",
)  # fmt: skip
WRONG, MENDED = Cues("error", "errors", "failure", "failed", "failing"), Cues(
    "fixed", "resolved", "no longer", "now passes", "went away",
)  # fmt: skip


class Unit:
    """One sentence or list item."""

    __slots__ = ("files", "kind", "names", "price", "text")

    def __init__(self, text: str, *, is_title: bool = False) -> None:
        self.text = text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
        self.names: set[Name] = names(text)
        """Files, identifiers and links, each with its kind."""
        self.price = cost(self.text) + 1.0
        self.files = sorted(name for kind, name in self.names if kind == FILE)
        self.kind = (PROCESS if not self.names else PLAIN) if is_title else kind_of(text)


def kind_of(text: str) -> float:
    """What a unit is; what tells of the way there is worth nothing, whatever it names."""
    heard = Heard(text)
    low = text.lower().replace("’", "'").lstrip("-|*+0123456789.) ")
    if _is_process(low, heard):
        return PROCESS
    if BINDING.among(heard):
        return CONSTRAINT
    if COMES_NEXT.among(heard):
        return NEXT
    return FINDING if FOUND.among(heard) else PLAIN


def _is_process(low: str, heard: Heard) -> bool:
    if low.startswith(BEGINS) or any(cue in low for cue in SEARCH):
        return True
    if low.startswith(NOT_CHOSEN) or any(cue in low for cue in NOT_CHOSEN[4:]):
        return True
    return WRONG.among(heard) and MENDED.among(heard)


def units(text: str) -> Iterator[Unit]:
    """Everything outside of code fences; a list item stays whole, prose comes by the sentence."""
    for line in _lines(text):
        line = line.replace("**", "")
        if line.startswith("#") or (line.endswith(":") and not _is_item(line)):
            yield Unit(line.lstrip("# "), is_title=True)
        elif _is_item(line):
            yield Unit(_item(line))
        else:
            yield from map(Unit, sentences(line))


def _lines(text: str) -> Iterator[str]:
    """Lines without code and rulers; prose that was broken into lines is put together again."""
    prose: list[str] = []
    fenced = False
    for line in [*text.splitlines(), ""]:
        bare = line.strip()
        is_fence = bare.startswith("```")
        goes_on = bare and not fenced and not is_fence and not _is_item(bare) and bare[0] != "#"
        if goes_on and not _is_rule(bare):
            prose.append(bare)
            continue
        if prose:
            yield " ".join(prose)
            prose = []
        fenced ^= is_fence
        if bare and not fenced and not is_fence and not _is_rule(bare):
            yield bare


def _is_item(line: str) -> bool:
    if line[0] in "-*+":
        return line[1:2] == " "
    return line[0] == "|" or line.partition(" ")[0].rstrip(".)").isdigit()


def _is_rule(line: str) -> bool:
    return not line.strip("-=*_|:+ ─│┌┐└┘├┤┬┴┼▼▲")


def _item(line: str) -> str:
    return f"- {line[2:].strip()}" if line[0] in "-*+" else line
