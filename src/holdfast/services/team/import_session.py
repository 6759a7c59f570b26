"""Import sessions into the ledger, so that agents need not report their work.

A session's requests, tasks, subtasks and agents come from its folded state; its actions are the
tool calls in its log and in the logs of its sub-agents.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from holdfast.errors import UnreadableTranscript
from holdfast.ledger import agents, from_state, projects, status, tombstones, work
from holdfast.ledger.actions import add_action, classify_tool, make_action_id
from holdfast.ledger.from_state import make_agent_source
from holdfast.ledger.schema import FINISHED_STATUSES, REQUESTS, SUBTASKS, TASKS, make_fingerprint
from holdfast.services.projects import find_origin
from holdfast.services.time_parsing import parse_timestamp
from holdfast.transcript.decoder import Decoder
from holdfast.transcript.reader import TranscriptReader
from holdfast.transcript.subagent_logs import (
    attribute_to_subagent,
    find_subagent_id,
    find_subagent_log,
    is_background_launch,
    is_valid_id,
)

if TYPE_CHECKING:
    from holdfast.ledger.from_state import WorkItem
    from holdfast.ledger.repository import Ledger, Row
    from holdfast.ledger.schema import Table
    from holdfast.store.protocols import SessionRow, Store
    from holdfast.transcript.types import Event

# The write lock is released after so many rows, because other writers wait for it.
BATCH_ROWS = 200
# Rows are listed by time: this offset keeps the tasks of one plan in their order.
TASK_SPACING_SECONDS = 1e-6
# The arguments of a tool call that are stored with its action, and how much of each.
PATH_ARGUMENTS = ("file_path", "notebook_path", "path")
DESCRIPTIVE_ARGUMENTS = ("command", "description", "pattern", "query", "url", "subagent_type")
MAX_ARGUMENT_CHARS = 1000
# Calls that are remembered until their results are logged.
MAX_OPEN_CALLS, MAX_OPEN_CALLS_PER_AGENT = 100, 20
# Sub-agents' logs that are checked again whenever the session has new lines.
MAX_AGENTS_FOLLOWED = 60

ReadPosition = dict[str, Any]
"""How far a log was read (`cursor`), and its calls without a result (`waiting`)."""


def import_all_sessions(
    store: Store, ledger: Ledger, now: float, skipped: list[str] | None = None
) -> int:
    """Import every session that changed since the last import; return how many did.

    A session that cannot be imported is named in `skipped`, and the others go on; without
    `skipped` the error is raised.
    """
    imported = 0
    for transcript in store.transcripts(None):
        version = [transcript["seen_at"], transcript["ended_at"]]
        if ledger.load_progress(transcript["id"]).get("stands") == version:
            continue
        row = store.session(transcript["id"])
        if row is None:
            continue
        try:
            import_session(ledger, row, now, _last_compaction_time(store, row))
        except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
            if skipped is None:
                raise
            skipped.append(f"session {transcript['id']}: {type(problem).__name__}: {problem}")
        else:
            imported += 1
    return imported


def _last_compaction_time(store: Store, row: SessionRow) -> float | None:
    """Return when hooks saw the last compaction; the import may run much later."""
    last = store.compaction(row["id"], len(row["state"]["compactions"]))
    return last["opened_at"] if last else None


def import_session(
    ledger: Ledger, row: SessionRow, now: float, compacted_at: float | None = None
) -> None:
    """Import one session. Running it again changes nothing."""
    position = ledger.load_progress(row["id"])
    session = SessionImport(ledger, row, now, compacted_at)
    session.import_work()
    _import_calls(ledger, row, session.project, position, now)
    ledger.save_progress(row["id"], {**position, "stands": [row["seen_at"], row["ended_at"]]})


class SessionImport:
    """One import of a session's requests, tasks, subtasks and agents."""

    def __init__(
        self, ledger: Ledger, row: SessionRow, now: float, compacted_at: float | None
    ) -> None:
        self.ledger = ledger
        self.session = row["id"]
        self.state = row["state"]
        self.ended = row["ended_at"] is not None
        self.now = now
        self.compacted_at = compacted_at
        self.deleted = tombstones.list_sources(ledger, self.session)
        self.project = self._find_or_add_project(row["project"])

    def _find_or_add_project(self, path: str) -> str:
        """Return the project's id. A deleted project is created again for a new request."""
        origin = find_origin(path)
        ident = projects.find_project_id(self.ledger, path, origin)
        if tombstones.find_tombstone(self.ledger, ident) and not self._has_new_request():
            return ident
        return str(projects.ensure_project(self.ledger, path, self.now, origin=origin)["id"])

    def _has_new_request(self) -> bool:
        known = self._rows_by_source(REQUESTS).keys() | self.deleted
        requests = from_state.find_requests(self.session, self.state, ended=self.ended)
        return any(request.source not in known for request in requests)

    def import_work(self) -> None:
        """Write requests, tasks, subtasks and agents in one transaction."""
        with self.ledger.transaction(f"session {self.session}"):
            self.deleted = tombstones.list_sources(self.ledger, self.session)
            requests = self._import_requests()
            tasks = self._import_tasks(requests)
            self._import_subtasks(requests, tasks)
            self._import_agents()

    def _import_requests(self) -> dict[str, Row]:
        rows = self._rows_by_source(REQUESTS)
        for fact in from_state.find_requests(self.session, self.state, ended=self.ended):
            if fact.source not in rows and fact.source in self.deleted:
                continue
            if fact.source not in rows:
                rows[fact.source] = work.add_request(
                    self.ledger, self.now, project=self.project, session=self.session,
                    prompt=fact.text, prompt_type="user", source=fact.source,
                    created_at=parse_timestamp(fact.at, self.now),
                )  # fmt: skip
            rows[fact.source] = self._update_status(REQUESTS, rows[fact.source], fact)
        return rows

    def _import_tasks(self, requests: dict[str, Row]) -> dict[str, Row]:
        rows = self._rows_by_source(TASKS)
        planned = from_state.find_tasks(self.session, self.state)
        for number, fact in enumerate(planned):
            if fact.source not in rows and self._is_deleted(fact, requests):
                continue
            if fact.source not in rows:
                rows[fact.source] = work.add_task(
                    self.ledger, self.now + number * TASK_SPACING_SECONDS,
                    request=requests[fact.parent], name=fact.text, wave_number=fact.wave,
                    source=fact.source,
                )  # fmt: skip
            rows[fact.source] = self._update_status(TASKS, rows[fact.source], fact)
        self._cancel_dropped(rows, {fact.source for fact in planned})
        return rows

    def _is_deleted(self, fact: WorkItem, parents: dict[str, Row]) -> bool:
        """Whether the fact or its parent was deleted from the ledger."""
        return fact.source in self.deleted or fact.parent not in parents

    def _cancel_dropped(self, rows: dict[str, Row], planned: set[str]) -> None:
        """Cancel unfinished tasks that are no longer in the plan."""
        for source, row in rows.items():
            if (
                ":plan:" in source
                and source not in planned
                and row["status"] not in FINISHED_STATUSES
            ):
                status.set_status(self.ledger, TASKS, row, "cancelled", self.now)

    def _import_subtasks(self, requests: dict[str, Row], tasks: dict[str, Row]) -> None:
        rows = self._rows_by_source(SUBTASKS)
        for fact in from_state.find_subtasks(self.session, self.state, tasks):
            if fact.source not in rows:
                if fact.source in self.deleted:
                    continue
                task = (
                    tasks.get(fact.parent)
                    or self._find_posted_task(fact)
                    or self._add_unplanned_task(fact.parent, requests, tasks)
                )
                if task is None:
                    continue
                rows[fact.source] = work.add_subtask(
                    self.ledger, self.now, task=task, description=fact.text,
                    agent_type=fact.agent_type, agent_id=fact.agent_id, source=fact.source,
                )  # fmt: skip
            result = {"text": fact.result} if fact.result else rows[fact.source]["result"]
            self._update_status(SUBTASKS, rows[fact.source], fact, result=result)

    def _find_posted_task(self, fact: WorkItem) -> Row | None:
        """Return the task under which an API caller posted the same subtask, or None."""
        likeness = make_fingerprint(fact.agent_type, fact.text)
        posted = self.ledger.find_one(
            SUBTASKS, session=self.session, likeness=likeness, posted=1, where="source IS NULL"
        )
        return self.ledger.get(TASKS, posted["task"]) if posted else None

    def _add_unplanned_task(
        self, source: str, requests: dict[str, Row], tasks: dict[str, Row]
    ) -> Row | None:
        """Add the task that holds work outside the plan; None if it was deleted."""
        request = requests.get(source.removesuffix(":unplanned"))
        if request is None or source in self.deleted:
            return None
        tasks[source] = work.add_task(
            self.ledger, self.now, request=request, name=from_state.UNPLANNED_TASK_NAME,
            status="running", source=source,
        )  # fmt: skip
        return tasks[source]

    def _import_agents(self) -> None:
        usage = self.state["usage"]
        if usage["context"]:
            agents.record_agent(
                self.ledger, self.now, agent_id=self.session, session=self.session,
                project=self.project, agent_type="main", used=usage["context"],
                capacity=usage["window"], compactions=len(self.state["compactions"]),
                status="ended" if self.ended else "running", compacted_at=self.compacted_at,
            )  # fmt: skip
        for agent in self.state["agents"]:
            agents.record_agent(
                self.ledger, self.now, agent_id=agent["id"], session=self.session,
                project=self.project, agent_type=agent["type"], parent=self.session,
                status=agent["status"],
            )  # fmt: skip

    def _rows_by_source(self, table: Table) -> dict[str, Row]:
        rows = self.ledger.find(table, where="source IS NOT NULL", session=self.session)
        return {row["source"]: row for row in rows}

    def _update_status(self, table: Table, row: Row, fact: WorkItem, **fields: Any) -> Row:
        """Apply the state's status if it changed; until then a status set by a caller stays."""
        if row["folded"] == fact.status:
            return self.ledger.update(table, row, self.now, **fields)
        is_finished_post = (
            row["posted"] and not row["folded"] and row["status"] in FINISHED_STATUSES
        )
        new_status = row["status"] if is_finished_post else fact.status
        return status.set_status(
            self.ledger, table, row, new_status, self.now, folded=fact.status, **fields
        )


