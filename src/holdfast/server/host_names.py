"""Host names that a client may use for this server, as they appear in the Host header.

Without third-party imports, so that the command line can check names before it loads the server.
"""

from __future__ import annotations

import ipaddress
import re

LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")
LABEL = r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?"
# A name whose last label is a number is an IP address or invalid.
HOST_NAME = re.compile(rf"(?:{LABEL}\.)*(?!\d+$){LABEL}", re.ASCII | re.IGNORECASE)


def to_host_headers(name: str) -> tuple[str, ...]:
    """Return the forms of a host name or an IP address in a Host header; () if it is invalid."""
    in_brackets = name.startswith("[") and name.endswith("]")
    bare = name[1:-1] if in_brackets else name
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return (name.lower(),) if HOST_NAME.fullmatch(name) else ()
    if address.version == 4:
        return () if in_brackets else (name,)
    # A zone id (fe80::1%eth0) has a meaning on one machine only and is never sent.
    if "%" in bare:
        return ()
    # Browsers send the shortest form of an IPv6 address, other clients what they were given.
    return tuple(dict.fromkeys((f"[{bare.lower()}]", f"[{address.compressed}]")))
