"""Plain requests are answered on the doorstep: the HTTP server and the framework do not see them.

A client that asks a thousand times says the same about its request each time, but for the length of
the body. So such a head is read once, by the server's own parser, and judged once, by the guard;
then it is known by its bytes. Whatever is not plain in every respect is left to the long way.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import httptools

from holdfast.surfaces.api.packing import packed, takes_gzip
from holdfast.surfaces.api.quick import Quick, is_plain

if TYPE_CHECKING:
    from holdfast.surfaces.api.guard import Guard
    from holdfast.surfaces.api.packing import Packed
    from holdfast.surfaces.api.quick import Way

# Clients and lengths of bodies that are known at a time, and what of a head anybody needs.
HEADS, LONGEST = 1000, 1 << 10
END = b"\r\n\r\n"
# What only the HTTP server knows how to go about.
FOR_THE_SERVER = frozenset({"expect", "upgrade"})


class Plain(NamedTuple):
    """What is to be known of the head of a plain request."""

    way: Way
    length: int
    takes_gzip: bool


class Doorstep:
    def __init__(self, guard: Guard, quick: Quick) -> None:
        self._guard = guard
        self._quick = quick
        self._lines = {
            f"{method} {path} HTTP/1.1\r\n".encode(): way
            for (method, path), way in quick.ways.items()
        }
        self._starts = tuple(self._lines)
        self._known = lru_cache(maxsize=HEADS)(self._read)

    def asked(self, data: bytes) -> tuple[Plain, bytes] | None:
        """What is asked, and the body, if this is one plain request, whole and alone."""
        if not data.startswith(self._starts):
            return None
        end = data.find(END, 0, LONGEST) + len(END)
        plain = self._known(data[:end]) if end >= len(END) else None
        if plain is None or len(data) != end + plain.length:
            return None
        return plain, data[end:]

    async def answer(self, plain: Plain, body: bytes) -> Packed | None:
        """Nothing if somebody has to take a closer look."""
        told = await self._quick.told(plain.way, body)
        return None if told is None else packed(*told, takes_gzip=plain.takes_gzip)

    def _read(self, head: bytes) -> Plain | None:
        said = _Said()
        try:
            said.parser.feed_data(head)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            return None
        method = said.parser.get_method().decode()
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in said.headers}
        if (
            len(headers) < len(said.headers)
            or headers.keys() & FOR_THE_SERVER
            or not said.is_kept_open
            or not is_plain({"method": method, "headers": said.headers})
            or not self._guard.passes(method, headers)
        ):
            return None
        line = head[: head.index(b"\r\n") + 2]
        codings = headers.get("accept-encoding", "").encode("latin-1")
        length = int(headers.get("content-length", 0))
        return Plain(self._lines[line], length, takes_gzip(codings))


class _Said:
    """What the parser tells of a head."""

    def __init__(self) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.is_kept_open = False
        self.parser = httptools.HttpRequestParser(self)

    def on_headers_complete(self) -> None:
        # Of a request without a body it says another thing later.
        self.is_kept_open = self.parser.should_keep_alive()

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))
