"""Something was done: a turn is over, a tool was used, a sub-agent starts, the session ends."""

from __future__ import annotations

import time

from holdfast.surfaces.filling import is_due
from holdfast.surfaces.moments import FLUSH_SECONDS, client_process, keep_notes, with_mail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.surfaces.moments import Job


def stop(job: Job) -> str:
    """A turn is over, or with `install --guard-edits` a file was changed."""
    from holdfast.actions.guardian import watch

    session = job.session()
    words = watch(job.store, session, job.settings, job.now)
    keep_notes(job, session)
    if job.host.RULES:
        from holdfast.surfaces.moments.ruling import keep

        keep(job, session)
    job.fill_index = is_due(job.store, session.id, job.call.transcript)
    return job.host.message(words) if words else ""


def tool_used(job: Job) -> str:
    """A step of the plan, a decision or a commit goes into the notes before the turn is over."""
    from holdfast.hosts.claude_code import EDITING_TOOLS

    if job.call.tool in EDITING_TOOLS.split("|"):
        return stop(job)
    if job.project_with_notes():
        # The tool's answer is not in the transcript yet, and nobody waits for this process.
        time.sleep(FLUSH_SECONDS)
        keep_notes(job, job.session())
    return ""


def sub_agent_start(job: Job) -> str:
    """What binds the parent binds whoever works for it; what others said to it goes along."""
    from holdfast.actions.binding import binding

    return with_mail(job, binding(job.session().state))


def session_end(job: Job) -> str:
    job.session()
    job.store.end_session(job.call.session, job.now)
    if job.host.RULES:
        from holdfast.surfaces.moments.ruling import take_away

        take_away(job)
    if job.call.source == "clear" and job.settings.restore_on_clear != "off":
        from holdfast.actions.resume import note_clear

        note_clear(job.store, job.call.session, client_process())
    return ""


HANDLERS = {
    "Stop": stop,
    "PostToolUse": tool_used,
    "SubagentStart": sub_agent_start,
    "SessionEnd": session_end,
}
