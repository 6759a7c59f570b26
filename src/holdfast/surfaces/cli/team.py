"""Lookups where HOLDFAST_DATABASE names a team: here, and in what others have sent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

from holdfast.errors import BadUsage, NoSuchRecord
from holdfast.store.dsn import VARIABLE, team_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser

    from holdfast.actions.lookup import Desk
    from holdfast.actions.recall import Answer
    from holdfast.actions.refs import Ref
    from holdfast.actions.show import Shown
    from holdfast.actions.team_lookup import Team
    from holdfast.index.search import Filter


ALSO = "also what colleagues' machines have sent to the team"


def add_team_argument(parser: ArgumentParser, told: str = ALSO) -> None:
    parser.add_argument("--team", action="store_true", help=told)


def is_named(asked: bool) -> bool:
    """Whether there is a team; there has to be, if it was asked for."""
    url = team_url(os.environ)
    if asked and not url:
        raise BadUsage("no team is named", hint=f"set {VARIABLE}=postgresql://user@host/database")
    return bool(url)


def look_up(
    desk: Desk, query: str, max_tokens: int, only: Filter, *, ledger: str, asked: bool
) -> Answer:
    """The team answers too where it is asked for, or a ref names a session that is not of here."""
    from holdfast.actions import lookup

    if is_named(asked):
        from holdfast.actions import team_lookup
        from holdfast.actions.refs import parse

        if asked or team_lookup.is_theirs(desk, parse(query)):
            with open_team(ledger) as team:
                return team_lookup.look_up(desk, team, query, max_tokens, only)
    return lookup.look_up(desk, query, max_tokens, only)


def show(desk: Desk, ref: Ref, *, ledger: str, asked: bool) -> list[Shown]:
    """The lines that a ref names: the team has those of a session that is not of this machine."""
    from holdfast.actions import lookup
    from holdfast.actions.show import Shown, show

    if is_named(asked):
        from holdfast.actions import team_lookup

        if team_lookup.is_theirs(desk, ref):
            with open_team(ledger) as team:
                found = team_lookup.copies(desk, team, ref)
                return [Shown(one.line, one.text, is_copy=False, of_team=True) for one in found]
    row = lookup.target(desk, ref)
    if row is None:
        raise NoSuchRecord(f"session {ref.session}")
    return show(desk.index, row["id"], row["transcript"], ref)


@contextmanager
def open_team(ledger_path: str) -> Iterator[Team]:
    from holdfast.actions.team_lookup import Team
    from holdfast.index.team import TeamIndex
    from holdfast.ledger.opening import local_ledger
    from holdfast.store.postgres import PostgresStore

    ledger = local_ledger(ledger_path)
    with closing(ledger.database), closing(PostgresStore.at(team_url(os.environ))) as store:
        yield Team(TeamIndex(store.database), store, ledger)
