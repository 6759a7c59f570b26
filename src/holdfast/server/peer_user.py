"""Finds which user of this machine is at the other end of a loopback connection. Linux only.

There are two ways to ask the kernel about the client's socket. sock_diag(7) finds one socket, in
about 12 microseconds. /proc/net/tcp lists all sockets of the machine, which takes milliseconds, so
it is read only where the kernel has no sock_diag; `ss` does the same.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import closing
from ipaddress import ip_address

Endpoint = tuple[str, int]
Lookup = Callable[[Endpoint, Endpoint], int | None]
"""Takes the addresses of the client and of the server; returns the id of the client's user."""

ESTABLISHED = 1
# The kernel shows this id for all users of other user namespaces.
UNMAPPED_USER = 65534

# Numbers and structures of linux/netlink.h, linux/sock_diag.h and linux/inet_diag.h.
NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST = 4, 20, 1
ANY_STATE = NO_COOKIE = 0xFFFFFFFF
MESSAGE_HEADER = struct.Struct("=IHHII")
# Family, protocol, states, the two ports and addresses, interface, cookie.
DIAG_REQUEST = struct.Struct("=BBxxI2s2s16s16sIII")
# State, user and inode, without the fields between them.
DIAG_RESPONSE = struct.Struct("=xBxx48x12xII")
MAX_RESPONSE_BYTES = 1 << 16

IPV4_ROWS, IPV6_ROWS = "/proc/net/tcp", "/proc/net/tcp6"
# An IPv6 socket that is connected to an IPv4 address has this before both addresses.
MAPPED_PREFIX = bytes(10) + b"\xff\xff"


def query_sock_diag(client: Endpoint, server: Endpoint) -> int | None:
    """Return the user of the client's socket, from the kernel's sock_diag; raises OSError."""
    local, remote = (ip_address(host).packed for host, _ in (client, server))
    family = socket.AF_INET if len(local) == 4 else socket.AF_INET6
    ports = [port.to_bytes(2, "big") for _, port in (client, server)]
    request = DIAG_REQUEST.pack(
        family, socket.IPPROTO_TCP, ANY_STATE, *ports, local, remote, 0, NO_COOKIE, NO_COOKIE
    )
    size = MESSAGE_HEADER.size + len(request)
    header = MESSAGE_HEADER.pack(size, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as netlink:
        # The kernel has responded when `send` returns.
        netlink.setblocking(False)
        netlink.send(header + request)
        response, sender = netlink.recvfrom(MAX_RESPONSE_BYTES)
    is_from_kernel = sender[0] == 0
    kind = MESSAGE_HEADER.unpack_from(response)[1]
    if not is_from_kernel or kind != SOCK_DIAG_BY_FAMILY:
        return None
    return _check_socket(*DIAG_RESPONSE.unpack_from(response, MESSAGE_HEADER.size))


def read_proc_net(client: Endpoint, server: Endpoint) -> int | None:
    """Return the user of the client's socket, from /proc/net/tcp and tcp6; raises OSError."""
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


LOOKUPS: tuple[Lookup, ...] = (query_sock_diag, read_proc_net)


def find_user(lookup: Lookup, client: Endpoint, server: Endpoint) -> int | None:
    """Return the id of the client's user, or None if it cannot be told."""
    try:
        user = lookup(client, server)
    except (OSError, ValueError):
        return None
    return None if user == UNMAPPED_USER == os.geteuid() else user


def choose_lookup(host: str) -> Lookup | None:
    """Return the first lookup that recognises a connection of this process to itself at this
    address, or None.
    """
    if sys.platform != "linux":
        return None
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with (
            socket.create_server((host, 0), family=family) as listener,
            closing(socket.create_connection(listener.getsockname()[:2])) as client,
        ):
            ends = client.getsockname()[:2], client.getpeername()[:2]
            return next((one for one in LOOKUPS if find_user(one, *ends) == os.geteuid()), None)
    except OSError:
        return None
