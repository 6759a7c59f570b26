"""The user at the other end of a connection: both ways to ask the kernel give the same answers."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from holdfast.server import peer_user
from holdfast.server.peer_user import LOOKUPS, Endpoint, choose_lookup, find_user

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the user")

OTHER_USER = 12345


def to_endpoint(address: object) -> Endpoint:
    assert isinstance(address, tuple)
    return address[:2]


@contextmanager
def connect(host: str, client_host: str) -> Iterator[tuple[socket.socket, socket.socket]]:
    """A client's socket and the server's end of the connection."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    client_family = socket.AF_INET6 if ":" in client_host else socket.AF_INET
    try:
        listener = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"this machine has no {host}")
    with closing(listener), socket.socket(client_family) as client:
        client.connect((client_host, listener.getsockname()[1]))
        with closing(listener.accept()[0]) as accepted:
            yield client, accepted


def find_users(accepted: socket.socket) -> set[int | None]:
    """What the lookups say about the client, from the addresses that a server has."""
    ends = to_endpoint(accepted.getpeername()), to_endpoint(accepted.getsockname())
    return {find_user(lookup, *ends) for lookup in LOOKUPS}


def test_both_lookups_find_the_user_of_the_client() -> None:
    for host, client_host in (
        ("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("127.0.0.1", "::ffff:127.0.0.1"),
    ):  # fmt: skip
        with connect(host, client_host) as (_, accepted):
            assert find_users(accepted) == {os.geteuid()}, (host, client_host)


def test_the_owner_of_the_clients_socket_counts_not_that_of_the_servers() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a socket to another user")
    for host, client_host in (("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "::ffff:127.0.0.1")):
        with connect(host, client_host) as (client, accepted):
            os.fchown(client.fileno(), OTHER_USER, -1)
            assert find_users(accepted) == {OTHER_USER}, client_host
        with connect(host, client_host) as (_, accepted):
            os.fchown(accepted.fileno(), OTHER_USER, -1)
            assert find_users(accepted) == {0}, client_host


def test_a_client_that_has_closed_its_socket_is_unknown() -> None:
    """The kernel shows root as the owner of such a socket, whichever user closed it."""
    with connect("127.0.0.1", "127.0.0.1") as (client, accepted):
        ends = to_endpoint(accepted.getpeername()), to_endpoint(accepted.getsockname())
        client.close()
        assert find_users(accepted) == {None}, "the server's end is still open"
        accepted.close()
        assert {find_user(lookup, *ends) for lookup in LOOKUPS} == {None}, "both ends are closed"


def test_addresses_without_a_connection_belong_to_no_user() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = to_endpoint(listener.getsockname())
        for client in (address, ("127.0.0.1", 1), ("testclient", 50000), ("fe80::1%lo", 1)):
            for lookup in LOOKUPS:
                assert find_user(lookup, client, address) is None, (client, lookup)
                assert find_user(lookup, address, client) is None, (client, lookup)


def test_the_first_lookup_that_works_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_lookup("127.0.0.1") is LOOKUPS[0]

    def fail(*_: object) -> int | None:
        raise PermissionError

    monkeypatch.setattr(peer_user, "LOOKUPS", (fail, LOOKUPS[1]))
    assert choose_lookup("127.0.0.1") is LOOKUPS[1]
    for unusable in ((), (fail,), (lambda *_: OTHER_USER,), (lambda *_: None,)):
        monkeypatch.setattr(peer_user, "LOOKUPS", unusable)
        assert choose_lookup("127.0.0.1") is None


def test_a_user_without_a_number_of_its_own_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a user namespace, all users from outside have the number of `nobody`."""
    address = ("127.0.0.1", 1)
    monkeypatch.setattr(os, "geteuid", lambda: peer_user.UNMAPPED_USER)
    assert find_user(lambda *_: peer_user.UNMAPPED_USER, address, address) is None
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert find_user(lambda *_: peer_user.UNMAPPED_USER, address, address) != 1000
