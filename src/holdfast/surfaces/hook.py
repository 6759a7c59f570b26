"""One hook process: a payload on stdin, protocol or nothing on stdout, exit 0 whatever happens.

Standard library only, and only what a start-up of a few milliseconds allows:
tests/unit/test_hook_imports.py keeps the list.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast import hosts, log, quick_json, settings
from holdfast.actions.catch_up import catch_up
from holdfast.actions.compaction import current_ordinal, is_of_sub_agent, is_open, undelivered
from holdfast.errors import HoldfastError
from holdfast.store.sqlite import SQLiteStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.actions.catch_up import Session
    from holdfast.hosts.base import Host
    from holdfast.hosts.call import HookCall
    from holdfast.settings import Settings
    from holdfast.store.base import Store

# Seconds after which a hook gives up. SessionEnd hooks are killed by the host after 1.5.
DEADLINES = {"SessionEnd": 1.2, "Stop": 5.0, "UserPromptSubmit": 5.0, "SubagentStop": 5.0}
DEADLINES |= {"PostToolUse": 5.0, "SubagentStart": 5.0}
DEADLINE = 10.0
# Folding stops at the deadline; what hangs elsewhere is ended a little later.
GRACE = 1.15
# At a session's start there is no transcript yet; here there must be one.
NEED_TRANSCRIPT = ("Stop", "PreCompact")
# Where a new conversation begins: commands of an earlier one do not carry over.
NEW_SESSION = ("startup", "clear")
# Any other hook that fires inside a sub-agent is none of its parent's business.
OF_AGENTS = ("SubagentStart", "SubagentStop")
# Claude Code writes its transcript every 100 ms; a hook can be quicker than that.
FLUSH_SECONDS = 0.12
LARGEST_PAYLOAD = 32 << 20
# Characters that the rules of active commands may take of a brief.
ROOM_IN_BRIEF = 1600
LATE = "Holdfast: the brief of the last compaction had not arrived; it goes with this prompt."
LEFT_OPEN: list[Store] = []


def main(origin: str = "", host: str = "") -> None:
    """Run one hook and leave at once: nothing is left to tidy up, and exit 2 would block."""
    started = time.perf_counter()
    try:
        _watch(DEADLINE * GRACE, "a payload that never ended")
        out = run(sys.stdin.buffer.read(LARGEST_PAYLOAD), started, origin, host)
        if out:
            sys.stdout.buffer.write(out.encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
    except BaseException as problem:
        # Whatever it is, the host must not notice.
        _tell(problem)
    os._exit(0)


def run(raw: bytes, started: float, origin: str = "", name: str = "") -> str:
    """What to print for this payload.

    `origin` is "plugin" where a plugin brought the hook; `name` is the host's, where the command
    that was registered with it says so.
    """
    call, host = _understand(raw, name)
    if origin == "plugin" and host.is_installed(os.environ, call.cwd):
        # Installed twice: the hook in the settings does the work, and nothing is said twice.
        return ""
    chosen = settings.load(os.environ, call.cwd)
    for problem in chosen.problems:
        log.note(chosen.log, f"settings: {problem}", os.environ)
    allowed = DEADLINES.get(call.event, DEADLINE)
    _watch(allowed * GRACE, call.event)
    deadline = started + allowed
    handle = _HANDLERS.get(call.event)
    if handle is None or (call.agent and call.event not in OF_AGENTS):
        return ""
    store = SQLiteStore(chosen.database)
    job = Job(store, call, host, chosen, lambda: time.perf_counter() > deadline)
    out = handle(job)
    spent = (time.perf_counter() - started) * 1000
    store.hook_seen(host.NAME, call.event, call.session, spent, job.now)
    store.commit()
    if job.index_names:
        from holdfast.surfaces import indexing

        indexing.start(chosen.database, call.session, call.transcript, os.environ)
    # Closing would write the log back into the file and wait for the disk. Left open, the log is
    # simply found by whoever comes next; SQLite writes it back once it has grown enough.
    LEFT_OPEN.append(store)
    return out


class Job:
    """What every handler needs."""

    __slots__ = ("call", "host", "index_names", "now", "settings", "stop", "store")

    def __init__(
        self,
        store: Store,
        call: HookCall,
        host: Host,
        chosen: Settings,
        stop: Callable[[], bool],
    ) -> None:
        self.store = store
        self.call = call
        self.host = host
        self.settings = chosen
        self.stop = stop
        self.now = time.time()
        self.index_names = False
        """A compaction is coming: names are indexed while the host summarises."""

    def session(self) -> Session:
        session = catch_up(self.store, self.call, self.now, self.stop)
        if session.problem and self.call.event in NEED_TRANSCRIPT:
            log.note(self.settings.log, f"hook: {self.call.event}: {session.problem}", os.environ)
        return session

    def settled_session(self) -> Session:
        """The session once the host has written down what it still held back."""
        self.store.commit()
        time.sleep(FLUSH_SECONDS)
        return self.session()

    def active_rules(self, session: Session, room: int) -> list[tuple[str, str, str]]:
        """What the session's active commands ask to be kept: name, text, file."""
        from holdfast.actions.active_commands import active_rules

        return active_rules(
            session.state, self.store, self.settings, self.call.cwd, room, session.id
        )

    def notes(self, session: Session) -> list[str]:
        """What people wrote into the notes of this session, where a project keeps any."""
        project = _notes_kept_in(self)
        if not project:
            return []
        from holdfast.actions.notes import said_by_people

        return said_by_people(self.store, session.id, project)

    def restored(self, session: Session, ordinal: int, notice: str = "") -> str:
        from holdfast.actions.guardian import compacted
        from holdfast.actions.restore import recall_command, restore

        compacted(self.store, session.id, ordinal)
        event = self.call.event
        brief = restore(
            self.store, session, ordinal, event=event, host=self.host, settings=self.settings,
            recall=recall_command(), now=self.now, transcript=self.call.transcript,
            commands=self.active_rules(session, ROOM_IN_BRIEF), notes=self.notes(session),
        )  # fmt: skip
        return self.host.context(event, brief, notice) if brief else ""


