"""A person has sent a prompt: it is noted, and a brief that has not arrived and messages of other
agents go with it.
"""

from __future__ import annotations

from holdfast.actions.compaction import is_unwritten, undelivered
from holdfast.surfaces.moments import keep_notes, with_mail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.surfaces.moments import Job

# A client on a busy machine writes down late that it has compacted.
PATIENCE = 4
LATE = "Holdfast: the brief of the last compaction had not arrived whole; it goes with this prompt."


def user_prompt(job: Job) -> str:
    """Delivers what has not arrived, once. The agent may work for hours now: notes come first."""
    session = job.session()
    if job.call.prompt:
        keep_notes(job, session, job.call.prompt)
    if not undelivered(job.store, session, job.host) and not is_unwritten(
        job.store, session, job.host, job.now
    ):
        return with_mail(job, "")
    # Sent a moment ago, it may have arrived, or not, and not be written down yet.
    session = job.settled_session()
    for _ in range(PATIENCE):
        if not is_unwritten(job.store, session, job.host, job.now):
            break
        session = job.settled_session()
    ordinal = undelivered(job.store, session, job.host)
    if not ordinal:
        return with_mail(job, "")
    from holdfast.surfaces.moments.restoring import brief_of

    brief = brief_of(job, session, ordinal)
    return with_mail(job, brief, LATE if brief else "")


def expansion(job: Job) -> str:
    """A slash command was typed: it is active from now on."""
    session = job.session()
    if job.call.command:
        from holdfast.actions.active_commands import typed

        line = session.state["lines"]
        typed(job.store, session.id, job.call.command, line, job.now, job.settings)
    return ""


HANDLERS = {"UserPromptSubmit": user_prompt, "UserPromptExpansion": expansion}
