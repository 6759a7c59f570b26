"""Where a lookup looks: a session, this project with all its worktrees, or everywhere."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from holdfast import hosts
from holdfast.actions.lookup import Scope, asking
from holdfast.actions.project import project_of
from holdfast.errors import NoSuchRecord
from holdfast.surfaces.cli.sessions import here

if TYPE_CHECKING:
    from holdfast.store.base import Store


def add_scope_arguments(
    parser: argparse.ArgumentParser, *, or_transcript: str | None = None
) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--session", metavar="ID", help="only this session, by its exact id")
    group.add_argument(
        "--project", metavar="FOLDER", help="the project of this folder (default: the current one)"
    )
    group.add_argument("--all-projects", action="store_true", help="sessions of every project")
    if or_transcript:
        group.add_argument("--transcript", metavar="FILE", help=or_transcript)


def chosen_scope(store: Store, args: argparse.Namespace, *, with_team: bool = False) -> Scope:
    """By the options; else the project of the calling session, or of this folder.

    A team may know a session, or sessions of a project, where this machine has none.
    """
    project = project_of(args.project or here())
    calling = None if args.project else hosts.calling(os.environ)
    theirs = with_team and bool(args.session) and store.session(args.session) is None
    own = asking(store, project, session=None if theirs else args.session, calling=calling)
    if args.session:
        # To name a session is to ask for it, wherever it belongs.
        return Scope(own, None, args.session)
    if args.all_projects:
        return Scope(own, None)
    if own is None and with_team:
        return Scope(None, project)
    if own is None:
        raise NoSuchRecord(
            f"a session of {project}",
            hint="run `holdfast install`, then use your agent here; --all-projects looks "
            "everywhere, --transcript FILE in one file",
        )
    return Scope(own, own["project"])
