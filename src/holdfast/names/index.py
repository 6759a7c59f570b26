"""The index of names: how often each was used, said or shown, when last, and where."""

from __future__ import annotations

from holdfast.names.commands import commands
from holdfast.names.words import COMMAND, FILE, IDENT, Name, names
from holdfast.redact import redact, redact_value
from holdfast.state import shell
from holdfast.state.paths import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from holdfast.names.model import Entry, Index
    from holdfast.transcript.model import Event

VERSION = 8
# What of a tool's input says what it works on; an edit's text and an agent's task do not.
PATHS = ("file_path", "notebook_path", "path")
TARGETS = (*PATHS, "pattern", "glob", "command", "url")
# Of a longer text the head and the tail are looked at: memory and time stay bounded.
LONGEST = 40_000
MOST, ROOM, MOST_TOOLS = 1500, 2200, 100
LINES = 3


def new_index() -> Index:
    return {
        "version": VERSION, "moment": 0, "root": "", "cwd": "", "names": {}, "tools": {},
    }  # fmt: skip


def observe(index: Index, events: Iterable[Event]) -> None:
    """Move the index on. It does not matter where a log is split."""
    for event in events:
        see(index, event)


def see(index: Index, event: Event) -> None:
    """Note the names of one event; a sub-agent's are its own."""
    kind = event["kind"]
    if "agent" in event:
        return
    if kind == "place":
        index["cwd"] = event["place"].get("cwd", index["cwd"])
        index["root"] = index["root"] or index["cwd"]
    elif kind in ("prompt", "reply"):
        _note(index, event["text"], "said", event["line"])
    elif kind == "command":
        _note(index, f"{event['name']} {event['text']}", "said", event["line"])
    elif kind == "tool_call":
        _called(index, event)
    elif kind == "tool_result":
        called, _, about = index["tools"].pop(event["id"], "").partition(" ")
        _note(index, event["text"], "shown", event["line"], about=about, called=called)
    if len(index["names"]) > ROOM:
        _forget(index)


def _called(index: Index, event: Event) -> None:
    given, line = redact_value(event["input"]), event["line"]
    changed = _changed(given.get("changes"))
    targets = [value for key in TARGETS if isinstance(value := given.get(key), str)] + changed
    path = next((value for key in PATHS if isinstance(value := given.get(key), str)), "")
    if len(changed) > 1:
        # Of what a patch says of several files it is not known which says what.
        path = ""
    about = whole(index["root"], index["cwd"], path) if path else ""
    if about:
        # What a search finds in a file names the file only in the call.
        searched = "pattern" in given
        index["tools"][event["id"]] = f"{line if searched else 0} {about}"
        while len(index["tools"]) > MOST_TOOLS:
            del index["tools"][next(iter(index["tools"]))]
    script = given.get("command")
    here, index["cwd"] = index["cwd"], _gone_to(index, script)
    _note(index, "\n".join(targets), "used", line)
    index["cwd"] = here
    if isinstance(script, str):
        for command in commands(script):
            _put(index, (COMMAND, command), "used", line)
            _removed(index, command.split())
    rest = [value for key, value in given.items() if key not in (*TARGETS, "changes")]
    _note(index, "\n".join(_strings(rest)), "shown", line, step=0, about=about)


def _gone_to(index: Index, script: Any) -> str:
    """Where a command works that goes elsewhere first."""
    if not isinstance(script, str) or not script.startswith("cd "):
        return index["cwd"]
    to = next(iter(shell.commands(script)[0].words[1:]), None) or ""
    return to if to[:1] in ("/", "~") else f"{index['cwd']}/{to}".rstrip("/")


def _changed(listed: Any) -> list[str]:
    """The files that a patch works on, with the names that it gives them."""
    told = [change for change in (listed if isinstance(listed, list) else ()) if change]
    paths = [
        change.get(key) for change in told if isinstance(change, dict) for key in ("path", "to")
    ]
    return [path for path in paths if isinstance(path, str)]


def _removed(index: Index, words: list[str]) -> None:
    """A file that was removed, alone or with its folder, is gone until it is used again."""
    if words[:1] != ["rm"] and words[:2] != ["git", "rm"]:
        return
    for word in words[1:]:
        path = whole(index["root"], index["cwd"], word.strip("\"'").rstrip("/"))
        if word.startswith("-") or not path:
            continue
        for name, entry in index["names"].items():
            if entry["kind"] == FILE and (name == path or name.startswith(path + "/")):
                entry["gone"] = index["moment"]


def _strings(value: Any, depth: int = 6) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not depth or not isinstance(value, list | dict):
        return []
    inner = value if isinstance(value, list) else value.values()
    return [text for part in inner for text in _strings(part, depth - 1)]


def _note(
    index: Index,
    text: str,
    how: str,
    line: int,
    *,
    step: int = 1,
    about: str = "",
    called: str = "",
) -> None:
    index["moment"] += step
    if len(text) > LONGEST:
        text = text[: LONGEST // 2] + "\n" + text[-LONGEST // 2 :]
    for name in sorted(names(redact(text))):
        _put(index, name, how, line, about, called)


def _put(index: Index, name: Name, how: str, line: int, about: str = "", called: str = "") -> None:
    kind, text = name
    if kind == FILE:
        text = _located(index, text, how)
    entry = index["names"].get(text)
    if entry is None:
        entry = index["names"][text] = {
            "kind": kind, "times": 0, "used": 0, "said": 0, "shown": 0, "lines": [], "home": "",
        }  # fmt: skip
    entry["times"] += 1
    entry[how] = index["moment"]  # type: ignore[literal-required]
    if not entry["lines"] or entry["lines"][-1] != line:
        entry["lines"] = [*entry["lines"], line][-LINES:]
    if about and kind == IDENT:
        searched = called not in ("", "0")
        entry["home"] = f"{called},{line} {about}" if searched else f"{line} {about}"


def _located(index: Index, text: str, how: str) -> str:
    """A file as the project names it. One that is merely mentioned, by its own name or in words,
    may be anywhere: it is taken for the one where the agent is only if that is known.
    """
    path = whole(index["root"], index["cwd"], text)
    placed = how == "used" or (how == "shown" and "/" in text) or path in index["names"]
    return path if placed else whole(index["root"], index["root"], text)


def _forget(index: Index) -> None:
    """Keep the names that were met last; those that were used live longer."""
    kept = sorted(
        index["names"],
        key=lambda name: (-_newest(index["names"][name]), name),
    )[:MOST]
    wanted = set(kept)
    index["names"] = {name: entry for name, entry in index["names"].items() if name in wanted}


def _newest(entry: Entry) -> float:
    return max(1.5 * entry["used"], 1.2 * entry["said"], entry["shown"])
