"""Say many names in few lines: files under their folders or with what is in them, each line with
the transcript lines where all of it stands."""

from __future__ import annotations

from holdfast.brief.item import cited
from holdfast.state.wording import one_line as short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    from holdfast.brief.names import Name
    from holdfast.state.model import Check, FileTrail, State

    T = TypeVar("T")

# As many identifiers of one file are worth a line of its own.
OWN_LINE = 3
NAMES_IN_A_ROW, FILES_IN_A_ROW, COMMANDS_IN_A_ROW = 40, 20, 16
# A row of names says what they are, unless they are so few that their heading is enough.
WITHOUT_A_FILE, ALONE, FEW = "named lately without a file: ", "each alone in its folder: ", 2
LONGEST_COMMAND = 200


class Layout:
    """The lines for a choice of names."""

    def __init__(
        self,
        state: State,
        names: Sequence[Name],
        failing: dict[str, Check],
        *,
        terse: bool = False,
    ) -> None:
        """`failing` are the files at which a check fails (`failing_at`). In a `terse` layout what
        became of files is said once for all of a row, and rows do not say what they are.
        """
        self._state = state
        self._failing = failing
        self._terse = terse
        self._files = {name.text: name for name in names if name.kind == "file"}
        self._in_file: dict[str, list[Name]] = {}
        self._others: list[Name] = []
        self._commands = [name for name in names if name.kind == "command"]
        self._sort([name for name in names if name.kind in ("identifier", "link")])

    def _sort(self, names: list[Name]) -> None:
        homes: dict[str, int] = {}
        for name in names:
            homes[name.home] = homes.get(name.home, 0) + 1
        for name in names:
            if name.home and (name.home in self._files or homes[name.home] >= OWN_LINE):
                self._in_file.setdefault(name.home, []).append(name)
            else:
                self._others.append(name)

    def files(self) -> list[str]:
        """Folder by folder: files with what became of them, and what is in them."""
        folders: dict[str, list[str]] = {}
        for path in (*self._in_file, *self._files):
            folder = folders.setdefault(path.rpartition("/")[0], [])
            if path not in folder:
                folder.append(path)
        alone = [paths[0] for paths in folders.values() if self._is_alone(paths)]
        told = [
            self._folder(folder, paths)
            for folder, paths in folders.items()
            if not self._is_alone(paths)
        ]
        # Below a folder's heading every line is of that folder, so whole names stand above them.
        above = [line for lines in told if lines[0].startswith("- ") for line in lines]
        below = [line for lines in told if not lines[0].startswith("- ") for line in lines]
        return [*above, *self._alone(alone), *below]

    def _is_alone(self, paths: list[str]) -> bool:
        """Whether a folder has one file, and nothing to say of it but what became of it."""
        return len(paths) == 1 and paths[0] not in self._in_file

    def _alone(self, paths: list[str]) -> list[str]:
        """Files that share no folder, by their whole names."""
        return [
            f"- {self._label(ALONE, len(some))}{self._plain(some, whole=True)}"
            for some in _rows(paths, FILES_IN_A_ROW)
        ]

    def _folder(self, folder: str, paths: list[str]) -> list[str]:
        """On one line if it is short, else the folder as a heading with its files below."""
        telling = [self._telling(path) for path in paths if path in self._in_file]
        plain = self._plain([path for path in paths if path not in self._in_file])
        lines = [*telling, plain] if plain else telling
        if not folder:
            return [f"- {line}" for line in lines]
        if len(lines) == 1:
            between = "/: " if len(paths) > 1 else "/"
            return [f"- {folder}{between}{lines[0]}"]
        return [f"{folder}/", *(f"- {line}" for line in lines)]

    def _telling(self, path: str) -> str:
        """A file and the names in it."""
        inside, trail = self._in_file[path], self._state["files"].get(path)
        refs = [[line] for name in inside for line in name.home_lines]
        names = ", ".join(name.text for name in inside)
        return f"{self._shown(path, trail)}: {names} {cited([*refs, *self._places(path)])}"

    def _plain(self, paths: list[str], *, whole: bool = False) -> str:
        """Files of which there is little to say."""
        if not paths:
            return ""
        trails = self._state["files"]
        if self._terse:
            shown = self._by_fate(paths, whole=whole)
        else:
            shown = ", ".join(self._shown(path, trails.get(path), whole=whole) for path in paths)
        return f"{shown} {cited(place for path in paths for place in self._places(path))}"

    def _by_fate(self, paths: list[str], *, whole: bool) -> str:
        """Those that were only met, then those that were changed, each kind behind one word."""
        fates: dict[str, list[str]] = {"": []}
        for path in paths:
            became = self._became(path, self._state["files"].get(path))
            fates.setdefault(became, []).append(path if whole else path.rpartition("/")[2])
        told = ((became, ", ".join(names)) for became, names in fates.items() if names)
        return "; ".join(f"{became} {names}".lstrip() for became, names in told)

    def _shown(self, path: str, trail: FileTrail | None, *, whole: bool = False) -> str:
        base, told = path if whole else path.rpartition("/")[2], self._became(path, trail)
        return f"{base} {told}" if told else base

    def _became(self, path: str, trail: FileTrail | None) -> str:
        check = self._failing.get(path)
        became = annotation(trail, counted=not self._terse) if trail else ""
        return " · ".join(filter(None, (became, f"{check['kind']} failing" if check else "")))

    def _places(self, path: str) -> list[list[int]]:
        """Where a file is named; what became of it must stand there too."""
        trail, name = self._state["files"].get(path), self._files.get(path)
        check = self._failing.get(path)
        failed = [[check["line"]]] if check else []
        if trail and annotation(trail):
            return [[line] for line in (trail["line"], trail.get("told", 0)) if line] + failed
        return [[*(name.lines if name else ()), *([trail["line"]] if trail else ())], *failed]

    def commands(self) -> list[str]:
        return [
            self._row([f"`{short(name.text, LONGEST_COMMAND)}`" for name in some], some, ", ")
            for some in _rows(self._commands, COMMANDS_IN_A_ROW)
        ]

    def others(self) -> list[str]:
        """Names without a file."""
        return [
            self._row(
                [name.text for name in some], some, ", ", self._label(WITHOUT_A_FILE, len(some))
            )
            for some in _rows(self._others, NAMES_IN_A_ROW)
        ]

    def _label(self, what: str, count: int) -> str:
        return what if count > FEW and not self._terse else ""

    def _row(self, shown: list[str], names: list[Name], between: str, what: str = "") -> str:
        return f"- {what}{between.join(shown)} {cited([name.lines for name in names])}"


