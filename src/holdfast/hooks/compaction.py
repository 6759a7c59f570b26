"""Handlers around a compaction: save before it, and keep the summary that the host writes.

A compaction runs in a forked agent, so its end fires SubagentStop. The last message of an
ordinary sub-agent is its handoff.
"""

from __future__ import annotations

from holdfast.hooks.background_index import claim_refresh
from holdfast.hooks.hook_run import update_notes
from holdfast.services.compaction.status import (
    UNKNOWN_ORDINAL,
    find_current_ordinal,
    is_open,
    list_subagent_compactions,
    note_subagent_summary,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hooks.hook_run import HookRun
    from holdfast.services.compaction.ingest import IngestedSession
    from holdfast.store.protocols import CompactionRow


def pre_compact(run: HookRun) -> str:
    """Save a snapshot and return guidance for the summarizer, where the host passes it on.

    Older clients do not say that it is a sub-agent that is compacted. The extra snapshot does no
    harm. While lines of the transcript are unread there is no snapshot, and the compaction is
    recorded when its number is known.
    """
    from holdfast.services.compaction.summarizer_guidance import MAX_COMMANDS_UNITS, render_guidance

    session = run.read_session()
    update_notes(run, session)
    ordinal = save_compaction(run, session) if session.is_complete else UNKNOWN_ORDINAL
    if run.host.RULES_FOLDER:
        from holdfast.hooks.rules_file import write_before_compaction

        write_before_compaction(run, session, ordinal)
    run.needs_search_index = claim_refresh(run.store, session.id, run.event.transcript_path)
    if not run.settings.guidance or not run.host.HAS_SUMMARIZER_GUIDANCE:
        return ""
    return render_guidance(session.state, run.active_rules(session, MAX_COMMANDS_UNITS))


def save_compaction(run: HookRun, session: IngestedSession) -> int:
    """Take a snapshot of the session and record its compaction; return its ordinal."""
    from holdfast.services.compaction.autosave import prune_snapshots, save_snapshot

    snapshot = save_snapshot(run.store, session, run.event.trigger or "compaction", run.now)
    ordinal = find_current_ordinal(run.store, session, run.host)
    run.store.open_compaction(
        session.id,
        ordinal,
        trigger=run.event.trigger or None,
        snapshot=snapshot,
        now=run.now,
    )
    prune_snapshots(run.store, session.id, run.settings)
    return ordinal


def subagent_stop(run: HookRun) -> str:
    """Keep the host's summary if a compaction's fork ended, else the sub-agent's handoff."""
    session = run.read_session()
    if run.event.is_compaction_fork:
        _keep_summary_of_fork(run, session)
    else:
        from holdfast.services.compaction.handoffs import record_handoff

        record_handoff(run.store, session, run.event, run.now)
    return ""


def post_compact(run: HookRun) -> str:
    """Keep the host's summary, from the payload or else from the transcript."""
    session = run.read_session()
    if not run.event.summary:
        from holdfast.services.compaction.host_summary import read_last_summary

        run.event.summary = read_last_summary(run.event.transcript_path)
    _keep_summary(run, session)
    return ""


def _keep_summary_of_fork(run: HookRun, session: IngestedSession) -> None:
    """Store the summary with the compaction of the session, or of the sub-agent, that it is for.

    The payload of a fork does not say which it is. If both are being compacted, or two sub-agents,
    the summary is kept for none of them: a brief that repeats the summary is better than one that
    leaves out what another summary says. PostCompact brings the session's own later.
    """
    agents = list_subagent_compactions(run.store, session.id, run.now)
    if not agents:
        _keep_summary(run, session)
    elif len(agents) == 1 and not _find_open_row(run, session) and run.event.summary:
        note_subagent_summary(run.store, session.id, agents[0], run.event.summary, run.now)


def _keep_summary(run: HookRun, session: IngestedSession) -> None:
    """Store the host's summary with the open compaction, unless it has one already.

    The first summary wins: clients that do not name the sub-agent would replace the session's by a
    sub-agent's.
    """
    row = _find_open_row(run, session)
    if row and run.event.summary:
        run.store.note_summary(session.id, row["ordinal"], run.event.summary)


def _find_open_row(run: HookRun, session: IngestedSession) -> CompactionRow | None:
    """Return the session's compaction that is in progress and has no summary yet, or None."""
    if not session.is_complete:
        return None
    rows = run.store.compactions(session.id)
    if rows and rows[-1]["summary"] is None and is_open(session, rows[-1]):
        return rows[-1]
    return None


HANDLERS = {
    "PreCompact": pre_compact,
    "SubagentStop": subagent_stop,
    "PostCompact": post_compact,
}
