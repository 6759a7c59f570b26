"""Put the brief back: after a compaction, with a prompt, or when a session is resumed."""

from __future__ import annotations

import os

from holdfast import log
from holdfast.actions.beside_log import beside_log
from holdfast.actions.compaction import AT_RESUME
from holdfast.actions.guardian import compacted
from holdfast.actions.project import project_of
from holdfast.actions.restore import recall_command, restore
from holdfast.actions.templates import template_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.brief.template import Template
    from holdfast.surfaces.moments import Job


def restored(job: Job, session: Session, ordinal: int) -> str:
    """The answer that carries the brief of this compaction, or nothing if nothing is known."""
    brief = brief_of(job, session, ordinal)
    return job.host.context(job.call.event, brief) if brief else ""


def brief_of(job: Job, session: Session, ordinal: int) -> str:
    """Without a compaction (0) it is the brief of a session whose log was cut."""
    if ordinal:
        compacted(job.store, session.id, ordinal)
    event = job.call.event
    late = event == "SessionStart" and job.call.source != "compact"
    by = AT_RESUME if late else event
    commands, notes = beside_log(job.store, session.id, session.state, job.settings, job.call.cwd)
    return restore(
        job.store, session, ordinal, event=by, host=job.host, settings=job.settings,
        recall=recall_command(), now=job.now, transcript=job.call.transcript,
        commands=commands, notes=notes, template=_template(job),
    )  # fmt: skip


def _template(job: Job) -> Template:
    found, problems = template_for(
        project_of(job.call.cwd),
        job.settings.home,
        role=job.settings.role,
        agent_type=job.call.agent_type,
    )
    for problem in problems:
        log.note(job.settings.log, f"template: {problem}", os.environ)
    return found
