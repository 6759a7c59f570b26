"""Fill the ledger from what the fold knows of a session: nobody has to report anything."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from holdfast.actions import ledger_calls
from holdfast.actions.moment import seconds
from holdfast.actions.repository import origin_of
from holdfast.ledger import agents, from_state, ids, projects, standing, tombstones, work
from holdfast.ledger.actions import add_action
from holdfast.ledger.tables import REQUESTS, SUBTASKS, TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.ledger.from_state import Found
    from holdfast.ledger.ledger import Ledger, Row
    from holdfast.ledger.tables import Table
    from holdfast.store.base import SessionRow, Store

# Other writers wait for the file's lock, so it is given back after so many rows.
AT_ONCE = 200
# Rows are listed by their time: those of one plan stay in its order.
APART = 1e-6


def fill_all(store: Store, ledger: Ledger, now: float, skipped: list[str] | None = None) -> int:
    """Every session that moved on since; how many did. `skipped` is told of those that cannot be
    filled: the others can.
    """
    moved = 0
    for known in store.transcripts(None):
        stands = [known["seen_at"], known["ended_at"]]
        if ledger.reading(known["id"]).get("stands") == stands:
            continue
        row = store.session(known["id"])
        if row is None:
            continue
        try:
            fill(ledger, row, now, _compacted_at(store, row))
        except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
            if skipped is None:
                raise
            skipped.append(f"session {known['id']}: {type(problem).__name__}: {problem}")
        else:
            moved += 1
    return moved


def _compacted_at(store: Store, row: SessionRow) -> float | None:
    """When hooks saw its last compaction: it may be filled long after that."""
    last = store.compaction(row["id"], len(row["state"]["compactions"]))
    return last["opened_at"] if last else None


def fill(ledger: Ledger, row: SessionRow, now: float, compacted_at: float | None = None) -> None:
    """One session. Doing it again changes nothing."""
    memory = ledger.reading(row["id"])
    filling = Filling(ledger, row, now, compacted_at)
    filling.tree()
    _calls(ledger, row, filling.project, memory, now)
    ledger.keep_reading(row["id"], {**memory, "stands": [row["seen_at"], row["ended_at"]]})


class Filling:
    """One pass over one session's state."""

    def __init__(
        self, ledger: Ledger, row: SessionRow, now: float, compacted_at: float | None
    ) -> None:
        self.ledger = ledger
        self.session = row["id"]
        self.state = row["state"]
        self.ended = row["ended_at"] is not None
        self.now = now
        self.compacted_at = compacted_at
        self.gone = tombstones.facts(ledger, self.session)
        self.project = self._project(row["project"])

    def _project(self, path: str) -> str:
        """Made if need be; one that was deleted is made again when there is a new request."""
        origin = origin_of(path)
        ident = projects.name_of(self.ledger, path, origin)
        if tombstones.of(self.ledger, ident) and not self._asks_for_more():
            return ident
        return str(projects.project(self.ledger, path, self.now, origin=origin)["id"])

    def _asks_for_more(self) -> bool:
        known = self._known(REQUESTS).keys() | self.gone
        found = from_state.requests(self.session, self.state, ended=self.ended)
        return any(one.source not in known for one in found)

    def tree(self) -> None:
        with self.ledger.together(f"session {self.session}"):
            self.gone = tombstones.facts(self.ledger, self.session)
            requests = self._requests()
            tasks = self._tasks(requests)
            self._subtasks(requests, tasks)
            self._agents()

    def _requests(self) -> dict[str, Row]:
        known = self._known(REQUESTS)
        for found in from_state.requests(self.session, self.state, ended=self.ended):
            if found.source not in known and found.source in self.gone:
                continue
            if found.source not in known:
                known[found.source] = work.add_request(
                    self.ledger, self.now, project=self.project, session=self.session,
                    prompt=found.text, prompt_type="user", source=found.source,
                    created_at=seconds(found.at, self.now),
                )  # fmt: skip
            known[found.source] = self._follow(REQUESTS, known[found.source], found)
        return known

    def _tasks(self, requests: dict[str, Row]) -> dict[str, Row]:
        known = self._known(TASKS)
        planned = from_state.tasks(self.session, self.state)
        for number, found in enumerate(planned):
            if found.source not in known and self._stays_away(found, requests):
                continue
            if found.source not in known:
                known[found.source] = work.add_task(
                    self.ledger, self.now + number * APART,
                    request=requests[found.parent], name=found.text, wave_number=found.wave,
                    source=found.source,
                )  # fmt: skip
            known[found.source] = self._follow(TASKS, known[found.source], found)
        self._drop(known, {found.source for found in planned})
        return known

    def _stays_away(self, found: Found, above: dict[str, Row]) -> bool:
        """It was deleted, or what it hangs on was."""
        return found.source in self.gone or found.parent not in above

    def _drop(self, known: dict[str, Row], planned: set[str]) -> None:
        """What the plan no longer holds, and was not done, is not going to be."""
        for source, row in known.items():
            if ":plan:" in source and source not in planned and row["status"] not in standing.DONE:
                standing.set_status(self.ledger, TASKS, row, "cancelled", self.now)

    def _subtasks(self, requests: dict[str, Row], tasks: dict[str, Row]) -> None:
        known = self._known(SUBTASKS)
        for found in from_state.subtasks(self.session, self.state, tasks):
            if found.source not in known:
                if found.source in self.gone:
                    continue
                task = (
                    tasks.get(found.parent)
                    or self._where_a_caller_put_it(found)
                    or self._unplanned(found.parent, requests, tasks)
                )
                if task is None:
                    continue
                known[found.source] = work.add_subtask(
                    self.ledger, self.now, task=task, description=found.text,
                    agent_type=found.agent_type, agent_id=found.agent_id, source=found.source,
                )  # fmt: skip
            result = {"text": found.result} if found.result else known[found.source]["result"]
            self._follow(SUBTASKS, known[found.source], found, result=result)

    def _where_a_caller_put_it(self, found: Found) -> Row | None:
        likeness = ids.likeness(found.agent_type, found.text)
        told = self.ledger.first(
            SUBTASKS, session=self.session, likeness=likeness, posted=1, also="source IS NULL"
        )
        return self.ledger.get(TASKS, told["task"]) if told else None

    def _unplanned(
        self, source: str, requests: dict[str, Row], tasks: dict[str, Row]
    ) -> Row | None:
        """What is outside the plan hangs on a task of its own; none if that was deleted."""
        request = requests.get(source.removesuffix(":unplanned"))
        if request is None or source in self.gone:
            return None
        tasks[source] = work.add_task(
            self.ledger, self.now, request=request, name=from_state.UNPLANNED, status="running",
            source=source,
        )  # fmt: skip
        return tasks[source]

    def _agents(self) -> None:
        usage = self.state["usage"]
        if usage["context"]:
            agents.seen(
                self.ledger, self.now, agent_id=self.session, session=self.session,
                project=self.project, agent_type="main", used=usage["context"],
                capacity=usage["window"], compactions=len(self.state["compactions"]),
                status="ended" if self.ended else "running", compacted_at=self.compacted_at,
            )  # fmt: skip
        for agent in self.state["agents"]:
            agents.seen(
                self.ledger, self.now, agent_id=agent["id"], session=self.session,
                project=self.project, agent_type=agent["type"], parent=self.session,
                status=agent["status"],
            )  # fmt: skip

    def _known(self, table: Table) -> dict[str, Row]:
        rows = self.ledger.rows(table, also="source IS NOT NULL", session=self.session)
        return {row["source"]: row for row in rows}

    def _follow(self, table: Table, row: Row, found: Found, **fields: Any) -> Row:
        """Take over the fold's status when it moves; until then a caller's word stands."""
        if row["folded"] == found.status:
            return self.ledger.change(table, row, self.now, **fields)
        first_met = row["posted"] and not row["folded"] and row["status"] in standing.DONE
        status = row["status"] if first_met else found.status
        return standing.set_status(
            self.ledger, table, row, status, self.now, folded=found.status, **fields
        )


def _calls(
    ledger: Ledger, row: SessionRow, project: str, memory: dict[str, Any], now: float
) -> None:
    subtasks = {
        one["source"]: one["id"]
        for one in ledger.rows(SUBTASKS, also="source IS NOT NULL", session=row["id"])
    }
    for some in _batches(ledger_calls.calls(row, memory, now)):
        with ledger.together(f"session {row['id']}"):
            for call in some:
                at, parent = call.pop("at"), call.pop("parent")
                add_action(ledger, at, project=project, subtask=subtasks.get(parent, ""), **call)


def _batches(calls: Iterator[Row]) -> Iterator[list[Row]]:
    while some := list(islice(calls, AT_ONCE)):
        yield some
