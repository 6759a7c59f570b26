"""The user at the other end of a connection, as the kernel lists it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from holdfast.server import peer_user
from holdfast.server.peer_user import Endpoint, can_tell_users, find_user

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


def find_client(accepted: socket.socket) -> int | None:
    """The user of the client, from the addresses that a server has."""
    return find_user(to_endpoint(accepted.getpeername()), to_endpoint(accepted.getsockname()))


def test_the_user_of_the_client_is_found() -> None:
    for host, client_host in (
        ("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("127.0.0.1", "::ffff:127.0.0.1"),
    ):  # fmt: skip
        with connect(host, client_host) as (_, accepted):
            assert find_client(accepted) == os.geteuid(), (host, client_host)


def test_the_owner_of_the_clients_socket_counts_not_that_of_the_servers() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a socket to another user")
    for host, client_host in (("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "::ffff:127.0.0.1")):
        with connect(host, client_host) as (client, accepted):
            os.fchown(client.fileno(), OTHER_USER, -1)
            assert find_client(accepted) == OTHER_USER, client_host
        with connect(host, client_host) as (_, accepted):
            os.fchown(accepted.fileno(), OTHER_USER, -1)
            assert find_client(accepted) == 0, client_host


def test_a_client_that_has_closed_its_socket_is_unknown() -> None:
    """The kernel shows root as the owner of such a socket, whichever user closed it."""
    with connect("127.0.0.1", "127.0.0.1") as (client, accepted):
        ends = to_endpoint(accepted.getpeername()), to_endpoint(accepted.getsockname())
        client.close()
        assert find_client(accepted) is None, "the server's end is still open"
        accepted.close()
        assert find_user(*ends) is None, "both ends are closed"


def test_addresses_without_a_connection_belong_to_no_user() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = to_endpoint(listener.getsockname())
        for client in (address, ("127.0.0.1", 1), ("testclient", 50000), ("fe80::1%lo", 1)):
            assert find_user(client, address) is None, client
            assert find_user(address, client) is None, client


def test_without_a_list_of_sockets_no_user_can_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert can_tell_users("127.0.0.1")
    empty = tmp_path / "tcp"
    for rows in (str(tmp_path / "missing"), str(empty)):
        monkeypatch.setattr(peer_user, "IPV4_ROWS", rows)
        monkeypatch.setattr(peer_user, "IPV6_ROWS", rows)
        assert not can_tell_users("127.0.0.1"), rows
        empty.write_text("  sl  local_address rem_address   st\n")
    monkeypatch.undo()
    monkeypatch.setattr(os, "geteuid", lambda: OTHER_USER)
    assert not can_tell_users("127.0.0.1")


def test_a_user_without_a_number_of_its_own_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a user namespace, all users from outside have the number of `nobody`."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a socket to another user")
    with connect("127.0.0.1", "127.0.0.1") as (client, accepted):
        os.fchown(client.fileno(), peer_user.UNMAPPED_USER, -1)
        assert find_client(accepted) == peer_user.UNMAPPED_USER
        monkeypatch.setattr(os, "geteuid", lambda: peer_user.UNMAPPED_USER)
        assert find_client(accepted) is None
