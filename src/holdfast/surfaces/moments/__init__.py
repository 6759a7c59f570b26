"""What a hook does at each moment of a session: a module for each, and here what all of them need.

The hook imports only the module of the moment that it was called at.
"""

from __future__ import annotations

import os
import time

from holdfast import log
from holdfast.actions.catch_up import catch_up
from holdfast.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.actions.catch_up import Session
    from holdfast.hosts.base import Host
    from holdfast.hosts.call import HookCall
    from holdfast.settings import Settings
    from holdfast.store.base import Store

# At a session's start there is no transcript yet; here there must be one.
NEED_TRANSCRIPT = ("Stop", "PreCompact")
# Claude Code writes its transcript every 100 ms; a hook can be quicker than that.
FLUSH_SECONDS = 0.12


def client_process() -> str:
    """The client that called, where it tells so: conversations in it follow each other."""
    return os.environ.get("CLAUDE_PID", "")


class Job:
    """What every handler needs."""

    __slots__ = ("call", "fill_index", "host", "index_names", "now", "settings", "stop", "store")

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
        self.fill_index = False
        """Much was written since lookups were last prepared: a process of its own does it."""

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

    def project_with_notes(self) -> str:
        """The project whose folder for notes is there, or nothing."""
        from holdfast.actions.beside_log import project_with_notes

        return project_with_notes(self.settings, self.call.cwd)


def keep_notes(job: Job, session: Session, asked: str = "") -> None:
    """Only where a project keeps notes; what goes wrong with them costs nothing else.

    `asked` is a prompt that the transcript does not have yet: what a person noted before it is
    news to the agent still.
    """
    project = job.project_with_notes()
    if not project:
        return
    from holdfast.actions.notes import keep, noticed

    try:
        keep(job.store, session.id, session.state, project, job.now, asked)
        if not asked:
            noticed(job.store, session.id, project)
    except HoldfastError as problem:
        log.note(job.settings.log, f"notes: {problem}", os.environ)


def with_mail(job: Job, text: str, notice: str = "") -> str:
    """The answer that carries this text and, after it, what other agents said to this one."""
    mail = _mail(job, text)
    whole = "\n\n".join(part.rstrip("\n") for part in (text, mail) if part) if mail else text
    return job.host.context(job.call.event, whole, notice) if whole else ""


def _mail(job: Job, before: str) -> str:
    """Messages that wait, within what is left of the host's room; mostly there is not a flag."""
    ledger, call = job.settings.ledger, job.call
    if not os.path.isdir(os.path.join(job.settings.home, "mail")):
        return ""
    from holdfast.ledger import flags

    own, kind = (call.agent, call.agent_type) if call.agent else (call.session, "main")
    word = flags.standing(ledger, (own, kind, flags.ALL), job.now)
    if not word or not flags.is_news(ledger, own, word) or not job.host.context(call.event, "?"):
        return ""
    from holdfast.surfaces.mail import delivered

    return delivered(job, own, kind, word, before)


def newly_noted(job: Job, session: str) -> list[str]:
    """What people noted since the agent's last turn."""
    project = job.project_with_notes()
    if not project:
        return []
    from holdfast.actions.notes import noticed

    try:
        return noticed(job.store, session, project)
    except HoldfastError as problem:
        log.note(job.settings.log, f"notes: {problem}", os.environ)
        return []
