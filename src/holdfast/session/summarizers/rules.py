"""A checkpoint by rules: offline, deterministic, in milliseconds. The same fold that reads a
host's transcripts reads the messages; what it finds is merged into the checkpoint that is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from holdfast.session.checkpoint import Checkpoint, key
from holdfast.session.message import Message, text_of_result
from holdfast.session.summarizers import Price, Reply, Work
from holdfast.session.summarizers.labels import labelled
from holdfast.state.fold import advance, new_state
from holdfast.state.rules.rules_of_user import scope
from holdfast.state.wording import one_line

if TYPE_CHECKING:
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

ASKED, FAILS, WAITS, FILES = "asked: ", "fails: ", "waits: ", "files changed: "
LONGEST_REQUEST = 300
MOST_FILES, MOST_FAILING = 30, 4
STATUS = {"completed": "completed", "in_progress": "in_progress", "pending": "pending"}
ALIKE = 0.7


class Rules:
    """The default: costs nothing, needs nobody, and gives the same for the same messages."""

    name = "rules"

    def summarize(self, work: Work) -> Reply:
        return Reply(content=summarize(work))

    def price(self) -> Price | None:
        return None


def summarize(work: Work) -> Checkpoint:
    state = _folded(work)
    lists = Lists(work.checkpoint)
    answered = _answered(work)
    lists.settle(WAITS, keep=not (answered or state["requests"]))
    for place, text in _found(state, work.messages):
        lists.add(place, text)
    _requests(lists, state, answered)
    if not answered:
        for said in state["blockers"]:
            lists.add("blockers", f"{WAITS}“{said['text']}”")
    _failing(lists, state)
    _files(lists, state)
    lists.items["constraints"] = constraints(state)
    return lists.made()


def constraints(state: State) -> list[str]:
    """What the user asked to be observed and has not taken back since."""
    return [rule["text"] for rule in state["rules"] if not rule["superseded"] and not rule["weak"]]


def _folded(work: Work) -> State:
    state = new_state()
    for text in work.checkpoint.constraints:
        _bind(state, text, 0)
    advance(state, _events(work.messages))
    for message in work.messages:
        if message.role == "user":
            for place, text in labelled(message.text):
                if place == "constraints":
                    _bind(state, text, message.ordinal)
    return state


def _events(messages: Iterable[Message]) -> Iterator[Event]:
    for message in messages:
        line = message.ordinal
        for block in message.results:
            ident, ok = str(block.get("tool_use_id", "")), not block.get("is_error")
            text = text_of_result(block)
            yield {"kind": "tool_result", "id": ident, "ok": ok, "text": text, "line": line}
        if text := message.text.strip():
            if message.role == "assistant":
                yield {"kind": "reply", "text": text, "line": line}
            elif message.role == "user":
                yield {"kind": "prompt", "text": text, "line": line, "at": ""}
        for block in message.calls:
            name, given = str(block.get("name", "")), block.get("input")
            given = given if isinstance(given, dict) else {}
            ident = str(block.get("id", ""))
            yield {"kind": "tool_call", "id": ident, "name": name, "input": given, "line": line}


def _answered(work: Work) -> bool:
    """Whether the user has spoken again since."""
    return any(message.role == "user" and message.text.strip() for message in work.kept)


def _found(state: State, messages: Iterable[Message]) -> Iterator[tuple[str, str]]:
    """Items in the order in which they came up."""
    for message in messages:
        if message.role == "tool":
            continue  # what a tool printed is data
        yield from (found for found in labelled(message.text) if found[0] != "constraints")
    for item in state["plan"]:
        yield STATUS.get(item["status"], "pending"), item["text"]
    for decision in state["decisions"]:
        ruled_out = "ruled out: " if decision["kind"] == "rejected" else ""
        yield "decisions", ruled_out + decision["text"]
    for commit in state["commits"]:
        yield "completed", f"committed: {commit['subject']}"


def _bind(state: State, text: str, line: int) -> None:
    if all(rule["text"] != text for rule in state["rules"]):
        state["rules"].append(
            {
                "text": text,
                "kind": "requirement",
                "line": line,
                "superseded": 0,
                "scope": scope(text),
                "weak": False,
            }
        )


def _requests(lists: Lists, state: State, answered: bool) -> None:
    """The latest is being worked on; once the user went on, it counts as dealt with."""
    asked = [f"{ASKED}“{one_line(r['text'], LONGEST_REQUEST)}”" for r in state["requests"]]
    if asked or answered:
        for item in [one for one in lists.items["in_progress"] if one.startswith(ASKED)]:
            lists.add("completed", item)
    for item in asked if answered else asked[:-1]:
        lists.add("completed", item)
    if asked and not answered:
        lists.add("in_progress", asked[-1])


def _failing(lists: Lists, state: State) -> None:
    for check in state["checks"]:
        lists.settle(f"{FAILS}`{check['command']}`")
    for check in [one for one in state["checks"] if not one["ok"]][-MOST_FAILING:]:
        why = next((line for line in check["error"] if " " in line), "")
        lists.add("blockers", f"{FAILS}`{check['command']}` {why}".strip())


def _files(lists: Lists, state: State) -> None:
    """One line for all of them, the latest last."""
    known = [item for item in lists.items["completed"] if item.startswith(FILES)]
    names = [name for item in known for name in item.removeprefix(FILES).split(", ")]
    fresh = [path for path, trail in state["files"].items() if trail.get("edits")]
    if not fresh:
        return
    lists.items["completed"] = [x for x in lists.items["completed"] if x not in known]
    kept = list(dict.fromkeys(reversed([*names, *fresh])))[:MOST_FILES]
    lists.items["completed"].append(FILES + ", ".join(reversed(kept)))


class Lists:
    """The lists of a checkpoint while items move between them."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.items = checkpoint.as_dict()

    def add(self, place: str, text: str) -> None:
        """At the end of its list, and out of those that it has left behind."""
        if place == "resolved":
            place = "completed"
        if text.startswith(ASKED):
            self.items["in_progress"] = [x for x in self.items["in_progress"] if not same(x, text)]
        elif place == "completed":
            self._leave(text, "in_progress", "pending", "blockers")
        elif place == "in_progress":
            self._leave(text, "pending")
        elif place == "pending" and any(same(text, one) for one in self.items["in_progress"]):
            return
        if all(not same(text, one) for one in self.items[place]):
            self.items[place].append(text)

    def settle(self, prefix: str, *, keep: bool = False) -> None:
        """Take out what holds the work up and begins so."""
        if not keep:
            still = [one for one in self.items["blockers"] if not one.startswith(prefix)]
            self.items["blockers"] = still

    def _leave(self, text: str, *places: str) -> None:
        for place in places:
            self.items[place] = [one for one in self.items[place] if not alike(one, text)]

    def made(self) -> Checkpoint:
        return Checkpoint.parse(self.items).tidy()


def same(one: str, other: str) -> bool:
    return key(one) == key(other)


def alike(one: str, other: str) -> bool:
    """The same thing in slightly other words; another number makes it another thing."""
    mine, theirs = _telling(one), _telling(other)
    if {word for word in mine ^ theirs if not word.isalpha()}:
        return False
    return same(one, other) or len(mine & theirs) > ALIKE * len(mine | theirs)


def _telling(text: str) -> set[str]:
    return {word for word in key(text).split() if len(word) > 3 or not word.isalpha()}
