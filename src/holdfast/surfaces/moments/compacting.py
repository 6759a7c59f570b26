"""The host compacts: save before it does, and keep the summary that it makes.

A compaction's fork stops as any sub-agent does; what others say last is their handoff.
"""

from __future__ import annotations

from holdfast.actions.compaction import current_ordinal, is_open
from holdfast.surfaces.filling import is_due
from holdfast.surfaces.moments import keep_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.surfaces.moments import Job


def pre_compact(job: Job) -> str:
    """Save. Whose compaction it is shows later; a snapshot too many does no harm."""
    from holdfast.actions.guidance import ROOM_FOR_COMMANDS, guidance
    from holdfast.actions.save import prune, save

    session = job.session()
    keep_notes(job, session)
    snapshot = save(job.store, session, job.call.trigger or "compaction", job.now)
    ordinal = current_ordinal(job.store, session, job.host)
    job.store.open_compaction(
        session.id,
        ordinal,
        trigger=job.call.trigger or None,
        snapshot=snapshot,
        now=job.now,
    )
    prune(job.store, session.id, job.settings)
    if job.host.RULES:
        from holdfast.surfaces.moments.ruling import announce

        announce(job, session, ordinal)
    job.index_names = True
    job.fill_index = is_due(job.store, session.id, job.call.transcript)
    if not job.settings.guidance or not job.host.GUIDES_SUMMARY:
        return ""
    return guidance(session.state, job.active_rules(session, ROOM_FOR_COMMANDS))


def sub_agent_stop(job: Job) -> str:
    session = job.session()
    if job.call.is_compaction_fork:
        _note_summary(job, session)
    else:
        from holdfast.actions.handoffs import capture

        capture(job.store, session, job.call, job.now)
    return ""


def post_compact(job: Job) -> str:
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


HANDLERS = {
    "PreCompact": pre_compact,
    "SubagentStop": sub_agent_stop,
    "PostCompact": post_compact,
}
