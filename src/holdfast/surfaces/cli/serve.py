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

PORT = 3847
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
        "--access-log", action="store_true", help="one JSON line for each request, on stderr"
    )


def run(args: argparse.Namespace) -> int:
    _check(args)
    chosen = settings.load(os.environ, here())
    try:
        from holdfast.surfaces.api import serving
        from holdfast.surfaces.api.access_log import AccessLog
        from holdfast.surfaces.api.desk import LocalDesk
    except ImportError as missing:
        raise StoreUnavailable(
            f"the server needs a package that is not installed ({missing.name})",
            hint="pip install 'holdfast[serve]'",
        ) from None
    local = LocalDesk(chosen)
    desk = _desk(local)
    place = serving.Place(
        host=args.host, port=args.port, names=tuple(name.lower() for name in args.name),
        certificate=args.tls_cert, key=args.tls_key,
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
            keep=lambda: _keep(local, desk, chosen),
            started=lambda url: say(f"{url} serves {desk.shown}; {url}/docs shows how."),
            logged=logged,
        )
    finally:
        if logged is not None:
            logged.close()
        desk.close()
        local.close()
    return 0


def _check(args: argparse.Namespace) -> None:
    if not 0 <= args.port <= 65535:
        raise BadUsage("--port is a number from 0 to 65535")
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


def _keep(local: Desk, desk: Desk, chosen: Settings) -> None:
    """Fill the ledger from what hooks have folded, and tell the team; what fails is logged."""
    from holdfast.actions.fill_ledger import fill_all
    from holdfast.actions.sync import sync

    try:
        with local.books() as mine:
            if desk is local:
                fill_all(mine.store, mine.ledger, time.time())
                return
            with desk.books() as team:
                sync(mine.store, mine.ledger, team.store, team.ledger, desk.shown, time.time())
    except HoldfastError as problem:
        log.note(chosen.log, f"serve: {problem}", os.environ)
