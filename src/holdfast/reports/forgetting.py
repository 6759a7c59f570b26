"""Measures what a compaction cost: what the agent did again because it had forgotten it.

Only what the log decides is counted. Where it does not decide, the figure is None and has a reason:
a figure is 0 only if there was something to count.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.brief.summary_overlap import is_same_task
from holdfast.reports.actions import UNKNOWN_FILES

if TYPE_CHECKING:
    from holdfast.reports.actions import Action, Activity, FileRead, Question

# How many actions after a compaction are looked at, and as many before it for comparison. The
# first requests after a compaction are the ones that pay for it.
WINDOW_ACTIONS = 40
NO_ACTION = "no action followed"
# Why a file that was read before does not count as read again.
CHANGED, UNDECIDED = "changed", "undecided"
NOT_LOGGED = "this client does not log which files it shows again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """A file, a command or a question, with its line and the line of the earlier time."""

    text: str
    line: int
    earlier_line: int = 0
    before_edit: bool = False
    """The file was edited after it was read again: some clients demand the read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A count, what it is out of, and what was counted."""

    count: int | None
    out_of: int = 0
    reason: str = ""
    """Why the count is None."""
    is_decided: bool = True
    """Whether the log decides it. If the count is None, there was nothing to count."""
    is_minimum: bool = False
    """The log is damaged or silent in places, so there may be more."""
    items: tuple[Repetition, ...] = ()
    changed_since: int = 0
    """Files that had been read before as well, but had changed since."""
    tokens: int = 0
    """The estimated size of what was read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFigures:
    """What the agent did in some consecutive actions. Lines are those of the first and last."""

    actions: int
    first_line: int
    last_line: int
    first_edit: Figure
    """The number of the action that first edited a file, out of the actions looked at."""
    files_read_again: Figure
    """Files that had been read before, had not been changed since, and were read again."""
    commands_repeated: Figure
    """Commands and searches that ran before, with nothing changed since and the same output."""
    questions_asked_again: Figure
    """Questions to the user that had been asked before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingCost:
    """The figures after a compaction, and the same session's own figures before it."""

    after: WindowFigures
    before: WindowFigures | None
    no_before_reason: str
    """Why there are no figures from before."""
    files_shown_by_host: Figure
    """Files that the host itself showed to the model again right after the compaction."""


def forgetting_cost(
    activity: Activity, boundaries: Sequence[int], number: int, *, logs_attachments: bool = True
) -> ForgettingCost:
    """Measure one compaction of a session; `boundaries` are the lines of all of them.

    The same actions are counted on both sides: up to WINDOW_ACTIONS after the compaction, but not
    beyond the next one, and as many right before it. `logs_attachments` says that the client logs
    which files it shows to the model by itself.
    """
    line = boundaries[number - 1]
    following = boundaries[number] if number < len(boundaries) else None
    previous = boundaries[number - 2] if number > 1 else 0
    own = [at for at, action in enumerate(activity.actions) if not action.agent]
    after = _measure(activity, _take_between(activity, own, line, following), line, following)
    stretch = _take_between(activity, own, previous, line)
    before, reason = _measure_before(activity, stretch, line, after.actions)
    return ForgettingCost(
        after=after,
        before=before,
        no_before_reason=reason,
        files_shown_by_host=_count_shown_files(activity, line, following, logs_attachments),
    )


def _take_between(
    activity: Activity, positions: list[int], start: int, end: int | None
) -> list[int]:
    """Return the positions of the actions after line `start` and before line `end`."""
    actions = activity.actions
    return [
        at
        for at in positions
        if actions[at].line > start and (end is None or actions[at].line < end)
    ]


def _measure_before(
    activity: Activity, stretch: list[int], line: int, size: int
) -> tuple[WindowFigures | None, str]:
    """Measure the last actions of the stretch before a compaction, as if it had been before them.

    The stretch must be twice as long: its first actions may follow another compaction.
    """
    if not size:
        return None, NO_ACTION
    if len(stretch) < 2 * size:
        return None, f"only {len(stretch)} actions came before it"
    chosen = stretch[-size:]
    return _measure(activity, chosen, activity.actions[chosen[0]].line, line), ""


