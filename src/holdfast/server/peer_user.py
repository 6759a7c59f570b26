"""Finds which user of this machine is at the other end of a loopback connection. Linux only.

The kernel lists all TCP sockets with their owners in /proc/net/tcp.
"""

from __future__ import annotations

import os
import socket
import struct
from contextlib import closing
from ipaddress import ip_address

Endpoint = tuple[str, int]

ESTABLISHED = 1
# The kernel shows this id for all users of other user namespaces.
UNMAPPED_USER = 65534
IPV4_ROWS, IPV6_ROWS = "/proc/net/tcp", "/proc/net/tcp6"
# An IPv6 socket that is connected to an IPv4 address has this before both addresses.
MAPPED_PREFIX = bytes(10) + b"\xff\xff"


def find_user(client: Endpoint, server: Endpoint) -> int | None:
    """Return the id of the client's user, or None if it cannot be told."""
    try:
        user = _read_rows(client, server)
    except (OSError, ValueError):
        return None
    return None if user == UNMAPPED_USER == os.geteuid() else user


def can_tell_users(host: str) -> bool:
    """Return whether the user of a connection to this address is found: that of this process."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with (
            socket.create_server((host, 0), family=family) as listener,
            closing(socket.create_connection(listener.getsockname()[:2])) as client,
        ):
            found = find_user(client.getsockname()[:2], client.getpeername()[:2])
            # Windows has no user ids, and no /proc either.
            return found is not None and found == os.geteuid()
    except OSError:
        return False


def _read_rows(client: Endpoint, server: Endpoint) -> int | None:
    """Return the user of the socket that the client connects to the server with, or None."""
    local, remote = (ip_address(host).packed for host, _ in (client, server))
    tables = [(IPV6_ROWS, b"")]
    if len(local) == 4:
        tables = [(IPV4_ROWS, b""), (IPV6_ROWS, MAPPED_PREFIX)]
    for path, prefix in tables:
        wanted = [
            _format_endpoint(prefix + local, client[1]),
            _format_endpoint(prefix + remote, server[1]),
        ]
        with open(path, encoding="ascii") as rows:
            for row in rows:
                fields = row.split()
                if fields[1:3] == wanted:
                    return _check_socket(int(fields[3], 16), int(fields[7]), int(fields[9]))
    return None


def _format_endpoint(address: bytes, port: int) -> str:
    """Return an address as the kernel prints it: each 32 bits as a number of this machine."""
    words = struct.unpack(f"={len(address) // 4}I", address)
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"


def _check_socket(state: int, user: int, inode: int) -> int | None:
    """Return the user of a connected socket, or None for any other.

    A socket that its program has closed has no inode, and the kernel shows root as its user.
    """
    return user if state == ESTABLISHED and inode else None
