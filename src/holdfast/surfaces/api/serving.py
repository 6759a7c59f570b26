"""Run the server until it is told to stop, and keep the ledger filled meanwhile."""

from __future__ import annotations

import errno
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any, cast

import uvicorn

from holdfast.errors import BadUsage
from holdfast.surfaces.api import heap, host_names
from holdfast.surfaces.api.app import guarded
from holdfast.surfaces.api.desk import Desk
from holdfast.surfaces.api.gathered import OnePacket
from holdfast.surfaces.api.guard import LOOPBACK
from holdfast.surfaces.api.live import Live
from holdfast.surfaces.api.pace import Pace
from holdfast.surfaces.api.receiving import Receiving

# How long open requests may take when the server is told to stop.
PATIENCE = 5
# Agents come back every few seconds; a new connection costs more than their request.
KEPT_OPEN = 75
KEEP_SECONDS = 3.0
EVERYWHERE = ("0.0.0.0", "::")
# Each listener keeps a connection open; the rest of the descriptors is for other requests.
DESCRIPTORS, FOR_OTHERS = 1 << 16, 200
# What a client does not take in this time, it does not want: the kernel ends the connection.
STUCK_SECONDS = 60
# A WebSocket that does not answer is gone; nothing that a client may say is long.
PING_SECONDS, LONGEST_WORD = 20.0, 1 << 16
LOCAL = ("127.0.0.1", "::1", "localhost")
# Whose word counts about where a request comes from.
PROXIES = ("127.0.0.1", "::1")
NOT_OURS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
# Elsewhere sockets of one address do not take turns: workers wait at the same one.
SHARES_OUT = sys.platform == "linux"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where to listen, for whom."""

    host: str
    port: int
    names: tuple[str, ...] = ()
    certificate: str | None = None
    key: str | None = None
    is_proxied: bool = False

    @property
    def is_local(self) -> bool:
        """Whether only programs of this machine can ask: who comes by a proxy may be anywhere."""
        return self.host in LOCAL and not self.is_proxied

    @property
    def is_everywhere(self) -> bool:
        return self.host in EVERYWHERE

    @property
    def all_names(self) -> tuple[str, ...]:
        """What a client may call this machine."""
        own = () if self.is_everywhere else host_names.written(self.host)
        more = (one for name in self.names for one in host_names.written(name))
        return (*LOOPBACK, *own, *more)

    @property
    def in_a_url(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


class Server(uvicorn.Server):
    """Ends live streams first: they would keep it from stopping."""

    def __init__(self, config: uvicorn.Config, live: Live) -> None:
        super().__init__(config)
        self._live = live

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._live.close()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # They say goodbye themselves; cut off they would not know why.
        await self._live.silence(PATIENCE / 5)
        await super().shutdown(sockets)


def serve(
    desk: Desk,
    place: Place,
    bound: socket.socket,
    *,
    pace: Pace,
    keep: Callable[[], None],
    started: Callable[[str], None],
    logged: Callable[[dict[str, Any]], None] | None = None,
) -> None:
    """Listen until SIGTERM or SIGINT; `keep` is called now and then beside it."""
    app, live, doorstep = guarded(
        desk, hosts=place.all_names, token_needed=not place.is_local, logged=logged,
        most_listeners=max(1, most_descriptors() - FOR_OTHERS),
        pace=pace,
    )  # fmt: skip
    # What a log tells of a request, or a proxy, is for those who are let in.
    is_everybody_let_in = place.is_proxied or logged is not None
    protocol = OnePacket if is_everybody_let_in else partial(Receiving, doorstep=doorstep)
    config = uvicorn.Config(
        app,
        http=cast("type[OnePacket]", protocol),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        # Else anybody on this machine could write any address into the access log.
        proxy_headers=place.is_proxied,
        forwarded_allow_ips=list(PROXIES),
        timeout_graceful_shutdown=PATIENCE,
        timeout_keep_alive=KEPT_OPEN,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_max_size=LONGEST_WORD,
        # Events are short, and packing them costs memory for each client.
        ws_per_message_deflate=False,
        ssl_certfile=place.certificate,
        ssl_keyfile=place.key,
    )
    with _kept(keep):
        scheme = "https" if place.certificate else "http"
        started(f"{scheme}://{place.in_a_url}:{bound.getsockname()[1]}")
        _with_signals(Server(config, live), bound)


def check_certificate(place: Place) -> None:
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
def listening(place: Place, workers: int = 1) -> Iterator[list[socket.socket]]:
    """One socket for each worker: the system shares connections out between them."""
    with ExitStack() as open_ones:
        # Alone, it finds out whether another server is there; with others it could not.
        first = open_ones.enter_context(_opened(place, place.port))
        if workers == 1:
            yield [first]
            return
        port = first.getsockname()[1]
        open_ones.close()
        if not SHARES_OUT:
            yield [open_ones.enter_context(_opened(place, port))] * workers
            return
        yield [open_ones.enter_context(_opened(place, port, shared=True)) for _ in range(workers)]


def _opened(place: Place, port: int, *, shared: bool = False) -> socket.socket:
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    try:
        # Asked alone: the next call tells of a name that nobody knows as of anything else.
        socket.getaddrinfo(place.host, port, family, socket.SOCK_STREAM)
        bound = socket.create_server(
            (place.host, port), family=family, backlog=1024, reuse_port=shared
        )
    except (OSError, UnicodeError) as problem:
        told = getattr(problem, "strerror", None) or problem
        raise BadUsage(
            f"{place.in_a_url}:{port} cannot be listened on ({told})", hint=way_out(problem)
        ) from None
    _give_up_on_the_stuck(bound)
    return bound


def way_out(problem: OSError | UnicodeError) -> str:
    """What to do about an address that cannot be listened on."""
    # Of a name that is none, Python says what is wrong with its letters.
    if isinstance(problem, socket.gaierror | UnicodeError) or problem.errno in NOT_OURS:
        return "--host is an address or a name of this machine; 0.0.0.0 and :: are all it has"
    if problem.errno in (errno.EACCES, errno.EPERM):
        return "the system keeps ports below 1024 for others; --port chooses another"
    if problem.errno == errno.EADDRINUSE:
        return "another server may be there already; --port chooses another"
    return ""


def _give_up_on_the_stuck(bound: socket.socket) -> None:
    """Connections take these over from the socket they come in by."""
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, STUCK_SECONDS)
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STUCK_SECONDS * 1000)


def most_descriptors() -> int:
    """As many as this process may have, within reason; many systems begin with 1,024 or 256."""
    try:
        import resource
    except ImportError:
        # Not a system with such a limit.
        return DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


@contextmanager
def _kept(keep: Callable[[], None]) -> Iterator[None]:
    stop = threading.Event()

    def work() -> None:
        while True:
            keep()
            heap.give_back()
            if stop.wait(KEEP_SECONDS):
                return

    keeper = threading.Thread(target=work, name="keeper", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stop.set()
        keeper.join(PATIENCE)
