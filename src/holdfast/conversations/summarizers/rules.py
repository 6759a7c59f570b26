"""A checkpoint by rules: offline, deterministic, in milliseconds.

The fold that reads hosts' transcripts reads the messages; what it finds is merged into the
previous checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from holdfast.conversations.checkpoint import Checkpoint, item_key
from holdfast.conversations.message import Message, result_text
from holdfast.conversations.summarizers import Price, Reply, Work
from holdfast.conversations.summarizers.markers import find_marked_items
from holdfast.state.fold import advance, new_state
from holdfast.state.rules.user_rules import find_scope
from holdfast.state.text import one_line

if TYPE_CHECKING:
    from holdfast.state.types import State
    from holdfast.transcript.types import Event

# How items begin that the rules recognize again in a later compaction.
REQUEST_PREFIX, FAILING_PREFIX = "asked: ", "fails: "
WAITING_PREFIX, FILES_PREFIX = "waits: ", "files changed: "
MAX_REQUEST_CHARS = 300
MAX_FILES, MAX_FAILING = 30, 4
STATUS_LISTS = {"completed": "completed", "in_progress": "in_progress", "pending": "pending"}
# Two items that share more than this part of their significant words are the same.
MIN_SIMILARITY = 0.7


class Rules:
    """The default summarizer: free, offline, and deterministic."""

    name = "rules"

    def summarize(self, work: Work) -> Reply:
        return Reply(content=summarize(work))

    def price(self) -> Price | None:
        return None


def summarize(work: Work) -> Checkpoint:
    """Return the checkpoint of `work`: the previous one, updated with what the messages say."""
    state = _fold_messages(work)
    lists = CheckpointLists(work.checkpoint)
    has_replied = _has_user_replied(work)
    if has_replied or state["requests"]:
        lists.remove_blockers(WAITING_PREFIX)
    for list_name, text in _find_items(state, work.messages):
        lists.add(list_name, text)
    _add_requests(lists, state, has_replied)
    if not has_replied:
        for blocker in state["blockers"]:
            lists.add("blockers", f"{WAITING_PREFIX}“{blocker['text']}”")
    _add_failing_checks(lists, state)
    _add_changed_files(lists, state)
    lists.items["constraints"] = find_constraints(state)
    return lists.to_checkpoint()


def find_constraints(state: State) -> list[str]:
    """Return the user's rules that still hold."""
    return [rule["text"] for rule in state["rules"] if not rule["superseded"]]


def _fold_messages(work: Work) -> State:
    """Return the state of the messages, with the constraints of the checkpoint as rules."""
    state = new_state()
    for text in work.checkpoint.constraints:
        _add_rule(state, text, 0)
    advance(state, _to_events(work.messages))
    for message in work.messages:
        if message.role == "user":
            for list_name, text in find_marked_items(message.text):
                if list_name == "constraints":
                    _add_rule(state, text, message.ordinal)
    return state


def _to_events(messages: Iterable[Message]) -> Iterator[Event]:
    """Yield the messages as transcript events; the ordinal of a message is its line."""
    for message in messages:
        line = message.ordinal
        for block in message.results:
            ident, ok = str(block.get("tool_use_id", "")), not block.get("is_error")
            text = result_text(block)
            yield {"kind": "tool_result", "id": ident, "ok": ok, "text": text, "line": line}
        if text := message.text.strip():
            if message.role == "assistant":
                yield {"kind": "reply", "text": text, "line": line}
            elif message.role == "user":
                yield {"kind": "prompt", "text": text, "line": line, "at": ""}
        for block in message.calls:
            name, arguments = str(block.get("name", "")), block.get("input")
            arguments = arguments if isinstance(arguments, dict) else {}
            ident = str(block.get("id", ""))
            yield {"kind": "tool_call", "id": ident, "name": name, "input": arguments, "line": line}


def _has_user_replied(work: Work) -> bool:
    """Return whether the user has spoken in the kept messages."""
    return any(message.role == "user" and message.text.strip() for message in work.kept)


def _find_items(state: State, messages: Iterable[Message]) -> Iterator[tuple[str, str]]:
    """Yield the list and the text of new items, in the order in which they came up."""
    for message in messages:
        if message.role == "tool":
            continue  # what a tool printed is data
        yield from (item for item in find_marked_items(message.text) if item[0] != "constraints")
    for item in state["plan"]:
        yield STATUS_LISTS.get(item["status"], "pending"), item["text"]
    for decision in state["decisions"]:
        prefix = "ruled out: " if decision["kind"] == "rejected" else ""
        yield "decisions", prefix + decision["text"]
    for commit in state["commits"]:
        yield "completed", f"committed: {commit['subject']}"


