"""Handlers for the compaction of a sub-agent, where the payload names the agent.

The sub-agent gets a brief of its own work. Nothing of it is recorded as a compaction of the session
that it works for.
"""

from __future__ import annotations

import os

from holdfast import diagnostics
from holdfast.hooks.hook_run import render_with_messages
from holdfast.services.compaction.status import (
    close_subagent_compaction,
    open_subagent_compaction,
)
from holdfast.state.fold import VERSION as STATE_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hooks.hook_run import HookRun
    from holdfast.state.types import State


def pre_compact(run: HookRun) -> str:
    """Record that a sub-agent is being compacted, so that its summary is recognized.

    The log is not read here: the brief is built after the compaction, from the whole log. A session
    that the store does not know yet has nothing that the summary could be taken for.
    """
    run.store.begin()
    if run.store.session(run.event.session_id) is not None:
        open_subagent_compaction(run.store, run.event.session_id, run.event.agent_id, run.now)
    return ""


def session_start(run: HookRun) -> str:
    """Return the sub-agent's brief, the rules of its session, and messages that wait for it."""
    if run.event.source != "compact":
        return ""
    from holdfast.services.compaction.subagent_brief import (
        find_own_log,
        is_own_log,
        prepare_subagent_brief,
    )

    log = find_own_log(run.event)
    if is_own_log(run.event, run.event.transcript_path):
        # A client that names the sub-agent's log here: it must not be read as the session's.
        run.event.transcript_path = ""
    state = _load_session_state(run)
    summary = close_subagent_compaction(
        run.store, run.event.session_id, run.event.agent_id, run.now
    )
    text, problems = prepare_subagent_brief(
        run.event, log, state, summary,
        host=run.host, settings=run.settings, stop=run.is_out_of_time,
    )  # fmt: skip
    for problem in problems:
        message = f"sub-agent {run.event.agent_id}: {problem}"
        diagnostics.log(run.settings.log, message, os.environ)
    return render_with_messages(run, text)


def _load_session_state(run: HookRun) -> State:
    """Return the saved state of the session, with a transaction left open.

    The session's own hooks keep it current. Its log is read only if there is no usable state.
    """
    row = run.store.session(run.event.session_id)
    if row is None or row["state"]["version"] != STATE_VERSION:
        return run.read_session().state
    run.store.begin()
    return row["state"]


SUBAGENT_HANDLERS = {"PreCompact": pre_compact, "SessionStart": session_start}
