"""Lists many mentions in few lines: files under their folders, identifiers beside their file, each
line with the transcript lines where its mentions occur."""

from __future__ import annotations

from holdfast.brief.items import cite_lines
from holdfast.state.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    from holdfast.brief.mention_ranking import RankedMention
    from holdfast.state.types import Check, FileTrail, State

    T = TypeVar("T")

# So many identifiers of a file that is not listed itself get a line with the file's name.
MIN_IDENTIFIERS_FOR_OWN_LINE = 3
NAMES_PER_LINE, FILES_PER_LINE, COMMANDS_PER_LINE = 40, 20, 16
# A line begins with a label, unless it has so few mentions that the section's heading is enough.
NO_FILE_LABEL, SINGLE_FILES_LABEL = "named lately without a file: ", "each alone in its folder: "
MAX_UNLABELLED = 2
MAX_COMMAND_CHARS = 200


class MentionLayout:
    """The lines of a brief that list these mentions."""

    def __init__(
        self,
        state: State,
        mentions: Sequence[RankedMention],
        failing: dict[str, Check],
        *,
        terse: bool = False,
    ) -> None:
        """`failing` has the files in which a check fails (`failing_checks_by_file`). A `terse`
        layout groups the files of a line by what happened to them, and has no labels.
        """
        self._state = state
        self._failing = failing
        self._terse = terse
        self._files = {mention.text: mention for mention in mentions if mention.kind == "file"}
        self._by_file: dict[str, list[RankedMention]] = {}
        self._others: list[RankedMention] = []
        self._commands = [mention for mention in mentions if mention.kind == "command"]
        self._group([mention for mention in mentions if mention.kind in ("identifier", "link")])

    def _group(self, mentions: list[RankedMention]) -> None:
        """Put identifiers and links with their file, if it has a line, else among the others."""
        counts: dict[str, int] = {}
        for mention in mentions:
            counts[mention.file] = counts.get(mention.file, 0) + 1
        for mention in mentions:
            file = mention.file
            if file and (file in self._files or counts[file] >= MIN_IDENTIFIERS_FOR_OWN_LINE):
                self._by_file.setdefault(file, []).append(mention)
            else:
                self._others.append(mention)

    def files(self) -> list[str]:
        """The lines of the files, folder by folder, with their changes and identifiers."""
        folders: dict[str, list[str]] = {}
        for path in (*self._by_file, *self._files):
            folder = folders.setdefault(path.rpartition("/")[0], [])
            if path not in folder:
                folder.append(path)
        single = [paths[0] for paths in folders.values() if self._is_single(paths)]
        blocks = [
            self._folder(folder, paths)
            for folder, paths in folders.items()
            if not self._is_single(paths)
        ]
        # Every line below a folder's heading belongs to that folder, so lines with whole paths
        # come first.
        one_liners = [line for lines in blocks if lines[0].startswith("- ") for line in lines]
        headed = [line for lines in blocks if not lines[0].startswith("- ") for line in lines]
        return [*one_liners, *self._single_files(single), *headed]

    def _is_single(self, paths: list[str]) -> bool:
        """Whether these paths of a folder are one file without identifiers."""
        return len(paths) == 1 and paths[0] not in self._by_file

    def _single_files(self, paths: list[str]) -> list[str]:
        return [
            f"- {self._label(SINGLE_FILES_LABEL, len(row))}{self._plain_files(row, whole=True)}"
            for row in _split_rows(paths, FILES_PER_LINE)
        ]

    def _folder(self, folder: str, paths: list[str]) -> list[str]:
        """One line if there is only one, else the folder as a heading with its lines below."""
        detailed = [self._file_with_identifiers(path) for path in paths if path in self._by_file]
        plain = self._plain_files([path for path in paths if path not in self._by_file])
        lines = [*detailed, plain] if plain else detailed
        if not folder:
            return [f"- {line}" for line in lines]
        if len(lines) == 1:
            separator = "/: " if len(paths) > 1 else "/"
            return [f"- {folder}{separator}{lines[0]}"]
        return [f"{folder}/", *(f"- {line}" for line in lines)]

    def _file_with_identifiers(self, path: str) -> str:
        mentions, trail = self._by_file[path], self._state["files"].get(path)
        sources = [[line] for mention in mentions for line in mention.file_lines]
        texts = ", ".join(mention.text for mention in mentions)
        where = cite_lines([*sources, *self._sources(path)])
        return f"{self._file(path, trail)}: {texts} {where}"

    def _plain_files(self, paths: list[str], *, whole: bool = False) -> str:
        """Files without identifiers in one line, by their base names or `whole` paths."""
        if not paths:
            return ""
        trails = self._state["files"]
        if self._terse:
            text = self._files_by_change(paths, whole=whole)
        else:
            text = ", ".join(self._file(path, trails.get(path), whole=whole) for path in paths)
        return f"{text} {cite_lines(source for path in paths for source in self._sources(path))}"

    def _files_by_change(self, paths: list[str], *, whole: bool) -> str:
        """Files that did not change, then those that did, with each change stated once."""
        names_by_change: dict[str, list[str]] = {"": []}
        for path in paths:
            change = self._change(path, self._state["files"].get(path))
            names = names_by_change.setdefault(change, [])
            names.append(path if whole else path.rpartition("/")[2])
        groups = ((change, ", ".join(names)) for change, names in names_by_change.items() if names)
        return "; ".join(f"{change} {names}".lstrip() for change, names in groups)

    def _file(self, path: str, trail: FileTrail | None, *, whole: bool = False) -> str:
        name = path if whole else path.rpartition("/")[2]
        change = self._change(path, trail)
        return f"{name} {change}" if change else name

    def _change(self, path: str, trail: FileTrail | None) -> str:
        """What happened to a file, and whether a check fails in it."""
        check = self._failing.get(path)
        change = describe_changes(trail, counted=not self._terse) if trail else ""
        return " · ".join(filter(None, (change, f"{check['kind']} failing" if check else "")))

    def _sources(self, path: str) -> list[list[int]]:
        """Where a file is mentioned; of a changed file, the lines that show the change."""
        trail, mention = self._state["files"].get(path), self._files.get(path)
        check = self._failing.get(path)
        failed = [[check["line"]]] if check else []
        if trail and describe_changes(trail):
            return [[line] for line in (trail["line"], trail.get("told", 0)) if line] + failed
        lines = [*(mention.lines if mention else ()), *([trail["line"]] if trail else ())]
        return [lines, *failed]

    def commands(self) -> list[str]:
        """The lines of the commands."""
        return [
            self._row([f"`{one_line(one.text, MAX_COMMAND_CHARS)}`" for one in row], row)
            for row in _split_rows(self._commands, COMMANDS_PER_LINE)
        ]

    def others(self) -> list[str]:
        """The lines of identifiers and links without a file."""
        return [
            self._row([one.text for one in row], row, self._label(NO_FILE_LABEL, len(row)))
            for row in _split_rows(self._others, NAMES_PER_LINE)
        ]

    def _label(self, label: str, count: int) -> str:
        return label if count > MAX_UNLABELLED and not self._terse else ""

    def _row(self, texts: list[str], mentions: list[RankedMention], label: str = "") -> str:
        where = cite_lines([mention.lines for mention in mentions])
        return f"- {label}{', '.join(texts)} {where}"