def _measure(activity: Activity, stretch: list[int], start: int, end: int | None) -> WindowFigures:
    """Measure the first actions of a stretch; it lies between the lines `start` and `end`."""
    if not stretch:
        nothing = Figure(count=None, reason=NO_ACTION)
        return WindowFigures(
            actions=0, first_line=start, last_line=start, first_edit=nothing,
            files_read_again=nothing, commands_repeated=nothing, questions_asked_again=nothing,
        )  # fmt: skip
    chosen = stretch[:WINDOW_ACTIONS]
    window = _Window(activity, chosen)
    last_line = None if end is None else end - 1
    if len(stretch) > len(chosen):
        last_line = window.last_line
    return WindowFigures(
        actions=len(chosen),
        first_line=activity.actions[chosen[0]].line,
        last_line=window.last_line,
        first_edit=_find_first_edit(activity, [activity.actions[at] for at in stretch], start),
        files_read_again=window.count_files(),
        commands_repeated=window.count_commands(),
        questions_asked_again=window.count_questions(start, last_line),
    )


def _find_first_edit(activity: Activity, stretch: list[Action], start: int) -> Figure:
    """Return the number of the first action of a stretch that edited a file."""
    total = len(stretch)
    by_agents = [action.line for action in activity.actions if action.agent and action.edits]
    for number, action in enumerate(stretch, 1):
        if damaged := _first_between(activity.damaged, start, action.line):
            return _undecided(total, f"line L{damaged} could not be read")
        if action.edits:
            item = Repetition(text=action.edits, line=action.line)
            return Figure(count=number, out_of=total, items=(item,))
        if not action.starts_agent:
            continue
        following = stretch[number].line if number < total else None
        if action.call not in activity.known_agents:
            reason = f"a sub-agent started at L{action.line}, and its actions are not in the log"
            return _undecided(total, reason)
        if edit := _first_between(by_agents, action.line, following):
            item = Repetition(text="by a sub-agent", line=edit)
            return Figure(count=number, out_of=total, items=(item,))
    if any(action.is_foreign for action in stretch):
        return _undecided(total, "tools of MCP servers were used, which may change files")
    return Figure(count=None, out_of=total, reason=f"no file was edited in {total} actions")


def _undecided(total: int, reason: str) -> Figure:
    return Figure(count=None, out_of=total, reason=reason, is_decided=False)


def _first_between(lines: list[int], start: int, end: int | None) -> int:
    """Return the first of the lines from `start` up to `end`, or 0."""
    at = bisect_left(lines, start)
    return lines[at] if at < len(lines) and (end is None or lines[at] <= end) else 0


