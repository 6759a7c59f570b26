"""Put the brief into a file of rules, where a host lets no hook speak to its model."""

from __future__ import annotations

import os

from holdfast import log
from holdfast.actions import rules_file
from holdfast.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.surfaces.moments import Job


def announce(job: Job, session: Session, ordinal: int) -> None:
    """A compaction is coming: the brief lies there before the summary is made."""
    if not _may_write(job):
        return
    from holdfast.surfaces.moments.restoring import brief_of

    if brief := brief_of(job, session, ordinal):
        _put(job, session, ordinal, brief)


def keep(job: Job, session: Session) -> None:
    """A session that gave way while it was idle goes on: its file comes back."""
    if not job.store.mark(session.id, rules_file.MARK) or not _may_write(job):
        # It was never there; whoever could not write it once is not told at every turn.
        return
    rows = job.store.compactions(session.id)
    if not rows or not rows[-1]["brief"]:
        return
    if not rules_file.is_there(job.call.cwd, job.host.RULES, session.id):
        _put(job, session, rows[-1]["ordinal"], rows[-1]["brief"])


def make_way(job: Job) -> None:
    rules_file.make_way(job.store, job.call.cwd, job.host.RULES, job.call.session, job.now)


def take_away(job: Job) -> None:
    rules_file.take_away(job.call.cwd, job.host.RULES, job.call.session)


def _may_write(job: Job) -> bool:
    """Only for people who installed Holdfast for this host: others' settings call us there too."""
    return bool(job.call.cwd) and job.host.is_installed(os.environ, job.call.cwd)


def _put(job: Job, session: Session, ordinal: int, brief: str) -> None:
    call, rules = job.call, job.host.RULES
    try:
        rules_file.put(job.store, call.cwd, rules, session.id, session.state, brief)
    except HoldfastError as problem:
        log.note(job.settings.log, f"rules: {problem}", os.environ)
        job.store.note_receipt(session.id, ordinal, "never", None)