def _import_calls(
    ledger: Ledger, row: SessionRow, project: str, position: ReadPosition, now: float
) -> None:
    subtasks = {
        subtask["source"]: subtask["id"]
        for subtask in ledger.find(SUBTASKS, where="source IS NOT NULL", session=row["id"])
    }
    calls = read_calls(row, position, now)
    while batch := list(islice(calls, BATCH_ROWS)):
        with ledger.transaction(f"session {row['id']}"):
            for call in batch:
                at, parent = call.pop("at"), call.pop("parent")
                add_action(ledger, at, project=project, subtask=subtasks.get(parent, ""), **call)


def read_calls(row: SessionRow, position: ReadPosition, now: float) -> Iterator[dict[str, Any]]:
    """Yield each tool call that has a result, as the arguments of `add_action`.

    Reading starts at `position`, which is updated. Reading the same lines twice is harmless,
    because a call's id is derived from the host's own.
    """
    return CallReader(row, position, now).calls()


class CallReader:
    """One pass over the log of a session and the logs of its sub-agents."""

    def __init__(self, row: SessionRow, position: ReadPosition, now: float) -> None:
        self.session = row["id"]
        self.transcript = row["transcript"]
        self.state = row["state"]
        self.position = position
        self.now = now

    def calls(self) -> Iterator[dict[str, Any]]:
        """Yield the calls of a sub-agent before the call that started it."""
        for event in _read_new_events(self.transcript, self.position):
            ident = find_subagent_id(event)
            if ident and self._follow(ident, event) and not is_background_launch(event):
                yield from self._read_subagent(ident)
            yield from self._match_result(event, self.position)
        for ident in self._agents:
            yield from self._read_subagent(ident)
        _trim_open_calls(self.position, MAX_OPEN_CALLS)
        self.position["agents"] = _trim_agents(self._agents)

    @property
    def _agents(self) -> dict[str, ReadPosition]:
        """The sub-agents whose logs are followed, each with its read position."""
        agents: dict[str, ReadPosition] = self.position.setdefault("agents", {})
        return agents

    def _follow(self, ident: str, event: Event) -> bool:
        """Follow the log of a sub-agent from now on; False if it has none.

        A sub-agent that is continued appends to its log, which belongs to its first call.
        """
        agents = self._agents
        if ident not in agents:
            is_result = event["kind"] == "tool_result"
            # Other background work ends with the same message, but has no such log.
            if not (is_valid_id(ident) if is_result else self._find_log(ident)):
                return False
            call = self._find_launch_call(ident) or (event["id"] if is_result else "")
            agents[ident] = {"call": call, "line": event["line"]}
        agents[ident]["runs"] = is_background_launch(event)
        return True

    def _find_launch_call(self, ident: str) -> str:
        agents = self.state["agents"]
        return next((agent["call"] for agent in agents if agent["id"] == ident), "")

    def _find_log(self, ident: str) -> str:
        return find_subagent_log(self.transcript, ident, of_any_size=True)

    def _read_subagent(self, ident: str) -> Iterator[dict[str, Any]]:
        """Yield the new calls of a sub-agent, once the state includes the line that names it.

        The subtask comes from the state; an action that is written before it would never be
        attached to it.
        """
        agent = self._agents[ident]
        path = self._find_log(ident) if agent["line"] <= self.state["lines"] else ""
        if not path:
            return
        for event in _read_new_events(path, agent):
            own = attribute_to_subagent(ident, event, agent["call"], agent["line"])
            yield from self._match_result(own, agent)
        _trim_open_calls(agent, MAX_OPEN_CALLS_PER_AGENT)

    def _match_result(self, event: Event, position: ReadPosition) -> Iterator[dict[str, Any]]:
        """Remember a call; yield it with its result, which may be logged before a later read."""
        waiting = position.setdefault("waiting", {})
        if event["kind"] == "tool_call":
            waiting[event["id"]] = _start_call(self.session, event, self.now)
        elif event["kind"] == "tool_result" and event["id"] in waiting:
            yield _finish_call(waiting.pop(event["id"]), event, self.now)


