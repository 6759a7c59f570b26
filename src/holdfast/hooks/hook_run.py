"""The context of one hook run, and functions that several handlers share.

`main` imports this module and then only the handler module of the event that fired, because a
hook is a fresh process and imports are most of its time.
"""

from __future__ import annotations

import os
import time

from holdfast import diagnostics
from holdfast.errors import HoldfastError
from holdfast.redaction.budget import LOW_UNITS
from holdfast.services.compaction.ingest import ingest_transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hosts.base import Host
    from holdfast.hosts.hook_event import HookEvent
    from holdfast.redaction.budget import Budget
    from holdfast.services.compaction.ingest import IngestedSession
    from holdfast.settings import Settings
    from holdfast.store.protocols import Store

# A new session has no transcript yet. At these events a missing one is logged.
TRANSCRIPT_EVENTS = ("Stop", "PreCompact")
# Claude Code writes its transcript every 100 ms, so a hook can run before the last lines are there.
FLUSH_SECONDS = 0.12


def client_process_id() -> str:
    """Return the process id of Claude Code, or "" if it does not set CLAUDE_PID.

    A conversation and the one that `/clear` starts after it have the same process.
    """
    return os.environ.get("CLAUDE_PID", "")


class HookRun:
    """The event being handled, its host, the settings and the store."""

    __slots__ = (
        "budget", "deadline", "event", "host", "is_saved", "needs_fold", "needs_search_index",
        "now", "settings", "store",
    )  # fmt: skip

    def __init__(
        self,
        store: Store,
        event: HookEvent,
        host: Host,
        settings: Settings,
        deadline: float,
        budget: Budget,
        *,
        is_saved: bool = True,
    ) -> None:
        self.store = store
        self.event = event
        self.host = host
        self.settings = settings
        self.deadline = deadline
        """When the hook has to be done, by `time.perf_counter`."""
        self.budget = budget
        """How much text can still be redacted."""
        self.is_saved = is_saved
        """False if the store cannot be written: `store` is a copy in memory."""
        self.now = time.time()
        self.needs_search_index = False
        """Set when enough new text was written: a process brings the search index up to date."""
        self.needs_fold = False
        """Set when there was no time for the whole transcript: a process folds the rest."""

    def is_out_of_time(self) -> bool:
        return time.perf_counter() > self.deadline or self.budget.left < LOW_UNITS

    def read_session(self) -> IngestedSession:
        """Ingest new transcript lines and return the session, with a transaction left open.

        Half of the time that is left may be used for it, so that the rest is enough for the end of
        a long transcript and for the output.
        """
        now = time.perf_counter()
        stop_at = now + (self.deadline - now) / 2

        def must_stop() -> bool:
            return time.perf_counter() > stop_at or self.budget.left < LOW_UNITS

        session = ingest_transcript(self.store, self.event, self.now, must_stop)
        if session.problem and self.event.name in TRANSCRIPT_EVENTS:
            self.log(session.problem)
        if session.repair and self.is_saved:
            self.log(f"session {session.id}: {session.repair}")
        self.needs_fold = not session.is_complete
        return session

    def log(self, message: str) -> None:
        message = f"hook: {self.event.name}: {message}"
        diagnostics.log(self.settings.log, message, os.environ)

    def read_session_after_flush(self) -> IngestedSession:
        """Wait until the host has written its last lines, then read the session again."""
        self.store.commit()
        time.sleep(FLUSH_SECONDS)
        return self.read_session()

    def active_rules(self, session: IngestedSession, max_units: int) -> list[tuple[str, str, str]]:
        """Return name, rules and file of each active slash command, in at most `max_units`."""
        from holdfast.services.compaction.active_commands import load_active_rules

        return load_active_rules(
            session.state, self.store, self.settings, self.event.cwd, max_units, session.id
        )

    def project_with_notes(self) -> str:
        """Return the project's folder if it keeps session notes, else ""."""
        from holdfast.services.compaction.brief_inputs import find_project_with_notes

        return find_project_with_notes(self.settings, self.event.cwd)


def update_notes(run: HookRun, session: IngestedSession, prompt: str = "") -> None:
    """Update the session's notes file in a project that keeps notes; log a failure.

    `prompt` is a prompt that the transcript does not hold yet. At that moment the agent has not
    seen what people wrote into the notes since its last turn, so those lines stay new.
    """
    # Without the store, the next hook would take these lines for words of a person.
    project = run.project_with_notes() if run.is_saved else ""
    if not project or not session.is_complete:
        return
    from holdfast.notes import files

    try:
        files.update_notes(run.store, session.id, session.state, project, run.now, prompt)
        if not prompt:
            files.take_new_notes(run.store, session.id, project)
    except HoldfastError as problem:
        diagnostics.log(run.settings.log, f"notes: {problem}", os.environ)


def take_new_notes(run: HookRun, session_id: str) -> list[str]:
    """Return what people wrote into the notes since the agent's last turn."""
    project = run.project_with_notes()
    if not project:
        return []
    from holdfast.notes import files

    try:
        return files.take_new_notes(run.store, session_id, project)
    except HoldfastError as problem:
        diagnostics.log(run.settings.log, f"notes: {problem}", os.environ)
        return []


def render_with_messages(run: HookRun, text: str, notice: str = "") -> str:
    """Render the hook's output: `text`, then messages from other agents; "" without either.

    `notice` is shown to the user, not to the model.
    """
    messages = _waiting_messages(run, text)
    if messages:
        text = "\n\n".join(part.rstrip("\n") for part in (text, messages) if part)
    return run.host.render_context(run.event.name, text, notice) if text else ""


def _waiting_messages(run: HookRun, text: str) -> str:
    """Return the messages that wait for this agent and fit after `text`.

    A flag file says whether a message may wait, so most hooks never open the ledger.
    """
    ledger, event = run.settings.ledger, run.event
    if not os.path.isdir(os.path.join(run.settings.home, "mail")):
        return ""
    from holdfast.ledger import unread_flags

    if event.agent_id:
        reader, agent_type = event.agent_id, event.agent_type
    else:
        reader, agent_type = event.session_id, "main"
    flag = unread_flags.read_flags(ledger, (reader, agent_type, unread_flags.ALL_AGENTS), run.now)
    if not flag or not unread_flags.have_flags_changed(ledger, reader, flag):
        return ""
    if not run.host.render_context(event.name, "?"):
        # This host shows the model nothing at this event: the messages keep waiting.
        return ""
    from holdfast.hooks.messages import render_waiting_messages

    return render_waiting_messages(run, reader, agent_type, flag, text)
