"""Handlers for a user's prompt: update the notes, deliver a brief that did not arrive, and
messages from other agents.
"""

from __future__ import annotations

from holdfast.hooks.hook_run import render_with_messages, update_notes
from holdfast.services.compaction.receipts import records_delivery
from holdfast.services.compaction.status import (
    find_incomplete,
    find_undelivered,
    is_boundary_unwritten,
)
from holdfast.transcript.user_text import strip_client_tags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hooks.hook_run import HookRun
    from holdfast.services.compaction.ingest import IngestedSession

# How many times to wait, FLUSH_SECONDS each, for a client on a busy machine to write its compaction
# into the transcript.
MAX_WAITS = 4
COMPLETED_BRIEF_NOTICE = (
    "Holdfast: the transcript was too long to be read at once; the complete brief goes with this "
    "prompt."
)
LATE_BRIEF_NOTICE = (
    "Holdfast: the brief of the last compaction did not arrive intact; it goes with this prompt."
)


def user_prompt(run: HookRun) -> str:
    """Deliver a brief that has not arrived yet or was incomplete, once, and waiting messages.

    The notes are updated first, because the agent may now work for hours.
    """
    session = run.read_session()
    if prompt := strip_client_tags(run.event.prompt):
        update_notes(run, session, prompt)
    if ordinal := find_incomplete(run.store, session, run.host):
        return _render_brief(run, session, ordinal, COMPLETED_BRIEF_NOTICE)
    if not find_undelivered(run.store, session, run.host) and not is_boundary_unwritten(
        run.store, session, run.host, run.now
    ):
        return render_with_messages(run, "")
    # A brief sent a moment ago may have arrived without being in the transcript yet.
    session = run.read_session_after_flush()
    for _ in range(MAX_WAITS):
        if not is_boundary_unwritten(run.store, session, run.host, run.now):
            break
        session = run.read_session_after_flush()
    ordinal = find_undelivered(run.store, session, run.host)
    if not ordinal or _is_repeated_without_store(run, session):
        return render_with_messages(run, "")
    return _render_brief(run, session, ordinal, LATE_BRIEF_NOTICE)


def _render_brief(run: HookRun, session: IngestedSession, ordinal: int, notice: str) -> str:
    from holdfast.hooks.restore import build_brief

    brief = build_brief(run, session, ordinal)
    return render_with_messages(run, brief, notice if brief else "")


def _is_repeated_without_store(run: HookRun, session: IngestedSession) -> bool:
    """Whether neither the store nor the log can say that a brief was sent, and the model has
    answered since: otherwise each prompt would get it again.
    """
    compactions = session.state["compactions"]
    is_unknown = not run.is_saved and not records_delivery(session.state, run.host.NAME)
    return is_unknown and (not compactions or bool(compactions[-1]["reply_line"]))


def prompt_expansion(run: HookRun) -> str:
    """The user typed a slash command: record it as active from here on."""
    session = run.read_session()
    if run.event.slash_command:
        from holdfast.services.compaction.active_commands import record_typed_command

        line = session.state["lines"]
        record_typed_command(
            run.store, session.id, run.event.slash_command, line, run.now, run.settings
        )
    return ""


HANDLERS = {"UserPromptSubmit": user_prompt, "UserPromptExpansion": prompt_expansion}
