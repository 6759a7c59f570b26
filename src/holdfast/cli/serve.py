"""Run the HTTP server for orchestrators, other agents and the browser.

On 127.0.0.1 it answers to you without a token, and to other users of this machine only with one
(`holdfast token new`). From other machines and behind a proxy every request needs a token. Where
the system does not tell which user calls (macOS, Windows), you send yours (`holdfast token local`).
http://127.0.0.1:3847/docs lists every request and lets you try it.
"""

from __future__ import annotations

import argparse
import os
import socket
import threading
import time
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from holdfast import diagnostics, settings
from holdfast.cli.console import print_message
from holdfast.errors import DatabaseUnreachable, HoldfastError, InvalidInput, StoreUnavailable
from holdfast.server import host_names, local_token
from holdfast.services.sessions import current_folder
from holdfast.store.dsn import find_team_url

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.server.databases import Connections, Databases, TeamDatabases
    from holdfast.server.run import ListenAddress, Options
    from holdfast.settings import Settings

# How often new data of hooks is imported, and for how long each time texts are pushed to the team.
UPKEEP_SECONDS, PUSH_SECONDS = 3.0, 1.0
DEFAULT_PORT = 3847
DEFAULT_RATE = 200
MAX_WORKERS = 64
NAME_HINT = (
    "it is the part of a URL between http:// and the port: holdfast.example.org, 192.0.2.1 or "
    "[2001:db8::1]"
)
OPEN_LOOPBACK_WARNING = (
    "--open-loopback: every user of this machine, and every program that any of them runs, can "
    "read all your sessions and messages, and change or delete them."
)


def arguments(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="address to listen on (127.0.0.1)"
    )
    where.add_argument(
        "--unix-socket", default="", metavar="PATH",
        help="listen on a Unix socket that only you can connect to, instead of an address",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"port to listen on ({DEFAULT_PORT})"
    )
    parser.add_argument(
        "--name", action="append", default=[], metavar="HOST",
        help="a host name that clients use for this machine (repeatable)",
    )  # fmt: skip
    parser.add_argument("--tls-cert", metavar="FILE", help="certificate for HTTPS")
    parser.add_argument("--tls-key", metavar="FILE", help="private key of the certificate")
    parser.add_argument(
        "--proxy", action="store_true",
        help="requests come through a proxy on this machine (X-Forwarded-For)",
    )  # fmt: skip
    parser.add_argument(
        "--open-loopback", action="store_true",
        help="let every user and program of this machine read and write without a token",
    )  # fmt: skip
    parser.add_argument(
        "--rate", type=int, default=DEFAULT_RATE, metavar="N",
        help=f"requests per second and token ({DEFAULT_RATE})",
    )  # fmt: skip
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N",
        help="number of server processes (1)",
    )  # fmt: skip
    parser.add_argument(
        "--access-log", action="store_true", help="write one JSON line per request to stderr"
    )


def run(args: argparse.Namespace) -> int:
    _check_arguments(args)
    config = settings.load(os.environ, current_folder())
    try:
        from holdfast.server import run as server
        from holdfast.server.databases import LocalDatabases
    except ImportError as missing:
        raise StoreUnavailable(
            f"the server needs a package that is not installed ({missing.name})",
            hint="pip install 'holdfast[serve]'",
        ) from None
    address = server.ListenAddress(
        host=args.host, port=args.port, unix_socket=args.unix_socket, names=tuple(args.name),
        certificate=args.tls_cert, key=args.tls_key, is_proxied=args.proxy,
    )  # fmt: skip
    server.check_certificate(address)
    with server.listen(address) as bound, closing(LocalDatabases(config)) as local:
        if address.is_loopback:
            local_token.ensure(config.home)
        options = server.Options(
            address=address, settings=config, team_url=find_team_url(os.environ), rate=args.rate,
            identify=server.choose_identification(address, bound, is_open=args.open_loopback),
            local_token_path=local_token.find_path(config.home) if address.is_loopback else "",
            has_access_log=args.access_log,
        )  # fmt: skip
        databases = _open_team(options.team_url) if options.team_url else local
        with closing(databases), _background(Upkeep(config, local, databases)):
            _print_start(databases, options, bound)
            server.serve(options, bound, args.workers)
    return 0


def _print_start(databases: Databases, options: Options, bound: socket.socket) -> None:
    """Print where the server listens, and what its user should know about its access rules."""
    from holdfast.server import auth

    address = options.address
    if not address.is_local:
        _warn(databases, address)
    elif options.identify is auth.accept_all and not address.unix_socket:
        print_message(OPEN_LOOPBACK_WARNING, style="yellow")
    if address.unix_socket:
        path = os.path.abspath(address.unix_socket)
        print_message(f"{path} serves {databases.label}; `curl --unix-socket {path} "
                      "http://localhost/openapi/openapi.json` lists the requests.")  # fmt: skip
        return
    scheme = "https" if address.certificate else "http"
    url = f"{scheme}://{address.url_host}:{bound.getsockname()[1]}"
    print_message(f"{url} serves {databases.label}; {url}/docs lists the requests of the API.")
    if address.is_local and options.identify is auth.accept_tokens_only:
        _print_link(databases, url)


