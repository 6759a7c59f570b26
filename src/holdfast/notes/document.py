"""Build and parse the text of a notes file: a block with the current state, then the progress log.

People write into the same file. Holdfast replaces only lines that it wrote itself and appends to
the end; every other line stays where it is. This module does no input or output.
"""

from __future__ import annotations

from holdfast.redaction import redact
from holdfast.state.quoting import code, quote
from holdfast.state.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.state.types import State

STATE_START = "<!-- HOLDFAST_STATE_START: kept by Holdfast -->"
STATE_END = "<!-- HOLDFAST_STATE_END -->"
LOG_HEADING = "## Progress Log"
STATE_HEADING = "## Current State (last updated: "
FIELDS = ("Active work", "Current item", "Blocking on", "Next", "Sub-agents")
# The beginnings of the entries that `render_progress` returns.
DERIVED_PREFIXES = ("- commit ", "- done: ", "- ruled out by the ", "- decided by the ")
MAX_FIELD_CHARS = 400
MAX_REQUEST_CHARS = 240
MAX_ITEM_CHARS = 200
MAX_COMMAND_CHARS = 120
MAX_ENTRY_CHARS = 300


def render_state_block(
    state: State, notes: dict[str, Any], timestamp: str, prompt: str = ""
) -> list[str]:
    """Return the lines of the state block.

    `notes` has the `blocker` and the `next` step that were noted by command, if any. `prompt` is
    the prompt that the user has just sent, if the transcript does not contain it yet.
    """
    running = [item for item in state["plan"] if item["status"] == "in_progress"]
    pending = [item for item in state["plan"] if item["status"] == "pending"]
    agents = [agent for agent in state["agents"] if agent["status"] == "running"]
    values = (
        _render_active_work(state, prompt),
        _render_item(running[-1]) if running else "",
        notes.get("blocker") or _find_blocker(state) or "nothing",
        notes.get("next") or (_render_item(pending[0]) if pending else ""),
        ", ".join(f"{agent['type'] or 'agent'}={agent['id']}" for agent in agents),
    )
    lines = [
        f"- **{name}:** {one_line(value or '–', MAX_FIELD_CHARS)}"
        for name, value in zip(FIELDS, values, strict=True)
    ]
    return [f"{STATE_HEADING}{timestamp})", *lines]


def _render_active_work(state: State, prompt: str) -> str:
    # A prompt that begins with a tag was sent by a tool or a hook.
    if prompt.strip() and not prompt.lstrip().startswith("<"):
        return f"{quote(redact(prompt), MAX_REQUEST_CHARS)} (just asked)"
    return "".join(
        f"{quote(request['text'], MAX_REQUEST_CHARS)} (L{request['line']})"
        for request in state["requests"][-1:]
    )


def _render_item(item: Any) -> str:
    return f"{one_line(item['text'], MAX_ITEM_CHARS)} (L{item['line']})"


def _find_blocker(state: State) -> str:
    """Return the latest blocker, else an open question, else a failing check, else ""."""
    if state["blockers"]:
        return _render_item(state["blockers"][-1])
    for question in state["questions"]:
        text = quote(redact(question["text"]), MAX_ITEM_CHARS)
        return f"an answer to {text} (L{question['line']})"
    failing = [check for check in state["checks"] if not check["ok"] and check["kind"] != "run"]
    if not failing:
        return ""
    return f"{code(failing[-1]['command'], MAX_COMMAND_CHARS)} fails (L{failing[-1]['line']})"


def render_progress(state: State, after_line: int) -> list[str]:
    """Return entries for the commits, completed plan items and decisions that are recorded after
    this transcript line, in order.
    """
    entries = [
        *((commit["line"], f"commit {commit['sha']} {commit['subject']}".replace("  ", " "))
          for commit in state["commits"]),
        *((item["line"], f"done: {item['text']}") for item in state["plan"]
          if item["status"] == "completed"),
        *((decision["line"], _render_decision(decision)) for decision in state["decisions"]),
    ]  # fmt: skip
    return [
        f"- {one_line(text, MAX_ENTRY_CHARS)} (L{line})"
        for line, text in sorted(entries)
        if line > after_line
    ]


def _render_decision(decision: Any) -> str:
    verb = "ruled out" if decision["kind"] == "rejected" else "decided"
    return f"{verb} by the {decision['by']}: {quote(decision['text'], MAX_REQUEST_CHARS)}"


def merge_state_block(old: str | None, title: str, block: list[str], previous: list[str]) -> str:
    """Return the file's text with the state block replaced.

    `previous` is the block that Holdfast wrote last. Other lines inside the old block were written
    by people and move below it.
    """
    if old is None:
        return "\n".join([title, "", STATE_START, *block, STATE_END, "", LOG_HEADING, ""])
    before, start, rest = old.partition(STATE_START)
    inside, end, after = rest.partition(STATE_END)
    if not start or not end:
        # The markers were deleted. The block is added at the top, and everything else stays.
        return "\n".join([STATE_START, *block, STATE_END, "", old])
    own_lines = _collect_own_lines(previous)
    user_lines = [line for line in inside.strip("\n").split("\n") if line.strip() not in own_lines]
    below = "\n" + "\n".join(user_lines) if user_lines else ""
    return f"{before}{STATE_START}\n" + "\n".join(block) + f"\n{STATE_END}{below}{after}"


def _collect_own_lines(previous: list[str]) -> set[str]:
    """Return the lines of the block that Holdfast wrote last, and the empty line."""
    return {"", *(line.strip() for line in previous)}


def append_entries(text: str, entries: list[str], timestamp: str) -> str:
    """Return the text with these entries at its end, under a heading with the time."""
    if not entries:
        return text
    gap = "" if text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}### {timestamp}\n" + "\n".join(entries) + "\n"


def find_user_lines(text: str, previous: list[str], command_lines: set[str]) -> list[str]:
    """Return the lines that people wrote into the file.

    `previous` is the block that Holdfast wrote last, `command_lines` are the lines of notes that
    were added by command.
    """
    own_lines = _collect_own_lines(previous) | command_lines | {STATE_START, STATE_END, LOG_HEADING}
    return [
        line.strip()
        for line in text.splitlines()
        if line.strip() not in own_lines and not line.startswith(("### ", "# Session "))
        and not _is_entry(line)
    ]  # fmt: skip


def _is_entry(line: str) -> bool:
    """Return whether this is an entry of Holdfast, which ends with a transcript line: `(L12)`."""
    number = line.rstrip().rpartition("(L")[2]
    return line.startswith("- ") and number.endswith(")") and number[:-1].isdecimal()


def iter_searchable_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield line numbers and lines, without those that only repeat the transcript."""
    fields = (STATE_HEADING, *(f"- **{name}:**" for name in FIELDS))
    in_block = False
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if stripped in (STATE_START, STATE_END):
            in_block = stripped == STATE_START
        elif not (
            (in_block and stripped.startswith(fields))
            or stripped == LOG_HEADING
            or line.startswith("# Session ")
            or (line.startswith(DERIVED_PREFIXES) and _is_entry(line))
        ):
            yield number, line