def _session_start(job: Job) -> str:
    session = job.session()
    if job.call.source != "compact":
        job.store.reopen_session(job.call.session)
        if job.call.source in NEW_SESSION:
            from holdfast.actions.active_commands import clear

            clear(job.store, session.id, session.state["lines"])
        return ""
    if is_of_sub_agent(job.store, job.call, job.host, session):
        session = job.settled_session()
        if is_of_sub_agent(job.store, job.call, job.host, session):
            return ""
    return job.restored(session, current_ordinal(job.store, session, job.host))


def _user_prompt(job: Job) -> str:
    """A brief that has not arrived yet is delivered here, once."""
    session = job.session()
    if not undelivered(job.store, session, job.host):
        return ""
    # Sent a moment ago, it may have arrived and not be written down yet.
    session = job.settled_session()
    ordinal = undelivered(job.store, session, job.host)
    return job.restored(session, ordinal, LATE) if ordinal else ""


def _pre_compact(job: Job) -> str:
    """Save. Whose compaction it is shows later; a snapshot too many does no harm."""
    from holdfast.actions.guidance import ROOM_FOR_COMMANDS, guidance
    from holdfast.actions.save import save

    session = job.session()
    _keep_notes(job, session)
    snapshot = save(job.store, session, job.call.trigger or "compaction", job.now)
    job.store.open_compaction(
        session.id,
        current_ordinal(job.store, session, job.host),
        trigger=job.call.trigger or None,
        snapshot=snapshot,
        now=job.now,
    )
    job.index_names = True
    if not job.settings.guidance or not job.host.GUIDES_SUMMARY:
        return ""
    return guidance(session.state, job.active_rules(session, ROOM_FOR_COMMANDS))


