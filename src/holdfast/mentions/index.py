"""Update the mention index: how often each name was used, said or shown, when last, and where."""

from __future__ import annotations

from holdfast.mentions.extract import (
    COMMAND_KIND,
    FILE_KIND,
    IDENTIFIER_KIND,
    Mention,
    extract_commands,
    extract_mentions,
)
from holdfast.redaction import redact, redact_value
from holdfast.state import shell_parser
from holdfast.state.paths import resolve_project_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from holdfast.mentions.types import MentionEntry, MentionIndex
    from holdfast.transcript.types import Event

VERSION = 8
# The arguments that say what a tool works on; an edit's text and an agent's task do not.
PATH_KEYS = ("file_path", "notebook_path", "path")
TARGET_KEYS = (*PATH_KEYS, "pattern", "glob", "command", "url")
# Only the beginning and end of a longer text are searched, to bound memory and time.
MAX_TEXT_CHARS = 40_000
# When there are more names than MAX_NAMES, all but KEPT_NAMES are dropped.
KEPT_NAMES, MAX_NAMES, MAX_PENDING_CALLS = 1500, 2200, 100
MAX_LINES_PER_NAME = 3


def new_index() -> MentionIndex:
    """Return an empty index."""
    return {
        "version": VERSION, "moment": 0, "root": "", "cwd": "", "names": {}, "tools": {},
    }  # fmt: skip


def add_events(index: MentionIndex, events: Iterable[Event]) -> None:
    """Add events to the index in place. A log may be split anywhere."""
    for event in events:
        add_event(index, event)


def add_event(index: MentionIndex, event: Event) -> None:
    """Add the mentions of one event; those of sub-agents are ignored."""
    kind = event["kind"]
    if "agent" in event:
        return
    if kind == "place":
        index["cwd"] = event["place"].get("cwd", index["cwd"])
        index["root"] = index["root"] or index["cwd"]
    elif kind in ("prompt", "reply"):
        _add_text(index, event["text"], "said", event["line"])
    elif kind == "command":
        _add_text(index, f"{event['name']} {event['text']}", "said", event["line"])
    elif kind == "tool_call":
        _add_call(index, event)
    elif kind == "tool_result":
        call_line, _, file = index["tools"].pop(event["id"], "").partition(" ")
        _add_text(index, event["text"], "shown", event["line"], file=file, call_line=call_line)
    if len(index["names"]) > MAX_NAMES:
        _drop_oldest(index)


def _add_call(index: MentionIndex, event: Event) -> None:
    arguments, line = redact_value(event["input"]), event["line"]
    patched = _find_patched_files(arguments.get("changes"))
    targets = [value for key in TARGET_KEYS if isinstance(value := arguments.get(key), str)]
    targets += patched
    path = next((value for key in PATH_KEYS if isinstance(value := arguments.get(key), str)), "")
    if len(patched) > 1:
        # It is unknown which part of a patch belongs to which of its files.
        path = ""
    file = resolve_project_path(index["root"], index["cwd"], path) if path else ""
    if file:
        # The result of a search in a file does not name the file: only the call does.
        is_search = "pattern" in arguments
        index["tools"][event["id"]] = f"{line if is_search else 0} {file}"
        while len(index["tools"]) > MAX_PENDING_CALLS:
            del index["tools"][next(iter(index["tools"]))]
    script = arguments.get("command")
    cwd, index["cwd"] = index["cwd"], _find_command_folder(index, script)
    _add_text(index, "\n".join(targets), "used", line)
    index["cwd"] = cwd
    if isinstance(script, str):
        for command in extract_commands(script):
            _add_mention(index, (COMMAND_KIND, command), "used", line)
            _mark_removed(index, command.split())
    others = [value for key, value in arguments.items() if key not in (*TARGET_KEYS, "changes")]
    _add_text(index, "\n".join(_find_strings(others)), "shown", line, step=0, file=file)


