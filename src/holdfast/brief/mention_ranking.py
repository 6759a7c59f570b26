"""Ranks mentions (files, identifiers, commands, links) by how likely they are needed next, for the
tokens that they take.

The weights were set by hand and checked with `holdfast eval`. A learned ranking gains little,
because the transcript mostly does not show what is needed next (docs/why/quality.md).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.brief.summary_overlap import SearchableSummary
    from holdfast.mentions.types import MentionEntry, MentionIndex
    from holdfast.state.types import State

# How much more likely each kind is needed than an identifier. In an ample brief the likely commands
# are listed already, so one more file is worth more and one more command less.
KIND_WEIGHTS = {"file": 3.8, "command": 2.5, "link": 1.0, "identifier": 1.0}
AMPLE_KIND_WEIGHTS = {**KIND_WEIGHTS, "file": 4.8, "command": 1.9}
# Token budgets from which a brief has more than enough room, and ample room.
ENOUGH_TOKENS, AMPLE_TOKENS = 1000, 1500
# How likely a mention is needed that the agent used itself, that the user or the agent said, that a
# tool only showed.
USED_WEIGHT, SAID_WEIGHT, SHOWN_WEIGHT = 6.0, 3.0, 1.0
# A file that was changed is likely to be changed again.
CHANGED_FILE_FACTOR = 1.5
# Files are needed long after they were last mentioned: with an exponent below 1 their value falls
# more slowly.
FILE_DECAY_EXPONENT = 0.75
# After so many transcript events without the mention it is half as likely to be needed.
HALF_LIFE_EVENTS = 70.0
# A mention that was never used loses value if more than so many others stand in the same line.
CROWDED_LINE_MENTIONS, CROWDED_LINE_EXPONENT = 20, 0.25
# What a mention gains each time the number of its occurrences doubles.
DOUBLED_COUNT_BONUS = 0.7
MAX_MENTIONS = 600
# Characters per token of mentions, and the share of a folder's name that its first file pays for.
MENTION_CHARS_PER_TOKEN, FIRST_FILE_FOLDER_SHARE = 2.4, 0.65
# At most so many identifiers of one file or tool result are listed that were only shown by a tool.
MAX_SHOWN_PER_SOURCE = 25


class RankedMention:
    """A mention, how likely it is needed, and where it occurs."""

    __slots__ = ("file", "file_lines", "is_only_shown", "kind", "lines", "text", "value")

    def __init__(self, text: str, entry: MentionEntry, value: float) -> None:
        self.text = text
        self.kind = entry["kind"]
        self.value = value
        self.lines = entry["lines"]
        self.is_only_shown = not entry["used"] and not entry["said"]
        """Whether it occurs only in tool results."""
        lines, _, self.file = entry["home"].partition(" ")
        """The file that contains it, or nothing."""
        self.file_lines = [int(line) for line in lines.split(",") if line]
        """The transcript lines that show it and the file together."""

    @property
    def tokens(self) -> float:
        """About how many tokens it takes; a file is listed below its folder."""
        shown = self.text.rpartition("/")[2] if self.kind == "file" else self.text
        return 2.0 + len(shown) / MENTION_CHARS_PER_TOKEN


def rank_mentions(
    state: State,
    index: MentionIndex,
    summary: SearchableSummary | None = None,
    tokens: int = ENOUGH_TOKENS,
) -> list[RankedMention]:
    """The mentions of the index that the summary does not have, by value per token.

    `tokens` is the budget of the whole brief, which decides what each kind is worth.
    """
    unused_per_line = _count_unused_per_line(index)
    kind_weights = _kind_weights(tokens)
    mentions = []
    for text, entry in _useful_entries(state, index):
        if summary is not None and summary.mentions(text, entry["kind"]):
            continue
        value = _value(entry, index["moment"])
        if not entry["used"]:
            crowding = unused_per_line[entry["lines"][-1]] / CROWDED_LINE_MENTIONS
            value *= min(1.0, crowding**-CROWDED_LINE_EXPONENT)
        if entry["kind"] == "file":
            is_changed = bool(state["files"].get(text, {}).get("edits"))
            value = (value * CHANGED_FILE_FACTOR if is_changed else value) ** FILE_DECAY_EXPONENT
        value *= kind_weights[entry["kind"]]
        mentions.append(RankedMention(text, entry, value))
    mentions.sort(key=lambda mention: (-mention.value / mention.tokens, mention.text))
    return _sort_with_folder_cost(_limit_per_source(mentions[:MAX_MENTIONS]))


def _kind_weights(tokens: int) -> dict[str, float]:
    """The weights for a budget: between ENOUGH_TOKENS and AMPLE_TOKENS they are interpolated."""
    ampleness = min(1.0, max(0.0, (tokens - ENOUGH_TOKENS) / (AMPLE_TOKENS - ENOUGH_TOKENS)))
    return {
        kind: weight + ampleness * (AMPLE_KIND_WEIGHTS[kind] - weight)
        for kind, weight in KIND_WEIGHTS.items()
    }


def _limit_per_source(mentions: list[RankedMention]) -> list[RankedMention]:
    """Without the identifiers beyond MAX_SHOWN_PER_SOURCE that only one file or tool result showed:
    a log that the agent read has thousands."""
    counts: dict[str, int] = {}
    kept = []
    for mention in mentions:
        if mention.kind == "identifier" and mention.is_only_shown:
            source = mention.file or f"L{mention.lines[-1]}"
            counts[source] = counts.get(source, 0) + 1
            if counts[source] > MAX_SHOWN_PER_SOURCE:
                continue
        kept.append(mention)
    return kept


def _useful_entries(state: State, index: MentionIndex) -> Iterator[tuple[str, MentionEntry]]:
    """The entries of the index without deleted files, commands on deleted files, and paths that
    are only the end of a longer path (unless the state knows them as files)."""
    entries = index["names"]
    suffixes = _path_suffixes(text for text, entry in entries.items() if entry["kind"] == "file")
    deleted = {path for path, trail in state["files"].items() if trail.get("deleted")}
    deleted |= {text for text, entry in entries.items() if _is_deleted(entry)}
    for text, entry in entries.items():
        if entry["kind"] == "file":
            is_useless = _is_deleted(entry) or (text in suffixes and text not in state["files"])
        else:
            is_useless = entry["kind"] == "command" and any(path in text for path in deleted)
        if not is_useless:
            yield text, entry


def _path_suffixes(paths: Iterable[str]) -> set[str]:
    """What is left of each path behind each of its slashes."""
    suffixes = set()
    for path in paths:
        suffix = path
        while "/" in suffix:
            suffix = suffix.partition("/")[2]
            suffixes.add(suffix)
    return suffixes


def _sort_with_folder_cost(mentions: list[RankedMention]) -> list[RankedMention]:
    """Sort again by value per token, where the first file of a folder also pays for the folder."""
    folders: set[str] = set()
    order = []
    for mention in mentions:
        tokens = mention.tokens
        folder = mention.text.rpartition("/")[0] if mention.kind == "file" else ""
        if folder and folder not in folders:
            folders.add(folder)
            tokens += FIRST_FILE_FOLDER_SHARE * len(folder) / MENTION_CHARS_PER_TOKEN
        order.append((-mention.value / tokens, mention.text, mention))
    return [mention for *_, mention in sorted(order, key=lambda one: one[:2])]


def _count_unused_per_line(index: MentionIndex) -> dict[int, int]:
    """For each line how many mentions that were never used occur there last."""
    counts: dict[int, int] = {}
    for entry in index["names"].values():
        if not entry["used"]:
            line = entry["lines"][-1]
            counts[line] = counts.get(line, 0) + 1
    return counts


def _is_deleted(entry: MentionEntry) -> bool:
    """Whether a file was removed and not used since."""
    return entry.get("gone", 0) >= max(1, entry["used"])


def _value(entry: MentionEntry, now: int) -> float:
    """The best of used, said and shown, each decayed by its age, times a bonus for repetition."""
    best = 0.0
    for weight, moment in (
        (USED_WEIGHT, entry["used"]), (SAID_WEIGHT, entry["said"]), (SHOWN_WEIGHT, entry["shown"]),
    ):  # fmt: skip
        if moment:
            best = max(best, weight / (1 + (now - moment) / HALF_LIFE_EVENTS))
    return best * (1 + DOUBLED_COUNT_BONUS * (entry["times"].bit_length() - 1))


def index_from_state(state: State) -> MentionIndex:
    """The files and commands of the state as an index, for sessions without an index."""
    entries: dict[str, MentionEntry] = {}
    known = [
        *(("file", path, trail["line"]) for path, trail in state["files"].items()),
        *(("command", check["command"], check["line"]) for check in state["checks"]),
    ]
    for moment, (kind, text, line) in enumerate(sorted(known, key=lambda one: one[2]), 1):
        entries[text] = {
            "kind": kind, "times": 1, "used": moment, "said": 0, "shown": 0, "lines": [line],
            "home": "",
        }  # fmt: skip
    return {
        "version": 1, "moment": len(known), "root": "", "cwd": "", "names": entries, "tools": {},
    }  # fmt: skip
