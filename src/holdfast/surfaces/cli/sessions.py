"""Which session a command is about, brought up to date first."""

from __future__ import annotations

import argparse
import os
import time

from holdfast import settings
from holdfast.actions.catch_up import Session, catch_up
from holdfast.actions.project import project_of
from holdfast.errors import NoSuchRecord
from holdfast.hosts.call import HookCall
from holdfast.settings import Settings
from holdfast.store.base import SessionRow, Store
from holdfast.store.sqlite import SQLiteStore


def add_session_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--session",
        metavar="ID",
        help="a session by its exact id (default: the one calling, else this project's latest)",
    )


def open_store() -> tuple[Store, Settings]:
    chosen = settings.load(os.environ, os.getcwd())
    return SQLiteStore(chosen.database, busy_seconds=5.0), chosen


def chosen_session(store: Store, wanted: str | None) -> SessionRow:
    """By id; else the session that runs this command; else the project's latest."""
    if wanted:
        row = store.session(wanted)
        if row is None:
            raise NoSuchRecord(f"session {wanted}", hint="`holdfast status --all` lists them")
        return row
    calling = os.environ.get("CLAUDE_CODE_SESSION_ID")
    row = store.session(calling) if calling else None
    if row is not None:
        return row
    project = project_of(os.getcwd())
    rows = store.sessions(project, 1)
    if not rows:
        raise NoSuchRecord(
            f"no session of {project}",
            hint="run `holdfast install`, then use your agent here; or give --transcript FILE",
        )
    return rows[0]


def refresh(store: Store, row: SessionRow) -> Session:
    """Fold whatever the host wrote since the last hook."""
    call = HookCall(host=row["host"], event="", session=row["id"], transcript=row["transcript"])
    session = catch_up(store, call, time.time())
    store.commit()
    return session
