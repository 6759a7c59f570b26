"""Serve the ledger over HTTP: for orchestrators, for other agents, and for the browser.

On 127.0.0.1 nobody needs a token; from anywhere else everybody does (`holdfast token new`).
http://127.0.0.1:3847/docs shows every request and lets you try it.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING

from holdfast import log, settings
from holdfast.errors import BadUsage, HoldfastError, StoreUnavailable
from holdfast.store.dsn import team_url
from holdfast.surfaces.cli.output import say
from holdfast.surfaces.cli.sessions import here

if TYPE_CHECKING:
    from holdfast.settings import Settings
    from holdfast.surfaces.api.desk import Desk
    from holdfast.surfaces.api.filling import Filling

# How long of every few seconds texts are sent: whoever has a year of them catches up in between.
SENDING_SECONDS = 1.0
PORT = 3847
RATE = 200
STDERR = 2


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (127.0.0.1)"
    )
    parser.add_argument("--port", type=int, default=PORT, help=f"on which port ({PORT})")
    parser.add_argument(
        "--name", action="append", default=[], metavar="HOST",
        help="a host name that clients use for this machine (again for more)",
    )  # fmt: skip
    parser.add_argument("--tls-cert", metavar="FILE", help="a certificate, to speak HTTPS")
    parser.add_argument("--tls-key", metavar="FILE", help="its key")
    parser.add_argument(
        "--rate", type=int, default=RATE, metavar="N",
        help=f"how often a token may ask in a second, for long ({RATE})",
    )  # fmt: skip
    parser.add_argument(
        "--access-log", action="store_true", help="one JSON line for each request, on stderr"
    )


def run(args: argparse.Namespace) -> int:
    _check(args)
    chosen = settings.load(os.environ, here())
    try:
        from holdfast.surfaces.api import heap, serving
        from holdfast.surfaces.api.access_log import AccessLog
        from holdfast.surfaces.api.desk import LocalDesk
        from holdfast.surfaces.api.filling import Filling
    except ImportError as missing:
        raise StoreUnavailable(
            f"the server needs a package that is not installed ({missing.name})",
            hint="pip install 'holdfast[serve]'",
        ) from None
    heap.share_one()
    local = LocalDesk(chosen)
    desk = _desk(local)
    filling = Filling(chosen)
    place = serving.Place(
        host=args.host, port=args.port, names=tuple(name.lower() for name in args.name),
        certificate=args.tls_cert, key=args.tls_key, rate=args.rate,
    )  # fmt: skip
    if not place.is_local:
        _warn(desk, place.certificate)
        if place.host in serving.EVERYWHERE and not place.names:
            say("Without --name HOST nobody else gets in by any name.", style="yellow")
    logged = AccessLog(STDERR) if args.access_log else None
    try:
        serving.serve(
            desk,
            place,
            keep=lambda: _keep(local, desk, chosen, filling),
            started=lambda url: say(f"{url} serves {desk.shown}; {url}/docs shows how."),
            logged=logged,
        )
    finally:
        filling.close()
        if logged is not None:
            logged.close()
        desk.close()
        local.close()
    return 0


def _check(args: argparse.Namespace) -> None:
    if not 0 <= args.port <= 65535:
        raise BadUsage("--port is a number from 0 to 65535")
    if args.rate < 1:
        raise BadUsage("--rate is a positive number")
    if bool(args.tls_cert) != bool(args.tls_key):
        raise BadUsage("--tls-cert and --tls-key go together")
    for path in filter(None, (args.tls_cert, args.tls_key)):
        if not os.path.isfile(path):
            raise BadUsage(f"there is no file {path}")


def _desk(local: Desk) -> Desk:
    from holdfast.surfaces.api.desk import TeamDesk

    url = team_url(os.environ)
    return TeamDesk(url) if url else local


def _warn(desk: Desk, certificate: str | None) -> None:
    from holdfast.ledger import tokens

    with desk.books() as books:
        if not any(row["revoked_at"] is None for row in tokens.listed(books.ledger)):
            say("Nobody has a token yet: `holdfast token new NAME` makes one.", style="yellow")
    if certificate is None:
        say("Without --tls-cert, tokens and everything else can be read on the way.", "yellow")


def _keep(local: Desk, desk: Desk, chosen: Settings, filling: Filling) -> None:
    """Fill ledger and index from what hooks saved, and tell the team; what fails is logged."""
    from holdfast.actions.fill_ledger import fill_all
    from holdfast.actions.sync import sync
    from holdfast.index.database import Index

    now, end = time.time(), time.monotonic() + SENDING_SECONDS
    try:
        with local.books() as mine:
            filling.keep_up(mine.store)
            if desk is local:
                fill_all(mine.store, mine.ledger, now)
                return
            with desk.books() as team, Index(chosen.index) as index:
                sync(
                    mine.store, mine.ledger, team.store, team.ledger, desk.shown, now,
                    index=index, stop=lambda: time.monotonic() > end,
                )  # fmt: skip
    except HoldfastError as problem:
        log.note(chosen.log, f"serve: {problem}", os.environ)
