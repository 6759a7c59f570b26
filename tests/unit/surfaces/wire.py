"""The other end of a connection, for tests of what a server reads and writes there."""

from __future__ import annotations

from typing import Any


class Wire:
    """A transport that notes what it is given."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.sent.append(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def get_extra_info(self, name: str) -> str:
        return f"the {name}"


class Remote(Wire):
    """Somebody at the other end of a connection."""

    is_heard = True

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def set_protocol(self, protocol: Any) -> None: ...

    def pause_reading(self) -> None:
        self.is_heard = False

    def resume_reading(self) -> None:
        self.is_heard = True
