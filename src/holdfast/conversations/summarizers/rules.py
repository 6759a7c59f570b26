"""A checkpoint by rules: offline, deterministic, in milliseconds.

The fold that reads hosts' transcripts reads the messages; what it finds is merged into the
previous checkpoint. What a brief of these messages would show as a finding is taken over too.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from holdfast.brief.render import collect_items
from holdfast.brief.statements import select_statements
from holdfast.conversations.brief import message_to_events, to_events
from holdfast.conversations.checkpoint import MAX_ITEM_CHARS, Checkpoint
from holdfast.conversations.item_matching import (
    FOUND_PREFIX,
    GOAL_PREFIX,
    REPORT_SEPARATOR,
    REQUEST_PREFIX,
    RULED_OUT_PREFIX,
    WAITING_PREFIX,
    WORKED_PREFIX,
    is_same_decision,
    item_key,
    item_subject,
)
from holdfast.conversations.message import Message
from holdfast.conversations.summarizers import Price, Reply, Work
from holdfast.conversations.summarizers.checkpoint_lists import CheckpointLists
from holdfast.conversations.summarizers.markers import find_marked_items
from holdfast.conversations.summarizers.outcomes import (
    DONE,
    DONE_PATTERN,
    FAILED,
    GIVEN_UP,
    Turn,
    answers_wait,
    find_dropped_work,
    find_resolved,
    is_continuation,
    is_greeting,
    is_short_answer,
    mark_previous,
    remove_dropped_work,
    states_failure,
    states_goal,
)
from holdfast.state.fold import advance, fold, new_state
from holdfast.state.rules.check_classifier import analyze
from holdfast.state.rules.user_rules import find_scope
from holdfast.state.text import Cues, TokenizedText, one_line, padded_words, split_sentences

if TYPE_CHECKING:
    from holdfast.state.types import State

FAILING_PREFIX, FILES_PREFIX = "fails: ", "files changed: "
MAX_REQUEST_CHARS, MAX_REPORT_CHARS = 300, 160
MAX_FINDINGS = 8
# Kinds of items of a brief that state what was found out in the agent's words.
FINDING_KINDS = ("finding", "statement")
STATUS_LISTS = {
    "completed": "completed",
    "in_progress": "in_progress",
    "pending": "pending",
    "failed": "failed",
    "blocked": "blockers",
    "cancelled": "given_up",
    "canceled": "given_up",
    "skipped": "given_up",
    "abandoned": "given_up",
}
# Without one of these words, a sentence about something that is needed is advice to the user, which
# no longer holds up the work once the user has replied.
HOLDS_UP = Cues(
    "blocked by", "blocked on", "i'm blocked", "i am blocked", "is blocked", "blocker",
    "can't proceed", "cannot proceed", "unable to proceed", "waiting for you", "waiting on you",
    "waiting for your", "need your", "needs your", "before i can",
)  # fmt: skip
REVERT_PREFIX = 'Revert "'
DECISION_LABEL_PATTERN = re.compile(r"^\W*(?:decision|decided)\W*:\W*", re.IGNORECASE)


class Rules:
    """The default summarizer: free, offline, and deterministic."""

    name = "rules"

    def summarize(self, work: Work) -> Reply:
        return Reply(content=summarize(work))

    def price(self) -> Price | None:
        return None


def summarize(work: Work) -> Checkpoint:
    """Return the checkpoint of `work`: the previous one, updated with what the messages say."""
    lists = CheckpointLists(work.checkpoint)
    state = _start_state(work.checkpoint)
    for position, message in enumerate(work.messages, 1):
        _read_message(state, lists, message, message.ordinal or position)
    # What the kept messages say is not added, but it may say how earlier work ended.
    for message in work.kept:
        if message.role != "tool":
            _remove_resolved(lists, message)
    later = fold(state, to_events(work.kept)) if work.kept else state
    _add_plan_and_decisions(lists, state)
    _add_turns(lists, _split_turns(lists, work), later)
    _add_failing_checks(lists, state, later)
    _add_findings(lists, state)
    _add_changed_files(lists, state)
    lists.items["constraints"] = find_constraints(state)
    return lists.to_checkpoint()


def find_constraints(state: State) -> list[str]:
    """Return the user's rules that still hold."""
    return [rule["text"] for rule in state["rules"] if not rule["superseded"]]


