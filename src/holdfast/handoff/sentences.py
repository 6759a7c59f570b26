"""Splits a report into sentences and list items, each with its kind and its mentions."""

from __future__ import annotations

from holdfast.handoff.mentions import FILE_KIND, extract_mentions
from holdfast.state.text import Cues, TokenizedText, split_sentences
from holdfast.tokens.estimate import token_cost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.handoff.mentions import Mention

# The kinds of sentences, which are also their value for the agent that continues the work.
PROCESS, PLAIN, FINDING, NEXT, CONSTRAINT = 0.0, 2.0, 3.0, 5.0, 6.0
MAX_CHARS = 600

CONSTRAINT_CUES = Cues(
    "must", "must not", "mustn't", "never", "do not", "don't", "constraint", "constraints",
    "required", "requires", "not allowed", "forbidden", "cannot", "breaking", "off limits",
)  # fmt: skip
NEXT_CUES = Cues(
    "proceed", "stop", "clarify", "decision", "decided", "chose", "chosen", "recommend",
    "recommended", "recommendation", "should", "next step", "next steps", "todo", "remaining",
    "follow", "follow-up", "need to", "needs to", "extend", "blocked", "blocker", "conclusion",
)  # fmt: skip
FINDING_CUES = Cues(
    "found", "root cause", "because", "bug", "missing", "conflict", "conflicts", "pattern",
    "issue", "issues", "exists", "exist", "uses", "used by", "defined in", "implemented",
    "added", "created", "modified", "changed", "removed", "fails", "passes", "verified",
)  # fmt: skip
# How sentences begin that say how something was found: searches, thoughts, politeness.
PROCESS_STARTS = (
    "i searched", "i looked", "i checked", "i also", "i ran ", "i used ", "i started", "i began",
    "i examined", "i read ", "i then", "i first", "first i", "first, i", "then i", "then, i",
    "next i", "next, i", "after that", "after analyzing", "after reviewing", "after looking",
    "let me", "now i", "now let", "i'll now", "i will now", "i think", "searching", "perfect",
    "great!", "excellent", "here's", "here is", "here are", "based on my", "there was also",
)  # fmt: skip
SEARCH_PHRASES = (
    "grep ", "`rg ", "ripgrep", "searched for", "search for", "search quer", "search pattern",
    "glob pattern", "git log --",
)  # fmt: skip
REJECTED_PHRASES = (
    "alternatively", "another option", "an alternative", "alternative approach", "other option",
    "considered but", "not chosen", "could also have",
)  # fmt: skip
ERROR_CUES, FIXED_CUES = Cues("error", "errors", "failure", "failed", "failing"), Cues(
    "fixed", "resolved", "no longer", "now passes", "went away",
)  # fmt: skip


class Sentence:
    """One sentence or list item of a report."""

    __slots__ = ("files", "kind", "mentions", "text", "tokens")

    def __init__(self, text: str, *, is_title: bool = False) -> None:
        self.text = text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1].rstrip() + "…"
        self.mentions: set[Mention] = extract_mentions(text)
        """Files, identifiers and links, each with its kind."""
        self.tokens = token_cost(self.text) + 1.0
        self.files = sorted(name for kind, name in self.mentions if kind == FILE_KIND)
        self.kind = (PROCESS if not self.mentions else PLAIN) if is_title else classify(text)


def classify(text: str) -> float:
    """Return the kind of a sentence; one that says how something was found is always PROCESS."""
    tokenized = TokenizedText(text)
    lower = text.lower().replace("’", "'").lstrip("-|*+0123456789.) ")
    if _is_process(lower, tokenized):
        return PROCESS
    if CONSTRAINT_CUES.match(tokenized):
        return CONSTRAINT
    if NEXT_CUES.match(tokenized):
        return NEXT
    return FINDING if FINDING_CUES.match(tokenized) else PLAIN


def _is_process(lower: str, tokenized: TokenizedText) -> bool:
    if lower.startswith(PROCESS_STARTS) or any(phrase in lower for phrase in SEARCH_PHRASES):
        return True
    if lower.startswith(REJECTED_PHRASES) or any(
        phrase in lower for phrase in REJECTED_PHRASES[4:]
    ):
        return True
    return ERROR_CUES.match(tokenized) and FIXED_CUES.match(tokenized)


def split_report(text: str) -> Iterator[Sentence]:
    """Yield the sentences and whole list items of a report, without code blocks."""
    for line in _lines(text):
        line = line.replace("**", "")
        if line.startswith("#") or (line.endswith(":") and not _is_item(line)):
            yield Sentence(line.lstrip("# "), is_title=True)
        elif _is_item(line):
            yield Sentence(_normalize_bullet(line))
        else:
            yield from map(Sentence, split_sentences(line))


def _lines(text: str) -> Iterator[str]:
    """Yield the lines without code blocks and rulers; wrapped lines of prose are joined again."""
    prose: list[str] = []
    in_code = False
    for line in [*text.splitlines(), ""]:
        bare = line.strip()
        is_fence = bare.startswith("```")
        is_text = bare and not in_code and not is_fence
        is_prose = is_text and not _is_item(bare) and bare[0] != "#"
        if is_prose and not _is_ruler(bare):
            prose.append(bare)
            continue
        if prose:
            yield " ".join(prose)
            prose = []
        in_code ^= is_fence
        if bare and not in_code and not is_fence and not _is_ruler(bare):
            yield bare


def _is_item(line: str) -> bool:
    if line[0] in "-*+":
        return line[1:2] == " "
    return line[0] == "|" or line.partition(" ")[0].rstrip(".)").isdigit()


def _is_ruler(line: str) -> bool:
    """Return whether a line only draws a ruler, a table border or a diagram."""
    return not line.strip("-=*_|:+ ─│┌┐└┘├┤┬┴┼▼▲")


def _normalize_bullet(line: str) -> str:
    return f"- {line[2:].strip()}" if line[0] in "-*+" else line
