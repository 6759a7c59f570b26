"""Builds the brief: after a compaction, with a prompt, or when a session is resumed."""

from __future__ import annotations

import os

from holdfast import diagnostics
from holdfast.services.compaction.autosave import reset_thresholds
from holdfast.services.compaction.brief_inputs import load_brief_inputs
from holdfast.services.compaction.restore import find_recall_command, prepare_brief
from holdfast.services.compaction.status import RESUME_EVENT
from holdfast.services.compaction.templates import choose_template
from holdfast.services.projects import find_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.brief.template import Template
    from holdfast.hooks.hook_run import HookRun
    from holdfast.services.compaction.ingest import IngestedSession


def render_brief(run: HookRun, session: IngestedSession, ordinal: int) -> str:
    """Return the hook's output with the brief of this compaction, or "" if nothing is known."""
    brief = build_brief(run, session, ordinal)
    return run.host.render_context(run.event.name, brief) if brief else ""


def build_brief(run: HookRun, session: IngestedSession, ordinal: int) -> str:
    """Build the brief of this compaction and record it.

    The ordinal is 0 for a transcript that was cut, and for one that is not read to its end yet.
    """
    if ordinal:
        reset_thresholds(run.store, session.id, ordinal)
    event_name = run.event.name
    is_resume = event_name == "SessionStart" and run.event.source != "compact"
    commands, notes = load_brief_inputs(
        run.store, session.id, session.state, run.settings, run.event.cwd
    )
    return prepare_brief(
        run.store, session, ordinal, event=RESUME_EVENT if is_resume else event_name, host=run.host,
        settings=run.settings, recall=find_recall_command(), now=run.now,
        commands=commands, notes=notes,
        template=_load_template(run),
    )  # fmt: skip


def _load_template(run: HookRun) -> Template:
    template, problems = choose_template(
        find_project(run.event.cwd),
        run.settings.home,
        role=run.settings.role,
        agent_type=run.event.agent_type,
    )
    for problem in problems:
        diagnostics.log(run.settings.log, f"template: {problem}", os.environ)
    return template
