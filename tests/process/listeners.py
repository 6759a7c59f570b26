"""Many clients of the live events in one process: `python listeners.py PORT CLIENTS EVENTS`.

Says `listening` when all of them are, and then, as JSON, how many heard which events.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections import Counter

AT_ONCE = 100
# Events are not packed, whatever a client can read: they would wait for each other.
REQUEST = b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n"


async def connected(port: int, turn: asyncio.Semaphore) -> asyncio.StreamReader:
    async with turn:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        while not (line := await reader.readline()).startswith(b": listening"):
            assert line, "the server hung up"
    # Kept open by its reader.
    reader.writer = writer  # type: ignore[attr-defined]
    return reader


async def heard(reader: asyncio.StreamReader, count: int) -> tuple[str, ...]:
    """The records of so many events, in the order they came."""
    found: list[str] = []
    while len(found) < count:
        line = await reader.readline()
        assert line, "the server hung up"
        if line.startswith(b"data: "):
            found.append(json.loads(line[6:])["record_id"])
    return tuple(found)


async def main(port: int, clients: int, count: int) -> None:
    turn = asyncio.Semaphore(AT_ONCE)
    readers = await asyncio.gather(*(connected(port, turn) for _ in range(clients)))
    print("listening", flush=True)
    told = Counter(await asyncio.gather(*(heard(reader, count) for reader in readers)))
    print(json.dumps([[number, records] for records, number in told.items()]), flush=True)


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(main(*map(int, sys.argv[1:])))
