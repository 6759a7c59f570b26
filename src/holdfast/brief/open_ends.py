"""What a host's summary lists as still to do, and what it says of blockers."""

from __future__ import annotations

from holdfast.state.wording import sentences, words

# “Pending tasks from the list” is a heading; what is longer is a sentence.
LONGEST_NAME = 30
_BULLETS = "-*•+ \t"
_OPEN = ("pending task", "pending", "next step", "optional next", "remaining", "to do", "todo",
         "still to do", "open task", "upcoming")  # fmt: skip
_BLOCKERS = ("blocked on", "blocking on", "blockers", "blocker", "blocked by", "blocked")
_NOTHING = frozenset(("none", "nothing", "no", "n/a", "na"))
# What is done, doubted or denied is not listed as still to do.
_CLOSED = frozenset((
    "done", "complete", "completed", "finished", "resolved", "fixed", "merged", "already",
    "passed", "passing", "verified", "reopened", "again", "not", "no", "none", "never",
    "without", "unless", "until", "don't", "doesn't", "isn't", "won't", "cannot", "can't",
    "needn't", "nothing", "skip", "skipped",
))  # fmt: skip
_TICKS = ("✅", "☑", "✔", "[x]", "[X]")
_DONE = frozenset(("done", "complete", "completed", "finished", "implemented"))
_DENIED = frozenset(("not", "no", "never", "until", "unless", "once", "when", "pending", "partly"))
_SIGNS = ("✅", "☑", "✔", "[x]", "[X]", "~~")


class OpenEnd:
    """One thing that a summary says is still to do."""

    __slots__ = ("is_next", "text", "words")

    def __init__(self, text: str, is_next: bool) -> None:
        self.text = text
        self.words = frozenset(words(text).split())
        self.is_next = is_next


def open_ends(summary: str) -> list[OpenEnd]:
    """The entries under headings such as “Pending Tasks” and “Optional Next Step”."""
    found: list[OpenEnd] = []
    heading, fenced = "", False
    for line in summary.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if fenced or not line.strip():
            continue
        title, entry = _parts(line)
        if title:
            heading = title
        if heading.startswith(_OPEN):
            is_next = "next" in heading
            found += [OpenEnd(text, is_next) for text in _entries(entry) if _is_open(text)]
    return found


def says_nothing_blocks(summary: str) -> str:
    """The line in which a summary says that nothing is in the way, or nothing."""
    for line in summary.splitlines():
        name, colon, rest = _bare(line).partition(":")
        said = words(rest).split()
        if colon and said and name.strip().lower() in _BLOCKERS and said[0] in _NOTHING:
            return _bare(line)
    return ""


def says_done(line: str) -> bool:
    """Whether a line of a summary says that what it tells of is done."""
    said = words(line).split()
    return any(sign in line for sign in _TICKS) or not (
        _DONE.isdisjoint(said) or not _DENIED.isdisjoint(said)
    )


def _parts(line: str) -> tuple[str, str]:
    """The words of a heading, in lower case, if there is one, and what else stands in the line."""
    text = _bare(line)
    name, _, rest = text.partition(":")
    name, rest = name.strip().lower(), rest.strip()
    if rest and name.startswith(_OPEN) and len(name) <= LONGEST_NAME:
        return name, rest
    if line[:1].isspace() or not (line.startswith("#") or text.endswith(":")):
        return "", line
    return text.rstrip(": ").lower(), ""


def _bare(line: str) -> str:
    """Without the marks of a list, a heading or bold type."""
    return line.replace("**", "").strip(f"{_BULLETS}#").lstrip("0123456789.) ").strip()


def _entries(line: str) -> list[str]:
    text = line.replace("**", "").strip()
    bare = _bare(line)
    return [bare] if bare and bare != text else sentences(text)


def _is_open(text: str) -> bool:
    return not any(sign in text for sign in _SIGNS) and _CLOSED.isdisjoint(words(text).split())
