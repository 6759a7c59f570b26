"""Which session a command is about, brought up to date first."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast import hosts, settings
from holdfast.actions.project import project_of
from holdfast.errors import BadUsage, NoSuchRecord
from holdfast.settings import Settings
from holdfast.store.choice import chosen_store

if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.store.base import SessionRow, Store


def add_session_argument(
    parser: argparse.ArgumentParser, *, or_transcript: str | None = None
) -> None:
    """`--session`; with a help text also `--transcript`, one or the other."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--session",
        metavar="ID",
        help="a session by its exact id (default: the one calling, else this project's latest)",
    )
    if or_transcript:
        group.add_argument("--transcript", metavar="FILE", help=or_transcript)


def here() -> str:
    """The folder that a command is run in."""
    try:
        return os.getcwd()
    except OSError:
        raise BadUsage("this folder is gone", hint="change to one that is there") from None


@contextmanager
def open_store(*, team: bool = False) -> Iterator[tuple[Store, Settings]]:
    """The store and the settings of this folder.

    `team` is for commands that only look at what was saved: they see the team's store where one
    is named. What hooks read, and what lies in transcripts, is on this machine.
    """
    chosen = settings.load(os.environ, here())
    environ = os.environ if team else {}
    store = chosen_store(chosen.database, environ, busy_seconds=5.0)
    try:
        yield store, chosen
    finally:
        store.close()


def chosen_session(store: Store, args: argparse.Namespace) -> SessionRow:
    """By id; else the session that runs this command; else the project's latest."""
    if args.session:
        row = store.session(args.session)
        if row is None:
            raise NoSuchRecord(f"session {args.session}", hint="`holdfast status --all` lists them")
        return row
    calling = hosts.calling(os.environ)
    row = store.session(calling) if calling else None
    if row is not None:
        return row
    project = project_of(here())
    rows = store.sessions(project, 1)
    if not rows:
        other = "; or give --transcript FILE" if "transcript" in args else ""
        raise NoSuchRecord(
            f"a session of {project}",
            hint=f"run `holdfast install`, then use your agent here{other}",
        )
    return rows[0]


def refresh(store: Store, row: SessionRow) -> Session:
    """Fold whatever the host wrote since the last hook."""
    # Lookups never fold, and begin sooner without the rules.
    from holdfast.actions.catch_up import catch_up
    from holdfast.hosts.call import HookCall

    call = HookCall(host=row["host"], event="", session=row["id"], transcript=row["transcript"])
    session = catch_up(store, call, time.time())
    store.commit()
    return session