def _start_state(checkpoint: Checkpoint) -> State:
    """Return a state with the constraints and the failing checks of the checkpoint."""
    state = new_state()
    for text in checkpoint.constraints:
        _add_rule(state, text, 0)
    for text in checkpoint.blockers:
        command, _, error = text.removeprefix(f"{FAILING_PREFIX}`").partition("`")
        if text.startswith(f"{FAILING_PREFIX}`"):
            state["checks"].append(
                {
                    "command": command,
                    "kind": analyze(command)[2] or "run",
                    "ok": False,
                    # Older than any message, but not older than no request at all.
                    "line": 1,
                    "call": 1,
                    "runs": 1,
                    "error": [error.strip()] if error.strip() else [],
                    "where": "",
                    "verdict": "",
                    "is_exit_hidden": False,
                }
            )
    return state


def _read_message(state: State, lists: CheckpointLists, message: Message, line: int) -> None:
    """Fold one message, and add the items that it marks and the blockers that it states."""
    advance(state, message_to_events(message, line))
    if message.role == "tool":
        return  # what a tool printed is data
    _remove_resolved(lists, message)
    if message.role == "user":
        for what in find_dropped_work(message.text):
            lists.give_up(what)
    marked = list(find_marked_items(message.text))
    for list_name, text in marked:
        if list_name == "constraints":
            if message.role == "user":
                _add_rule(state, text, line)
        else:
            lists.add(list_name, text)
    texts = [item_key(text) for list_name, text in marked if list_name == "blockers"]
    for blocker in state["blockers"]:
        is_marked = any(text in item_key(blocker["text"]) for text in texts)
        if (
            blocker["line"] == line
            and not is_marked
            and not find_resolved(blocker["text"], [blocker["text"]])
        ):
            lists.add("blockers", f"{WAITING_PREFIX}“{blocker['text']}”")


def _remove_resolved(lists: CheckpointLists, message: Message) -> None:
    """Remove the blockers that a message says are resolved.

    Advice to the user is removed with the user's next message, what the agent waits for with an
    answer to it.
    """
    text = message.text.strip()
    blockers = [item for item in lists.items["blockers"] if not item.startswith(FAILING_PREFIX)]
    if not text or not blockers:
        return
    resolved = find_resolved(text, blockers)
    if message.role == "user":
        waiting = [item for item in blockers if item.startswith(WAITING_PREFIX)]
        resolved |= {item for item in waiting[-1:] if answers_wait(text, item)}
        resolved |= {
            item for item in waiting if not HOLDS_UP.match(TokenizedText(item_subject(item)))
        }
    lists.remove_blockers(resolved)


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


def _add_plan_and_decisions(lists: CheckpointLists, state: State) -> None:
    for item in state["plan"]:
        lists.add(STATUS_LISTS.get(item["status"], "pending"), item["text"])
    for decision in state["decisions"]:
        prefix = RULED_OUT_PREFIX if decision["kind"] == "rejected" else ""
        lists.add("decisions", prefix + DECISION_LABEL_PATTERN.sub("", decision["text"]))
    for commit in state["commits"]:
        lists.add("completed", f"committed: {commit['subject']}", is_fact=True)
        if commit["subject"].startswith(REVERT_PREFIX):
            reverted = commit["subject"].removeprefix(REVERT_PREFIX).rstrip('"')
            lists.remove("completed", f"committed: {reverted}")


# Requests


