"""The session's notes: the current state on top, a log of progress below. Pure.

People write into the same file. Holdfast replaces only lines that it wrote itself and adds to
the end; any other line stays where it is.
"""

from __future__ import annotations

from holdfast.redact import redact
from holdfast.state.wording import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.state.model import State

START = "<!-- HOLDFAST_STATE_START: kept by Holdfast -->"
END = "<!-- HOLDFAST_STATE_END -->"
LOG = "## Progress Log"
STATE = "## Current State (last updated: "
FIELDS = ("Active work", "Current item", "Blocking on", "Next", "Sub-agents")
# How entries begin that `progress` makes of the log.
DERIVED = ("- commit ", "- done: ", "- ruled out by the ", "- decided by the ")


def current_state(state: State, said: dict[str, Any], when: str, just_asked: str = "") -> list[str]:
    """The block to look at first. `said` holds what people told: `blocker` and `next`."""
    running = [item for item in state["plan"] if item["status"] == "in_progress"]
    waiting = [item for item in state["plan"] if item["status"] == "pending"]
    agents = [agent for agent in state["agents"] if agent["status"] == "running"]
    upcoming = said.get("next") or (_item(waiting[0]) if waiting else "")
    texts = (
        _active_work(state, just_asked),
        _item(running[-1]) if running else "",
        said.get("blocker") or _blocker(state) or "nothing",
        upcoming,
        ", ".join(f"{agent['type'] or 'agent'}={agent['id']}" for agent in agents),
    )
    told = [
        f"- **{name}:** {one_line(text or '–', 400)}"
        for name, text in zip(FIELDS, texts, strict=True)
    ]
    return [f"{STATE}{when})", *told]


def _active_work(state: State, just_asked: str) -> str:
    # What tools and hooks send as a prompt begins with a tag.
    if just_asked.strip() and not just_asked.lstrip().startswith("<"):
        return f"“{one_line(redact(just_asked), 240)}” (just asked)"
    return "".join(
        f"“{one_line(one['text'], 240)}” (L{one['line']})" for one in state["requests"][-1:]
    )


def _item(item: Any) -> str:
    return f"{one_line(item['text'], 200)} (L{item['line']})"


def _blocker(state: State) -> str:
    if state["blockers"]:
        return _item(state["blockers"][-1])
    for question in state["questions"]:
        return f"an answer to “{one_line(redact(question['text']), 200)}” (L{question['line']})"
    failing = [check for check in state["checks"] if not check["ok"] and check["kind"] != "run"]
    return (
        f"`{one_line(failing[-1]['command'], 120)}` fails (L{failing[-1]['line']})"
        if failing
        else ""
    )


def progress(state: State, after: int) -> list[str]:
    """What was achieved or decided since that line, in order."""
    found = [
        *((one["line"], f"commit {one['sha']} {one['subject']}") for one in state["commits"]),
        *((one["line"], f"done: {one['text']}") for one in state["plan"]
          if one["status"] == "completed"),
        *((one["line"], f"{'ruled out' if one['kind'] == 'rejected' else 'decided'} by the "
           f"{one['by']}: “{one_line(one['text'], 240)}”") for one in state["decisions"]),
    ]  # fmt: skip
    return [f"- {one_line(text, 300)} (L{line})" for line, text in sorted(found) if line > after]


def merged(old: str | None, title: str, block: list[str], previous: list[str]) -> str:
    """The file with a new block. Lines in the old one that we did not write go below it."""
    if old is None:
        return "\n".join([title, "", START, *block, END, "", LOG, ""])
    before, start, rest = old.partition(START)
    inside, end, after = rest.partition(END)
    if not start or not end:
        # Somebody took the block away; it comes back on top, and nothing else moves.
        return "\n".join([START, *block, END, "", old])
    theirs = [
        line for line in inside.strip("\n").split("\n") if line.strip() not in _known(previous)
    ]
    kept = "\n" + "\n".join(theirs) if theirs else ""
    return f"{before}{START}\n" + "\n".join(block) + f"\n{END}{kept}{after}"


def _known(previous: list[str]) -> set[str]:
    return {"", *(line.strip() for line in previous)}


def added(text: str, entries: list[str], when: str) -> str:
    """The text with these entries at its end, under the time."""
    if not entries:
        return text
    gap = "" if text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}### {when}\n" + "\n".join(entries) + "\n"


def by_people(text: str, previous: list[str], ours: set[str]) -> list[str]:
    """The lines that Holdfast did not write: what somebody thought worth noting."""
    own = _known(previous) | ours | {START, END, LOG}
    return [
        line.strip()
        for line in text.splitlines()
        if line.strip() not in own and not line.startswith(("### ", "# Session "))
        and not _is_entry(line)
    ]  # fmt: skip


def _is_entry(line: str) -> bool:
    """`- done: … (L12)`: an entry of ours names its transcript line."""
    number = line.rstrip().rpartition("(L")[2]
    return line.startswith("- ") and number.endswith(")") and number[:-1].isdecimal()


def in_other_words(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines with their numbers that say something new: what the log tells is found there."""
    fields = (STATE, *(f"- **{name}:**" for name in FIELDS))
    inside = False
    for number, line in enumerate(lines, 1):
        mark = line.strip()
        if mark in (START, END):
            inside = mark == START
        elif not (
            (inside and mark.startswith(fields))
            or mark == LOG
            or line.startswith("# Session ")
            or (line.startswith(DERIVED) and _is_entry(line))
        ):
            yield number, line