def _sub_agent_stop(job: Job) -> str:
    session = job.session()
    if job.call.is_compaction_fork:
        _note_summary(job, session)
    return ""


def _post_compact(job: Job) -> str:
    session = job.session()
    if not job.call.summary:
        from holdfast.actions.written_summary import written_summary

        job.call.summary = written_summary(job.call.transcript)
    _note_summary(job, session)
    return ""


def _note_summary(job: Job, session: Session) -> None:
    """Keep the host's summary with the compaction that waits for one.

    The fork that summarises does not say whose compaction it is, so the first one counts:
    a sub-agent's never replaces what is there.
    """
    rows = job.store.compactions(session.id)
    if not rows or not job.call.summary:
        return
    if rows[-1]["summary"] is None and is_open(session, rows[-1]):
        job.store.note_summary(session.id, rows[-1]["ordinal"], job.call.summary)


def _stop(job: Job) -> str:
    """A turn is over, or with `install --guard-edits` a file was changed."""
    from holdfast.actions.guardian import watch

    session = job.session()
    words = watch(job.store, session, job.settings, job.now)
    _keep_notes(job, session)
    return job.host.message(words) if words else ""


def _keep_notes(job: Job, session: Session) -> None:
    """Only where a project keeps notes; what goes wrong with them costs nothing else."""
    project = _notes_kept_in(job)
    if not project:
        return
    from holdfast.actions.notes import keep

    try:
        keep(job.store, session.id, session.state, project, job.now)
    except HoldfastError as problem:
        log.note(job.settings.log, f"notes: {problem}", os.environ)


def _notes_kept_in(job: Job) -> str:
    """The project whose folder for notes is there, or nothing."""
    if not job.settings.notes:
        return ""
    from holdfast.actions.project import project_of

    project = project_of(job.call.cwd)
    return project if os.path.isdir(os.path.join(project, ".holdfast")) else ""


def _sub_agent_start(job: Job) -> str:
    """What binds the parent binds whoever works for it."""
    from holdfast.actions.handoff import binding

    text = binding(job.session().state)
    return job.host.context(job.call.event, text) if text else ""


def _session_end(job: Job) -> str:
    job.session()
    job.store.end_session(job.call.session, job.now)
    return ""


_HANDLERS = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _user_prompt,
    "PreCompact": _pre_compact,
    "SubagentStop": _sub_agent_stop,
    "PostCompact": _post_compact,
    "Stop": _stop,
    "PostToolUse": _stop,
    "SubagentStart": _sub_agent_start,
    "SessionEnd": _session_end,
}


def _understand(raw: bytes, name: str) -> tuple[HookCall, Host]:
    try:
        payload = quick_json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as problem:
        raise HoldfastError(f"the payload is not JSON ({problem}; {len(raw)} bytes)") from None
    host = hosts.named(name) if name else None
    if not isinstance(payload, dict):
        host = None
    elif host is None:
        host = hosts.recognise(payload)
    if host is None:
        keys = ", ".join(list(payload)[:8]) if isinstance(payload, dict) else type(payload).__name__
        raise HoldfastError(f"no host sends such a payload ({keys})")
    call = host.call(payload)
    if not call.session or not call.event:
        keys = ", ".join(list(payload)[:8])
        lacks = "session" if not call.session else "event"
        raise HoldfastError(f"the payload of {host.TITLE} names no {lacks} ({keys})")
    return call, host


def _watch(seconds: float, event: str) -> None:
    """End the process when its time is up, wherever it is. An unfinished save is rolled back."""
    import _thread

    def end() -> None:
        time.sleep(seconds)
        chosen = settings.load(os.environ)
        log.note(chosen.log, f"hook: {event}: gave up after {seconds:.1f} s", os.environ)
        os._exit(0)

    _thread.start_new_thread(end, ())


def _tell(problem: BaseException) -> None:
    try:
        words = f"{type(problem).__name__}: {problem}"
        log.note(settings.load(os.environ).log, f"hook: {words}", os.environ)
    except BaseException:
        return  # nowhere left to say it
