"""A session starts, is resumed, cleared, or goes on after a compaction."""

from __future__ import annotations

from holdfast.actions.compaction import current_ordinal, is_of_sub_agent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.surfaces.moments import Job

# Where a new conversation begins: commands of an earlier one do not carry over.
NEW_SESSION = ("startup", "clear")


def session_start(job: Job) -> str:
    session = job.session()
    if job.call.source == "compact":
        return _after_compaction(job, session)
    job.store.reopen_session(job.call.session)
    if job.call.source in NEW_SESSION:
        from holdfast.actions.active_commands import clear

        clear(job.store, session.id, session.state["lines"])
    return ""


def _after_compaction(job: Job, session: Session) -> str:
    if is_of_sub_agent(job.store, job.call, job.host, session):
        session = job.settled_session()
        if is_of_sub_agent(job.store, job.call, job.host, session):
            return ""
    from holdfast.surfaces.moments.restoring import restored

    return restored(job, session, current_ordinal(job.store, session))


HANDLERS = {"SessionStart": session_start}
