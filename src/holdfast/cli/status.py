"""List this project's sessions: context used, last save, compactions and delivery of briefs.

With --json each session also has `window`: what fills its context, estimated from the log.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
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
from holdfast.services.compaction.history import NO_BRIEF
from holdfast.services.compaction.session_figures import SessionStatus, load_status, load_window
from holdfast.services.projects import find_project
from holdfast.services.sessions import current_folder, open_store
from holdfast.settings import Settings
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
        rows = store.sessions(project, 20)
        sessions = [load_status(store, row, config, os.environ) for row in rows]
        details = [_to_json(store, status, config) for status in sessions] if args.json else []
    trusted = _is_trusted(config.home)
    if args.json:
        print_json({"project": project, "project_files_trusted": trusted, "sessions": details})
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


def _to_json(store: Store, status: SessionStatus, config: Settings) -> dict[str, Any]:
    row: SessionRow | None = store.session(status.id)
    window = load_window(row, row["state"], config) if row else None
    return {
        **asdict(status),
        "seen": to_iso_time(status.seen_at),
        "last_save": to_iso_time(status.last_save_at),
        "compactions": [
            {**compaction, "at": to_iso_time(compaction["at"])} for compaction in status.compactions
        ],
        "window": asdict(window) if window else None,
    }


def _to_row(session: SessionStatus) -> tuple[str, ...]:
    context = session.context_tokens
    fill = (
        f"{format_count(context)} ({100 * context // session.context_window} %)" if context else "–"
    )
    briefs = ", ".join(
        f"{compaction['ordinal']}: {compaction['receipt']}"
        for compaction in session.compactions
        if compaction["brief_id"] or compaction["receipt"] == NO_BRIEF
    )
    return (
        session.id,
        format_age(session.seen_at),
        fill,
        format_age(session.last_save_at),
        str(len(session.compactions)),
        briefs or "–",
    )
