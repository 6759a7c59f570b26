"""Run the server until SIGTERM or SIGINT: in this process, or in several under uvicorn."""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
import signal
import socket
import ssl
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from litestar import Litestar
from uvicorn.supervisors import Multiprocess

from holdfast.errors import InvalidInput
from holdfast.server import auth, host_names, peer_user, unix_socket
from holdfast.server.access_log import AccessLog
from holdfast.server.app import create_app
from holdfast.server.auth import LOOPBACK, Identify
from holdfast.server.databases import Databases, LocalDatabases, TeamDatabases
from holdfast.server.http_rules import LimitedHttpProtocol

if TYPE_CHECKING:
    from holdfast.server.event_feed import EventFeed
    from holdfast.server.http_rules import App
    from holdfast.settings import Settings

STDERR = 2
# How long open requests may take after SIGTERM or SIGINT.
SHUTDOWN_SECONDS = 5
# Agents send requests every few seconds, and a new connection costs more than a request.
KEEP_ALIVE_SECONDS = 75
# A worker imports the server before it answers the supervisor's first ping.
WORKER_START_SECONDS = 30
WILDCARD_ADDRESSES = ("0.0.0.0", "::")
# Each event stream keeps a connection open. RESERVED_DESCRIPTORS are left for requests and files.
MAX_DESCRIPTORS, RESERVED_DESCRIPTORS = 1 << 16, 200
# The kernel closes a connection if its client accepts no data for this time.
STUCK_SECONDS = 60
# Proxies whose X-Forwarded-For is trusted.
TRUSTED_PROXIES = ("127.0.0.1", "::1")
NOT_LOCAL_ERRORS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenAddress:
    """Address and port or Unix socket, host names and TLS certificate of the server."""

    host: str
    port: int
    unix_socket: str = ""
    names: tuple[str, ...] = ()
    certificate: str | None = None
    key: str | None = None
    is_proxied: bool = False

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect; a proxy forwards requests of other machines."""
        return bool(self.unix_socket) or (self.is_loopback and not self.is_proxied)

    @property
    def is_loopback(self) -> bool:
        """Whether connections come from this machine, directly or through a proxy."""
        return not self.unix_socket and self.host in host_names.LOCAL_HOSTS

    @property
    def is_any_address(self) -> bool:
        return self.host in WILDCARD_ADDRESSES

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """Values of the Host header that the server accepts."""
        own = () if self.is_any_address else host_names.to_host_headers(self.host)
        more = (form for name in self.names for form in host_names.to_host_headers(name))
        return (*LOOPBACK, *own, *more)

    @property
    def url_host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a server process; each worker gets a copy."""

    address: ListenAddress
    identify: Identify
    local_token_path: str
    settings: Settings
    team_url: str
    rate: int
    has_access_log: bool


def serve(options: Options, bound: socket.socket, workers: int = 1) -> None:
    """Serve requests until SIGTERM or SIGINT."""
    address = options.address
    config = uvicorn.Config(
        partial(create_worker_app, options),
        factory=True,
        workers=workers,
        http=LimitedHttpProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        # Otherwise any program on this machine could write any address into the access log.
        proxy_headers=address.is_proxied,
        forwarded_allow_ips=list(TRUSTED_PROXIES),
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_worker_healthcheck=WORKER_START_SECONDS,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
    )
    if workers > 1:
        _report_dead_workers()
        Multiprocess(config, [bound]).run()
        return
    # uvicorn raises the signal again once it has stopped; by default that would end the process.
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[bound])
    finally:
        signal.signal(signal.SIGTERM, previous)


def create_worker_app(options: Options) -> App:
    """Return the application with its own connections; called once in every server process."""
    databases = open_databases(options.settings, options.team_url)
    log = AccessLog(STDERR) if options.has_access_log else None
    if parent := multiprocessing.parent_process():
        threading.Thread(target=_stop_with_parent, args=(parent,), daemon=True).start()

    @asynccontextmanager
    async def close_at_end(_: Litestar) -> AsyncIterator[None]:
        _end_streams_on_signal(feed)
        try:
            yield
        finally:
            databases.close()
            if log is not None:
                log.close()

    app, feed = create_app(
        databases,
        hosts=options.address.allowed_hosts,
        identify=options.identify,
        local_token_path=options.local_token_path,
        settings=options.settings,
        log=log,
        max_subscribers=max(1, raise_descriptor_limit() - RESERVED_DESCRIPTORS),
        rate=options.rate,
        lifespan=[close_at_end],
    )
    return app