class _Window:
    """Some consecutive actions of a session, compared with everything before them."""

    def __init__(self, activity: Activity, positions: list[int]) -> None:
        self._activity = activity
        self._actions = activity.actions
        self._positions = positions
        self.last_line = self._actions[positions[-1]].line
        self._is_damaged = bool(_first_between(activity.damaged, 0, self.last_line))

    def _earlier(self) -> Iterator[tuple[int, Action]]:
        """Yield the position and the action of everything before the window, the latest first."""
        for position in range(self._positions[0] - 1, -1, -1):
            if not self._actions[position].agent:
                yield position, self._actions[position]

    def _inside(self) -> Iterator[tuple[int, Action]]:
        for position in self._positions:
            yield position, self._actions[position]

    def _between(self, earlier: int, later: int) -> list[Action]:
        return self._actions[earlier + 1 : later]

    def _figure(
        self,
        what: str,
        total: int,
        items: dict[str, Repetition],
        undecided: int,
        *,
        changed_since: int = 0,
        tokens: int = 0,
    ) -> Figure:
        is_minimum = self._is_damaged or bool(undecided)
        reason = ""
        if not total:
            reason = f"no {what}"
        elif not any(True for _ in self._earlier()):
            reason = "the log has no action from before"
        elif not items and is_minimum:
            reason = (
                "lines of the log could not be read"
                if self._is_damaged
                else "sub-agents or git may have changed the files in between"
            )
        return Figure(
            count=None if reason else len(items),
            out_of=total,
            reason=reason,
            is_decided=not reason or not total,
            is_minimum=is_minimum and not reason,
            items=() if reason else tuple(items.values()),
            changed_since=changed_since,
            tokens=tokens,
        )

    def count_files(self) -> Figure:
        """Count the files that were read again, each once."""
        read: set[str] = set()
        again: dict[str, Repetition] = {}
        others: dict[str, set[str]] = {CHANGED: set(), UNDECIDED: set()}
        tokens = 0
        for position, action in self._inside():
            for part in action.reads:
                read.add(part.path)
                outcome, line = self._find_earlier_read(part, action, position)
                if outcome in others:
                    others[outcome].add(part.path)
                elif line:
                    tokens += action.tokens // len(action.reads)
                    again.setdefault(part.path, self._to_reread(part, action, line, position))
        return self._figure(
            "file was read",
            len(read),
            again,
            len(others[UNDECIDED] - again.keys()),
            changed_since=len(others[CHANGED] - again.keys()),
            tokens=tokens,
        )

    def _to_reread(self, part: FileRead, action: Action, line: int, position: int) -> Repetition:
        later = self._between(position, self._positions[-1] + 1)
        is_edited = any(change.may_change(part.path) for change in later)
        return Repetition(
            text=part.path, line=action.line, earlier_line=line, before_edit=is_edited
        )

    def _find_earlier_read(self, part: FileRead, action: Action, position: int) -> tuple[str, int]:
        """Return the line at which these lines of a file were last read, or 0.

        The first value says if they have changed since, or if that is undecided.
        """
        for earlier, known in self._earlier():
            if not any(part.overlaps(one) for one in known.reads):
                continue
            between = self._between(earlier, position)
            is_same_part = known.reads == action.reads
            is_same_text = known.result == action.result
            if any(change.may_change(part.path) for change in between):
                return CHANGED, 0
            if is_same_part:
                return ("", known.line) if is_same_text else (CHANGED, 0)
            is_unseen = any(self._may_change_unseen(change) for change in between)
            return (UNDECIDED, 0) if is_unseen else ("", known.line)
        return "", 0

    def _may_change_unseen(self, action: Action) -> bool:
        """Whether an action may have changed files that the log does not name."""
        is_unknown_agent = action.starts_agent and action.call not in self._activity.known_agents
        return is_unknown_agent or UNKNOWN_FILES in action.changes

    def count_commands(self) -> Figure:
        """Count the commands that ran again, each once, with no change of any file in between."""
        ran: set[tuple[str, str]] = set()
        again: dict[str, Repetition] = {}
        undecided = 0
        for position, action in self._inside():
            key = (action.folder, action.command)
            if not action.command or action.changes or key in ran:
                continue
            ran.add(key)
            outcome, line = self._find_earlier_run(action, position)
            undecided += outcome == UNDECIDED
            if line:
                again[action.command] = Repetition(
                    text=action.label, line=action.line, earlier_line=line
                )
        return self._figure("command was run", len(ran), again, undecided)

    def _find_earlier_run(self, action: Action, position: int) -> tuple[str, int]:
        """Return the line at which this command last ran with the same result, or 0.

        The first value says if something has changed since, or if that is undecided.
        """
        for earlier, known in self._earlier():
            if (known.folder, known.command) != (action.folder, action.command):
                continue
            between = self._between(earlier, position)
            is_same = known.result == action.result and action.result is not None
            if not is_same or any(set(change.changes) - {UNKNOWN_FILES} for change in between):
                return CHANGED, 0
            is_unseen = any(self._may_change_unseen(change) for change in between)
            return (UNDECIDED, 0) if is_unseen else ("", known.line)
        return "", 0

    def count_questions(self, start: int, last: int | None) -> Figure:
        """Count the questions from line `start` to `last` that had been asked before, in the same
        words or nearly so.

        A question at the end of a reply may mean other work than the last time. It counts only if
        no file was changed in between.
        """
        questions = self._activity.questions
        known = [question for question in reversed(questions) if question.line < start]
        asked = [
            question
            for question in questions
            if question.line >= start and (last is None or question.line <= last)
        ]
        again: dict[str, Repetition] = {}
        for question in asked:
            same = (one.line for one in known if self._is_same_question(one, question))
            if line := next(same, 0):
                again[question.text] = Repetition(
                    text=question.text, line=question.line, earlier_line=line
                )
        return self._figure("question was asked", len(asked), again, 0)

    def _is_same_question(self, known: Question, question: Question) -> bool:
        is_same = known.text == question.text or is_same_task(known.text, question.text)
        if not is_same or (known.is_form and question.is_form):
            return is_same
        between = (action for action in self._actions if known.line < action.line < question.line)
        return not any(action.changes or action.starts_agent for action in between)


def _count_shown_files(
    activity: Activity, line: int, following: int | None, logs_attachments: bool
) -> Figure:
    """Count the files that the host showed after a compaction, before the agent did anything."""
    first = next((one.line for one in activity.actions if one.line > line and not one.agent), None)
    end = first if following is None or (first and first < following) else following
    shown = {
        path: Repetition(text=path, line=at)
        for at, path in activity.attached
        if at > line and (end is None or at < end)
    }
    if not shown and not logs_attachments:
        return _undecided(0, NOT_LOGGED)
    if not shown:
        return Figure(count=None, reason="no file is logged")
    return Figure(count=len(shown), out_of=len(shown), items=tuple(shown.values()))
