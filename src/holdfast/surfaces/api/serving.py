"""Run the server until it is told to stop, and keep the ledger filled meanwhile."""

from __future__ import annotations

import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any

import uvicorn

from holdfast.errors import BadUsage
from holdfast.surfaces.api.app import guarded
from holdfast.surfaces.api.desk import Desk
from holdfast.surfaces.api.guard import LOOPBACK
from holdfast.surfaces.api.live import Live
from holdfast.surfaces.api.pace import A_SECOND, BURST, Pace

# How long open requests may take when the server is told to stop.
PATIENCE = 5
# Agents come back every few seconds; a new connection costs more than their request.
KEPT_OPEN = 75
KEEP_SECONDS = 3.0
EVERYWHERE = ("0.0.0.0", "::")
LOCAL = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where to listen, for whom."""

    host: str
    port: int
    names: tuple[str, ...] = ()
    certificate: str | None = None
    key: str | None = None
    rate: float = A_SECOND
    """How often a token may ask in a second, for long."""

    @property
    def is_local(self) -> bool:
        return self.host in LOCAL

    @property
    def all_names(self) -> tuple[str, ...]:
        """What a client may call this machine."""
        own = (
            ()
            if self.host in EVERYWHERE
            else (f"[{self.host}]" if ":" in self.host else self.host,)
        )
        return (*LOOPBACK, *own, *self.names)


class Server(uvicorn.Server):
    """Ends live streams first: they would keep it from stopping."""

    def __init__(self, config: uvicorn.Config, live: Live) -> None:
        super().__init__(config)
        self._live = live

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._live.close()
        super().handle_exit(sig, frame)


def serve(
    desk: Desk,
    place: Place,
    *,
    keep: Callable[[], None],
    started: Callable[[str], None],
    logged: Callable[[dict[str, Any]], None] | None = None,
) -> None:
    """Listen until SIGTERM or SIGINT; `keep` is called now and then beside it."""
    _check_certificate(place)
    app, live = guarded(
        desk, hosts=place.all_names, token_needed=not place.is_local, logged=logged,
        pace=Pace(BURST * place.rate, place.rate),
    )  # fmt: skip
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=PATIENCE,
        timeout_keep_alive=KEPT_OPEN,
        ssl_certfile=place.certificate,
        ssl_keyfile=place.key,
    )
    with listening(place) as bound, _kept(keep):
        scheme = "https" if place.certificate else "http"
        host = f"[{place.host}]" if ":" in place.host else place.host
        started(f"{scheme}://{host}:{bound.getsockname()[1]}")
        _with_signals(Server(config, live), bound)


def _check_certificate(place: Place) -> None:
    """Before anybody is told that there is a server."""
    if place.certificate is None:
        return
    try:
        # A key that is locked would be asked for on the terminal, where nobody may sit.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            place.certificate, place.key, password=""
        )
    except (OSError, ValueError) as problem:
        told = getattr(problem, "reason", None) or problem.args[-1]
        raise BadUsage(
            f"{place.certificate} and {place.key} cannot be used ({told})",
            hint="both are PEM files; the key belongs to the certificate and has no passphrase",
        ) from None


def _with_signals(server: Server, bound: socket.socket) -> None:
    # uvicorn raises the signal again once it has stopped; by default that would end the process.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            server.run(sockets=[bound])
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def listening(place: Place) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    try:
        bound = socket.create_server((place.host, place.port), family=family, backlog=1024)
    except OSError as problem:
        raise BadUsage(
            f"{place.host}:{place.port} cannot be listened on ({problem.strerror})",
            hint="another server may be there already; --port chooses another",
        ) from None
    with bound:
        yield bound


@contextmanager
def _kept(keep: Callable[[], None]) -> Iterator[None]:
    stop = threading.Event()

    def work() -> None:
        while True:
            keep()
            if stop.wait(KEEP_SECONDS):
                return

    keeper = threading.Thread(target=work, name="keeper", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stop.set()
        keeper.join(PATIENCE)