def _split_turns(lists: CheckpointLists, work: Work) -> list[Turn]:
    """Return the turns of the messages, after those of the checkpoint that are in progress.

    Turns of kept messages are not returned, but the first of them ends the last turn.
    """
    turns = [Turn(request=item_subject(item), item=item) for item in lists.find_open_requests()]
    compacted = len(work.messages)
    for position, message in enumerate([*work.messages, *work.kept], 1):
        text = message.text.strip()
        if message.role == "user" and text and not (turns and _joins(turns[-1], text)):
            if turns:
                mark_previous(turns[-1], text)
            if position > compacted:
                break
            turns.append(Turn(request=text))
        elif message.role == "assistant" and text and turns:
            turns[-1].closing = text
        if turns:
            turns[-1].lines.append(message.ordinal or position)
    else:
        for turn in turns[-1:]:
            turn.is_latest = True
    _join_unanswered(turns)
    return turns


def _joins(turn: Turn, text: str) -> bool:
    """Return whether a message of the user belongs to the turn before it: “go on”, or a short
    answer to a question."""
    if not states_goal(turn.request):
        return False  # “Hello! What can I do?” is answered with a request
    is_question = turn.closing.rstrip().endswith(("?", "？"))
    is_answer = is_question and is_short_answer(text) and not list(find_dropped_work(text))
    return is_answer or is_continuation(text)


def _join_unanswered(turns: list[Turn]) -> None:
    """Give requests that were made one after the other, without a reply between, one outcome."""
    for turn, following in reversed(list(pairwise(turns))):
        if not turn.closing and not turn.is_given_up:
            turn.closing, turn.is_latest = following.closing, following.is_latest
            turn.lines += following.lines


def _add_turns(lists: CheckpointLists, turns: list[Turn], later: State) -> None:
    """Add the requests to the lists that say how they ended; the first goal is kept for good."""
    failing_lines = [
        check["line"] for check in later["checks"] if not check["ok"] and check["kind"] != "run"
    ]
    constraints = {item_key(text) for text in find_constraints(later)}
    for turn in turns:
        if not turn.item and _asks_nothing(turn.request, constraints):
            continue
        outcome = turn.find_outcome(failing_lines)
        quoted = one_line(remove_dropped_work(turn.request), MAX_REQUEST_CHARS)
        if turn.item:
            lists.remove("in_progress", turn.item)
        if lists.is_goal(quoted) or (not lists.goal and states_goal(turn.request)):
            is_done = outcome == DONE and bool(DONE_PATTERN.search(turn.closing))
            _add_goal(lists, turn, quoted, outcome, is_done and not lists.has_open_items())
        elif turn.is_latest:
            lists.add("in_progress", f"{REQUEST_PREFIX}“{quoted}”")
        elif outcome == DONE:
            lists.add("completed", REQUEST_PREFIX + _with_report(quoted, turn), is_fact=True)
        elif outcome == FAILED:
            lists.add("failed", _with_report(quoted, turn))
        elif outcome == GIVEN_UP:
            lists.add("given_up", f"“{quoted}”")
        else:
            lists.add("pending", f"{REQUEST_PREFIX}“{quoted}”")


def _add_goal(lists: CheckpointLists, turn: Turn, quoted: str, outcome: str, is_done: bool) -> None:
    """Set the goal: in progress until it is clearly done or the user gives it up."""
    if outcome == FAILED and not turn.is_latest:
        lists.set_goal("in_progress", GOAL_PREFIX + _with_report(quoted, turn))
    elif turn.is_latest or not (is_done or outcome == GIVEN_UP):
        lists.set_goal("in_progress", f"{GOAL_PREFIX}“{quoted}”")
    elif is_done:
        lists.set_goal("completed", GOAL_PREFIX + _with_report(quoted, turn))
    else:
        lists.set_goal("", "")
        lists.add("given_up", f"“{quoted}”")


def _asks_nothing(request: str, constraints: set[str]) -> bool:
    """Return whether a request is a greeting, or only constraints and marked items."""
    if is_greeting(request):
        return True
    marked = [item_key(text) for _, text in find_marked_items(request)]
    sentences = [item_key(sentence) for sentence in split_sentences(request)]
    return bool(sentences) and all(
        sentence in constraints or any(text and sentence.endswith(text) for text in marked)
        for sentence in sentences
    )


