"""Serve the ledger over HTTP: for orchestrators, for other agents, and for the browser.

On 127.0.0.1 nobody needs a token; from anywhere else, and behind a proxy, everybody does
(`holdfast token new`).
http://127.0.0.1:3847/docs shows every request and lets you try it.
"""

from __future__ import annotations

import argparse
import os
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from holdfast import log, settings
from holdfast.errors import BadUsage, HoldfastError, NoConnection, StoreUnavailable
from holdfast.store.dsn import team_url
from holdfast.surfaces.api import host_names
from holdfast.surfaces.cli.output import say
from holdfast.surfaces.cli.sessions import here

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.settings import Settings
    from holdfast.surfaces.api.desk import Desk
    from holdfast.surfaces.api.filling import Filling
    from holdfast.surfaces.api.gate import Gate
    from holdfast.surfaces.api.pace import Pace
    from holdfast.surfaces.api.serving import Place
    from holdfast.surfaces.api.workers import Worker

# How long of every few seconds texts are sent: whoever has a year of them catches up in between.
SENDING_SECONDS = 1.0
PORT = 3847
RATE = 200
MOST_WORKERS = 64
STDERR = 2
NAME_HINT = (
    "it is what clients have between http:// and the port, like holdfast.example.org, 192.0.2.1 or "
    "[2001:db8::1]"
)


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
        "--proxy", action="store_true",
        help="a proxy on this machine passes requests on, and says for whom (X-Forwarded-For)",
    )  # fmt: skip
    parser.add_argument(
        "--rate", type=int, default=RATE, metavar="N",
        help=f"how often a token may ask in a second, for long ({RATE})",
    )  # fmt: skip
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N",
        help="how many processes serve, for as many cores (1)",
    )  # fmt: skip
    parser.add_argument(
        "--access-log", action="store_true", help="one JSON line for each request, on stderr"
    )


def run(args: argparse.Namespace) -> int:
    _check(args)
    chosen = settings.load(os.environ, here())
    try:
        from holdfast.surfaces.api import heap, serving, workers
        from holdfast.surfaces.api.gate import Gate
        from holdfast.surfaces.api.pace import BURST, Pace
    except ImportError as missing:
        raise StoreUnavailable(
            f"the server needs a package that is not installed ({missing.name})",
            hint="pip install 'holdfast[serve]'",
        ) from None
    place = serving.Place(
        host=args.host, port=args.port, names=tuple(args.name),
        certificate=args.tls_cert, key=args.tls_key, is_proxied=args.proxy,
    )  # fmt: skip
    serving.check_certificate(place)
    heap.share_one()
    pace = Pace(BURST * args.rate, args.rate)
    with (
        closing(Gate(args.workers)) as gate,
        serving.listening(place, args.workers) as sockets,
    ):
        worker = workers.split(sockets, lambda how: say(how, style="yellow"))
        if worker is not None:
            _serve(chosen, place, worker, pace, gate, has_log=args.access_log)
    return 0


def _serve(
    chosen: Settings, place: Place, worker: Worker, pace: Pace, gate: Gate, *, has_log: bool
) -> None:
    from holdfast.surfaces.api import serving
    from holdfast.surfaces.api.access_log import AccessLog
    from holdfast.surfaces.api.filling import Filling
    from holdfast.surfaces.api.local_desk import LocalDesk

    local = LocalDesk(chosen, gate)
    desk = _desk(local, tells=worker.is_first)
    filling, told = Filling(chosen), set[str]()
    if worker.is_first and not place.is_local:
        _warn(desk, place)
    logged = AccessLog(STDERR) if has_log else None
    try:
        serving.serve(
            desk,
            place,
            worker.bound,
            pace=pace,
            keep=lambda: _keep(local, desk, chosen, filling, told) if worker.is_first else None,
            started=lambda url: _told(url, desk) if worker.is_first else None,
            logged=logged,
        )
    finally:
        filling.close()
        if logged is not None:
            logged.close()
        desk.close()
        local.close()