def _print_link(databases: Databases, url: str) -> None:
    """Print a link that opens the page once. The system does not tell which user calls."""
    from holdfast.ledger import tokens
    from holdfast.server import web_session

    print_message(
        "This system does not tell which user calls, so every request needs a token: "
        "`holdfast token local` prints yours."
    )
    # Without a connection the page cannot be opened yet, and asks for the token later.
    with suppress(DatabaseUnreachable), databases.connect() as db:
        link = web_session.to_link(url, tokens.issue_link_code(db.ledger, time.time()))
        minutes = f"{tokens.LINK_SECONDS / 60:.0f} minutes"
        print_message(f"This link opens the page once, in the next {minutes}: {link}")


def _open_team(url: str) -> TeamDatabases:
    """Open the team's database; it need not be reachable yet."""
    from holdfast.server.databases import TeamDatabases

    team = TeamDatabases(url, on_connect=lambda: print_message(f"{team.label} is reachable now."))
    if team.connect_problem is not None:
        print_message(
            f"{team.connect_problem}. The connection is retried until it succeeds.", style="yellow"
        )
    return team


def _check_arguments(args: argparse.Namespace) -> None:
    if args.unix_socket and (args.proxy or args.tls_cert or args.open_loopback):
        raise InvalidInput(
            "--unix-socket cannot be combined with --proxy, --tls-cert or --open-loopback",
            hint="only your own programs can connect to it",
        )
    if args.open_loopback and (args.proxy or args.host not in host_names.LOCAL_HOSTS):
        raise InvalidInput(
            "--open-loopback cannot be combined with --proxy or an address of the network",
            hint="other machines need a token: `holdfast token new NAME`",
        )
    if not args.host:
        raise InvalidInput("--host is empty", hint="0.0.0.0 and :: listen at every address")
    for name in args.name:
        if not host_names.to_host_headers(name):
            raise InvalidInput(
                f"--name {name!r} is neither a host name nor an address", hint=NAME_HINT
            )
    if not 0 <= args.port <= 65535:
        raise InvalidInput("--port takes a number from 0 to 65535")
    if args.rate < 1:
        raise InvalidInput("--rate takes a positive number")
    if not 1 <= args.workers <= MAX_WORKERS:
        raise InvalidInput(f"--workers takes a number from 1 to {MAX_WORKERS}")
    if bool(args.tls_cert) != bool(args.tls_key):
        raise InvalidInput("--tls-cert and --tls-key must be given together")
    for path in filter(None, (args.tls_cert, args.tls_key)):
        if not os.path.isfile(path):
            raise InvalidInput(f"File not found: {path}")


def _warn(databases: Databases, address: ListenAddress) -> None:
    from holdfast.ledger import tokens

    # Without a connection it is not known whether there are tokens.
    with suppress(DatabaseUnreachable), databases.connect() as db:
        if not any(row["revoked_at"] is None for row in tokens.list_tokens(db.ledger)):
            print_message(
                "There is no token yet: `holdfast token new NAME` creates one.", style="yellow"
            )
    if address.certificate is None and not address.is_proxied:
        print_message("Without --tls-cert, tokens and data are sent unencrypted.", "yellow")
    if (address.is_any_address or address.is_proxied) and not address.names:
        print_message(
            "Without --name HOST, requests under any other host name are refused.", style="yellow"
        )


class Upkeep:
    """Work beside the requests, in one process: import what hooks saved into the ledger and the
    search index, and push it to the team.
    """

    def __init__(self, config: Settings, local: Databases, databases: Databases) -> None:
        from holdfast.server.index_worker import IndexWorker

        self._settings = config
        self._local = local
        self._databases = databases
        self._index_worker = IndexWorker(config)
        self._reported: set[str] = set()

    def run_once(self) -> None:
        """Do it once. Failures are logged and retried the next time, so that serving goes on."""
        try:
            with self._local.connect() as mine:
                self._index_worker.start_if_needed(mine.store)
                self._report(self._import_and_push(mine))
        except HoldfastError as problem:
            self._note(str(problem))
        except Exception as problem:
            self._note(f"{type(problem).__name__}: {problem}")

    def close(self) -> None:
        self._index_worker.close()

    def _import_and_push(self, mine: Connections) -> list[str]:
        """Import and push; return what could not be imported or sent, and why."""
        from holdfast.search.index_db import SearchIndex
        from holdfast.services.team.import_session import import_all_sessions
        from holdfast.services.team.sync import sync

        now, end = time.time(), time.monotonic() + PUSH_SECONDS
        skipped: list[str] = []
        if self._databases is self._local:
            import_all_sessions(mine.store, mine.ledger, now, skipped)
            return skipped
        with self._databases.connect() as team, SearchIndex(self._settings.index) as index:
            return [*sync(
                mine.store, mine.ledger, team.store, team.ledger, self._databases.label, now,
                index=index, stop=lambda: time.monotonic() > end,
            ).skipped]  # fmt: skip

    def _report(self, skipped: list[str]) -> None:
        for problem in {*skipped} - self._reported:
            self._reported.add(problem)
            self._note(f"not sent: {problem}")

    def _note(self, text: str) -> None:
        diagnostics.log(self._settings.log, f"serve: {text}", os.environ)


@contextmanager
def _background(upkeep: Upkeep) -> Iterator[None]:
    """Run the upkeep every UPKEEP_SECONDS in a thread, until the context ends."""
    stop = threading.Event()

    def work() -> None:
        while True:
            upkeep.run_once()
            if stop.wait(UPKEEP_SECONDS):
                return

    thread = threading.Thread(target=work, name="upkeep", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(UPKEEP_SECONDS)
        upkeep.close()
