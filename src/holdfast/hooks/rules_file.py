"""Writes the brief into a rules file, for a host whose hooks cannot add to the conversation."""

from __future__ import annotations

import os

from holdfast import diagnostics
from holdfast.errors import HoldfastError
from holdfast.services.compaction import rules_file
from holdfast.services.compaction.status import find_incomplete

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hooks.hook_run import HookRun
    from holdfast.services.compaction.ingest import IngestedSession


def write_before_compaction(run: HookRun, session: IngestedSession, ordinal: int) -> None:
    """Write the brief before the host summarizes, because no hook fires after it."""
    if not _may_write(run):
        return
    from holdfast.hooks.restore import build_brief

    if brief := build_brief(run, session, ordinal):
        _write(run, session, ordinal, brief)


def restore_if_missing(run: HookRun, session: IngestedSession) -> None:
    """Write the file again if another session removed it while this one was idle, or if it was
    written before the whole transcript was read.
    """
    if ordinal := find_incomplete(run.store, session, run.host):
        write_before_compaction(run, session, ordinal)
        return
    if not run.store.get_mark(session.id, rules_file.RULES_FILE_MARK) or not _may_write(run):
        # The file was never written. A first attempt that failed is not repeated at every turn,
        # because each failure would be logged.
        return
    rows = run.store.compactions(session.id)
    if not rows or not rows[-1]["brief"]:
        return
    if not rules_file.has_rules_file(run.event.cwd, run.host.RULES_FOLDER, session.id):
        _write(run, session, rows[-1]["ordinal"], rows[-1]["brief"])


def remove_idle_files(run: HookRun) -> None:
    """Remove the rules files of sessions in this project that are over or idle."""
    rules_file.remove_stale_rules_files(
        run.store, run.event.cwd, run.host.RULES_FOLDER, run.event.session_id, run.now
    )


def remove_file(run: HookRun) -> None:
    """Remove the rules file of this session."""
    rules_file.remove_rules_file(run.event.cwd, run.host.RULES_FOLDER, run.event.session_id)


def _may_write(run: HookRun) -> bool:
    """Return whether the user installed Holdfast for this host.

    Cursor also runs the hooks in Claude Code's settings; that alone is no permission to write
    files for Cursor.
    """
    return bool(run.event.cwd) and run.host.is_installed(os.environ, run.event.cwd)


def _write(run: HookRun, session: IngestedSession, ordinal: int, brief: str) -> None:
    """Write the file; if that fails, log it and record that the brief never arrived."""
    folder = run.host.RULES_FOLDER
    try:
        rules_file.write_rules_file(
            run.store, run.event.cwd, folder, session.id, session.state, brief
        )
    except HoldfastError as problem:
        diagnostics.log(run.settings.log, f"rules: {problem}", os.environ)
        run.store.note_receipt(session.id, ordinal, "never", None)