def _told(url: str, desk: Desk) -> None:
    say(f"{url} serves {desk.shown}; {url}/docs shows how.")


def _check(args: argparse.Namespace) -> None:
    if not args.host:
        raise BadUsage("--host is empty", hint="0.0.0.0 and :: listen at every address")
    for name in args.name:
        if not host_names.written(name):
            raise BadUsage(f"--name {name!r} is no host name and no address", hint=NAME_HINT)
    if not 0 <= args.port <= 65535:
        raise BadUsage("--port is a number from 0 to 65535")
    if args.rate < 1:
        raise BadUsage("--rate is a positive number")
    if not 1 <= args.workers <= MOST_WORKERS:
        raise BadUsage(f"--workers is a number from 1 to {MOST_WORKERS}")
    if args.workers > 1 and not hasattr(os, "fork"):
        raise BadUsage("this system cannot divide a process", hint="leave out --workers")
    if bool(args.tls_cert) != bool(args.tls_key):
        raise BadUsage("--tls-cert and --tls-key go together")
    for path in filter(None, (args.tls_cert, args.tls_key)):
        if not os.path.isfile(path):
            raise BadUsage(f"there is no file {path}")


def _desk(local: Desk, *, tells: bool) -> Desk:
    """This machine's, or the team's, which need not be there yet: somebody may start it later."""
    from holdfast.surfaces.api.team_desk import TeamDesk

    def came() -> None:
        if tells:
            say(f"{team.shown} is there now.")

    url = team_url(os.environ)
    if not url:
        return local
    team = TeamDesk(url, came)
    if tells and team.absence is not None:
        say(f"{team.absence}. It is tried again until it is there.", style="yellow")
    return team


def _warn(desk: Desk, place: Place) -> None:
    from holdfast.ledger import tokens

    # Where nobody can look, nobody can say.
    with suppress(NoConnection), desk.books() as books:
        if not any(row["revoked_at"] is None for row in tokens.listed(books.ledger)):
            say("Nobody has a token yet: `holdfast token new NAME` makes one.", style="yellow")
    if place.certificate is None and not place.is_proxied:
        say("Without --tls-cert, tokens and everything else can be read on the way.", "yellow")
    if (place.is_everywhere or place.is_proxied) and not place.names:
        say("Without --name HOST nobody else gets in by any name.", style="yellow")


def _keep(local: Desk, desk: Desk, chosen: Settings, filling: Filling, told: set[str]) -> None:
    """Fill ledger and index from what hooks saved, and tell the team; what fails is logged, and
    what is left out once: `told` remembers.
    """
    from holdfast.actions.fill_ledger import fill_all
    from holdfast.actions.sync import sync
    from holdfast.index.database import Index

    now, end = time.time(), time.monotonic() + SENDING_SECONDS
    try:
        with local.books() as mine:
            filling.keep_up(mine.store)
            if desk is local:
                skipped: list[str] = []
                fill_all(mine.store, mine.ledger, now, skipped)
                _note_new(skipped, told, chosen)
                return
            with desk.books() as team, Index(chosen.index) as index:
                sent = sync(
                    mine.store, mine.ledger, team.store, team.ledger, desk.shown, now,
                    index=index, stop=lambda: time.monotonic() > end,
                )  # fmt: skip
            _note_new(sent.skipped, told, chosen)
    except HoldfastError as problem:
        log.note(chosen.log, f"serve: {problem}", os.environ)
    except Exception as problem:
        # Whatever it is: the next time may go well, and requests are answered meanwhile.
        log.note(chosen.log, f"serve: {type(problem).__name__}: {problem}", os.environ)


def _note_new(skipped: Iterable[str], told: set[str], chosen: Settings) -> None:
    """What cannot be filled or sent, once."""
    for one in {*skipped} - told:
        told.add(one)
        log.note(chosen.log, f"serve: not sent: {one}", os.environ)
