"""Options that several commands share, and the session or scope that they choose."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from holdfast import hosts
from holdfast.errors import NotFound
from holdfast.services.projects import find_project
from holdfast.services.sessions import current_folder

if TYPE_CHECKING:
    from holdfast.services.recall.lookup import LookupScope
    from holdfast.store.protocols import SessionRow, Store

TEAM_HELP = "also search what other machines have sent to the team's database"


def add_team_argument(parser: argparse.ArgumentParser, help_text: str = TEAM_HELP) -> None:
    """Add `--team`."""
    parser.add_argument("--team", action="store_true", help=help_text)


def add_session_argument(
    parser: argparse.ArgumentParser, *, or_transcript: str | None = None
) -> None:
    """Add `--session`; with a help text for it, also `--transcript` as an alternative."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--session",
        metavar="ID",
        help="exact id of a session (default: the calling session, else the project's latest)",
    )
    if or_transcript:
        group.add_argument("--transcript", metavar="FILE", help=or_transcript)


def find_session(store: Store, args: argparse.Namespace) -> SessionRow:
    """Return the session of `--session`, else the calling session, else the project's latest.

    Fails if there is none.
    """
    if args.session:
        row = store.session(args.session)
        if row is None:
            raise NotFound(
                f"No session {args.session} is recorded", hint="`holdfast status --all` lists them"
            )
        return row
    calling = hosts.calling_session(os.environ)
    row = store.session(calling) if calling else None
    if row is not None:
        return row
    project = find_project(current_folder())
    rows = store.sessions(project, 1)
    if not rows:
        or_transcript = "; or give --transcript FILE" if "transcript" in args else ""
        raise NotFound(
            f"No session recorded for {project}",
            hint=f"run `holdfast install`, then use your agent here{or_transcript}",
        )
    return rows[0]


def add_scope_arguments(
    parser: argparse.ArgumentParser, *, or_transcript: str | None = None
) -> None:
    """Add `--session`, `--project` and `--all-projects`; with a help text also `--transcript`."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--session", metavar="ID", help="search only this session (exact id)")
    group.add_argument(
        "--project", metavar="FOLDER", help="search the project of this folder (default: this one)"
    )
    group.add_argument("--all-projects", action="store_true", help="search every project")
    if or_transcript:
        group.add_argument("--transcript", metavar="FILE", help=or_transcript)


def find_scope(store: Store, args: argparse.Namespace, *, with_team: bool = False) -> LookupScope:
    """Return where to search: by the options, else the project of the calling session or folder.

    Fails if this machine knows no such session; with `with_team` only the team may know it.
    """
    # Imported here: most commands need a session only.
    from holdfast.services.recall.lookup import LookupScope, find_asking_session

    project = find_project(args.project or current_folder())
    calling = None if args.project else hosts.calling_session(os.environ)
    is_team_session = with_team and bool(args.session) and store.session(args.session) is None
    own = find_asking_session(
        store, project, session=None if is_team_session else args.session, calling=calling
    )
    if args.session:
        # A session that is given by its id is searched in whichever project it is.
        return LookupScope(own, None, args.session)
    if args.all_projects:
        return LookupScope(own, None)
    if own is None and with_team:
        return LookupScope(None, project)
    if own is None:
        raise NotFound(
            f"No session recorded for {project}",
            hint="run `holdfast install`, then use your agent here; --all-projects looks "
            "everywhere, --transcript FILE in one file",
        )
    return LookupScope(own, own["project"])
