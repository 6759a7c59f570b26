"""Which names will be needed next: files, identifiers, commands, links, by value for their room.

Weights were set by hand and checked with `holdfast eval`; a learned ranking gains little, because
what is needed next is mostly not to be seen in the log (docs/why/quality.md).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.brief.gap import Summary
    from holdfast.names.model import Entry, Index
    from holdfast.state.model import State

# How much more likely a kind of name is needed than an identifier. Where there is ample room the
# likely commands have theirs already: one more file is worth more, and one more command less.
KINDS = {"file": 3.8, "command": 2.5, "link": 1.0, "identifier": 1.0}
AMPLY = {**KINDS, "file": 4.8, "command": 1.9}
# From so many tokens on there is more than enough, and from so many ample room.
ENOUGH, AMPLE = 1000, 1500
# How likely one is that the agent used itself, that somebody said, that a tool merely showed.
USED, SAID, SHOWN = 6.0, 3.0, 1.0
# A file that was changed is likely to be changed again.
CHANGED = 1.5
# A file is needed again long after it was met: its value sinks more slowly.
SLOWLY = 0.75
# After so many pieces of the conversation a name is half as likely to be needed.
HALF_LIFE = 70.0
# What nobody used and came last among more than so many others is less likely what matters.
MANY, LESS_AMONG_MANY = 20, 0.25
# What a name gains each time that it is met twice as often.
DOUBLED = 0.7
MOST = 600
# Characters to a token of names, and how much of a folder's name its first file pays for.
DENSE, FIRST_PAYS = 2.4, 0.65
# So many identifiers of one file or result are told that nobody used or mentioned.
SEEN_AT_ONE_PLACE = 25


class Name:
    """A name with how likely it is needed, and where it stands."""

    __slots__ = ("home", "home_lines", "kind", "lines", "seen_only", "text", "value")

    def __init__(self, text: str, entry: Entry, value: float) -> None:
        self.text = text
        self.kind = entry["kind"]
        self.value = value
        self.lines = entry["lines"]
        self.seen_only = not entry["used"] and not entry["said"]
        """Whether it only stood in what tools showed."""
        lines, _, self.home = entry["home"].partition(" ")
        """The file whose text has it, if one does."""
        self.home_lines = [int(line) for line in lines.split(",") if line]
        """Where it and the file are named."""

    @property
    def home_line(self) -> int:
        return self.home_lines[-1] if self.home_lines else 0

    @property
    def room(self) -> float:
        """About how many tokens it takes below its folder, if it is a file."""
        shown = self.text.rpartition("/")[2] if self.kind == "file" else self.text
        return 2.0 + len(shown) / DENSE


def ranked(
    state: State, index: Index, told: Summary | None = None, tokens: int = ENOUGH
) -> list[Name]:
    """The names worth their room first; what the summary says is left out."""
    others = _others(index)
    kinds = _kinds(tokens)
    found = []
    for text, entry in _of_use(state, index):
        if told is not None and told.names(text, entry["kind"]):
            continue
        value = _value(entry, index["moment"])
        if not entry["used"]:
            value *= min(1.0, (others[entry["lines"][-1]] / MANY) ** -LESS_AMONG_MANY)
        if entry["kind"] == "file":
            changed = bool(state["files"].get(text, {}).get("edits"))
            value = (value * CHANGED if changed else value) ** SLOWLY
        value *= kinds[entry["kind"]]
        found.append(Name(text, entry, value))
    found.sort(key=lambda name: (-name.value / name.room, name.text))
    return _with_folders(_few_of_each(found[:MOST]))


def _kinds(tokens: int) -> dict[str, float]:
    """What each kind is worth in a brief of so many tokens."""
    amply = min(1.0, max(0.0, (tokens - ENOUGH) / (AMPLE - ENOUGH)))
    return {kind: few + amply * (AMPLY[kind] - few) for kind, few in KINDS.items()}


def _few_of_each(names: list[Name]) -> list[Name]:
    """Not too many of one place that nobody ever spoke of: a log that was read holds thousands."""
    seen: dict[str, int] = {}
    kept = []
    for name in names:
        if name.kind == "identifier" and name.seen_only:
            place = name.home or f"L{name.lines[-1]}"
            seen[place] = seen.get(place, 0) + 1
            if seen[place] > SEEN_AT_ONE_PLACE:
                continue
        kept.append(name)
    return kept


def _of_use(state: State, index: Index) -> Iterator[tuple[str, Entry]]:
    """Without files that are gone, commands about them, and what other names say already."""
    # The end of a file's name says nothing that its whole name does not, unless it is a file too.
    ends = _ends(name for name, entry in index["names"].items() if entry["kind"] == "file")
    gone = {path for path, trail in state["files"].items() if trail.get("deleted")}
    gone |= {text for text, entry in index["names"].items() if _is_gone(entry)}
    for text, entry in index["names"].items():
        if entry["kind"] == "file":
            left_out = _is_gone(entry) or (text in ends and text not in state["files"])
        else:
            left_out = entry["kind"] == "command" and any(path in text for path in gone)
        if not left_out:
            yield text, entry


def _ends(paths: Iterable[str]) -> set[str]:
    """What is left of each behind any of its slashes."""
    found = set()
    for path in paths:
        end = path
        while "/" in end:
            end = end.partition("/")[2]
            found.add(end)
    return found


def _with_folders(names: list[Name]) -> list[Name]:
    """The same, if the first file of a folder pays for the folder's name as well."""
    told: set[str] = set()
    order = []
    for name in names:
        room, folder = name.room, name.text.rpartition("/")[0] if name.kind == "file" else ""
        if folder and folder not in told:
            told.add(folder)
            room += FIRST_PAYS * len(folder) / DENSE
        order.append((-name.value / room, name.text, name))
    return [name for *_, name in sorted(order, key=lambda one: one[:2])]


def _others(index: Index) -> dict[int, int]:
    """How many of the names that nobody used stand last in each line."""
    count: dict[int, int] = {}
    for entry in index["names"].values():
        if not entry["used"]:
            line = entry["lines"][-1]
            count[line] = count.get(line, 0) + 1
    return count


def _is_gone(entry: Entry) -> bool:
    """Whether a file was removed and not used since."""
    return entry.get("gone", 0) >= max(1, entry["used"])


def _value(entry: Entry, now: int) -> float:
    best = 0.0
    for weight, moment in (
        (USED, entry["used"]), (SAID, entry["said"]), (SHOWN, entry["shown"]),
    ):  # fmt: skip
        if moment:
            best = max(best, weight / (1 + (now - moment) / HALF_LIFE))
    return best * (1 + DOUBLED * (entry["times"].bit_length() - 1))


def of_state(state: State) -> Index:
    """The names that the state itself knows, where there is no index of the log."""
    found: dict[str, Entry] = {}
    known = [
        *(("file", path, trail["line"]) for path, trail in state["files"].items()),
        *(("command", check["command"], check["line"]) for check in state["checks"]),
    ]
    for moment, (kind, text, line) in enumerate(sorted(known, key=lambda one: one[2]), 1):
        found[text] = {
            "kind": kind, "times": 1, "used": moment, "said": 0, "shown": 0, "lines": [line],
            "home": "",
        }  # fmt: skip
    return {
        "version": 1, "moment": len(known), "root": "", "cwd": "", "names": found, "tools": {},
    }  # fmt: skip