def _split_rows(entries: list[T], size: int) -> list[list[T]]:
    return [entries[start : start + size] for start in range(0, len(entries), size)]


def failing_checks_by_file(state: State) -> dict[str, Check]:
    """The files in which a test, a build or a linter fails, as far as its output says."""
    failing: dict[str, Check] = {}
    root = state["place"].get("root", "")
    for check in state["checks"]:
        where = check["where"].rpartition(":")[0].removeprefix(f"{root}/")
        if where and not check["ok"] and check["kind"] != "run":
            # Test runners often print only the last part of a path.
            matches = [path for path in state["files"] if f"/{path}".endswith(f"/{where}")]
            if len(matches) == 1:
                failing[matches[0]] = check
    return failing


def describe_changes(trail: FileTrail, *, counted: bool = True) -> str:
    """What happened to a file in a few words, `counted` with the number of edits; empty if it was
    only read."""
    if trail.get("deleted"):
        return "deleted"
    changes = []
    edits = trail.get("edits", 0) if counted else min(1, trail.get("edits", 0))
    if trail.get("created"):
        changes.append("created")
    if edits > 1 or (edits and not changes):
        changes.append(f"edited {edits}×" if edits > 1 else "edited")
    # If the file was read or edited since, the outcome is known.
    if trail.get("unknown", -1) >= trail["line"]:
        changes.append(f"whether the edit at L{trail['unknown']} took effect is unknown")
    return " · ".join(changes)
