"""Handlers for what happens during work: a turn ends, a tool was used, a sub-agent starts, the
session ends.
"""

from __future__ import annotations

import time

from holdfast.hooks.background_index import claim_refresh
from holdfast.hooks.hook_run import (
    FLUSH_SECONDS,
    client_process_id,
    render_with_messages,
    update_notes,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hooks.hook_run import HookRun


def stop(run: HookRun) -> str:
    """A turn ended: read its lines, save at thresholds, update notes, maybe suggest compacting.

    With `install --guard-edits` it also runs after each edit.
    """
    from holdfast.services.compaction.autosave import save_at_thresholds

    session = run.read_session()
    suggestion = save_at_thresholds(run.store, session, run.settings, run.now)
    update_notes(run, session)
    if run.host.RULES_FOLDER:
        from holdfast.hooks.rules_file import restore_if_missing

        restore_if_missing(run, session)
    run.needs_search_index = claim_refresh(run.store, session.id, run.event.transcript_path)
    return run.host.render_user_message(suggestion) if suggestion else ""


def post_tool_use(run: HookRun) -> str:
    """A tool was used: after an edit do what `stop` does, else update the notes during the turn.

    The registered matchers (see `claude_code.tool_entries`) decide which tools come here.
    """
    from holdfast.hosts.claude_code import EDITING_TOOLS

    if run.event.tool_name in EDITING_TOOLS.split("|"):
        return stop(run)
    if run.project_with_notes():
        # The transcript does not have the tool's result yet. This hook is registered as async,
        # so waiting does not delay the agent.
        time.sleep(FLUSH_SECONDS)
        update_notes(run, run.read_session())
    return ""


def subagent_start(run: HookRun) -> str:
    """Return the user's rules, which bind sub-agents too, and the messages sent to this one."""
    from holdfast.services.compaction.inherited_rules import render_inherited_rules

    return render_with_messages(run, render_inherited_rules(run.read_session().state))


def session_end(run: HookRun) -> str:
    """Read the last lines, mark the session as ended, and remove its rules file."""
    run.read_session()
    run.store.end_session(run.event.session_id, run.now)
    if run.host.RULES_FOLDER:
        from holdfast.hooks.rules_file import remove_file

        remove_file(run)
    if run.event.source == "clear" and run.settings.restore_on_clear != "off":
        from holdfast.services.compaction.resume import record_clear

        record_clear(run.store, run.event.session_id, client_process_id())
    return ""


HANDLERS = {
    "Stop": stop,
    "PostToolUse": post_tool_use,
    "SubagentStart": subagent_start,
    "SessionEnd": session_end,
}
