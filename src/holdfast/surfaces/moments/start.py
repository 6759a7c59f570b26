"""A session starts, is resumed, cleared, or goes on after a compaction."""

from __future__ import annotations

from holdfast.actions.compaction import current_ordinal, is_of_sub_agent
from holdfast.surfaces.moments import client_process, newly_noted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.surfaces.moments import Job

# A fork goes on with a copy of the other session's transcript.
RESUMED = ("resume", "fork")


def session_start(job: Job) -> str:
    session = job.session()
    if job.call.source == "compact":
        return _after_compaction(job, session)
    job.store.reopen_session(job.call.session)
    if job.host.RULES:
        from holdfast.surfaces.moments.ruling import make_way

        make_way(job)
    if job.call.source in ("startup", "clear"):
        return _new(job, session)
    return _resumed(job, session) if job.call.source in RESUMED else ""


def _new(job: Job, session: Session) -> str:
    """Commands of an earlier conversation do not carry over; its rules do if a setting says so."""
    from holdfast.actions.active_commands import clear

    clear(job.store, session.id, session.state["lines"])
    if job.call.source != "clear" or job.settings.restore_on_clear != "rules":
        return ""
    from holdfast.actions.binding import AFTER_CLEAR, binding
    from holdfast.actions.project import project_of
    from holdfast.actions.resume import cleared_before

    project, client = project_of(job.call.cwd), client_process()
    before = cleared_before(job.store, session.id, project, client, job.now)
    text = binding(before, AFTER_CLEAR) if before else ""
    return job.host.context(job.call.event, text) if text else ""


def _resumed(job: Job, session: Session) -> str:
    """Only what the host, which replays its transcript, cannot show again: see docs/why/hooks.md"""
    from holdfast.actions.resume import is_cut, missing_brief, news

    ordinal = missing_brief(job.store, session, job.host)
    if ordinal or is_cut(job.store, session):
        from holdfast.surfaces.moments.restoring import restored

        return restored(job, session, ordinal)
    text = news(session.state, newly_noted(job, session.id), job.now)
    return job.host.context(job.call.event, text) if text else ""


def _after_compaction(job: Job, session: Session) -> str:
    if is_of_sub_agent(job.store, job.call, job.host, session):
        session = job.settled_session()
        if is_of_sub_agent(job.store, job.call, job.host, session):
            return ""
    from holdfast.surfaces.moments.restoring import restored

    return restored(job, session, current_ordinal(job.store, session, job.host))


HANDLERS = {"SessionStart": session_start}