def _rows(names: list[T], widest: int) -> list[list[T]]:
    return [names[start : start + widest] for start in range(0, len(names), widest)]


def failing_at(state: State) -> dict[str, Check]:
    """The files at which a test, a build or a linter fails, as far as its output says."""
    found: dict[str, Check] = {}
    root = state["place"].get("root", "")
    for check in state["checks"]:
        where = check["where"].rpartition(":")[0].removeprefix(f"{root}/")
        if where and not check["ok"] and check["kind"] != "run":
            # Test runners often say no more than the last part of a name.
            meant = [path for path in state["files"] if f"/{path}".endswith(f"/{where}")]
            if len(meant) == 1:
                found[meant[0]] = check
    return found


def annotation(trail: FileTrail, *, counted: bool = True) -> str:
    """What became of a file, in few words, or in the fewest; nothing if it was only read."""
    if trail.get("deleted"):
        return "deleted"
    told = []
    edits = trail.get("edits", 0) if counted else min(1, trail.get("edits", 0))
    if trail.get("created"):
        told.append("created")
    if edits > 1 or (edits and not told):
        told.append(f"edited {edits}×" if edits > 1 else "edited")
    # Who has looked at the file since, or edited it, knows.
    if trail.get("unknown", -1) >= trail["line"]:
        told.append(f"whether the edit at L{trail['unknown']} took effect is unknown")
    return " · ".join(told)
