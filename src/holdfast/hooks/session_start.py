"""Handler for SessionStart: a session starts, is resumed, is cleared, or was compacted."""

from __future__ import annotations

from holdfast.hooks.hook_run import client_process_id, take_new_notes
from holdfast.services.compaction.status import find_current_ordinal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hooks.hook_run import HookRun
    from holdfast.services.compaction.ingest import IngestedSession

# A fork continues with a copy of the other session's transcript.
RESUME_SOURCES = ("resume", "fork")


def session_start(run: HookRun) -> str:
    """Return what to add to the conversation: a brief, the user's rules, news, or nothing.

    Which of them depends on the source of the event: how the session starts.
    """
    session = run.read_session()
    if run.event.source == "compact":
        return _after_compaction(run, session)
    run.store.reopen_session(run.event.session_id)
    if run.host.RULES_FOLDER:
        from holdfast.hooks.rules_file import remove_idle_files

        remove_idle_files(run)
    if run.event.source in ("startup", "clear"):
        return _after_startup(run, session)
    return _after_resume(run, session) if run.event.source in RESUME_SOURCES else ""


def _after_startup(run: HookRun, session: IngestedSession) -> str:
    """Deactivate slash commands; after `/clear`, return the user's rules if a setting says so."""
    from holdfast.services.compaction.active_commands import clear_commands

    clear_commands(run.store, session.id, session.state["lines"])
    if run.event.source != "clear" or run.settings.restore_on_clear != "rules":
        return ""
    from holdfast.services.compaction.inherited_rules import (
        AFTER_CLEAR_TITLE,
        render_inherited_rules,
    )
    from holdfast.services.compaction.resume import find_cleared_state
    from holdfast.services.projects import find_project

    project = find_project(run.event.cwd)
    cleared_state = find_cleared_state(run.store, session.id, project, client_process_id(), run.now)
    text = render_inherited_rules(cleared_state, AFTER_CLEAR_TITLE) if cleared_state else ""
    return run.host.render_context(run.event.name, text) if text else ""


def _after_resume(run: HookRun, session: IngestedSession) -> str:
    """Return only what the host's replay of its transcript cannot show; see docs/why/hooks.md."""
    from holdfast.services.compaction.resume import (
        find_missing_brief,
        is_newly_truncated,
        render_news,
    )

    ordinal = find_missing_brief(run.store, session, run.host)
    if ordinal or is_newly_truncated(run.store, session):
        from holdfast.hooks.restore import render_brief

        return render_brief(run, session, ordinal)
    text = render_news(session.state, take_new_notes(run, session.id), run.now)
    return run.host.render_context(run.event.name, text) if text else ""


def _after_compaction(run: HookRun, session: IngestedSession) -> str:
    """Return the brief of the compaction that has just ended.

    `subagent_compaction` handles events that name a sub-agent. Older clients do not name it, and
    then a sub-agent gets the session's brief, which is better than a missing one.
    """
    from holdfast.hooks.restore import render_brief

    if "PreCompact" in run.host.events_for(None):
        return render_brief(run, session, find_current_ordinal(run.store, session, run.host))
    # This host has no PreCompact hook, so the session is saved only now.
    from holdfast.hooks.compaction import save_compaction

    return render_brief(run, session, save_compaction(run, session))


HANDLERS = {"SessionStart": session_start}