def open_databases(settings: Settings, team_url: str) -> Databases:
    """Open the local SQLite files, or the team's database, which need not be reachable yet."""
    if not team_url:
        return LocalDatabases(settings)
    return TeamDatabases(team_url, on_connect=lambda: None)


def _end_streams_on_signal(feed: EventFeed) -> None:
    """End all event streams on SIGTERM and SIGINT: uvicorn waits for open requests before it stops,
    and a stream does not end by itself.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        stop_server = signal.getsignal(number)

        def stop(number: int, frame: FrameType | None, stop_server: object = stop_server) -> None:
            feed.close()
            if callable(stop_server):
                stop_server(number, frame)

        signal.signal(number, stop)


def _stop_with_parent(parent: multiprocessing.process.BaseProcess) -> None:
    """Stop this worker when its supervisor has ended: one that was killed could not stop it."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _report_dead_workers() -> None:
    """Print the warnings and errors of uvicorn's supervisor, and when a worker has died."""
    handler = logging.StreamHandler()
    handler.addFilter(lambda record: record.levelno > logging.INFO or "died" in record.getMessage())
    logger = logging.getLogger("uvicorn.error")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


def check_certificate(address: ListenAddress) -> None:
    """Raise `InvalidInput` if the certificate or its key cannot be used."""
    if address.certificate is None:
        return
    try:
        # Without `password`, OpenSSL would ask for a passphrase on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            address.certificate, address.key, password=""
        )
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "reason", None) or problem.args[-1]
        raise InvalidInput(
            f"{address.certificate} and {address.key} cannot be used ({reason})",
            hint="both are PEM files; the key belongs to the certificate and has no passphrase",
        ) from None


def choose_identification(
    address: ListenAddress, bound: socket.socket, *, is_open: bool = False
) -> Identify:
    """Return how the server tells the requests of its own user; with `is_open`, it does not."""
    if address.unix_socket or (is_open and address.is_local):
        return auth.accept_all
    if address.is_local and peer_user.can_tell_users(bound.getsockname()[0]):
        return auth.identify_peer
    return auth.accept_tokens_only


def listen(address: ListenAddress) -> AbstractContextManager[socket.socket]:
    """Return a context manager with a listening socket, which is closed at its end.

    Raises `InvalidInput` if the address cannot be used.
    """
    return unix_socket.listen(address.unix_socket) if address.unix_socket else _listen_tcp(address)


def _listen_tcp(address: ListenAddress) -> socket.socket:
    try:
        # For an unknown host name, `create_server` would raise a less helpful error.
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        # On some systems `localhost` is only ::1.
        families = [family for family, *_ in found]
        family = socket.AF_INET if socket.AF_INET in families else socket.AF_INET6
        bound = socket.create_server((address.host, address.port), family=family, backlog=1024)
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InvalidInput(
            f"{address.url_host}:{address.port} cannot be listened on ({reason})",
            hint=to_listen_hint(problem),
        ) from None
    _close_stuck_connections(bound)
    return bound


def to_listen_hint(problem: OSError | UnicodeError) -> str:
    """Return a hint for an address that cannot be listened on, or ""."""
    # For an invalid host name Python raises UnicodeError.
    if isinstance(problem, socket.gaierror | UnicodeError) or problem.errno in NOT_LOCAL_ERRORS:
        return "--host is an address or a name of this machine; 0.0.0.0 and :: mean all of them"
    if problem.errno in (errno.EACCES, errno.EPERM):
        return "ports below 1024 need special permissions; choose another one with --port"
    if problem.errno == errno.EADDRINUSE:
        return "another server may be using this port; choose another one with --port"
    return ""


def _close_stuck_connections(bound: socket.socket) -> None:
    """Let the kernel close connections whose client is gone or accepts no data. Connections inherit
    these options from the listening socket.
    """
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, STUCK_SECONDS)
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STUCK_SECONDS * 1000)


def raise_descriptor_limit() -> int:
    """Raise the limit of open files, to at most MAX_DESCRIPTORS, and return the new limit.

    Many systems start processes with a limit of 1,024 or 256.
    """
    try:
        import resource
    except ImportError:
        # Windows has no such limit.
        return MAX_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
