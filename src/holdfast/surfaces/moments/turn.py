"""Something was done: a turn is over, a file was changed, a sub-agent starts, the session ends."""

from __future__ import annotations

import os

from holdfast import log
from holdfast.errors import HoldfastError
from holdfast.surfaces.filling import is_due
from holdfast.surfaces.moments import client_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.surfaces.moments import Job


def stop(job: Job) -> str:
    """A turn is over, or with `install --guard-edits` a file was changed."""
    from holdfast.actions.guardian import watch

    session = job.session()
    words = watch(job.store, session, job.settings, job.now)
    keep_notes(job, session)
    job.fill_index = is_due(job.store, session.id, job.call.transcript)
    return job.host.message(words) if words else ""


def keep_notes(job: Job, session: Session) -> None:
    """Only where a project keeps notes; what goes wrong with them costs nothing else."""
    project = job.project_with_notes()
    if not project:
        return
    from holdfast.actions.notes import keep, noticed

    try:
        keep(job.store, session.id, session.state, project, job.now)
        noticed(job.store, session.id, project)
    except HoldfastError as problem:
        log.note(job.settings.log, f"notes: {problem}", os.environ)


def sub_agent_start(job: Job) -> str:
    """What binds the parent binds whoever works for it."""
    from holdfast.actions.binding import binding

    text = binding(job.session().state)
    return job.host.context(job.call.event, text) if text else ""


def session_end(job: Job) -> str:
    job.session()
    job.store.end_session(job.call.session, job.now)
    if job.call.source == "clear" and job.settings.restore_on_clear != "off":
        from holdfast.actions.resume import note_clear

        note_clear(job.store, job.call.session, client_process())
    return ""


HANDLERS = {
    "Stop": stop,
    "PostToolUse": stop,
    "SubagentStart": sub_agent_start,
    "SessionEnd": session_end,
}
