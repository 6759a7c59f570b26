"""A conversation of 10,000 messages: does adding one more, or a preview, cost more than at first?

python -m bench.session
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median

from holdfast.conversations.conversation import Conversation
from holdfast.conversations.manager import SessionManager

SIZES = (100, 1_000, 10_000)
ROUNDS = 200
WORDS = "look at the retry queue again and tell me what holds it up " * 6


def main() -> None:
    print(
        "messages   add_message   preview_request   (milliseconds, and the ratio to 100 messages)"
    )
    with tempfile.TemporaryDirectory() as folder:
        first: tuple[float, float] | None = None
        # So large a window that nothing is ever compacted: the worst case.
        with SessionManager(Path(folder, "holdfast.db"), limit=100_000_000) as manager:
            conversation = manager.get_or_create("bench")
            conversation.set_agent_description(WORDS)
            for size in SIZES:
                fill(conversation, size)
                added, seen = timed(conversation)
                first = first or (added, seen)
                print(
                    f"{size:8,}   {added:6.2f} {added / first[0]:4.1f}×   "
                    f"{seen:10.2f} {seen / first[1]:4.1f}×"
                )


def fill(conversation: Conversation, size: int) -> None:
    for number in range(conversation.metrics().messages, size):
        conversation.add_message("user" if number % 2 else "assistant", WORDS)


def timed(conversation: Conversation) -> tuple[float, float]:
    added, seen = [], []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        conversation.add_message("user", WORDS)
        between = time.perf_counter()
        conversation.preview_request()
        seen.append(time.perf_counter() - between)
        added.append(between - started)
    return median(added) * 1000, median(seen) * 1000


if __name__ == "__main__":
    main()