def _read_new_events(path: str, position: ReadPosition) -> Iterator[Event]:
    """Yield the events after `position`; none if the log is gone or disappears meanwhile."""
    try:
        reader = TranscriptReader(path, position.get("cursor"))
        if reader.restarted:
            for name in ("cursor", "waiting", "agents"):
                position.pop(name, None)
        if not reader.has_more:
            return
        decoder = Decoder(position.get("cursor"), reader.earlier_ids_loader())
        yield from decoder.events(reader.lines())
        position["cursor"] = {**reader.cursor(), **decoder.cursor()}
    except UnreadableTranscript:
        return


def _trim_open_calls(position: ReadPosition, limit: int) -> None:
    position["waiting"] = dict(list(position.get("waiting", {}).items())[-limit:])


def _trim_agents(agents: dict[str, ReadPosition]) -> dict[str, ReadPosition]:
    """Drop agents that ended and were read first, because few of them are ever continued."""
    by_need = sorted(agents.items(), key=lambda entry: entry[1]["runs"] or "cursor" not in entry[1])
    return dict(by_need[-MAX_AGENTS_FOLLOWED:])


def _start_call(session: str, event: Event, now: float) -> dict[str, Any]:
    arguments = event["input"]
    return {
        "ident": make_action_id(session, event["id"]),
        "session": session,
        "tool_name": event["name"],
        "tool_type": classify_tool(event["name"]),
        "tool_input": {
            name: value[:MAX_ARGUMENT_CHARS]
            for name in (*PATH_ARGUMENTS, *DESCRIPTIVE_ARGUMENTS)
            if isinstance(value := arguments.get(name), str)
        },
        "file_paths": _find_paths(arguments),
        "metadata": {"line": event["line"], "agent": event.get("agent", "")},
        "parent": make_agent_source(session, event["parent"]) if event.get("parent") else "",
        "at": parse_timestamp(event.get("at", ""), now),
    }


def _find_paths(arguments: dict[str, Any]) -> list[str]:
    """Return the files of a call. A patch has several, and names the first also as its path."""
    paths = [arguments.get(name) for name in PATH_ARGUMENTS]
    changes = arguments.get("changes")
    if isinstance(changes, list):
        paths += [change.get("path") for change in changes if isinstance(change, dict)]
    return list(dict.fromkeys(path for path in paths if isinstance(path, str) and path))


def _finish_call(call: dict[str, Any], event: Event, now: float) -> dict[str, Any]:
    seconds = max(0.0, parse_timestamp(event.get("at", ""), now) - call["at"])
    return {**call, "exit_code": 0 if event["ok"] else 1, "duration_ms": int(seconds * 1000)}