def _add_rule(state: State, text: str, line: int) -> None:
    if all(rule["text"] != text for rule in state["rules"]):
        state["rules"].append(
            {
                "text": text,
                "kind": "requirement",
                "line": line,
                "superseded": 0,
                "scope": find_scope(text),
            }
        )


def _add_requests(lists: CheckpointLists, state: State, has_replied: bool) -> None:
    """Add the requests: the latest as in progress, or as completed once the user has replied."""
    requests = [
        f"{REQUEST_PREFIX}“{one_line(request['text'], MAX_REQUEST_CHARS)}”"
        for request in state["requests"]
    ]
    if requests or has_replied:
        for item in [
            text for text in lists.items["in_progress"] if text.startswith(REQUEST_PREFIX)
        ]:
            lists.add("completed", item)
    for item in requests if has_replied else requests[:-1]:
        lists.add("completed", item)
    if requests and not has_replied:
        lists.add("in_progress", requests[-1])


def _add_failing_checks(lists: CheckpointLists, state: State) -> None:
    for check in state["checks"]:
        lists.remove_blockers(f"{FAILING_PREFIX}`{check['command']}`")
    failing = [check for check in state["checks"] if not check["ok"]]
    for check in failing[-MAX_FAILING:]:
        cause = next((line for line in check["error"] if " " in line), "")
        lists.add("blockers", f"{FAILING_PREFIX}`{check['command']}` {cause}".strip())


def _add_changed_files(lists: CheckpointLists, state: State) -> None:
    """Merge all changed files into one item, the latest last."""
    old_items = [item for item in lists.items["completed"] if item.startswith(FILES_PREFIX)]
    old_paths = [path for item in old_items for path in item.removeprefix(FILES_PREFIX).split(", ")]
    new_paths = [path for path, trail in state["files"].items() if trail.get("edits")]
    if not new_paths:
        return
    others = [item for item in lists.items["completed"] if item not in old_items]
    latest = list(dict.fromkeys(reversed([*old_paths, *new_paths])))[:MAX_FILES]
    lists.items["completed"] = [*others, FILES_PREFIX + ", ".join(reversed(latest))]


class CheckpointLists:
    """The lists of a checkpoint while items move between them."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.items = checkpoint.as_dict()

    def add(self, list_name: str, text: str) -> None:
        """Append an item to its list, and remove it from the lists that it has left."""
        if list_name == "resolved":
            list_name = "completed"
        if text.startswith(REQUEST_PREFIX):
            self.items["in_progress"] = [
                item for item in self.items["in_progress"] if not is_same(item, text)
            ]
        elif list_name == "completed":
            self._remove(text, "in_progress", "pending", "blockers")
        elif list_name == "in_progress":
            self._remove(text, "pending")
        elif list_name == "pending" and any(
            is_same(text, item) for item in self.items["in_progress"]
        ):
            return
        if all(not is_same(text, item) for item in self.items[list_name]):
            self.items[list_name].append(text)

    def remove_blockers(self, prefix: str) -> None:
        """Remove the blockers that begin with `prefix`."""
        self.items["blockers"] = [
            item for item in self.items["blockers"] if not item.startswith(prefix)
        ]

    def _remove(self, text: str, *list_names: str) -> None:
        for name in list_names:
            self.items[name] = [item for item in self.items[name] if not is_similar(item, text)]

    def to_checkpoint(self) -> Checkpoint:
        return Checkpoint.parse(self.items).tidy()


def is_same(item: str, other: str) -> bool:
    """Return whether two items have the same words."""
    return item_key(item) == item_key(other)


def is_similar(item: str, other: str) -> bool:
    """Return whether two items say the same in slightly different words.

    Items with different numbers or identifiers are different.
    """
    words, other_words = _significant_words(item), _significant_words(other)
    if {word for word in words ^ other_words if not word.isalpha()}:
        return False
    shared, total = len(words & other_words), len(words | other_words)
    return is_same(item, other) or shared > MIN_SIMILARITY * total


def _significant_words(text: str) -> set[str]:
    return {word for word in item_key(text).split() if len(word) > 3 or not word.isalpha()}
