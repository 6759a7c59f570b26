"""The lists of a checkpoint while items move between them."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.conversations.checkpoint import Checkpoint, merge_decisions
from holdfast.conversations.item_matching import (
    FAILED_PREFIX,
    GIVEN_UP_PREFIX,
    GOAL_PREFIX,
    REQUEST_PREFIX,
    RESOLVED_PREFIX,
    is_same,
    is_similar,
    item_subject,
)
from holdfast.conversations.summarizers.outcomes import (
    DONE,
    FAILED,
    GIVEN_UP,
    find_item_status,
    is_about,
)
from holdfast.state.text import content_words

OPEN_LISTS = ("in_progress", "pending", "blockers")
STATUS_LISTS = {DONE: "completed", FAILED: "failed", GIVEN_UP: "given_up"}


class CheckpointLists:
    """The six lists. Work that failed or was given up never enters `completed`.

    Failed work goes to `pending`, because it is still to be done; what was given up is a decision.
    The goal is one item that moves between the lists and is never removed by another item.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.items = checkpoint.as_dict()
        self.goal = next(
            (item for items in self.items.values() for item in items if _is_goal_item(item)), ""
        )

    def add(self, list_name: str, text: str, *, is_fact: bool = False) -> None:
        """Append an item to its list, and remove it from the lists that it has left.

        `list_name` may also be `resolved`, `failed` or `given_up`. With `is_fact` the text is
        completed whatever it says: the subject of a commit may contain “failed”.
        """
        if list_name == "completed" and not is_fact:
            list_name = STATUS_LISTS[find_item_status(text)]
        if list_name == "decisions":
            self.items["decisions"] = list(merge_decisions([*self.items["decisions"], text]))
            return
        if self._move_goal(list_name, text):
            return
        if list_name == "completed":
            self._remove_similar(text, *OPEN_LISTS)
        elif list_name == "resolved":
            self._remove_similar(text, *OPEN_LISTS)
            list_name, text = "completed", RESOLVED_PREFIX + text
        elif list_name == "failed":
            self._remove_similar(text, "completed", "in_progress", "pending")
            list_name, text = "pending", FAILED_PREFIX + text.removeprefix(FAILED_PREFIX)
        elif list_name == "given_up":
            self._remove_similar(text, "completed", *OPEN_LISTS)
            list_name, text = "decisions", GIVEN_UP_PREFIX + text.removeprefix(GIVEN_UP_PREFIX)
        elif list_name == "in_progress":
            self._remove_similar(text, "pending")
            self._remove_same(text, "completed")
        elif list_name == "pending":
            if any(is_same(text, item) for item in self.items["in_progress"]):
                return
            # What is to be done again is not done.
            self._remove_same(text, "completed")
        if all(not is_same(text, item) for item in self.items[list_name]):
            self.items[list_name].append(text)

    def remove(self, list_name: str, text: str) -> None:
        """Remove an item from one list."""
        self.items[list_name] = [item for item in self.items[list_name] if item != text]

    def remove_blockers(self, blockers: Iterable[str]) -> None:
        gone = set(blockers)
        self.items["blockers"] = [item for item in self.items["blockers"] if item not in gone]

    def give_up(self, what: str) -> None:
        """Move the open items that the user gives up to the decisions; `what` names them."""
        if not content_words(what):
            return
        for name in OPEN_LISTS:
            for item in list(self.items[name]):
                is_request = item.startswith((REQUEST_PREFIX, GOAL_PREFIX))
                if not is_request and is_about(item_subject(item), what):
                    self.add("given_up", item_subject(item))

    # Requests and the goal

    def find_open_requests(self) -> list[str]:
        """Return the requests that are in progress; the goal only if there is no other."""
        items = self.items["in_progress"]
        requests = [item for item in items if item.startswith(REQUEST_PREFIX)]
        return requests or [item for item in items if _is_goal_item(item)]

    def is_goal(self, text: str) -> bool:
        """Return whether a request repeats the goal."""
        return bool(self.goal) and is_same(f"{GOAL_PREFIX}“{text}”", self.goal)

    def set_goal(self, list_name: str, item: str) -> None:
        """Put the goal into a list, at its beginning; an empty name removes it."""
        for name, items in self.items.items():
            self.items[name] = [known for known in items if known != self.goal]
        self.goal = item
        if list_name:
            self.items[list_name].insert(0, item)

    def has_open_items(self) -> bool:
        """Return whether something is to be done besides the requests."""
        return any(
            not item.startswith((REQUEST_PREFIX, GOAL_PREFIX))
            for name in OPEN_LISTS
            for item in self.items[name]
        )

    def _move_goal(self, list_name: str, text: str) -> bool:
        """Move the goal if an item is about the goal itself; returns whether it is."""
        if not self.goal or text.startswith(GOAL_PREFIX) or not is_similar(text, self.goal):
            return False
        if list_name == "given_up":
            self.set_goal("", "")
            return False
        target = "completed" if list_name == "completed" else "in_progress"
        self.set_goal(target, self.goal)
        # A blocker of the goal is more than the goal.
        return list_name != "blockers"

    def _remove_similar(self, text: str, *list_names: str) -> None:
        for name in list_names:
            self.items[name] = [
                item for item in self.items[name] if item == self.goal or not is_similar(item, text)
            ]

    def _remove_same(self, text: str, *list_names: str) -> None:
        for name in list_names:
            self.items[name] = [
                item for item in self.items[name] if item == self.goal or not is_same(item, text)
            ]

    def to_checkpoint(self) -> Checkpoint:
        return Checkpoint.parse(self.items).tidy()


def _is_goal_item(item: str) -> bool:
    return item.startswith(GOAL_PREFIX)
