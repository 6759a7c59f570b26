"""The team's index for commands that look things up, where HOLDFAST_DATABASE names a team."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

from holdfast.errors import BadUsage
from holdfast.store.dsn import VARIABLE, team_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser

    from holdfast.actions.lookup import Desk
    from holdfast.actions.team_lookup import Team


def add_team_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--team", action="store_true", help="also what colleagues' machines have sent to the team"
    )


def wants_team(desk: Desk, query: str, asked: bool) -> bool:
    """Where it is asked for; or a ref names a session that is not of this machine."""
    url = team_url(os.environ)
    if asked and not url:
        raise BadUsage("no team is named", hint=f"set {VARIABLE}=postgresql://user@host/database")
    if asked or not url:
        return asked
    from holdfast.actions.refs import parse
    from holdfast.actions.team_lookup import is_theirs

    return is_theirs(desk, parse(query))


@contextmanager
def open_team(ledger_path: str) -> Iterator[Team]:
    from holdfast.actions.team_lookup import Team
    from holdfast.index.team import TeamIndex
    from holdfast.ledger.opening import local_ledger
    from holdfast.store.postgres import PostgresStore

    ledger = local_ledger(ledger_path)
    with closing(ledger.database), closing(PostgresStore.at(team_url(os.environ))) as store:
        yield Team(TeamIndex(store.database), ledger)
