"""What a client may call this machine, in the words of the Host header that it sends."""

from __future__ import annotations

import ipaddress
import re

LABEL = r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?"
# What ends with a number is an address, or nothing.
NAME = re.compile(rf"(?:{LABEL}\.)*(?!\d+$){LABEL}", re.ASCII | re.IGNORECASE)


def written(name: str) -> tuple[str, ...]:
    """A host name or an address as a request may have it; nothing if no request can."""
    in_brackets = name.startswith("[") and name.endswith("]")
    bare = name[1:-1] if in_brackets else name
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return (name.lower(),) if NAME.fullmatch(name) else ()
    if address.version == 4:
        return () if in_brackets else (name,)
    # Which of its networks a machine means is nobody else's business.
    if "%" in bare:
        return ()
    # Browsers write it as short as can be, others as they were told.
    return tuple(dict.fromkeys((f"[{bare.lower()}]", f"[{address.compressed}]")))
