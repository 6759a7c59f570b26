"""Update the trail of one file: what created, changed or read it last. Pure."""

from __future__ import annotations

from holdfast.state.paths import to_project_path
from holdfast.state.text import content_words, redact_and_clip, split_sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.state.types import FileTrail, State, Statement

MAX_FILES = 3000
MAX_PURPOSES, MAX_SWAPS, MAX_EXPLAINED_FILES = 4, 3, 60
MIN_PURPOSE_CHARS, MAX_PURPOSE_CHARS, MAX_SWAP_CHARS = 15, 240, 90
MIN_PURPOSE_WORDS = 3
# A sentence that is further away is about other edits.
MAX_PURPOSE_LINES = 12
EMPTY_WORDS = frozenset((
    "now", "let", "me", "i'll", "i", "need", "update", "fix", "add", "them", "these", "changes",
    "write", "create", "next", "file", "first", "will", "good", "let's", "make", "edit", "there",
    "track", "progress", "todos", "todo", "list", "start", "continue", "it", "this",
))  # fmt: skip
MAX_SYMBOLS = 8
DEFINITION_PREFIXES = (
    "def ", "class ", "func ", "fn ", "function ", "type ", "struct ", "interface ", "enum ",
    "trait ", "defp ",
)  # fmt: skip
MODIFIERS = ("export ", "default ", "public ", "private ", "pub ", "static ", "async ", "abstract ")
NAME_ENDS = str.maketrans(dict.fromkeys("(:{<=[;,", " "))


def record_write(state: State, path: Any, line: int, new: bool, text: str = "") -> None:
    """Record that a whole file was written; `new` says that it did not exist.

    A file that was deleted before exists again and counts as changed, not as created.
    """
    is_known = isinstance(path, str) and to_project_path(state, path) in state["files"]
    trail = touch_trail(state, path, line)
    is_created = new and not is_known
    if is_created:
        trail["created"] = line
    # A file that existed before defines much that this write did not change.
    record_edit(trail, text if is_created else "")


def record_edit(trail: FileTrail, text: str, old: str = "") -> None:
    """Count an edit, and remember which functions and types it defines that `old` did not have."""
    trail["edits"] = trail.get("edits", 0) + 1
    new = [name for name in find_definitions(text) if name not in old]
    if new:
        known = [name for name in trail.get("symbols", []) if name not in new]
        trail["symbols"] = [*known, *new][-MAX_SYMBOLS:]


def record_purpose(state: State, trail: FileTrail, line: int) -> None:
    """Remember the sentence right before an edit: it usually says what the edit is for."""
    said = state["doing"]
    last_request = state["requests"][-1]["line"] if state["requests"] else 0
    if not trail or said is None or not last_request < said["line"] <= line:
        return
    if line - said["line"] > MAX_PURPOSE_LINES:
        return
    purposes = trail.get("purposes", [])
    if purposes and purposes[-1]["line"] == said["line"]:
        return
    sentences = split_sentences(said["text"])
    text = sentences[-1].rstrip(":").strip() if sentences else ""
    if len(text) >= MIN_PURPOSE_CHARS and _says_something(text):
        purpose: Statement = {
            "text": redact_and_clip(text, MAX_PURPOSE_CHARS),
            "line": said["line"],
        }
        trail["purposes"] = [*purposes, purpose][-MAX_PURPOSES:]
        _drop_old_purposes(state)


def _drop_old_purposes(state: State) -> None:
    """Keep purposes only for the files that were changed last, to bound the state."""
    explained = [
        trail for trail in state["files"].values() if "purposes" in trail or "swaps" in trail
    ]
    for trail in explained[:-MAX_EXPLAINED_FILES]:
        trail.pop("purposes", None)
        trail.pop("swaps", None)


def _says_something(text: str) -> bool:
    """Whether a sentence names what is done: not “Let me fix this.”"""
    if any(char in text for char in "`/_0123456789") or not text.isascii():
        return True
    return len(content_words(text) - EMPTY_WORDS) >= MIN_PURPOSE_WORDS


def record_swap(trail: FileTrail, arguments: dict[str, Any]) -> None:
    """Remember an edit that changed a single short line."""
    old, new = (str(arguments.get(key) or "").splitlines() for key in ("old_string", "new_string"))
    if len(old) != len(new):
        return
    changed = [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
    if len(changed) == 1 and all(0 < len(part.strip()) <= MAX_SWAP_CHARS for part in changed[0]):
        before, after = (redact_and_clip(part.strip(), MAX_SWAP_CHARS) for part in changed[0])
        trail["swaps"] = [*trail.get("swaps", []), f"{before} → {after}"][-MAX_SWAPS:]


def touch_trail(state: State, path: Any, line: int) -> FileTrail:
    """Return the trail of a file that was just used, and move it to the end.

    For something that is not a path, the trail is empty and belongs to no state.
    """
    if not isinstance(path, str) or not path:
        return {}
    name = to_project_path(state, path)
    trail = state["files"].get(name, {})
    # A file that was used exists, so an earlier deletion no longer holds.
    trail.pop("deleted", None)
    set_last_line(trail, name, path, line)
    put_last(state, name, trail)
    return trail


def put_last(state: State, name: str, trail: FileTrail) -> None:
    """Store a trail; the order of keys is the order of last use."""
    files = state["files"]
    files.pop(name, None)
    files[name] = trail
    if len(files) > MAX_FILES:
        unedited = (known for known, old in files.items() if not old.get("edits") and known != name)
        del files[next(unedited, next(iter(files)))]


def set_last_line(trail: FileTrail, name: str, path: str, line: int) -> None:
    """Set the line of the last change.

    If a command names the file only by a folder or pattern, `source_line` is the last line that
    names it.
    """
    if name.rpartition("/")[2] not in path and "line" in trail:
        trail["source_line"] = trail.get("source_line", trail["line"])
    else:
        trail.pop("source_line", None)
    trail["line"] = line


def find_definitions(text: str) -> list[str]:
    """Return the names of the functions and types that a text defines."""
    if not any(prefix in text for prefix in DEFINITION_PREFIXES):
        return []
    names = []
    for line in text.splitlines():
        stripped = line.strip()
        for modifier in MODIFIERS:
            stripped = stripped.removeprefix(modifier)
        if not stripped.startswith(DEFINITION_PREFIXES):
            continue
        rest = stripped.partition(" ")[2]
        if rest.startswith("("):
            # A method of Go: `func (s *Store) Save(`.
            rest = rest.partition(") ")[2]
        name = rest.translate(NAME_ENDS).split(" ")[0].strip()
        if name.isidentifier() and len(name) > 2 and name not in names:
            names.append(name[:60])
    return names