def _with_report(quoted: str, turn: Turn) -> str:
    """Return the request in quotation marks with the most important statement about its result."""
    report = next(iter(select_statements(turn.closing, None, (MAX_REPORT_CHARS,))), "")
    failures = [
        sentence for sentence in split_sentences(turn.closing)
        if states_failure(sentence, turn.request) and not sentence.startswith("[")
    ]  # fmt: skip
    if reason := turn.rejection or next(iter(failures), ""):
        report = one_line(reason, MAX_REPORT_CHARS)
    room = MAX_ITEM_CHARS - len(report) - 30
    return f"“{one_line(quoted, room)}{REPORT_SEPARATOR}{report}”" if report else f"“{quoted}”"


# What the brief shows


def _add_failing_checks(lists: CheckpointLists, state: State, later: State) -> None:
    """Replace the failing checks: those that fail now, and that a brief would show as failing."""
    lists.remove_blockers(
        {item for item in lists.items["blockers"] if item.startswith(FAILING_PREFIX)}
    )
    shown = {name for item in collect_items(state) if item.kind == "error" for name in item.names}
    still_failing = {check["command"] for check in later["checks"] if not check["ok"]}
    for check in state["checks"]:
        is_shown = check["kind"] != "run" or check["command"] in shown
        if not check["ok"] and is_shown and check["command"] in still_failing:
            cause = next((line for line in check["error"] if " " in line), "")
            lists.add("blockers", f"{FAILING_PREFIX}`{check['command']}` {cause}".strip())


def _add_findings(lists: CheckpointLists, state: State) -> None:
    """Add the findings of the brief that the checkpoint does not state already, the newest last."""
    names = ("decisions", "completed", "blockers")
    known = [padded_words(text) for name in names for text in lists.items[name]]
    items = collect_items(state)
    found = [item for item in items if item.section == "found" and item.kind in FINDING_KINDS]
    for item in reversed(found[:MAX_FINDINGS]):
        words = padded_words(item.quote)
        is_known = any(words in text for text in known)
        if not is_known and not any(
            is_same_decision(item.quote, text) for text in lists.items["decisions"]
        ):
            lists.add("decisions", f"{FOUND_PREFIX}“{item.quote}”")
    shown = {item.quote for item in items if item.kind == "workaround"}
    for one in state["workarounds"]:
        if one["text"] in shown:
            error = f" (“{one['error']}”)" if one["error"] else ""
            worked = f"{WORKED_PREFIX}`{one['text']}`, and not `{one['failed']}`{error}"
            lists.add("decisions", one_line(worked, MAX_ITEM_CHARS))


def _add_changed_files(lists: CheckpointLists, state: State) -> None:
    """Merge all changed files into one item, the latest last; it counts those that do not fit."""
    old_items = [item for item in lists.items["completed"] if item.startswith(FILES_PREFIX)]
    old_paths = [path for item in old_items for path in item.removeprefix(FILES_PREFIX).split(", ")]
    new_paths = [path for path, trail in state["files"].items() if trail.get("edits")]
    if not new_paths:
        return
    uncounted = [path for path in old_paths if not path.endswith(" more")]
    counts = [int(path.split()[0]) for path in old_paths if path.endswith(" more")]
    latest = list(dict.fromkeys(reversed([*uncounted, *new_paths])))
    kept: list[str] = []
    room = MAX_ITEM_CHARS - len(FILES_PREFIX) - len("10000 more, ")
    while latest and len(latest[0]) + 2 <= room:
        kept.append(latest.pop(0))
        room -= len(kept[-1]) + 2
    more = sum(counts) + len(latest)
    others = [item for item in lists.items["completed"] if item not in old_items]
    paths = [*([f"{more} more"] if more else []), *reversed(kept)]
    lists.items["completed"] = [*others, FILES_PREFIX + ", ".join(paths)]
