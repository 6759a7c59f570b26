"""The unit of a brief: one fact with its value and its shorter forms, and helpers to write it."""

from __future__ import annotations

from holdfast.state.quoting import plain_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.state.types import Commit

# Cited lines that are at most this far apart are written as a range.
MAX_RANGE_LINES = 50
MAX_NAME_CHARS = 200


class Item:
    """One fact that a brief can state.

    `forms` are its wordings, from the fullest to the shortest. `quote` is the text and `names` are
    the files, commands or ids that a summary must repeat before the item counts as said.
    `is_required` items are shown, in their shortest form, before any other item is. `is_prose`
    items may be worth less beside a summary that says a part of them.
    """

    __slots__ = (
        "forms", "is_prose", "is_required", "kind", "line", "names", "novelty", "quote", "section",
        "value",
    )  # fmt: skip

    def __init__(
        self,
        section: str,
        kind: str,
        value: float,
        line: int,
        forms: tuple[str, ...],
        *,
        quote: str = "",
        names: tuple[str, ...] = (),
        is_required: bool = False,
        is_prose: bool = False,
    ) -> None:
        self.section = section
        self.kind = kind
        self.value = value
        self.line = line
        self.forms = tuple(dict.fromkeys(forms))
        self.quote = quote
        self.names = names
        self.is_required = is_required
        self.is_prose = is_prose
        self.novelty = 1.0
        """How much of it the summary does not say, from 0 to 1."""


def ref(*lines: int) -> str:
    """Render transcript lines as a reference, `(L12 L40)`; zeros and repetitions are dropped."""
    return f"({' '.join(f'L{line}' for line in dict.fromkeys(lines) if line)})"


def base_name(path: str) -> str:
    """The name of a file without its folders, on one line: a file's name can be any text."""
    return plain_line(path.rpartition("/")[2], MAX_NAME_CHARS)


def name_commit(commit: Commit, max_chars: int) -> str:
    """The hash, if it is known, and the subject of a commit."""
    return f"{plain_line(commit['sha'], 9)} {plain_line(commit['subject'], max_chars)}".strip()


def cite_lines(sources: Iterable[list[int]]) -> str:
    """Render a short reference that has at least one line of every source.

    Lines are chosen greedily, the ones that most sources share first; close lines become a range.
    """
    sources = [lines for lines in sources if lines]
    counts: dict[int, int] = {}
    for lines in sources:
        for line in lines:
            counts[line] = counts.get(line, 0) + 1
    cited: dict[int, None] = {}
    for lines in sources:
        if not any(line in cited for line in lines):
            cited[max(lines, key=lambda line: (counts[line], line))] = None
    return f"({' '.join(_ranges(sorted(cited)))})" if cited else ""


def _ranges(lines: list[int]) -> Iterator[str]:
    first = 0
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else 0
        first = first or line
        if not following or following - first > MAX_RANGE_LINES:
            yield f"L{first}" if first == line else f"L{first}–{line}"
            first = 0
