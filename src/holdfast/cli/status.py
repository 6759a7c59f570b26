"""List this project's sessions: context used, last save, compactions and delivery of briefs."""

from __future__ import annotations

import argparse
from typing import Any

from holdfast import trust
from holdfast.cli.console import (
    format_age,
    format_count,
    make_console,
    make_table,
    print_json,
    print_message,
    to_iso_time,
)
from holdfast.services.compaction.history import NO_BRIEF, list_deliveries
from holdfast.services.projects import find_project
from holdfast.services.sessions import current_folder, open_store, refresh_session
from holdfast.state.types import ContextUsage
from holdfast.store.protocols import SessionRow, Store

IN_FORCE = "The project's own settings and templates are in force (`holdfast trust --remove`)."
NOT_IN_FORCE = (
    "The project's settings and templates are not trusted, so not in force: see `holdfast trust`."
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="include sessions of every project")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    project = None if args.all else find_project(current_folder())
    with open_store(team=True) as (store, config):
        sessions = [describe(store, row) for row in store.sessions(project, 20)]
    trusted = _is_trusted(config.home)
    if args.json:
        print_json({"project": project, "project_files_trusted": trusted, "sessions": sessions})
        return 0
    if trusted is not None:
        print_message(IN_FORCE if trusted else NOT_IN_FORCE)
    if not sessions:
        print_message(f"No session{f' of {project}' if project else ''} is recorded yet.")
        print_message("`holdfast install` registers the hooks; then use your agent here.")
        return 0
    make_console().print(
        make_table(
            ("session", "seen", "context", "last save", "compactions", "briefs"),
            [_to_row(session) for session in sessions],
        )
    )
    return 0


def _is_trusted(home: str) -> bool | None:
    """Return whether this project's settings and templates are in force; None if it has none."""
    folders = [find_project(current_folder()), current_folder()]
    with_files = [folder for folder in folders if trust.list_files(folder)]
    return all(trust.is_trusted(home, folder) for folder in with_files) if with_files else None


def describe(store: Store, row: SessionRow) -> dict[str, Any]:
    """Return one session as JSON, after reading its transcript to the end."""
    state = refresh_session(store, row).state
    usage = state["usage"]
    snapshots = store.snapshots(row["id"], 1)
    return {
        "id": row["id"],
        "host": row["host"],
        "project": row["project"],
        "transcript": row["transcript"],
        "seen": to_iso_time(row["seen_at"]),
        "seen_at": row["seen_at"],
        "context_tokens": usage["context"] or None,
        "context_window": usage["window"],
        "model": usage["model"] or None,
        "growth_per_turn": usage["growth"] or None,
        "turns_left": turns_left(usage),
        "lines": state["lines"],
        "bad_lines": state["bad_lines"],
        "last_save": to_iso_time(snapshots[0]["created_at"]) if snapshots else None,
        "last_save_at": snapshots[0]["created_at"] if snapshots else None,
        "last_snapshot": snapshots[0]["id"] if snapshots else None,
        "compactions": list_deliveries(store, row, state),
    }


def turns_left(usage: ContextUsage) -> int | None:
    """Return how many more turns fit if they grow as before; None if that is not known."""
    if not usage["growth"]:
        return None
    return max(0, (usage["window"] - usage["context"]) // usage["growth"])


def _to_row(session: dict[str, Any]) -> tuple[str, ...]:
    context = session["context_tokens"]
    fill = (
        f"{format_count(context)} ({100 * context // session['context_window']} %)"
        if context
        else "–"
    )
    briefs = ", ".join(
        f"{compaction['ordinal']}: {compaction['receipt']}"
        for compaction in session["compactions"]
        if compaction["brief_id"] or compaction["receipt"] == NO_BRIEF
    )
    return (
        session["id"],
        format_age(session["seen_at"]),
        fill,
        format_age(session["last_save_at"]),
        str(len(session["compactions"])),
        briefs or "–",
    )