def _find_command_folder(index: MentionIndex, script: Any) -> str:
    """Return the folder in which a script works: that of its first command, if that is a `cd`."""
    if not isinstance(script, str) or not script.startswith("cd "):
        return index["cwd"]
    folder = next(iter(shell_parser.parse_commands(script)[0].words[1:]), None) or ""
    return folder if folder[:1] in ("/", "~") else f"{index['cwd']}/{folder}".rstrip("/")


def _find_patched_files(changes: Any) -> list[str]:
    """Return the files that a patch changes, and their new names."""
    paths = [
        change.get(key)
        for change in (changes if isinstance(changes, list) else ())
        if isinstance(change, dict)
        for key in ("path", "to")
    ]
    return [path for path in paths if isinstance(path, str)]


def _mark_removed(index: MentionIndex, words: list[str]) -> None:
    """Mark the files that an `rm` removes as gone; later use makes the mark obsolete."""
    if words[:1] != ["rm"] and words[:2] != ["git", "rm"]:
        return
    for word in words[1:]:
        path = resolve_project_path(index["root"], index["cwd"], word.strip("\"'").rstrip("/"))
        if word.startswith("-") or not path:
            continue
        for name, entry in index["names"].items():
            if entry["kind"] == FILE_KIND and (name == path or name.startswith(path + "/")):
                entry["gone"] = index["moment"]


def _find_strings(value: Any, depth: int = 6) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not depth or not isinstance(value, list | dict):
        return []
    inner = value if isinstance(value, list) else value.values()
    return [text for part in inner for text in _find_strings(part, depth - 1)]


def _add_text(
    index: MentionIndex,
    text: str,
    manner: str,
    line: int,
    *,
    step: int = 1,
    file: str = "",
    call_line: str = "",
) -> None:
    """Add all mentions of a text.

    `manner` is used, said or shown; `step` is 0 for a text of the same moment as the last one;
    `file` is the file whose content the text shows, and `call_line` the line that names it.
    """
    index["moment"] += step
    if len(text) > MAX_TEXT_CHARS:
        text = text[: MAX_TEXT_CHARS // 2] + "\n" + text[-MAX_TEXT_CHARS // 2 :]
    for mention in sorted(extract_mentions(redact(text))):
        _add_mention(index, mention, manner, line, file, call_line)


def _add_mention(
    index: MentionIndex,
    mention: Mention,
    manner: str,
    line: int,
    file: str = "",
    call_line: str = "",
) -> None:
    kind, name = mention
    if kind == FILE_KIND:
        name = _locate(index, name, manner)
    entry = index["names"].get(name)
    if entry is None:
        entry = index["names"][name] = {
            "kind": kind, "times": 0, "used": 0, "said": 0, "shown": 0, "lines": [], "home": "",
        }  # fmt: skip
    entry["times"] += 1
    entry[manner] = index["moment"]  # type: ignore[literal-required]
    if not entry["lines"] or entry["lines"][-1] != line:
        entry["lines"] = [*entry["lines"], line][-MAX_LINES_PER_NAME:]
    if file and kind == IDENTIFIER_KIND:
        is_search = call_line not in ("", "0")
        entry["home"] = f"{call_line},{line} {file}" if is_search else f"{line} {file}"


def _locate(index: MentionIndex, name: str, manner: str) -> str:
    """Return a file's path in the project.

    A file that is only mentioned may be anywhere: it is resolved from the current folder only if
    the result is known, and from the project's root otherwise.
    """
    path = resolve_project_path(index["root"], index["cwd"], name)
    is_located = manner == "used" or (manner == "shown" and "/" in name) or path in index["names"]
    return path if is_located else resolve_project_path(index["root"], index["root"], name)


def _drop_oldest(index: MentionIndex) -> None:
    """Drop the names that were not mentioned for longest; used and said names are kept longer."""
    newest = sorted(
        index["names"],
        key=lambda name: (-_find_newest(index["names"][name]), name),
    )[:KEPT_NAMES]
    kept = set(newest)
    index["names"] = {name: entry for name, entry in index["names"].items() if name in kept}


def _find_newest(entry: MentionEntry) -> float:
    return max(1.5 * entry["used"], 1.2 * entry["said"], entry["shown"])
