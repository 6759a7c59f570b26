"""Many subscribers of the event stream: `python event_subscribers.py PORT SUBSCRIBERS EVENTS`.

Prints `listening` when all are subscribed. Then prints, as JSON, each sequence of records that was
received, with the number of subscribers that received it.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections import Counter

MAX_CONCURRENT_CONNECTS = 100
# The server must not compress events although this accepts gzip: compression would delay them.
REQUEST = b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n"


async def subscribe(port: int, connect_slots: asyncio.Semaphore) -> asyncio.StreamReader:
    async with connect_slots:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        while not (line := await reader.readline()).startswith(b": listening"):
            assert line, "the server closed the stream"
    # The connection is closed when the writer is garbage collected.
    reader.writer = writer  # type: ignore[attr-defined]
    return reader


async def read_record_ids(reader: asyncio.StreamReader, count: int) -> tuple[str, ...]:
    """The record ids of the next `count` events, in the order in which they arrived."""
    record_ids: list[str] = []
    while len(record_ids) < count:
        line = await reader.readline()
        assert line, "the server closed the stream"
        if line.startswith(b"data: "):
            record_ids.append(json.loads(line[6:])["record_id"])
    return tuple(record_ids)


async def main(port: int, subscribers: int, events: int) -> None:
    connect_slots = asyncio.Semaphore(MAX_CONCURRENT_CONNECTS)
    readers = await asyncio.gather(*(subscribe(port, connect_slots) for _ in range(subscribers)))
    print("listening", flush=True)
    received = Counter(
        await asyncio.gather(*(read_record_ids(reader, events) for reader in readers))
    )
    print(json.dumps([[count, records] for records, count in received.items()]), flush=True)


if __name__ == "__main__":
    hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    asyncio.run(main(*map(int, sys.argv[1:])))
